"""A walk along a journal, with roots at any size, and what facts may and may not say."""

from typing import Any

import pytest

from memoranda.identity import canonical_bytes
from memoranda.identity.merkle import Frontier, leaf_hash
from memoranda.ledger.damage import Damages
from memoranda.ledger.entry import Entry, body_digest, entry_bytes, entry_hash, genesis
from memoranda.ledger.rows import TagSums
from memoranda.ledger.tree import BLOCK
from memoranda.ledger.unit import Mark, StoredEntry
from memoranda.ledger.walk import Walk, mark_row

ORIGIN = "memoranda/" + "0" * 32 + "/s"
SALT = bytes(16)
KEY = b"key"


def journal(*bodies: tuple[str, dict[str, Any]], gone: tuple[int, ...] = ()) -> list[StoredEntry]:
    """Entries of these kinds and bodies; some of the bodies are gone."""
    before, stored = genesis(ORIGIN), []
    for seq, (kind, document) in enumerate(bodies):
        body = canonical_bytes(document)
        raw = entry_bytes(Entry(seq, kind, seq, "agent:a", body_digest(SALT, body), before))
        before = entry_hash(raw).hex()
        is_there = seq not in gone
        stored.append(StoredEntry(seq, raw, SALT if is_there else None, body if is_there else None))
    return stored


def walked(stored: list[StoredEntry], wanted: tuple[int, ...] = ()) -> Walk:
    walk = Walk(ORIGIN, Damages(), wanted, key=KEY)
    walk.feed(stored)
    walk.facts.finish()
    return walk


@pytest.mark.parametrize("size", [1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK])
def test_a_root_is_known_at_every_size_that_is_asked_for(size: int) -> None:
    stored = journal(*[("maintenance", {"type": "Tick"})] * (2 * BLOCK + 3))
    frontier = Frontier()
    for one in stored[:size]:
        frontier, _ = frontier.append(leaf_hash(one.entry))

    assert walked(stored, (size,)).roots[size] == frontier.root()


def marks(walk: Walk, *expected: tuple[str, int]) -> bool:
    """Whether the index of marks would have just these."""
    sums = TagSums(KEY)
    for name, seq in expected:
        sums.add(mark_row(Mark(name, seq)))
    return not walk.facts.marks.differing(sums)


PROPOSAL = ("proposal", {"type": "Proposal", "marks": ["proposal/p", "open/p"]})
DECISION = (
    "decision",
    {"type": "Decision", "marks": ["proposal/p"], "unmarks": [["open/p", 0]]},
)


def test_a_mark_that_was_taken_away_is_not_in_the_index() -> None:
    walk = walked(journal(PROPOSAL, DECISION))

    assert not walk.damages
    assert marks(walk, ("proposal/p", 0), ("proposal/p", 1))


def erasure(stored: list[StoredEntry], *seqs: int, **more: Any) -> tuple[str, dict[str, Any]]:
    digests = {seq: body_digest(SALT, stored[seq].body or b"") for seq in seqs}
    erased = [[seq, digests[seq]] for seq in seqs]
    said = {"type": "Erasure", "reason": "asked", "cause": "user_request", "erased": erased}
    return "erasure", {**said, **more}


def test_an_unmark_of_what_is_gone_counts_for_nothing() -> None:
    both = journal(PROPOSAL, DECISION)
    walk = walked(journal(PROPOSAL, DECISION, erasure(both, 0), gone=(0,)))

    assert not walk.damages
    assert marks(walk, ("proposal/p", 1))


def test_an_erasure_takes_over_what_was_taken_away() -> None:
    both = journal(PROPOSAL, DECISION)
    taken = erasure(both, 1, unmarks=[["open/p", 0]], marks=["proposal/p"])
    walk = walked(journal(PROPOSAL, DECISION, taken, gone=(1,)))

    assert not walk.damages
    assert marks(walk, ("proposal/p", 0), ("proposal/p", 2))


def test_a_fact_that_is_gone_without_an_erasure_is_damage() -> None:
    found = walked(journal(PROPOSAL, DECISION, gone=(1,))).damages.found

    assert [(one.check, one.seq) for one in found] == [("body", 1)]
