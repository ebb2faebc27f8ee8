"""What the tests write and read: facts, objects, and units of them."""

from collections.abc import Sequence
from typing import Any, Final

from memoranda.kernel.retry import RetryKey
from memoranda.ledger.entry import FactKind
from memoranda.ledger.fact import Fact, erasure
from memoranda.ledger.unit import (
    ENTRIES,
    Committed,
    Current,
    Draft,
    Everything,
    Expected,
    Ledger,
    Mark,
    NamedEntry,
    OfSubject,
    StoredEntry,
    Unit,
    Version,
)

ACTOR: Final = "agent:worker"
SALT: Final = b"s" * 16


def fact(
    *marks: str,
    kind: FactKind = "proposal",
    says: str = "",
    unmarks: Sequence[Mark] = (),
    inputs: Sequence[str] = (),
    output: str = "",
) -> Draft:
    """A fact with these marks."""
    body = {"type": "Test", "says": says}
    return Fact(kind, body, marks, unmarks, inputs, output).draft(SALT)


def object_(id: str, *inputs: str, subject: str | None = None) -> Draft:
    version = Version(id, 1, "active", 1, 1, None, None, None, subject)
    return Draft("create", b'{"id":"%b"}' % id.encode(), SALT, version, inputs=inputs)


async def write(
    ledger: Ledger,
    *drafts: Draft,
    expects: Sequence[Expected] = (),
    key: RetryKey | None = None,
    about: str = "",
) -> Committed:
    return await ledger.commit(
        Unit(ACTOR, 1, lambda _: drafts, key=key, about=about, expects=expects)
    )


def gone(found: Sequence[Current | None]) -> list[Draft]:
    """Objects and facts erased, as an eraser does it: the facts by one entry."""
    drafts, facts, names = [], dict[int, NamedEntry](), []
    for one in found:
        if one is None or one.status == "erased":
            continue
        if one.status == ENTRIES:
            names.append(one.id)
            facts.update((entry.seq, entry) for entry in one.entries)
            continue
        version = Version(one.id, one.number + 1, "erased", 0, 0, None, None, None, None)
        drafts.append(Draft("archive", b"{}", bytes(16), version, (), one, erases=True))
    if facts:
        entries = [facts[seq] for seq in sorted(facts)]
        drafts.append(erasure(entries, names, reason="asked", cause="subject", salt=SALT))
    return drafts


async def erase(ledger: Ledger, reads: Sequence[str] | OfSubject | Everything) -> list[Current]:
    """Erase what is read and what was made from it; what the unit was told."""
    told: list[Current] = []

    def decide(found: Sequence[Current | None]) -> list[Draft]:
        told.extend(one for one in found if one is not None)
        return gone(found)

    await ledger.commit(Unit(ACTOR, 1, decide, reads, is_erasing=True))
    return told


def seqs(found: Sequence[StoredEntry]) -> list[int]:
    return [one.seq for one in found]


async def names(ledger: Ledger, prefix: str = "", **asked: Any) -> list[str]:
    return [mark.name for mark in await ledger.marks(prefix, **asked)]


async def all_marks(ledger: Ledger) -> list[Mark]:
    async with ledger.snapshot() as snapshot:
        return sorted([one async for chunk in snapshot.marks() for one in chunk])


async def all_derivations(ledger: Ledger) -> list[tuple[str, str]]:
    async with ledger.snapshot() as snapshot:
        found = [one async for chunk in snapshot.derivations() for one in chunk]
    return sorted((one.tag, one.id) for one in found)


async def size(ledger: Ledger) -> int:
    return (await ledger.head()).size


def following(current: Current, *, status: str = "active") -> Draft:
    """The next version of an object."""
    number = current.number + 1
    version = Version(current.id, number, status, 1, number, None, None, None, current.subject)
    return Draft("create", b'{"v":%d}' % number, SALT, version, replaces=current)


async def entries(ledger: Ledger) -> list[StoredEntry]:
    """All entries, as they are stored."""
    async with ledger.snapshot() as snapshot:
        return [one async for chunk in snapshot.entries() for one in chunk]
