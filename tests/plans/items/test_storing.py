"""Where items are, how they land, and that nothing is left of them: in the tables themselves."""

from pathlib import Path
from typing import Any

import pytest

from memoranda.kernel.errors import MemorandaError, ScopeNotFound, StoreFailed
from memoranda.ledger.attachments import AllErased, NewItem
from memoranda.ledger.unit import Draft, Unit
from memoranda.testkit.items import fresh_scope
from memoranda.testkit.items.opening import found, item, save_all
from tests.plans.items.conftest import SESSION, TABLES, Place

CANARY = "카나리아qzx"
EVERY_COLUMN = {
    True: "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c"
    " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'",
    False: "SELECT table_name, column_name FROM information_schema.columns"
    " WHERE table_schema = 'memoranda'",
}


def holding(place: Place, text: str) -> set[str]:
    """The tables that hold a text, in whatever column, as text or as bytes."""
    tables: dict[str, list[str]] = {}
    for table, column in place.run(EVERY_COLUMN[place.is_sqlite]):
        tables.setdefault(table, []).append(f'"{column}"')
    found = set()
    for table, columns in tables.items():
        for row in place.run(f"SELECT {', '.join(columns)} FROM {{{table}}}"):  # noqa: S608 - ours
            for value in row:
                stored = value if isinstance(value, bytes) else str(value).encode()
                if text.encode() in stored:
                    found.add(table)
    return found


# ---------------------------------------------------------------------------- where they are


@pytest.mark.rule("ING-SCOPE")
async def test_an_items_data_is_in_its_table_and_its_index_and_nowhere_else(place: Place) -> None:
    items = await place.items()
    await items.save(item(SESSION, CANARY, summary=f"A summary with {CANARY[::-1]}."))
    await items.search(f"Is there {CANARY}?", 3)

    assert holding(place, CANARY[::-1]) == {"memories"}
    assert holding(place, CANARY) == {"memories", "item_keywords"}


@pytest.mark.rule("ING-SCOPE", "ING-WHITELIST")
async def test_there_is_no_column_for_anything_else(place: Place) -> None:
    columns: dict[str, set[str]] = {}
    for table, column in place.run(EVERY_COLUMN[place.is_sqlite]):
        columns.setdefault(table, set()).add(column)

    assert columns["memories"] == {"journal", "session", "id", "body"}
    assert columns["item_keywords"] - {"key"} == {
        "number", "journal", "session", "gram", "folded", "marked",
    }  # fmt: skip
    assert columns["item_postings"] - {"journal"} == {"keyword", "at", "id"}


@pytest.mark.rule("ING-KEYWORDS")
async def test_keywords_are_stored_as_they_were_given(place: Place) -> None:
    items = await place.items()
    given = item(SESSION, "C++", "c++", "e\u0301", " 메모리 ", "\uff21\uff30\uff29")
    await items.save(given)

    ((body,),) = place.run("SELECT body FROM {memories}")
    assert bytes(body) == place.packed(
        b'{"id":"%s","keywords":["C++","c++","e\xcc\x81"," \xeb\xa9\x94\xeb\xaa\xa8\xeb\xa6\xac ",'
        b'"\xef\xbc\xa1\xef\xbc\xb0\xef\xbc\xa9"],"sessionRef":"s1","summary":"%s",'
        b'"timestamp":"%s"}' % (given.id.encode(), given.summary.encode(), given.timestamp.encode())
    )
    folded = {row[0] for row in place.run("SELECT folded FROM {item_keywords}")}
    assert folded == {"c++", "é", " 메모리 ", "api"}


async def test_a_scope_to_which_nothing_was_written_has_no_items(place: Place) -> None:
    with pytest.raises(ScopeNotFound):
        await place.database.items("nowhere", SESSION)


# ------------------------------------------------------------------------------ how they land


def fail_at(place: Place, table: str) -> str:
    """Let every write of a row into a table fail; the statement that ends it."""
    if place.is_sqlite:
        place.run(
            f"CREATE TRIGGER fails AFTER INSERT ON {table}"
            " BEGIN SELECT RAISE(ABORT, 'the disk is on fire'); END"
        )
        return "DROP TRIGGER fails"
    place.run(
        "CREATE OR REPLACE FUNCTION public.fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " RAISE EXCEPTION 'the disk is on fire'; END $$"
    )
    place.run(
        f"CREATE TRIGGER fails AFTER INSERT ON memoranda.{table}"
        " FOR EACH ROW EXECUTE FUNCTION public.fails()"
    )
    return f"DROP TRIGGER fails ON memoranda.{table}"


