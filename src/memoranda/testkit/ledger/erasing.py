"""What is erased has no body, mark or retry any more, and takes along what was made from it."""

from collections.abc import Sequence

import pytest

from memoranda.identity import decode
from memoranda.kernel.retry import RetryKey
from memoranda.ledger.entry import read_entry
from memoranda.ledger.unit import ENTRIES, KEPT, Current, Draft, Ledger, Mark, OfSubject, Unit
from memoranda.testkit.ledger.writing import (
    ACTOR,
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
from memoranda.testkit.records.marks import contract


@contract()
async def test_erased_entries_lose_body_and_marks_and_the_erasure_takes_over(
    ledger: Ledger,
) -> None:
    key = RetryKey("a key", b"f" * 32)
    await write(ledger, fact("proposal/a", "open/a"), key=key, about="a")
    await write(ledger, fact("proposal/a", "branch/x", inputs=["one"], output="proposal/a"))
    await write(ledger, fact("proposal/b", inputs=["one"], output="proposal/b"))

    told = await erase(ledger, ["proposal/a"])

    assert [(one.id, one.status, [entry.seq for entry in one.entries]) for one in told] == [
        ("proposal/a", ENTRIES, [0, 1])
    ]
    stored = await ledger.entries_at(range(4))
    assert [one.body is None for one in stored] == [True, True, False, False]
    assert [one.salt is None for one in stored] == [True, True, False, False]
    assert await all_marks(ledger) == [Mark("proposal/a", 3), Mark("proposal/b", 2)]
    assert await all_derivations(ledger) == [("one", "proposal/b")]
    assert (await write(ledger, fact("proposal/a"), key=key, about="a")).fresh
    assert [decode(one.body or b"")["type"] for one in await ledger.marked("proposal/a")] == [
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
        told = await erase(ledger, [other])

        assert [one.beside.retries for one in told] == [int(other == name)]
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

    told = await erase(ledger, [*("one", "two", "three"), *("proposal/a", "open/a")])

    assert sum(one.beside.retries for one in told) == 2
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

    told = [*await erase(ledger, ["execution/a"]), *await erase(ledger, ["one"])]

    assert [one.beside.retries for one in told] == [1, 1]
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

    told = await erase(ledger, OfSubject("kim"))

    assert [(one.id, [entry.seq for entry in one.entries]) for one in told] == [
        ("record", []),
        ("made", []),
        ("execution/1", [2, 3]),
        ("execution/2", [4]),
    ]
    assert [one.beside.derivations for one in told] == [0, 1, 1, 1]
    bodies = [one.body is None for one in await ledger.entries_at(range(7))]
    assert bodies == [True, False, True, True, True, True, False]
    assert await all_derivations(ledger) == [("other", "execution/3")]
    assert await names(ledger) == ["execution/1", "execution/2", "execution/3"]
    assert await erase(ledger, ["execution/1"]) == []


@contract()
async def test_erasing_everything_reaches_the_facts(ledger: Ledger) -> None:
    await write(ledger, *(object_(f"{n}") for n in range(3)))
    await write(ledger, *(fact(f"proposal/{n}", "branch/main") for n in range(1_100)))

    told = await erase(ledger, KEPT)

    kinds = [one.status == ENTRIES for one in told]
    assert kinds == [False] * 3 + [True] * len(kinds[3:])
    async with ledger.snapshot() as snapshot:
        stored = [one async for chunk in snapshot.entries() for one in chunk]
    left = [read_entry(one.entry).kind for one in stored if one.body is not None]
    assert set(left) == {"archive", "erasure"}
    assert all(one.body is None for one in stored[:1_103])
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

    def decide(found: Sequence[Current | None]) -> list[Draft]:
        lost = fact("b/1", inputs=["two"], output="a/1")
        kept = fact("a/1", inputs=["three"], output="a/1")
        return [lost, *gone(found), kept]

    await ledger.commit(Unit(ACTOR, 1, decide, ["a/1"], is_erasing=True))

    assert await all_derivations(ledger) == [("three", "a/1")]
    assert seqs(await ledger.marked("a/1")) == [2, 3]
    assert seqs(await ledger.marked("b/1")) == [1]
