"""Facts are found by their marks: by name, by what names begin with, in order."""

import pytest

from memoranda.identity import decode
from memoranda.kernel.errors import MarkMoved
from memoranda.ledger.entry import read_entry
from memoranda.ledger.unit import Draft, Expected, Ledger, Mark
from memoranda.testkit.ledger.writing import (
    ACTOR,
    SALT,
    all_marks,
    fact,
    names,
    object_,
    seqs,
    write,
)
from memoranda.testkit.records.marks import contract


@contract()
async def test_what_is_marked_is_found_in_its_order(ledger: Ledger) -> None:
    for n in range(3):
        await write(ledger, fact("proposal/a", says=f"{n}"), fact("proposal/b"))

    found = await ledger.marked("proposal/a")

    assert seqs(found) == [0, 2, 4]
    assert [decode(one.body or b"")["says"] for one in found] == ["0", "1", "2"]
    assert [read_entry(one.entry).kind for one in found] == ["proposal"] * 3
    assert seqs(await ledger.marked("proposal/a", after=0)) == [2, 4]
    assert seqs(await ledger.marked("proposal/a", limit=2)) == [0, 2]
    assert seqs(await ledger.marked("proposal/a", after=0, limit=1)) == [2]
    assert seqs(await ledger.marked("proposal/a", newest_first=True)) == [4, 2, 0]
    assert seqs(await ledger.marked("proposal/a", newest_first=True, limit=1)) == [4]
    assert seqs(await ledger.marked("proposal/a", after=2, newest_first=True, limit=5)) == [4]
    assert await ledger.marked("proposal/a", limit=0) == []
    assert await ledger.marked("proposal/") == []


@contract()
async def test_entries_are_found_by_their_numbers(ledger: Ledger) -> None:
    await write(ledger, *(fact("a", says=f"{n}") for n in range(5)))

    found = await ledger.entries_at([3, 1, 99])

    assert seqs(found) == [1, 3]
    assert await ledger.bytes_at([3, 1, 99]) == {one.seq: one.entry for one in found}
    assert await ledger.entries_at([]) == []


@contract()
async def test_names_are_listed_by_what_they_begin_with(ledger: Ledger) -> None:
    every = [
        "a", "a/", "a/%", "a/%b", "a/_", "a/ab", "a/b", "a/가", "a/가나", "a/😀", "a0", "b/a",
        "a/\\", "A/a", "가/a", "a/é",
        "a/\U0010ffff", "a/\U0010ffff\U0010ffff", "\U0010ffff", "a/\ud7ff", "a/\ue000",
    ]  # fmt: skip
    await write(ledger, *(fact(name) for name in every))
    await write(ledger, fact("a/가"))

    for prefix in (
        "",
        "a",
        "a/",
        "a/%",
        "a/_",
        "a/a",
        "a/가",
        "가",
        "a/\\",
        "nothing",
        "a/\U0010ffff",
        "a/\ud7ff",
    ):
        expected = sorted(name for name in every if name.startswith(prefix))
        assert await names(ledger, prefix) == expected, prefix
    assert await ledger.marks("a/가") == [Mark("a/가", len(every)), Mark("a/가나", 8)]


@contract()
async def test_names_are_listed_page_by_page(ledger: Ledger) -> None:
    every = sorted(f"open/{n}" for n in range(25))
    await write(ledger, *(fact(name) for name in reversed(every)), fact("opened"), fact("a"))

    pages, last = [], ""
    while page := await names(ledger, "open/", after=last, limit=10):
        pages += page
        last = page[-1]

    assert pages == every
    assert await names(ledger, "open/", after="open/99") == []
    assert await names(ledger, "open/", after="a", limit=1) == every[:1]


@contract()
async def test_a_mark_that_is_taken_away_is_not_found(ledger: Ledger) -> None:
    await write(ledger, fact("proposal/a", "open/a"), fact("proposal/a", "open/a"))
    await write(ledger, fact("proposal/a", unmarks=[Mark("open/a", 0), Mark("open/b", 0)]))

    assert seqs(await ledger.marked("open/a")) == [1]
    assert seqs(await ledger.marked("proposal/a")) == [0, 1, 2]

    await write(ledger, fact("decided/a", kind="decision", unmarks=[Mark("open/a", 1)]))

    assert await ledger.marked("open/a") == []
    assert await names(ledger, "open/") == []
    assert await all_marks(ledger) == [
        Mark("decided/a", 3),
        *(Mark("proposal/a", n) for n in range(3)),
    ]


@contract()
async def test_only_facts_have_marks(ledger: Ledger) -> None:
    await write(ledger, Draft("maintenance", b"{}", SALT, marks=("a",)))
    await write(ledger, object_("one")._replace(marks=("b",)))

    assert await all_marks(ledger) == []


@contract()
async def test_each_entry_has_the_actor_who_acted(ledger: Ledger) -> None:
    mine, theirs = fact("a"), fact("a")._replace(actor='human:"김" \\ 😀')
    await write(ledger, mine, theirs, mine, object_("one")._replace(actor="human:ada"))

    found = await ledger.entries_at(range(4))

    actors = [read_entry(one.entry).actor for one in found]
    assert actors == [ACTOR, 'human:"김" \\ 😀', ACTOR, "human:ada"]


@contract()
async def test_long_names_and_many_marks_are_as_good_as_any(ledger: Ledger) -> None:
    # 524 characters of four bytes that can't be packed: the longest id, and a word before it.
    long = "proposal/aaa" + "".join(chr(0x20000 + 7919 * n % 40_000) for n in range(512))
    many = [f"{long[:-3]}{n:03}" for n in range(200)]
    await write(ledger, fact(*many))
    await write(ledger, fact(long, inputs=[many[0], long], output=many[1]))

    assert seqs(await ledger.marked(long)) == [1]
    assert await names(ledger, long[:500]) == sorted([*many, long])
    assert seqs(await ledger.marked(many[117])) == [0]
    assert await ledger.outputs(many[0]) == await ledger.outputs(long) == [many[1]]
    with pytest.raises(MarkMoved):
        await write(ledger, fact(long), expects=[Expected(long, 0)])
    await write(ledger, fact(unmarks=[Mark(name, 0) for name in many]))
    assert await all_marks(ledger) == [Mark(long, 1)]
