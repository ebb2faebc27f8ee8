"""Which presenter shows which result, and which results are no success: the two tables."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import orjson
from rich.console import Group, RenderableType
from rich.text import Text

from memoranda.app.journal import JournalEntry
from memoranda.journeys.audit.proving import EntryProof
from memoranda.journeys.audit.why import Why
from memoranda.journeys.govern.certificate import ErasureCertificate
from memoranda.journeys.govern.importing import ImportReport
from memoranda.journeys.govern.receipts import Receipt
from memoranda.journeys.govern.remembered import Event, Remembered
from memoranda.journeys.intent.acting import Submitted
from memoranda.journeys.intent.app import Run
from memoranda.journeys.intent.branching import BranchHead
from memoranda.journeys.intent.deciding import Waiting
from memoranda.journeys.intent.replaying import Replay
from memoranda.journeys.maintain.embedding import Brought
from memoranda.journeys.recall.originals import Original
from memoranda.journeys.recall.recalled import Recalled
from memoranda.journeys.turn.replaying import CycleReplay
from memoranda.kernel.results import plain as as_json
from memoranda.ledger.consolidate import Refusal
from memoranda.ledger.policy import Policy
from memoranda.surfaces.cli import deeds, memories, report, standings, why
from memoranda.surfaces.cli.present import Told, blocks, plain
from memoranda.surfaces.errors import NOT_IN_STATE, NOT_SOUND

_ONE: Final[Mapping[type[Any], Callable[[Any], RenderableType]]] = {
    Remembered: memories.remembered,
    Recalled: memories.recalled,
    Original: memories.original,
    ErasureCertificate: memories.certificate,
    ImportReport: memories.imported,
    EntryProof: memories.proof,
    Waiting: deeds.waiting,
    deeds.Answered: deeds.answered,
    Submitted: deeds.submitted,
    Run: deeds.ran,
    Refusal: deeds.refused,
    BranchHead: deeds.branch,
    Replay: deeds.replayed,
    CycleReplay: deeds.replayed_turn,
    Why: why.tree,
    Brought: standings.embedded,
    Policy: standings.policy,
    report.Verified: report.verified,
    report.Copied: report.copied,
    standings.ScopeStatus: standings.status,
    standings.ScopeReindexed: standings.reindexed,
    standings.Validated: standings.validated,
    Told: lambda told: Text(told.words) if isinstance(told.words, str) else told.words,
}
_MANY: Final[Mapping[type[Any], Callable[[Sequence[Any]], RenderableType]]] = {
    Remembered: memories.records,
    Event: memories.history,
    JournalEntry: memories.entries,
    str: lambda lines: Group(*(Text(plain(line)) for line in lines)),
}
_STATUS: Final[Mapping[type[Any], Callable[[Any], int]]] = {
    Refusal: lambda _: NOT_IN_STATE,
    Recalled: lambda found: NOT_IN_STATE if found.outcome == "failed" else 0,
    Run: lambda run: NOT_IN_STATE if run.status in ("failed", "rejected") else 0,
    Replay: lambda replay: NOT_SOUND if replay.verdict == "differs" else 0,
    CycleReplay: lambda replay: 0 if replay.is_same else NOT_SOUND,
    EntryProof: lambda proof: 0 if proof.holds else NOT_SOUND,
    report.Verified: lambda found: found.exit_status,
    standings.Validated: lambda found: found.exit_status,
}


def in_words(result: Any, done: str = "") -> RenderableType:
    """A result for people; `done` is what a receipt says was done."""
    if isinstance(result, Receipt):
        return memories.receipt(done, result)
    if (one := _ONE.get(type(result))) is not None:
        return one(result)
    if not isinstance(result, Sequence):
        return _document(result)
    kind: type[Any] = type(result[0]) if result else type(None)
    if kind is Receipt:
        return memories.receipts(done, result)
    if kind in _MANY:
        return _MANY[kind](result)
    parts = [in_words(one) for one in result]
    return blocks(parts)


def exit_status(result: Any) -> int:
    """The exit code of a result: 0, unless it says that something is not as it should be."""
    if isinstance(result, Sequence) and not isinstance(result, str):
        return max(map(exit_status, result), default=0)
    status = _STATUS.get(type(result))
    return 0 if status is None else status(result)


def _document(value: Any) -> Text:
    """Something that is a JSON document anyway."""
    return Text(orjson.dumps(as_json(value), option=orjson.OPT_INDENT_2).decode())  # noqa: TID251 - shown, never hashed
