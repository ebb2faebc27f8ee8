"""Facts are found by their marks: by name, by what names begin with, in order."""

from collections.abc import Sequence

import pytest

from memoranda.identity import decode
from memoranda.kernel.errors import MarkMoved
from memoranda.kernel.given import RetryKey
from memoranda.ledger.entry import read_entry
from memoranda.ledger.port import Ledger
from memoranda.ledger.snapshot import ENTRIES
from memoranda.ledger.unit import KEPT, Draft, Expected, Found, Mark, NamedFacts, OfSubject, Unit
from memoranda.testkit import contract
from memoranda.testkit.ledger.opening import (
    ACTOR,
    SALT,
    all_derivations,
    all_marks,
    erase,
    fact,
    gone,
    names,
    object_,
    seqs,
    write,
)


@contract()
async def test_what_is_marked_is_found_in_its_order(ledger: Ledger) -> None:
    for n in range(3):
        await write(ledger, fact("proposal/a", says=f"{n}"), fact("proposal/b"))

    found = await ledger.marked("proposal/a")

    assert seqs(found) == [0, 2, 4]
    assert [decode(entry.body or b"")["says"] for entry in found] == ["0", "1", "2"]
    assert [read_entry(entry.entry).kind for entry in found] == ["proposal"] * 3
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
    assert await ledger.bytes_at([3, 1, 99]) == {entry.seq: entry.entry for entry in found}
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

    actors = [read_entry(entry.entry).actor for entry in found]
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


# ------------------------------------------------------------------------------------------------
# What is erased has no body, mark or retry any more, and takes along what was made from it.


def _facts_in(found: Sequence[Found]) -> list[tuple[str, list[int]]]:
    facts = (there for there in found if isinstance(there, NamedFacts))
    return [(one.id, [entry.seq for entry in one.entries]) for one in facts]


@contract()
async def test_erased_entries_lose_body_and_marks_and_the_erasure_takes_over(
    ledger: Ledger,
) -> None:
    key = RetryKey("a key", b"f" * 32)
    await write(ledger, fact("proposal/a", "open/a"), key=key, about="a")
    await write(ledger, fact("proposal/a", "branch/x", inputs=["one"], output="proposal/a"))
    await write(ledger, fact("proposal/b", inputs=["one"], output="proposal/b"))

    erased = await erase(ledger, ["proposal/a"])

    assert _facts_in(erased) == [("proposal/a", [0, 1])]
    stored = await ledger.entries_at(range(4))
    assert [entry.body is None for entry in stored] == [True, True, False, False]
    assert [entry.salt is None for entry in stored] == [True, True, False, False]
    assert await all_marks(ledger) == [Mark("proposal/a", 3), Mark("proposal/b", 2)]
    assert await all_derivations(ledger) == [("one", "proposal/b")]
    assert (await write(ledger, fact("proposal/a"), key=key, about="a")).fresh
    assert [decode(entry.body or b"")["type"] for entry in await ledger.marked("proposal/a")] == [
        "Erasure",
        "Test",
    ]


@contract()
@pytest.mark.parametrize("name", ["one", "two", "proposal/a"])
async def test_a_retry_goes_with_anything_that_its_unit_wrote(ledger: Ledger, name: str) -> None:
    first, key, last = (RetryKey(f"{n}", b"f" * 32) for n in range(3))
    before = await write(ledger, object_("before"), key=first, about="before")
    await write(ledger, object_("one"), object_("two"), fact("proposal/a"), key=key, about="one")
    after = await write(ledger, object_("after"), key=last, about="after")
    await write(ledger, object_("without a key"))

    for other in ("without a key", name):
        erased = await erase(ledger, [other])

        assert [found.holdings.retries for found in erased] == [int(other == name)]
    again = await write(ledger, object_("before"), key=first, about="before")
    assert again == before._replace(fresh=False)
    assert await write(ledger, object_("after"), key=last) == after._replace(fresh=False)
    assert (await write(ledger, object_("new"), key=key, about="new")).fresh


@contract()
async def test_a_retry_of_several_that_are_erased_together_is_counted_once(
    ledger: Ledger,
) -> None:
    shared, own, kept = (RetryKey(f"{n}", b"f" * 32) for n in range(3))
    ours = [object_(id, subject="kim") for id in ("one", "two", "three")]
    await write(ledger, *ours[:2], object_("hers"), key=shared, about="hers")
    await write(ledger, ours[2], fact("proposal/a", "open/a"), key=own, about="three")
    await write(ledger, object_("other"), key=kept, about="other")

    erased = await erase(ledger, [*("one", "two", "three"), *("proposal/a", "open/a")])

    assert sum(found.holdings.retries for found in erased) == 2
    assert [(await write(ledger, key=key)).fresh for key in (shared, own, kept)] == [
        True, True, False
    ]  # fmt: skip


