"""Proofs that were changed, mixed, cut, aged or forged are refused: thousands, and none passes."""

import copy
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from memoranda.identity import canonical_bytes
from memoranda.kernel.actors import parse_actor
from memoranda.kernel.errors import InvalidProof, InvalidWorld
from memoranda.ledger.checkpoint import sign_checkpoint
from memoranda.ledger.signed_note import SignedNote
from memoranda.outside.keys import Ed25519Signer, Ed25519Verifier
from memoranda.recall.policies import signed_by_one_of
from memoranda.recall.proof import evidence
from memoranda.recall.proof_check import check_proof, check_signed, prove, verify_proof
from memoranda.recall.trace import CoveringCheckpoint, VerificationEvidence
from tests.campaigns.adversity.chance import Random
from tests.recall.journals import Journal
from tests.worlds.making import T0

Wire = dict[str, Any]
MUTATIONS = 12_000
CONTENT = Journal(1).original(0).body.decode()
LARGE = 70_000
"""Beyond 65,536, where the second stored level begins."""


@cache
def large() -> Journal:
    return Journal(LARGE)


@cache
def proofs(kind: str) -> list[Wire]:
    """Proofs that hold, of several journals, entries and sizes."""
    if kind == "large":
        places = [
            (large(), seq, size)
            for size in (LARGE, 65_537, 65_536, 40_000)
            for seq in (0, 1, 30_000, 39_999)
        ]
    else:
        small = [Journal(40, "a"), Journal(40, "b")]
        places = [
            (journal, seq, size)
            for journal in small
            for size in (1, 2, 3, 4, 5, 8, 13, 31, 32, 33, 40)
            for seq in {0, 1, 3, 4, 12, 30, 31, size - 1}
            if seq < size and seq % 3 != 2
        ]
    if kind == "hash":
        found = [
            prove(journal.ref(seq), journal.original(seq), method="hash").proof
            for journal, seq, _ in places
        ]
    else:
        found = [journal.proof(seq, size) for journal, seq, size in places]
    return [one.to_wire() for one in found if one is not None]


