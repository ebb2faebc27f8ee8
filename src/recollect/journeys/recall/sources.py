"""What selectors look at: the records and worlds of one scope, now or as they were."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import aclosing, suppress
from typing import Any, NamedTuple, TypeVar

from recollect.identity import decode
from recollect.journeys.govern.table import FilteredLedger
from recollect.journeys.intent import documents, names
from recollect.journeys.intent.chronicle import Chronicle, Found
from recollect.journeys.recall.documents import GoesWith
from recollect.kernel.errors import CapabilityMissing, WorldErased, WorldNotFound
from recollect.ledger.codec import Unreadable
from recollect.ledger.derive import row_of, tags_of
from recollect.ledger.entry import read_entry
from recollect.ledger.object import status_of
from recollect.ledger.trust import trust_of
from recollect.ledger.unit import Current, Expected, StoredEntry
from recollect.ledger.walk import OBJECT_KINDS
from recollect.recall.asking import Asked, asked
from recollect.recall.candidates import Scored
from recollect.recall.corpus import Corpus, of_object
from recollect.recall.index import Ranking, Within
from recollect.recall.meaning import Meaning
from recollect.recall.ranking import Mode, seeds_for
from recollect.recall.selector import (
    Below,
    Chosen,
    Constraints,
    Nearest,
    PastWorld,
    Request,
    Selection,
)
from recollect.recall.selectors import UNASKED, newest_reason
from recollect.records.filter import MemoryFilter
from recollect.text.values import texts
from recollect.worlds.world import MAIN

R = TypeVar("R")

SPARE = 32
"""So many more of the newest are read, for those that may not be found."""


class ScopeSources:
    """The memory of one scope, for one request, as of when its constraints say."""

    def __init__(
        self,
        ledger: FilteredLedger,
        chronicle: Chronicle,
        meaning: Meaning | None,
        request: Request,
    ) -> None:
        self._ledger = ledger
        self._chronicle = chronicle
        self._meaning = meaning
        self._request = request
        self._size = request.constraints.as_of
        self._read: dict[int, Chosen] = {}
        self._shown: list[GoesWith] = []
        self._told: dict[str, dict[str, None]] = {}

    @property
    def shown(self) -> GoesWith:
        """All that a selector was shown here: what it says when it fails may repeat any of it."""
        return GoesWith.all_of(self._shown)

    def has_read(self, chosen: Chosen) -> bool:
        """Whether a version was read here just now, from this entry, as the constraints ask.

        A selector may bring along what it kept from another time, or made up.
        """
        read = self._read.get(id(chosen.found))
        return read is not None and (read.id, read.seq) == (chosen.id, chosen.seq)

    def told(self, chosen: Chosen) -> Chosen:
        """One that names no other memory, with that of which it was told here.

        Whoever makes a reason of the one that it was shown repeats its words.
        """
        if chosen.tells_of:
            return chosen
        return chosen._replace(tells_of=tuple(self._told.get(str(chosen.world or chosen.id), ())))

    def _note_read(self, request: Request, found: Sequence[Chosen]) -> None:
        for one in found:
            self._shown.append(GoesWith((str(one.id), *one.tells_of)))
            self._told.setdefault(str(one.id), {}).update(dict.fromkeys(one.tells_of))
        own = self._request
        if request.accepts is own.accepts and request.constraints == own.constraints:
            # Each is held, so that no other value comes to have its identity.
            self._read |= {id(one.found): one for one in found if one.found is not None}

    async def ranked(self, mode: Mode, request: Request, limit: int, below: int = 0) -> Selection:
        """The records that fit the question, in the order of a mode."""
        wanted = asked(request.query, at=request.at)

        def make(current: Current, scored: Scored) -> Chosen | None:
            is_sure = scored.confidence >= request.constraints.min_confidence
            if not is_sure or not request.accepts(current):
                return None
            reason = scored.reason.readable(created_at=scored.created_at, at=request.at)
            return Chosen(
                reason,
                scored.confidence,
                current.id,
                None,
                scored.score,
                current,
                scored.seq,
                scored.reason.tells_of,
            )

        found = await self._rank(mode, wanted, make, limit, below, request.constraints.within)
        left_out = [Below(one.id, one.score) for one in found.below]
        self._note_read(request, found.made)
        return Selection(found.made, left_out, wanted.notes)

    async def newest(self, request: Request, limit: int) -> Selection:
        """The records that were made last, as the constraints ask."""
        if request.constraints.min_confidence > UNASKED:
            return Selection((), notes=("nothing is sure enough that nobody asked for",))
        if self._size is not None:
            then = [one for one in await self._then() if request.accepts(one.current)]
            order = sorted(then, key=lambda one: (-one.current.created_at, one.current.id))
            return self._newest([one.current for one in order[:limit]], request)
        within = request.constraints.within
        asked_for = limit + SPARE
        while True:
            page = MemoryFilter(
                tags=within.tags or None,
                created_after=within.created_from,
                created_before=within.created_to,
                limit=asked_for,
            )
            read = await self._ledger.select(page, lambda current: current)
            found = [one for one in read if request.accepts(one)]
            if len(found) >= limit or len(read) < asked_for:
                return self._newest(found[:limit], request)
            asked_for *= 4

    def _newest(self, found: Iterable[Current], request: Request) -> Selection:
        chosen = []
        for one in found:
            reason = newest_reason(one.created_at, request.at)
            chosen.append(Chosen(reason, UNASKED, one.id, None, None, one))
        self._shown += [GoesWith((one.id,)) for one in chosen if one.id is not None]
        return Selection(chosen)

    async def nearest(self, request: Request, limit: int) -> Nearest:
        """The records nearest in meaning, where the handle has an embedder."""
        if self._meaning is None:
            raise CapabilityMissing("embeddings without an embedder (docs/embeddings.md)")
        found = await self._meaning.nearest(request, limit)
        self._note_read(request, found.chosen)
        return found

    async def worlds(self, limit: int) -> Sequence[PastWorld]:
        """The worlds that the main branch reached last, the newest first."""
        within = self._request.constraints.within
        found = []
        for fact in await self._moves(limit):
            if fact.type != documents.SEALED:
                continue
            with suppress(WorldErased, WorldNotFound):  # just now
                world = await self._past_world(fact)
                self._shown.append(GoesWith(names=(Expected(world.made_by, fact.seq),)))
                self._told.setdefault(world.world, {})[world.made_by] = None
                if within.has(world.created_at):  # no world has tags
                    found.append(world)
        return found

    async def _moves(self, limit: int) -> Sequence[Found]:
        """What moved the head of the main branch last, the newest first."""
        name = names.branch(MAIN)
        if self._size is None:
            return await self._chronicle.latest(name, limit)
        then: deque[Found] = deque(maxlen=limit)
        with suppress(WorldErased):
            async with aclosing(self._chronicle.each(name)) as facts:
                async for fact in facts:
                    if fact.seq >= self._size:
                        break
                    then.appendleft(fact)
        return list(then)

    async def _past_world(self, fact: Found) -> PastWorld:
        said = fact.document
        record = await self._chronicle.world(said["world"])
        asked_for = (await self._chronicle.asked(said["proposalId"])).proposal
        body, trace = asked_for["intent"]["body"], asked_for.get("trace", {})
        text = "\n".join(texts([body["type"], body.get("input"), trace.get("summary")]))
        return PastWorld(
            said["world"],
            said["executionKey"],
            text,
            said["completedAt"],
            record.seq,
            names.execution(said["executionKey"]),
        )

    # ------------------------------------------------------------------------ as it was

    async def _rank(
        self,
        mode: Mode,
        wanted: Asked,
        make: Callable[[Current, Scored], R | None],
        limit: int,
        below: int,
        within: Within,
    ) -> Ranking[R]:
        if self._size is None:
            return await self._ledger.rank(
                mode, wanted, make, limit=limit, below=below, within=within
            )
        then = await self._then()
        corpus = Corpus(of_object(one.current, one.document, one.seq) for one in then)
        by_id = {one.current.id: one for one in then}
        made: list[R] = []
        rest: list[Scored] = []
        for scored in corpus.find(mode, wanted, limit=None, among=seeds_for(limit)):
            was = by_id[scored.id]
            if not within.has(was.current.created_at, tags_of(was.document)):
                continue
            if len(made) == limit:
                if len(rest) == below:
                    break
                rest.append(scored)
            elif (value := make(by_id[scored.id].current, scored)) is not None:
                made.append(value)
        return Ranking(made, rest, len(then), self._size)

    async def _then(self) -> list["_Then"]:
        """What was active when the journal had this size: its newest entries say so."""
        newest: dict[str, _Then] = {}
        async with self._ledger.snapshot() as snapshot, aclosing(snapshot.entries()) as chunks:
            async for chunk in chunks:
                for stored in chunk:
                    if self._size is not None and stored.seq >= self._size:
                        return [one for one in newest.values() if _is_active(one)]
                    if read_entry(stored.entry).kind in OBJECT_KINDS:
                        _note(newest, stored)
        return [one for one in newest.values() if _is_active(one)]


class _Then(NamedTuple):
    current: Current
    document: Any
    seq: int


def _note(newest: dict[str, _Then], stored: StoredEntry) -> None:
    if stored.body is None or isinstance(stored.body, Unreadable):
        return  # erased since, with all versions of it; or nobody can read it
    document = decode(stored.body)
    current = Current(*row_of(document), stored.body)
    newest[current.id] = _Then(current, document, stored.seq)


def _is_active(one: _Then) -> bool:
    return status_of(one.document) == "active"


def accepting(constraints: Constraints, at: int) -> Callable[[Current], bool]:
    """Whether a record may be found: it holds at the time asked for, and is not judged False.

    As `get` has it: without a time, what has expired by now is not found. Where only what is
    verified is wanted, what nobody trusts takes no place of it.
    """

    def accepts(current: Current) -> bool:
        when = constraints.valid_at
        if when is not None:
            if current.valid_from is not None and when < current.valid_from:
                return False
            if current.valid_to is not None and when > current.valid_to:
                return False
        elif (current.valid_to is not None and at > current.valid_to) or (
            current.expires_at is not None and at >= current.expires_at
        ):
            return False
        document = decode(current.body)
        if constraints.verified_only and trust_of(document["trust"]) == "untrusted":
            return False
        return bool(document["verdict_type"] != "False")

    return accepts