@pytest.mark.rule("ING-NO-BEST-EFFORT")
@pytest.mark.parametrize("table", TABLES)
async def test_a_write_that_fails_anywhere_leaves_nothing_and_is_told(
    place: Place, table: str
) -> None:
    items = await place.items()
    before = item(SESSION, "memory")
    await items.save(before)
    counts = place.counts()
    given = item(SESSION, "memory", "session")
    repaired = fail_at(place, table)

    with pytest.raises(StoreFailed) as caught:
        await items.save(given)

    assert caught.value.code == "store.failed"
    assert place.counts() == counts
    place.run(repaired)
    assert await found(items, "memory session") == [before.id]
    await items.save(given)
    assert set(await found(items, "memory session")) == {before.id, given.id}


@pytest.mark.rule("ING-NO-BEST-EFFORT")
async def test_an_item_lands_with_the_entries_of_its_unit_or_not_at_all(place: Place) -> None:
    ledger = await place.database.ledger(place.scope, place.scope, 0)
    items = await place.items()
    entry = Draft("maintenance", b"{}", bytes(16))
    given = item(SESSION, "memory", "session")
    new_item = NewItem(**dict(given))
    other = NewItem(**{**dict(given), "summary": "Something else."})

    def unit(*attachments: NewItem) -> Unit:
        return Unit("system:test", 1, lambda _: [entry], attachments=attachments)

    await ledger.commit(unit(new_item))
    counts, size = place.counts(), (await ledger.head()).size
    assert (counts, size) == ({"memories": 1, "item_keywords": 2, "item_postings": 2}, 1)
    assert await found(items, "memory") == [given.id]

    fresh = NewItem(**dict(item(SESSION, "memory", "third")))
    for refused in (unit(fresh, other), unit(fresh, fresh._replace(summary=""))):
        with pytest.raises(MemorandaError) as caught:
            await ledger.commit(refused)
        assert caught.value.code in {"record.exists", "input.item"}
    assert (place.counts(), (await ledger.head()).size) == (counts, size)

    await ledger.commit(unit(new_item))  # the same item once more
    assert (place.counts(), (await ledger.head()).size) == (counts, 2)


# ------------------------------------------------------------------------------ how they go


async def test_all_of_a_scopes_items_go_with_the_scope_and_no_others(place: Place) -> None:
    kept, gone = (
        await place.items(scope=fresh_scope()),
        [await place.items(), await place.items("s2")],
    )
    other = item(SESSION, "memory")
    await kept.save(other)
    counts = place.counts()
    await save_all(gone[0], item(SESSION, "memory", CANARY), item(SESSION, "memory"))
    await save_all(gone[1], item("s2", "memory", CANARY, summary=CANARY))
    ledger = await place.database.ledger(place.scope, place.scope, 0)
    full = place.counts()

    def erasing(*, is_dry_run: bool) -> Unit:
        return Unit("system:test", 1, lambda _: (), attachments=[AllErased(is_dry_run)])

    dry = await ledger.commit(erasing(is_dry_run=True))
    assert dry.erased_attachments is not None
    assert dry.erased_attachments.items == 3
    assert place.counts() == full
    done = await ledger.commit(erasing(is_dry_run=False))
    assert done.erased_attachments == dry.erased_attachments
    assert place.counts() == counts
    assert holding(place, CANARY) == set()
    assert [await found(one, f"memory {CANARY}") for one in gone] == [[], []]
    assert await found(kept, "memory") == [other.id]

    await gone[0].save(item(SESSION, CANARY))
    assert len(await found(gone[0], CANARY)) == 1


async def test_no_byte_of_an_erased_item_is_left_in_a_sqlite_file(
    place: Place, tmp_path: Path
) -> None:
    if not place.is_sqlite:
        return  # its files are the server's: `rewrite` is for them
    ledger = await place.database.ledger(place.scope, place.scope, 0)
    items = await place.items()
    for _ in range(50):
        await items.save(item(SESSION, CANARY, f"{CANARY}{_}", summary=CANARY * 20))
    canary, marked = CANARY.encode(), CANARY[:2].encode()

    def left() -> bytes:
        return b"".join(file.read_bytes() for file in tmp_path.glob("items.db*"))

    assert canary in left()
    erase: Any = AllErased()
    await ledger.commit(Unit("system:test", 1, lambda _: (), attachments=[erase]))
    await ledger.scrub()

    assert canary not in left()
    assert marked not in left()
