"""What `list` finds page by page, by words, threads and times, now and as it was."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda import Memory, MemoryFilter
from memoranda.kernel.errors import InvalidFilter, UnknownFilterKey
from memoranda.records.filter import Position
from memoranda.stores.postgres.select import DIALECT as POSTGRES
from memoranda.stores.postgres.select import for_psycopg
from memoranda.stores.selection import SelectStatement, selection, tag_counts
from memoranda.stores.sqlite.ledger import SqliteLedger
from memoranda.stores.sqlite.select import DIALECT as SQLITE
from memoranda.testkit.strategies import FrozenClock, shared_fixtures
from tests.stores.search.conftest import in_database, merge_all

pytestmark = pytest.mark.rule("MEM-FILTER")

DAY = 86_400_000


async def walk(memory: Memory[Any], **asked: Any) -> list[str]:
    """The ids of all pages together."""
    page = await memory.list(**asked)
    found = [one.id for one in page]
    while page.next is not None:
        assert len(page) == asked["limit"]
        page = await memory.list(cursor=page.next, **asked)
        found += [one.id for one in page]
    return found


async def whole(memory: Memory[Any], **asked: Any) -> list[str]:
    page = await memory.list(**asked)
    assert page.next is None
    return [one.id for one in page]


# --------------------------------------------------------------------------------- pages


async def test_a_page_is_a_sequence_with_a_cursor(memory: Memory[Any]) -> None:
    await memory.remember_many(["a", "b", "c"])

    page = await memory.list(limit=2)
    rest = await memory.list(limit=2, cursor=page.next)

    assert ([one.data for one in page], [one.data for one in rest]) == (["c", "b"], ["a"])
    assert (page[0].data, [one.data for one in page[1:]], len(rest)) == ("c", ["b"], 1)
    assert rest.next is None
    assert page == [page[0], page[1]]
    assert page != rest
    assert repr(page).startswith("Page(2 and more: Remembered(")
    assert repr(rest).startswith("Page(1: Remembered(")
    nothing = await memory.list(limit=0)
    assert (len(nothing), nothing.next) == (0, None)


async def test_a_page_is_json_with_its_cursor_and_a_table_in_a_notebook(
    memory: Memory[Any],
) -> None:
    await memory.remember_many(["a", "b"])

    page = await memory.list(limit=1)
    records = await memory.records.page(MemoryFilter(limit=1))

    assert page.to_wire() == {"items": [page[0].to_wire()], "next": page.next}
    assert records.to_wire() == {"items": [records[0].to_wire()], "next": records.next}
    assert (await memory.list()).to_wire()["next"] is None
    assert page._repr_html_().startswith("<table>")


async def test_writes_between_pages_neither_repeat_nor_hide_what_stays(
    memory: Memory[Any],
) -> None:
    ids = [receipt.id for receipt in await memory.remember_many([f"note {n}" for n in range(9)])]
    questions: list[dict[str, Any]] = [
        {}, {"text": "note"}, {"order": "asc"}, {"text": "note", "order": "asc"},
    ]  # fmt: skip
    for asked in questions:
        page = await memory.list(limit=3, **asked)
        seen = [one.id for one in page]
        while page.next is not None:
            await memory.remember_many(["a new note", "another note"])
            await memory.update(ids[4], f"note changed {len(seen)}")
            page = await memory.list(limit=3, cursor=page.next, **asked)
            seen += [one.id for one in page]

        old = [id for id in seen if id in ids]
        assert old == (ids if asked.get("order") == "asc" else ids[::-1])
        assert len(seen) == len(set(seen))


@pytest.mark.parametrize(
    "other",
    [
        {"tags": ["x"]}, {"text": "note"}, {"order": "asc"}, {"order_by": "entry"}, {"at": 3},
        {"valid_at": 7}, {"include": ["false"]}, {"factual": True}, {"created_after": "2h ago"},
    ],
    ids=str,
)  # fmt: skip
async def test_a_cursor_of_another_question_is_refused(
    memory: Memory[Any], other: dict[str, Any]
) -> None:
    await memory.remember_many(["note 1", "note 2", "note 3"], tags=["x"])
    cursor = (await memory.list(limit=1)).next

    with pytest.raises(InvalidFilter) as caught:
        await memory.list(limit=1, cursor=cursor, **other)

    assert caught.value.where == "cursor"


async def test_a_time_told_from_now_keeps_its_cursor(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    await memory.remember_many(["a", "b", "c"])
    page = await memory.list(limit=2, created_after="2h ago")
    clock.advance(1_000)

    rest = await memory.list(limit=2, created_after="2h ago", cursor=page.next)

    assert [one.data for one in rest] == ["a"]


@given(
    written=st.lists(
        st.tuples(st.sampled_from(["red", "blue", "red blue"]), st.integers(0, 2), st.booleans()),
        max_size=14,
    ),
    limit=st.integers(1, 4),
    merged=st.integers(0, 14),
)
@shared_fixtures
async def test_pages_by_words_are_those_of_all_that_says_them(
    memory: Memory[Any], clock: FrozenClock, written: list[Any], limit: int, merged: int
) -> None:
    await memory.records.clear()
    told = []
    for number, (text, later, tagged) in enumerate(written):
        clock.advance(later)
        tags = ["t"] if tagged else []
        told.append((text, tags, (await memory.remember(text, tags=tags)).id))
        if number == merged:
            await merge_all(memory)
    told.reverse()
    red = [id for text, _, id in told if "red" in text]
    both = [id for text, tags, id in told if "blue" in text and tags]

    assert await walk(memory, text="red", limit=limit) == red == await whole(memory, text="red")
    assert await walk(memory, text="blue", tags=["t"], limit=limit) == both
    assert await walk(memory, text="red", limit=limit, order="asc") == red[::-1]
    assert await walk(memory, text="red", limit=limit, at=10**9) == red


# ------------------------------------------------------------------------------- threads


@pytest.mark.parametrize("is_merged", [False, True])
async def test_a_thread_is_found_by_its_name(memory: Memory[Any], is_merged: bool) -> None:
    for n in range(6):
        await memory.remember(f"turn {n}", id=str(n), source=f"chat/{n % 2}")
    await memory.remember("alone", id="alone")
    if is_merged:
        await merge_all(memory)
    await memory.update("2", "turn two", source="correction/1", reason="misheard")
    await memory.remember("turn 6", id="6", source="chat/0")
    await memory.forget("4", reason="wrong")

    assert await whole(memory, thread="chat/0") == ["6", "2", "0"]
    assert await walk(memory, thread="chat/0", limit=2) == ["6", "2", "0"]
    assert await whole(memory, thread="chat/0", text="turn", order="asc") == ["0", "2", "6"]
    assert await whole(memory, thread="chat/0", at=(await memory.history("4"))[0].seq) == [
        "4",
        "2",
        "0",
    ]
    for nothing in ("chat/2", "", "\ud800", "chat/"):
        assert await whole(memory, thread=nothing) == []
    filter = MemoryFilter(thread="chat/1", limit=2)
    assert await memory.records.ids(filter) == ["5", "3"]
    assert await memory.records.count(MemoryFilter(thread="chat/1")) == 3


people, chats = st.sampled_from([None, "kim", "lee"]), st.sampled_from([None, "chat/0", "chat/1"])


@given(
    written=st.lists(st.tuples(people, chats, st.integers(0, 3)), max_size=12),
    merged=st.integers(0, 12),
    subject=people,
    thread=chats,
    least=st.integers(0, 3),
    order_by=st.sampled_from(["created", "updated", "entry"]),
    limit=st.integers(1, 3),
)
@shared_fixtures
async def test_subjects_threads_and_conditions_find_what_their_definition_says(
    memory: Memory[Any],
    written: list[Any],
    merged: int,
    subject: str | None,
    thread: str | None,
    least: int,
    order_by: str,
    limit: int,
) -> None:
    await memory.records.clear()
    told = []
    for number, (person, chat, n) in enumerate(written):
        receipt = await memory.remember({"n": n}, subject=person, source=chat)
        told.append((person, chat, n, receipt.id))
        if number == merged:
            await merge_all(memory)
    asked: dict[str, Any] = {"subject": subject, "thread": thread, "order_by": order_by}
    asked["where"] = {"data.n": {"$gte": least}}

    assert await walk(memory, limit=limit, **asked) == [
        id
        for person, chat, n, id in reversed(told)
        if subject in {None, person} and thread in {None, chat} and n >= least
    ]


# --------------------------------------------------------------------------------- times


async def test_an_entry_is_the_last_that_is_known(memory: Memory[Any]) -> None:
    one = await memory.remember("one")
    two = await memory.update(one.id, "two")

    assert [found.data for found in await memory.list(at=one.seq)] == ["one"]
    assert [found.data for found in await memory.list(at=two.seq)] == ["two"]
    assert await memory.list(at=one.seq - 1) == []
    found = await memory.get(one.id, at=one.seq)
    assert found is not None
    assert found.data == "one"


async def test_times_are_asked_for_as_people_write_them(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    clock.advance(DAY - clock.at % DAY + 1)  # just after midnight
    day = await memory.remember("on the day")
    clock.advance(DAY)
    next_day = await memory.remember("on the next")

    assert await whole(memory, created_after="yesterday", created_before="yesterday") == [day.id]
    assert await whole(memory, created_after="today") == [next_day.id]
    assert await whole(memory, at="1h ago") == [day.id]
    assert await whole(memory, order_by="entry", order="asc") == [day.id, next_day.id]
    assert await whole(memory, valid_at="2h ago") == [next_day.id, day.id]


@pytest.mark.parametrize(
    "wrong",
    [{"order_by": "createdAt"}, {"order_by": []}, {"order": "up"}, {"limit": -1}, {"limit": "3"},
     {"text": 7}, {"tags": "x"}, {"where": 1}, {"subject": 7}, {"cursor": 7}, {"thread": b"x"}],
    ids=str,
)  # fmt: skip
async def test_what_can_not_be_asked_is_refused(memory: Memory[Any], wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidFilter):
        await memory.list(**wrong)


async def test_a_filter_that_there_is_not_is_told_of_with_the_nearest(memory: Memory[Any]) -> None:
    with pytest.raises(UnknownFilterKey) as caught:
        await memory.list(create_after="yesterday")  # type: ignore[call-arg]

    assert caught.value.code == "input.filter.unknown_key"
    assert "created_after" in str(caught.value)


# ------------------------------------------------------------------------------- indexes


async def plan(memory: Memory[Any], chosen: SelectStatement | None) -> str:
    """How a database would answer, in its own words; PostgreSQL as if its tables were large."""
    assert chosen is not None
    ledger = await in_database(memory)
    if isinstance(ledger, SqliteLedger):
        sql = f"EXPLAIN QUERY PLAN {chosen.sql}"
        rows = await ledger._database.read(
            lambda connection: list(connection.execute(sql, chosen.parameters))
        )
        return "\n".join(str(row[-1]) for row in rows)
    async with ledger._calls.transaction(ledger._begin_query) as connection:
        for node in ("seqscan", "bitmapscan", "sort"):
            await connection.execute(f"SET LOCAL enable_{node} = off")
        statement, values = for_psycopg(chosen)
        explained = await connection.execute(f"EXPLAIN {statement}", values)
        return "\n".join(str(row[0]) for row in await explained.fetchall())


async def test_tags_and_ids_are_found_by_an_index_without_bodies(memory: Memory[Any]) -> None:
    await memory.remember("a", tags=["user/kim"])
    ledger = await in_database(memory)
    is_sqlite = isinstance(ledger, SqliteLedger)
    dialect, number = (SQLITE if is_sqlite else POSTGRES), ledger._journal

    tags = await plan(memory, tag_counts("user/", number, dialect))
    ids = await plan(memory, selection(MemoryFilter(tags=["x"]), number, dialect, columns="v.id"))
    after = await plan(
        memory, selection(MemoryFilter(limit=3), number, dialect, after=Position(5, 5))
    )

    if is_sqlite:
        assert "PRIMARY KEY (journal=? AND tag>? AND tag<?)" in tags
        assert "(created_at,since)<(?,?)" in after
    else:
        assert tags.count("tags_by_creation") == 2
        assert tags.count("(tag >= ") == 2
        assert "active_by_creation" in after
        assert "ROW(v.created_at, v.since) < " in after or "ROW(created_at, since) < " in after
    assert "bodies" not in ids
    assert "SEARCH b" not in ids
