"""Moving in: all that was exported comes in once, with sources, times and authors, or is named."""

from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from agents import SQLiteSession
from langgraph.store.postgres.aio import AsyncPostgresStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

import memoranda
from memoranda import Memory
from memoranda.app import moving_in
from memoranda.errors import ImportRefused, InvalidOption, StoreUnavailable
from memoranda.integrations import (
    AsyncMem0Memory,
    MemorandaSession,
    MemorandaStore,
    move_in,
)
from memoranda.testkit.strategies import FrozenClock
from memoranda.types import MovedIn

GRAPH = b"""\
{"type":"entity","name":"Kim","entityType":"person","observations":["likes tea","lives in Seoul"]}
{"type":"entity","name":"Acme","entityType":"company","observations":[]}
{"type":"relation","from":"Kim","to":"Acme","relationType":"works at"}
"""
MEM0 = b"""\
{"results": [
  {"id": "7f6c2f6e-0000-4000-8000-000000000001", "memory": "Likes tea", "hash": "abc",
   "user_id": "kim", "metadata": {"topic": "drinks"}, "actor_id": "Kim",
   "created_at": "2025-01-01T00:00:00-07:00", "updated_at": "2025-02-01T00:00:00+00:00"},
  {"id": "7f6c2f6e-0000-4000-8000-000000000002", "memory": "Has a dog", "user_id": "lee",
   "created_at": "2025-01-01T00:00:00Z", "expiration_date": "2999-12-31"}
]}
"""
LINES = """\
"A text by itself"
{"content": "Kim moved", "author": "Lee", "created_at": "2025-03-01 10:00:00", "id": "n1", \
"source": "ticket/1", "tags": ["a", "b"], "rank": 3}
{"name": "Kim", "age": 41, "tags": "x, y"}

"""
TABLE = """\
id,text,author,timestamp,tags,subject,mood
1,"Said ""yes"", then left",Kim,1740823200,"a, b",kim,good
2,"한 줄
두 줄",,2025-03-01T10:00:00Z,,,
"""


def counts(report: Any) -> tuple[int, ...]:
    assert isinstance(report, MovedIn)
    assert report.read == sum(
        (report.new, report.changed, report.unchanged, len(report.left_out), len(report.refused))
    )
    return (report.new, report.changed, report.unchanged, len(report.left_out), len(report.refused))


async def content(memory: Memory[Any]) -> list[Any]:
    return sorted((one.data for one in await memory.list()), key=str)


@pytest.mark.parametrize(
    ("contents", "kind", "new"),
    [
        (GRAPH, "mcp", 4),
        (MEM0, "mem0", 2),
        (LINES.encode(), "jsonl", 3),
        (TABLE.encode(), "csv", 2),
    ],
)
async def test_an_export_comes_in_once_and_a_dry_run_says_so_before(
    memory: Memory[Any], contents: bytes, kind: Any, new: int, tmp_path: Path
) -> None:
    file = tmp_path / f"export.{'csv' if kind == 'csv' else 'json'}"
    file.write_bytes(contents)

    dry = await move_in(memory, file, dry_run=True)
    assert await memory.list() == []
    first = await move_in(memory, str(file))
    size = (await memory.journal.head()).size
    again = await move_in(memory, contents, format=kind)

    assert isinstance(first, MovedIn)
    assert first.format == kind
    assert counts(dry) == counts(first) == (new, 0, 0, 0, 0)
    assert counts(again) == (0, 0, new, 0, 0)
    assert (await memory.journal.head()).size == size
    assert len(first.receipts) == len(await memory.list()) == new


async def test_observations_and_relations_become_records_about_their_entity(
    memory: Memory[Any],
) -> None:
    await move_in(memory, GRAPH)

    assert await content(memory) == [
        {"entity": "Acme", "type": "company"},
        {"entity": "Kim", "observation": "likes tea", "type": "person"},
        {"entity": "Kim", "observation": "lives in Seoul", "type": "person"},
        {"from": "Kim", "relation": "works at", "to": "Acme"},
    ]
    assert len(await memory.list(subject="Kim")) == 3
    assert len(await memory.list(tags=["entity:Acme"])) == 2
    found = await memory.recall("what does Kim like?", top_k=1)
    assert found.items[0].data["observation"] == "likes tea"
    assert (await memory.list(subject="Acme"))[0].sources == ({"uri": "mcp-memory:Acme"},)


