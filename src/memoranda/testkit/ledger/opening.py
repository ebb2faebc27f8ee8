"""The one thing that a ledger's author gives: how to open it. The rest of the kit starts here."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Protocol

import pytest

from memoranda.kernel.given import RetryKey
from memoranda.ledger.entry import FactKind
from memoranda.ledger.fact import Fact, erasure
from memoranda.ledger.port import Ledger
from memoranda.ledger.snapshot import DERIVATIONS, ENTRIES, MARKS
from memoranda.ledger.unit import (
    Committed,
    Current,
    Draft,
    Everything,
    Expected,
    Found,
    Mark,
    NamedEntry,
    NamedFacts,
    OfSubject,
    StoredEntry,
    Unit,
    Version,
)
from memoranda.testkit import fresh_scope


class OpenLedger(Protocol):
    """Opens the ledger of one scope: what the fixture `open_ledger` gives.

    Handles on one scope see the same journal, at once and one after the other; handles on two
    scopes see nothing of each other. Scopes are always new: the database may be shared by all
    tests.
    """

    def __call__(self, scope: str) -> AbstractAsyncContextManager[Ledger]:
        """A handle on the scope, open inside `async with`."""
        ...


@pytest.fixture
async def ledger(open_ledger: OpenLedger, scope: str) -> AsyncIterator[Ledger]:
    """A handle on the scope of this test."""
    async with open_ledger(scope) as opened:
        yield opened


@pytest.fixture
async def twin(open_ledger: OpenLedger, scope: str) -> AsyncIterator[Ledger]:
    """A second handle on the scope of this test."""
    async with open_ledger(scope) as opened:
        yield opened


@pytest.fixture
async def stranger(open_ledger: OpenLedger) -> AsyncIterator[Ledger]:
    """A handle on another scope of the same database."""
    async with open_ledger(fresh_scope()) as opened:
        yield opened


# ------------------------------------------------------------------------------------------------
# What the tests write and read: facts, objects, and units of them.

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


def gone(found: Sequence[Found | None]) -> list[Draft]:
    """Objects and facts erased, as an eraser does it: the facts by one entry."""
    drafts, facts, names = [], dict[int, NamedEntry](), []
    for there in found:
        if isinstance(there, NamedFacts):
            names.append(there.id)
            facts.update((entry.seq, entry) for entry in there.entries)
            continue
        if there is None or there.status == "erased":
            continue
        version = Version(there.id, there.number + 1, "erased", 0, 0, None, None, None, None)
        drafts.append(Draft("archive", b"{}", bytes(16), version, (), there, erases=True))
    if facts:
        entries = [facts[seq] for seq in sorted(facts)]
        drafts.append(erasure(entries, names, reason="asked", cause="subject", salt=SALT))
    return drafts


async def erase(ledger: Ledger, reads: Sequence[str] | OfSubject | Everything) -> list[Found]:
    """Erase what is read and what was made from it; what the unit was given."""
    erased: list[Found] = []

    def decide(found: Sequence[Found | None]) -> list[Draft]:
        erased.extend(there for there in found if there is not None)
        return gone(found)

    await ledger.commit(Unit(ACTOR, 1, decide, reads, is_erasing=True))
    return erased


def seqs(found: Sequence[StoredEntry]) -> list[int]:
    return [entry.seq for entry in found]


async def names(ledger: Ledger, prefix: str = "", **asked: Any) -> list[str]:
    return [mark.name for mark in await ledger.marks(prefix, **asked)]


async def all_marks(ledger: Ledger) -> list[Mark]:
    async with ledger.snapshot() as snapshot:
        return sorted([mark async for chunk in snapshot.rows(MARKS) for mark in chunk])


async def all_derivations(ledger: Ledger) -> list[tuple[str, str]]:
    async with ledger.snapshot() as snapshot:
        found = [tag async for chunk in snapshot.rows(DERIVATIONS) for tag in chunk]
    return sorted((tag.tag, tag.id) for tag in found)


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
        return [entry async for chunk in snapshot.rows(ENTRIES) for entry in chunk]
