"""Holding a database against what its clients were told.

1. it opens, `verify` finds it whole, and so does SQLite
2. every acknowledged call is there, once, where its receipt says
3. a call that was refused is not there; one of unknown outcome is there whole or not at all
4. there is nothing that nobody asked for
5. retried with its key, a call of unknown outcome lands once, and an acknowledged one not again
"""

from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import apsw

import memoranda
from memoranda import Memory
from memoranda.identity import decode
from memoranda.journeys.audit.verify import verify
from memoranda.kernel.errors import MemorandaError, StoreError
from memoranda.ledger.entry import entry_hash
from memoranda.ledger.port import Ledger
from memoranda.ledger.snapshot import ENTRIES
from tests.campaigns.adversity.client import made, perform
from tests.campaigns.adversity.counts import Counts
from tests.campaigns.adversity.history import Answer, Call, History
from tests.handles import inside

SCOPE = "adversity"
OBJECT = "MemoryObject"
_RETRIED = 3


class Found(NamedTuple):
    """An entry of the journal."""

    seq: int
    entry_hash: str
    id: str
    version: int

    @property
    def answer(self) -> Answer:
        """The receipt that tells of it."""
        return Answer(self.id, self.version, self.seq, self.entry_hash)


Journal = dict[str, list[Found]]
"""The entries of a journal by the mark of the call that made them."""


async def judge(url: str, history: History, counts: Counts, *, is_settled: bool = False) -> None:
    """Judge a database that nobody writes to; afterwards no outcome is unknown any more."""
    try:
        async with memoranda.open(url, scope=SCOPE) as memory:  # 1.
            check_strangers(await look(memory, history, counts), history, counts)
            if not is_settled:
                await settle(memory, history, counts)
    except Exception as error:  # noqa: BLE001 - a file full of nonsense may raise anything
        counts.wrong("damaged", f"it can't be used: {error!r}")
    check_file(url, counts)


async def look(memory: Memory[Any], history: History, counts: Counts) -> Journal:
    """Verify a database and compare it with a history, steps 1 to 3."""
    ledger = inside(memory).ledger
    report = await verify(ledger)
    for damage in report.damages.found:  # 1.
        counts.wrong("damaged", str(damage))
    journal = await journal_of(ledger)
    for mark, call in history.calls.items():
        _compare(call, journal.get(mark, []), history, counts)
    return journal


def check_strangers(journal: Journal, history: History, counts: Counts) -> None:
    """There is nothing that nobody asked for, step 4."""
    for mark in journal.keys() - history.calls.keys():
        counts.wrong("strange", f"{len(journal[mark])} entries of {mark!r}")


async def settle(memory: Memory[Any], history: History, counts: Counts) -> None:
    """Retry what has an unknown outcome, and some of what is known, step 5; then look again."""
    journal = await journal_of(inside(memory).ledger)
    for call in history.unknown:
        there = journal.get(call.mark, [])
        history.late.add(call.mark)
        counts.add("unknown")
        counts.add("unheard", 1 if there else 0)
        if call.key is None:
            if there:
                history.told(call.mark, [found.answer for found in there])
            else:
                history.refused(call.mark, "not there")
            continue
        error = await perform(memory, call, history)
        if isinstance(error, StoreError):
            counts.wrong("stuck", f"{call}, retried after all was well again: {error!r}")
    acknowledged = [call for call in history.calls.values() if call.mark in history.answers]
    for call in acknowledged[-_RETRIED:]:
        if call.key is not None:
            with suppress(MemorandaError):  # counted as lost by the look below
                if await made(memory, call) != history.answers[call.mark]:
                    counts.wrong("altered", f"{call}, retried, gave another answer")
    await look(memory, history, Counts() if counts.broken else counts)


async def journal_of(ledger: Ledger) -> Journal:
    """Every entry of a ledger, by mark."""
    journal: defaultdict[str, list[Found]] = defaultdict(list)
    async with ledger.snapshot() as snapshot:
        async for entries in snapshot.rows(ENTRIES):
            for seq, entry, _, body in entries:
                said = decode(body or b"{}")
                if said.get("type") != OBJECT:
                    continue  # memoranda's own: a checkpoint, a fingerprint
                found = Found(seq, entry_hash(entry).hex(), said["id"], int(said["version"]))
                journal[str(said.get("reason"))].append(found)
    return dict(journal)


def _compare(call: Call, there: list[Found], history: History, counts: Counts) -> None:
    answers = history.answers.get(call.mark)
    if answers is not None:  # 2.
        if not there:
            counts.wrong("lost", f"{call}, acknowledged as {answers[:2]}")
        elif len(there) > call.entries:
            counts.wrong("duplicated", f"{call}: {there[:4]}")
        elif len(there) < call.entries:
            counts.wrong("partial", f"{call}: {len(there)} of {call.entries} entries")
        elif not all(map(_agree, answers, there)):
            counts.wrong("altered", f"{call}: told {answers[:2]}, found {there[:2]}")
    elif call.mark in history.refusals:  # 3.
        if there:
            counts.wrong("surprising", f"{call}, refused as {history.refusals[call.mark]}")
    elif len(there) > call.entries:
        counts.wrong("duplicated", f"{call}: {there[:4]}")
    elif 0 < len(there) < call.entries:
        counts.wrong("partial", f"{call}: {len(there)} of {call.entries} entries")


def _agree(answer: Answer, found: Found) -> bool:
    if answer.seq is None:
        return answer.id == found.id
    return answer == found.answer


def tell(history: History, counts: Counts, since: History | None = None) -> None:
    """Count what clients asked for and what they were told."""
    before = since or History()
    marks = history.calls.keys() - before.calls.keys() - history.late
    counts.add("calls", len(history.calls) - len(before.calls))
    counts.add("acknowledged", len(history.answers.keys() & marks))
    counts.add("refused", len(history.refusals.keys() & marks))


def check_file(url: str, counts: Counts) -> None:
    """SQLite's own check of a file."""
    if not url.startswith("sqlite:///"):
        return
    path = Path(url.removeprefix("sqlite:///"))
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            found = connection.execute("PRAGMA integrity_check").fetchall()
        finally:
            connection.close()
    except apsw.Error as error:
        counts.wrong("damaged", f"integrity_check: {error!r}")
    else:
        if found != [("ok",)]:
            counts.wrong("damaged", f"integrity_check: {found[:3]}")