async def test_memories_of_mem0_are_found_by_its_names_with_their_times(
    memory: Memory[Any],
) -> None:
    await move_in(memory, MEM0)

    (shown,) = (await AsyncMem0Memory(memory).get_all(user_id="kim"))["results"]
    assert (shown["memory"], shown["actor_id"]) == ("Likes tea", "Kim")
    assert shown["metadata"] == {"topic": "drinks", "hash": "abc"}
    assert (shown["created_at"], shown["updated_at"]) == (
        "2025-01-01T07:00:00+00:00", "2025-02-01T00:00:00+00:00",
    )  # fmt: skip
    kept = await memory.get("7f6c2f6e-0000-4000-8000-000000000001")
    assert kept is not None
    assert (kept.speaker, kept.said_at, kept.subject) == ("Kim", 1735714800000, "kim")
    (other,) = (await AsyncMem0Memory(memory).get_all(user_id="lee"))["results"]
    assert other["expiration_date"] == "2999-12-31"


async def test_of_plain_lines_and_tables_nothing_is_lost(memory: Memory[Any]) -> None:
    await move_in(memory, LINES.encode())
    await move_in(memory, TABLE.encode(), format="csv")

    one = await memory.get("n1")
    assert one is not None
    assert (one.data, one.speaker, one.tags, one.sources) == (
        "Kim moved", "Lee", ("a", "b"), ({"uri": "ticket/1"},),
    )  # fmt: skip
    assert (one.said_at, one.meta["rank"]) == (1740823200000, 3)
    row = await memory.get("1")
    assert row is not None
    assert (row.data, row.speaker, row.said_at, row.tags, row.subject, row.meta["mood"]) == (
        'Said "yes", then left', "Kim", 1740823200000, ("a", "b"), "kim", "good",
    )  # fmt: skip
    two = await memory.get("2")
    assert two is not None
    assert two.data == "한 줄\n두 줄"
    (person,) = await memory.list(where={"data.age": 41})
    assert person.tags == ("x", "y")


async def test_what_changed_there_is_the_next_version_and_what_went_here_stays_away(
    memory: Memory[Any],
) -> None:
    await move_in(
        memory, b'{"id":"a","text":"one"}\n{"id":"b","text":"two"}\n{"id":"c","text":"x"}'
    )
    await memory.remember("ours", id="d")
    await memory.update("c", "corrected here")
    await memory.forget("b", reason="not so")
    await memory.erase("b", reason="asked")

    report = await move_in(
        memory,
        b'{"id":"a","text":"uno"}\n{"id":"b","text":"two"}\n{"id":"c","text":"x"}\n'
        b'{"id":"d","text":"theirs"}\n{"id":"e","text":"new"}\n{"id":"e","text":"new"}\n',
    )

    assert counts(report) == (1, 1, 1, 3, 0)
    assert isinstance(report, MovedIn)
    assert [(one.line, one.why) for one in report.left_out] == [
        (2, "it was erased here"),
        (4, "something else is remembered under this id here"),
        (6, "line 5 says the same"),
    ]
    assert await content(memory) == ["corrected here", "new", "ours", "uno"]
    assert [event.remembered.data for event in await memory.history("a") if event.remembered] == [
        "one", "uno",
    ]  # fmt: skip


async def test_a_fault_is_named_and_nothing_comes_in_unless_that_is_wanted(
    memory: Memory[Any],
) -> None:
    lines = (
        b'{"id":"a","text":"one"}\nno json\n{"id":"trace/x","text":"ours"}\n{"id":"a","text":"2"}\n'
        b'{"id":"f","text":"x","created_at":"soon"}\n{"text":""}\n{"id":"n","text":1e999}\n'
    )

    with pytest.raises(ImportRefused) as refused:
        await move_in(memory, lines)
    assert (refused.value.count, refused.value.line) == (6, 2)
    assert await memory.list() == []
    dry = await move_in(memory, lines, dry_run=True)
    report = await move_in(memory, lines, lenient=True)
    assert counts(dry) == counts(report) == (1, 0, 0, 0, 6)
    assert isinstance(report, MovedIn)
    assert [one.line for one in report.refused] == [2, 3, 4, 5, 6, 7]