@contract()
async def test_a_retry_that_wrote_nothing_goes_with_what_it_is_about(ledger: Ledger) -> None:
    nothing, unnamed, key = (RetryKey(f"{n}", b"f" * 32) for n in range(3))
    await write(ledger, key=nothing, about="one")
    await write(ledger, key=unnamed)
    await write(ledger, object_("two"), fact("execution/a"), key=key, about="two")
    await write(ledger, object_("one"))

    erased = [*await erase(ledger, ["execution/a"]), *await erase(ledger, ["one"])]

    assert [found.holdings.retries for found in erased] == [1, 1]
    assert not (await write(ledger, key=unnamed)).fresh
    assert [(await write(ledger, key=key)).fresh for key in (nothing, key)] == [True, True]


@contract()
async def test_an_erasure_reaches_what_was_made_however_indirectly(
    ledger: Ledger,
) -> None:
    await write(ledger, object_("record", subject="kim"), object_("other"))
    await write(
        ledger,
        fact("execution/1", kind="execution", inputs=["record"], output="execution/1"),
        fact("effect", "execution/1", kind="effect"),
        fact("execution/2", kind="execution", inputs=["execution/1"], output="execution/2"),
        object_("made", "execution/2"),
        fact("execution/3", kind="execution", inputs=["other"], output="execution/3"),
    )
    assert await ledger.outputs("execution/1") == ["execution/2"]

    erased = await erase(ledger, OfSubject("kim"))

    assert [found.id for found in erased[:2]] == ["record", "made"]
    assert _facts_in(erased) == [("execution/1", [2, 3]), ("execution/2", [4])]
    assert [found.holdings.derivations for found in erased] == [0, 1, 1, 1]
    bodies = [entry.body is None for entry in await ledger.entries_at(range(7))]
    assert bodies == [True, False, True, True, True, True, False]
    assert await all_derivations(ledger) == [("other", "execution/3")]
    assert await names(ledger) == ["execution/1", "execution/2", "execution/3"]
    assert await erase(ledger, ["execution/1"]) == []


@contract()
async def test_erasing_everything_reaches_the_facts(ledger: Ledger) -> None:
    await write(ledger, *(object_(f"{n}") for n in range(3)))
    await write(ledger, *(fact(f"proposal/{n}", "branch/main") for n in range(1_100)))

    erased = await erase(ledger, KEPT)

    kinds = [isinstance(found, NamedFacts) for found in erased]
    assert kinds == [False] * 3 + [True] * len(kinds[3:])
    async with ledger.snapshot() as snapshot:
        stored = [entry async for chunk in snapshot.rows(ENTRIES) for entry in chunk]
    left = [read_entry(entry.entry).kind for entry in stored if entry.body is not None]
    assert set(left) == {"archive", "erasure"}
    assert all(entry.body is None for entry in stored[:1_103])
    again = await erase(ledger, KEPT)
    assert again == []


@contract()
async def test_what_an_erased_fact_took_away_stays_away(ledger: Ledger) -> None:
    await write(ledger, fact("proposal/a", "open/a"))
    await write(ledger, fact("decision/a", kind="decision", unmarks=[Mark("open/a", 0)]))

    await erase(ledger, ["decision/a"])

    assert await ledger.marked("open/a") == []
    (stored,) = await ledger.entries_at([2])
    assert decode(stored.body or b"")["unmarks"] == [["open/a", 0]]


@contract()
async def test_what_is_erased_and_made_again_in_one_unit_is_there(ledger: Ledger) -> None:
    await write(ledger, fact("a/1", inputs=["one"], output="a/1"))

    def decide(found: Sequence[Found | None]) -> list[Draft]:
        lost = fact("b/1", inputs=["two"], output="a/1")
        kept = fact("a/1", inputs=["three"], output="a/1")
        return [lost, *gone(found), kept]

    await ledger.commit(Unit(ACTOR, 1, decide, ["a/1"], is_erasing=True))

    assert await all_derivations(ledger) == [("three", "a/1")]
    assert seqs(await ledger.marked("a/1")) == [2, 3]
    assert seqs(await ledger.marked("b/1")) == [1]