# ------------------------------------------------------------------------ mutations


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to everything in a document that holds nothing else."""
    if isinstance(value, dict | list):
        steps = value.items() if isinstance(value, dict) else enumerate(value)
        for step, member in steps:
            yield from leaves(member, (*path, step))
    else:
        yield path


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def put(value: Any, path: tuple[Any, ...], member: Any) -> None:
    at(value, path[:-1])[path[-1]] = member


def flip(wire: Wire, chance: Random, _pool: list[Wire]) -> None:
    """One character of one text is another."""
    path = chance.choice([path for path in leaves(wire) if at(wire, path)])
    found = at(wire, path)
    if isinstance(found, int):
        put(wire, path, found ^ 1 << chance.randrange(20))
        return
    place = chance.randrange(len(found))
    other = chance.choice('0123456789abcdef,:"{}Z\n ')
    put(wire, path, found[:place] + other + found[place + 1 :])


def swap(wire: Wire, chance: Random, pool: list[Wire]) -> None:
    """Some members are those of another proof."""
    other = copy.deepcopy(chance.choice(pool)["proof"])
    for name in chance.sample(sorted(other), chance.randint(1, len(other) - 1)):
        wire["proof"][name] = other[name]


def other_size(wire: Wire, chance: Random, _pool: list[Wire]) -> None:
    if "size" in wire["proof"]:
        near = wire["proof"]["size"]
        wire["proof"]["size"] = chance.choice([near + 1, near - 1, near * 2, chance.randint(0, 99)])


def stale(wire: Wire, chance: Random, pool: list[Wire]) -> None:
    """The tree is one of another size, the path is not."""
    other = chance.choice(pool)["proof"]
    for name in ("root", "size", "head")[: chance.randint(1, 3)]:
        if name in other:
            wire["proof"][name] = copy.deepcopy(other[name])
        else:
            wire["proof"].pop(name, None)


def cut(wire: Wire, chance: Random, _pool: list[Wire]) -> None:
    """A path is shorter, longer, or in another order."""
    paths = [wire["proof"].get("path"), wire["proof"].get("head", {}).get("path")]
    path = chance.choice([path for path in paths if path is not None] or [[]])
    if path and chance.random() < 0.4:
        del path[chance.randrange(len(path))]
    elif path and chance.random() < 0.5:
        chance.shuffle(path)
    else:
        path.insert(chance.randint(0, len(path)), chance.choice([*path, "00" * 32]))


def renamed(wire: Wire, chance: Random, pool: list[Wire]) -> None:
    """It is of another memory."""
    wire["proof"]["worldId"] = chance.choice(
        [chance.choice(pool)["proof"]["worldId"], wire["proof"]["contentHash"], "0" * 64]
    )


def reshaped(wire: Wire, chance: Random, _pool: list[Wire]) -> None:
    """A member is gone, is there twice under another name, or is something else."""
    name = chance.choice(sorted(wire["proof"]))
    match chance.randrange(4):
        case 0:
            del wire["proof"][name]
        case 1:
            wire["proof"][name] = chance.choice([None, 0, "", [], {}, True, -1, "0" * 64])
        case 2:
            wire["proof"][name.upper()] = wire["proof"][name]
        case 3:
            wire["method"] = chance.choice(["existence", "none", "merkle", "", "inclusion"])


def reopened(wire: Wire, chance: Random, pool: list[Wire]) -> None:
    """The salt or the World record is another, is gone, or is there where it should not be."""
    opening = wire["proof"].get("opening")
    if opening is None:
        return
    other = chance.choice(pool)["proof"]["opening"]
    match chance.randrange(5):
        case 0:
            opening["salt"] = chance.choice([other["salt"], chance.randbytes(16).hex(), ""])
        case 1:
            opening["body"] = chance.choice([other.get("body"), CONTENT, "{}", ""])
        case 2:
            opening.pop("body", None)
        case 3:
            opening["salt"] += wire["proof"]["contentHash"][:2]
            wire["proof"]["contentHash"] = wire["proof"]["contentHash"][2:]
        case 4:
            wire["proof"]["opening"] = copy.deepcopy(other)


KINDS: list[Callable[[Wire, Random, list[Wire]], None]] = [
    flip,
    flip,
    swap,
    swap,
    other_size,
    stale,
    cut,
    renamed,
    reshaped,
    reopened,
]


@pytest.mark.parametrize("kind", ["small", "large", "hash"])
def test_no_mutation_of_a_proof_is_accepted(kind: str) -> None:
    pool = proofs(kind)
    assert all(map(verify_proof, pool))
    holding = {canonical_bytes(wire) for wire in pool}
    chance = Random(kind)
    refused = dict.fromkeys([one.__name__ for one in KINDS], 0)
    accepted: list[tuple[str, Wire]] = []

    while sum(refused.values()) < MUTATIONS and not accepted:
        wire = copy.deepcopy(chance.choice(pool))
        mutate = chance.choice(KINDS)
        mutate(wire, chance, pool)
        if canonical_bytes(wire) in holding:  # it is what it was, or another that holds
            continue
        if verify_proof(wire):
            accepted.append((mutate.__name__, wire))
        refused[mutate.__name__] += 1

    assert not accepted
    assert kind == "hash" or min(refused.values()) > 300


def test_a_forger_who_hashes_everything_anew_is_refused_by_the_tree_that_is_known() -> None:
    """What is made up holds by itself; a checkpoint that somebody kept tells it apart."""
    forged = Journal(40, "forged").proof(12)
    known = Journal(40, "a").checkpoint(40)

    assert verify_proof(forged)
    assert not verify_proof(forged, pinned=known)


# -------------------------------------------------------------------------- signed


SIGNER = Ed25519Signer("example.org/memory", bytes(range(32)))
KNOWN = signed_by_one_of([Ed25519Verifier(SIGNER.key)])


async def told(journal: Journal, seq: int, signed_size: int, size: int) -> VerificationEvidence:
    note = await sign_checkpoint(journal.checkpoint(signed_size), [SIGNER])
    covering = CoveringCheckpoint(note=str(note), path=journal.consistency(signed_size, size))
    by = parse_actor("agent:finder")
    return evidence(journal.proof(seq, size), at=T0, by=by, checkpoint=covering)


def holds(wire: Wire) -> bool:
    try:
        found = VerificationEvidence.from_wire(wire)
        check_proof({"method": found.method, "proof": found.proof})
        check_signed(found, KNOWN)
    except (InvalidProof, InvalidWorld):
        return False
    return True


async def test_no_mutation_of_a_signed_checkpoint_is_accepted() -> None:
    journal = Journal(40)
    places = [(0, 1, 40), (3, 8, 40), (3, 33, 40), (12, 40, 40), (30, 31, 33), (3, 8, 9)]
    pool = [(await told(journal, *place)).to_wire() for place in places]
    assert all(map(holds, pool))
    holding = {canonical_bytes(wire["checkpoint"]) for wire in pool}
    chance = Random("signed")
    refused = 0

    while refused < 2_000:
        wire = copy.deepcopy(chance.choice(pool))
        covering = wire["checkpoint"]
        match chance.randrange(4):
            case 0:
                place = chance.randrange(len(covering["note"]))
                note = covering["note"]
                other = chance.choice("0123456789abcdefABC+/=\n —")
                covering["note"] = note[:place] + other + note[place + 1 :]
            case 1:
                cut({"proof": covering}, chance, [])
            case 2:
                covering["path"] = chance.choice(pool)["checkpoint"]["path"]
            case 3:
                covering["note"] = SignedNote(journal.checkpoint(chance.randint(1, 40)).text)
                covering["note"] = str(covering["note"])
        if canonical_bytes(covering) in holding:
            continue
        assert not holds(wire), wire
        refused += 1