async def test_a_store_of_langgraph_moves_in_from_sqlite(
    memory: Memory[Any], clock: FrozenClock, tmp_path: Path
) -> None:
    async with AsyncSqliteStore.from_conn_string(str(tmp_path / "lg.db")) as theirs:
        await theirs.setup()
        await _filled_and_compared(theirs, memory, clock, str(tmp_path / "lg.db"))


async def test_a_store_of_langgraph_moves_in_from_postgresql(
    memory: Memory[Any], clock: FrozenClock, postgres_url: str
) -> None:
    async with AsyncPostgresStore.from_conn_string(postgres_url) as theirs:
        await theirs.setup()
        await _filled_and_compared(theirs, memory, clock, postgres_url)


async def _filled_and_compared(
    theirs: Any, memory: Memory[Any], clock: FrozenClock, place: str
) -> None:
    for number in range(5):
        await theirs.aput(("users", f"u{number % 2}"), f"k.{number}", {"n": number, "글": "말"})
    await theirs.aput(("users", "u0"), "k.0", {"n": 100})

    first, again = [await move_in(memory, place) for _ in range(2)]

    assert counts(first) == (5, 0, 0, 0, 0)
    assert counts(again) == (0, 0, 5, 0, 0)
    ours = MemorandaStore(memory, clock=clock)
    for item in await theirs.asearch(("users",), limit=10):
        found = await ours.aget(item.namespace, item.key)
        assert found is not None
        assert found.value == item.value
        assert abs((found.created_at - _zoned(item.created_at)).total_seconds()) < 0.002
        assert abs((found.updated_at - _zoned(item.updated_at)).total_seconds()) < 0.002
    assert await ours.alist_namespaces() == sorted(await theirs.alist_namespaces())


def _zoned(moment: Any) -> Any:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


async def test_sessions_of_the_agents_sdk_go_on_here(memory: Memory[Any], tmp_path: Path) -> None:
    items: list[Any] = [{"role": "user", "content": f"turn {number}"} for number in range(5)]
    for name in ("a", "b"):
        session = SQLiteSession(name, tmp_path / "sessions.db")
        await session.add_items(items)
        session.close()

    report = await move_in(memory, tmp_path / "sessions.db")
    here = MemorandaSession("a", memory)
    await here.add_items([{"role": "user", "content": "turn 5"}])

    assert counts(report) == (10, 0, 0, 0, 0)
    assert await here.get_items() == [*items, {"role": "user", "content": "turn 5"}]
    assert await here.get_items(limit=2) == [items[4], {"role": "user", "content": "turn 5"}]


async def test_our_own_objects_come_in_as_they_always_did(
    memory: Memory[Any], opens: Callable[..., Any]
) -> None:
    await memory.remember("The shop opens at 9", id="a", source="door/1")
    lines = b"".join([line async for line in memory.journal.export("objects")])
    journal = b"".join([line async for line in memory.journal.export("journal")])

    async with opens(scope=f"{memory.scope}-b") as other:
        await move_in(other, lines)
        found = await other.get("a")
        with pytest.raises(InvalidOption):
            await move_in(other, journal)

    assert found is not None
    assert (found.data, found.trust) == ("The shop opens at 9", "untrusted")


async def test_many_land_in_several_transactions_and_an_interrupted_move_is_gone_on_with(
    memory: Memory[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving_in, "AT_ONCE", 10)
    lines = b"\n".join(b'{"id":"%d","text":"t%d"}' % (n, n) for n in range(35))
    await move_in(memory, b"\n".join(lines.split(b"\n")[:15]))  # as far as it came

    assert counts(await move_in(memory, lines)) == (20, 0, 15, 0, 0)
    assert len(await memory.list()) == 35


@pytest.mark.parametrize("source", ["nowhere.jsonl", "postgresql://nobody@127.0.0.1:1/none"])
async def test_a_source_that_is_not_there_is_said(memory: Memory[Any], source: str) -> None:
    with pytest.raises(StoreUnavailable):
        await move_in(memory, source)


async def test_a_database_of_another_kind_and_a_format_that_there_is_not_are_refused(
    memory: Memory[Any], tmp_path: Path
) -> None:
    other = tmp_path / "other.db"
    async with memoranda.open(other) as it:
        await it.remember("x")

    with pytest.raises(InvalidOption):
        await move_in(memory, other)
    with pytest.raises(InvalidOption):
        await move_in(memory, LINES.encode(), format="xml")  # type: ignore[arg-type]
