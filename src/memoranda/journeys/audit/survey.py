"""A survey of a journal: what happened lately, how much of it when, and whom it is about.

Everything here reads a page, however long the journal is.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from memoranda.identity import decode
from memoranda.journeys.intent import documents, names
from memoranda.journeys.turn.facts import CycleRecording, completed, cycles, recording_of
from memoranda.kernel.errors import InvalidFilter, NotRecorded, WorldErased, WorldNotFound
from memoranda.kernel.json import JsonValue, storable
from memoranda.kernel.results import Result, Rows
from memoranda.ledger.entry import read_entry
from memoranda.ledger.fact import ERASURE
from memoranda.ledger.port import Ledger
from memoranda.ledger.unit import KnownSubject, StoredEntry
from memoranda.records.filter import Page

LatestOf = Literal["recall", "proposal", "cycle"]
"""What is listed by the time at which it began; its ids are in that order."""

_PREFIXES: Final[Mapping[LatestOf, str]] = {
    "recall": names.TRACE,
    "proposal": names.proposal(""),
    "cycle": names.cycle(""),
}
LOOKED_AT: Final = 4096
"""So many entries are looked at, at most, to find those of a kind."""
_AT_ONCE: Final = 512


@dataclass(frozen=True, slots=True, repr=False)
class Latest(Result):
    """A recall, a proposal or a turn as it stands in a list.

    `documents` are what the journal says under its name, the first one first; none where that was
    erased.
    """

    id: str
    seq: int
    at: int
    actor: str
    documents: tuple[Mapping[str, JsonValue], ...]


@dataclass(frozen=True, slots=True, repr=False)
class Activity(Result):
    """How many entries were written between two moments."""

    since: int
    until: int
    entries: int


@dataclass(frozen=True, slots=True, repr=False)
class Subject(Result):
    """A person that memory is about, and how many objects are, in whatever status."""

    subject: str
    objects: int


@dataclass(frozen=True, slots=True, repr=False)
class LineageStep(Result):
    """A step of a branch: the run that moved its head, or its beginning, which has none."""

    branch: str
    world: str
    before: str | None
    """The world that it came from; of a branch that was forked, the same one."""
    seq: int
    at: int
    actor: str
    proposal_id: str | None
    execution_key: str | None
    action: str | None = None
    input: JsonValue = None
    """What the action was given; None where that was erased, too."""


@dataclass(frozen=True, slots=True, repr=False)
class CycleAccount(Result):
    """A turn as the journal has it, and what was recorded of it, if that was asked for."""

    cycle_id: str
    seq: int
    at: int
    actor: str
    outcome: str
    fact: Mapping[str, JsonValue]
    """The digests of what its steps gave; of one that failed, at which step."""
    trace: str | None
    """The recall that was made in it."""
    recording: Mapping[str, JsonValue] | None
    """Its plan, what it was given, and what each step gave."""


async def latest(ledger: Ledger, what: LatestOf, *, before: str | None, limit: int) -> Page[Latest]:
    """The newest of these, the newest first; `before` is the `next` of the page before."""
    prefix = _PREFIXES[what]
    end = "" if before is None else prefix + _text("before", before)
    marks = await ledger.newest_marks(prefix, before=end, limit=limit + 1)
    found = []
    for mark in marks[:limit]:
        entries = await ledger.marked(mark.name)
        first = read_entry(entries[0].entry)
        said = tuple(_documents(entries))
        found.append(Latest(mark.name.removeprefix(prefix), first.seq, first.at, first.actor, said))
    return Page(found, found[-1].id if len(marks) > limit else None)


def _documents(entries: Sequence[StoredEntry]) -> list[dict[str, JsonValue]]:
    bodies = [decode(entry.body) for entry in entries if entry.body is not None]
    return [body for body in bodies if body.get("type") != ERASURE]


async def backwards(
    ledger: Ledger, kinds: Collection[str], *, before: int | None, limit: int
) -> tuple[list[StoredEntry], int | None]:
    """The newest entries of these kinds, or of all, and the number to go on before.

    At most `LOOKED_AT` entries are looked at, so that fewer may be found although there are more.
    """
    size = (await ledger.head()).size
    end = size if before is None else min(before, size)
    last = max(0, end - LOOKED_AT)
    wanted: list[int] = []
    while end > last and len(wanted) < limit:
        start = max(last, end - (_AT_ONCE if kinds else limit - len(wanted)))
        entries = await ledger.bytes_at(range(start, end))
        fit = [
            seq
            for seq in sorted(entries, reverse=True)
            if not kinds or read_entry(entries[seq]).kind in kinds
        ]
        if len(wanted) + len(fit) >= limit:
            fit = fit[: limit - len(wanted)]
            start = fit[-1]
        wanted += fit
        end = start
    found = await ledger.entries_at(wanted)
    return found[::-1], end or None


async def activity(ledger: Ledger, *, since: int, until: int, parts: int) -> list[Activity]:
    """How many entries were written in each of so many equal parts of a time.

    Entries are in the order of their times, but for clocks that were set back meanwhile: the
    bounds are looked for by halves, all of them at once.
    """
    size = (await ledger.head()).size
    bounds = [since + (until - since) * number // parts for number in range(parts + 1)]
    places = await _first_since(ledger, bounds, size)
    return [
        Activity(bounds[number], bounds[number + 1], places[number + 1] - places[number])
        for number in range(parts)
    ]


async def _first_since(ledger: Ledger, moments: Sequence[int], size: int) -> list[int]:
    """The number of the first entry that is not before each of these moments, which rise."""
    lows, highs = [0] * len(moments), [size] * len(moments)
    while open_ones := [n for n in range(len(moments)) if lows[n] < highs[n]]:
        middles = {n: (lows[n] + highs[n]) // 2 for n in open_ones}
        entries = await ledger.bytes_at(set(middles.values()))
        for n, middle in middles.items():
            if middle in entries and read_entry(entries[middle]).at < moments[n]:
                lows[n] = middle + 1
            else:
                highs[n] = middle
    return [max(lows[: n + 1]) for n in range(len(moments))]


async def subjects(ledger: Ledger, prefix: str, *, after: str | None, limit: int) -> Page[Subject]:
    """The people that memory is about, by name; `after` is the `next` of the page before."""
    found: list[KnownSubject] = await ledger.subjects(
        _text("prefix", prefix), after=_text("after", after or ""), limit=limit + 1
    )
    page = [Subject(*one) for one in found[:limit]]
    return Page(page, page[-1].subject if len(found) > limit else None)


async def lineage(ledger: Ledger, branch: str, *, limit: int) -> Rows[LineageStep]:
    """How the head of a branch moved, the newest step first; what was erased is not there.

    WorldNotFound for a branch that is not there.
    """
    name = names.branch(_text("name", branch))
    if not await ledger.marked(name, limit=1):
        raise WorldNotFound("branch", branch)
    entries = await ledger.marked(name, limit=limit, newest_first=True)
    steps = [step for step in map(_step, entries) if step is not None]
    return Rows([await _with_action(ledger, step) for step in steps])


async def _with_action(ledger: Ledger, step: LineageStep) -> LineageStep:
    if step.proposal_id is None:
        return step
    facts = await ledger.marked(names.proposal(step.proposal_id), limit=1)
    for document in _documents(facts):
        asked: Any = document.get("proposal")
        if asked is not None:
            body = asked["intent"]["body"]
            return replace(step, action=body["type"], input=body.get("input"))
    return step


def _step(stored: StoredEntry) -> LineageStep | None:
    document = {} if stored.body is None else decode(stored.body)
    entry = read_entry(stored.entry)
    place = (entry.seq, entry.at, entry.actor)
    if document.get("type") == documents.BRANCH:
        return LineageStep(document["name"], document["head"], None, *place, None, None)
    if document.get("type") != documents.SEALED:
        return None
    edge, key = document["edge"], document["executionKey"]
    made = (document["proposalId"], key)
    return LineageStep(document["branch"], edge["to"], edge["from"], *place, *made)


async def cycle_account(ledger: Ledger, cycle_id: str) -> CycleAccount:
    """The last attempt at a turn, or the one that landed; WorldNotFound, WorldErased."""
    attempts = await cycles(ledger, _text("cycle_id", cycle_id))
    if not attempts:
        if await ledger.marked(names.cycle(cycle_id), limit=1):
            raise WorldErased("cycle", cycle_id)
        raise WorldNotFound("cycle", cycle_id)
    landed = await completed(ledger, cycle_id)
    shown = landed or attempts[-1]
    recording: CycleRecording | None = None
    if landed is not None:
        try:
            recording = await recording_of(ledger, landed)
        except NotRecorded:
            recording = None
    facts = [
        decode(one.body)
        for one in await ledger.marked(names.cycle(cycle_id))
        if one.body is not None
    ]
    trace = next((fact["trace"] for fact in facts if "trace" in fact), None)
    (entry,) = await ledger.entries_at([shown.seq])
    return CycleAccount(
        cycle_id,
        shown.seq,
        shown.at,
        read_entry(entry.entry).actor,
        shown.outcome,
        shown.document,
        None if trace is None else str(trace).removeprefix(names.TRACE),
        None if recording is None else recording.model_dump(),
    )


def _text(name: str, given: str) -> str:
    if not isinstance(given, str) or not storable(given):
        raise InvalidFilter(name, "it is a text that can be stored")
    return given
