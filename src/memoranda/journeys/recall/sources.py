"""What selectors look at: the records and worlds of one scope, now or as they were."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import aclosing, suppress
from typing import Any, NamedTuple, TypeVar

from memoranda.identity import decode
from memoranda.journeys.govern.table import FilteredLedger
from memoranda.journeys.intent import documents, names
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.journeys.intent.documents import FoundFact
from memoranda.kernel.errors import (
    EmbedderMissing,
    EntryDamaged,
    ModelFailed,
    WorldErased,
    WorldNotFound,
)
from memoranda.ledger.codec import Unreadable
from memoranda.ledger.derive import row_of
from memoranda.ledger.entry import body_digest, read_entry
from memoranda.ledger.lifecycle import trust_of
from memoranda.ledger.object import data_of, is_indexed, status_of
from memoranda.ledger.snapshot import ENTRIES, ROWS, LedgerSnapshot
from memoranda.ledger.unit import Current, StoredEntry
from memoranda.ledger.walk import OBJECT_KINDS
from memoranda.recall.bm25 import Scored
from memoranda.recall.corpus import Corpus, of_object
from memoranda.recall.index import AskedMeaning, Ranking, fits, fits_by_time
from memoranda.recall.meaning import Meaning, other_model
from memoranda.recall.question import ParsedQuestion, asked
from memoranda.recall.ranking import RankingMode, seeds_for
from memoranda.recall.selector import (
    Below,
    Chosen,
    Constraints,
    ModelUsed,
    Nearest,
    PastWorld,
    Request,
    Selection,
)
from memoranda.recall.selectors import UNASKED, newest_reason
from memoranda.records.filter import MemoryFilter
from memoranda.text import fold
from memoranda.text.tokens import texts
from memoranda.worlds.world import MAIN

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
        declared: Sequence[str] | None = None,
    ) -> None:
        """`declared` are the identities of embedders that the scope is asked with, if any."""
        self._ledger = ledger
        self._chronicle = chronicle
        self._meaning = meaning
        self._declared = declared
        self._request = request
        self._size = request.constraints.as_of
        self._read: dict[int, Chosen] = {}
        self.stored: dict[int, StoredEntry] = {}
        """The entries that were read of what was found, by number."""
        self._damaged: list[EntryDamaged] = []

    @property
    def damaged(self) -> Sequence[EntryDamaged]:
        """What would have been looked at, and is not what was written; each entry once."""
        return list({damaged.entry: damaged for damaged in self._damaged}.values())

    def has_read(self, chosen: Chosen) -> bool:
        """Whether a version was read here just now, from this entry, as the constraints ask.

        A selector may bring along what it kept from another time, or made up.
        """
        read = self._read.get(id(chosen.found))
        return read is not None and (read.id, read.seq) == (chosen.id, chosen.seq)

    def _note_read(self, request: Request, found: Sequence[Chosen]) -> None:
        own = self._request
        if request.accepts is own.accepts and request.constraints == own.constraints:
            # Each is held, so that no other value comes to have its identity.
            self._read |= {id(chosen.found): chosen for chosen in found if chosen.found is not None}

    async def ranked(
        self,
        mode: RankingMode,
        request: Request,
        limit: int,
        below: int = 0,
        *,
        with_model: bool = True,
    ) -> Selection:
        """The records that fit the question, in the order of a mode."""
        wanted = asked(request.query, at=request.at)
        meaning, notes = None, list(wanted.notes)
        if mode is RankingMode.CONTEXT and with_model and self._size is None:
            meaning = await self._asked_meaning(request.query, notes)

        is_repeated = _Repeated()

        def make(current: Current, scored: Scored) -> Chosen | None:
            is_sure = scored.confidence >= request.constraints.min_confidence
            if not is_sure or not request.accepts(current):
                return None
            data = data_of(decode(current.body))
            if mode is RankingMode.CONTEXT and is_repeated(data):
                return None
            said = scored.reason.in_words(texts(data))
            reason = said.readable(created_at=scored.created_at, at=request.at)
            return Chosen(
                reason,
                scored.confidence,
                current.id,
                None,
                scored.score,
                current,
                scored.seq,
            )

        within = request.constraints.filter
        found = await self._rank(mode, wanted, make, limit, below, within, meaning)
        left_out = [Below(scored.id, scored.score) for scored in found.below]
        self._note_read(request, found.made)
        self.stored |= found.stored
        model = None if meaning is None else ModelUsed(meaning.model, found.without)
        return Selection(found.made, left_out, notes, model)

    async def _asked_meaning(self, query: str, notes: list[str]) -> AskedMeaning | None:
        """What the question means to the scope's model; None, with a note, if it can't be asked."""
        if self._meaning is None:
            if self._declared is not None:
                notes.append(other_model(self._declared))
            return None
        if why := self._meaning.why_not(self._declared):
            notes.append(why)
            return None
        try:
            return await self._meaning.asked(query)
        except ModelFailed as failure:
            notes.append(f"found by words alone: {failure}")
            return None

    async def newest(self, request: Request, limit: int) -> Selection:
        """The records that were made last, as the constraints ask."""
        if request.constraints.min_confidence > UNASKED:
            return Selection((), notes=("nothing is sure enough that nobody asked for",))
        if self._size is not None:
            then = [item for item in await self._then() if is_allowed(item.current, request)]
            then.sort(key=lambda item: item.current.created_at)  # which leaves ties as they are
            return self._newest([item.current for item in then[::-1][:limit]], request)
        asked_for = limit + SPARE
        while True:
            page = request.constraints.filter.model_copy(update={"limit": asked_for})
            damaged: list[EntryDamaged] = []
            read = await self._ledger.select(page, lambda current: current, damaged)
            found = [version for version in read if request.accepts(version)]
            if len(found) >= limit or len(read) + len(damaged) < asked_for:
                self._damaged += damaged
                return self._newest(found[:limit], request)
            asked_for *= 4

    def _newest(self, found: Iterable[Current], request: Request) -> Selection:
        chosen = []
        for current in found:
            reason = newest_reason(current.created_at, request.at)
            chosen.append(Chosen(reason, UNASKED, current.id, None, None, current))
        return Selection(chosen)

    async def nearest(self, request: Request, limit: int) -> Nearest:
        """The records nearest in meaning, where the handle has an embedder."""
        if self._meaning is None:
            raise EmbedderMissing
        found = await self._meaning.nearest(request, limit, self._damaged)
        self._note_read(request, found.chosen)
        return found

    async def worlds(self, limit: int) -> Sequence[PastWorld]:
        """The worlds that the main branch reached last, the newest first."""
        filter = self._request.constraints.filter
        found = []
        for fact in await self._moves(limit):
            if fact.type != documents.SEALED:
                continue
            with suppress(WorldErased, WorldNotFound):  # just now
                world = await self._past_world(fact)
                if fits_by_time(filter, world.created_at):
                    found.append(world)
        return found

    async def _moves(self, limit: int) -> Sequence[FoundFact]:
        name = names.branch(MAIN)
        if self._size is None:
            return await self._chronicle.latest(name, limit)
        then: deque[FoundFact] = deque(maxlen=limit)
        with suppress(WorldErased):
            async with aclosing(self._chronicle.each(name)) as facts:
                async for fact in facts:
                    if fact.seq >= self._size:
                        break
                    then.appendleft(fact)
        return list(then)

    async def _past_world(self, fact: FoundFact) -> PastWorld:
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
        )

    # ------------------------------------------------------------------------ as it was

    async def _rank(
        self,
        mode: RankingMode,
        wanted: ParsedQuestion,
        make: Callable[[Current, Scored], R | None],
        limit: int,
        below: int,
        within: MemoryFilter,
        meaning: AskedMeaning | None,
    ) -> Ranking[R]:
        if self._size is None:
            return await self._ledger.rank(
                mode,
                wanted,
                make,
                limit=limit,
                below=below,
                within=within,
                damaged=self._damaged,
                meaning=meaning,
            )
        then = await self._then()
        corpus = Corpus(
            of_object(item.current, item.document, item.seq)
            for item in then
            if is_indexed(item.document)
        )
        by_id = {item.current.id: item.current for item in then}
        only = {id for id, current in by_id.items() if fits(within, current)}
        made: list[R] = []
        rest: list[Scored] = []
        for scored in corpus.find(mode, wanted, limit=None, among=seeds_for(limit), only=only):
            if len(made) == limit:
                if len(rest) == below:
                    break
                rest.append(scored)
            elif (value := make(by_id[scored.id], scored)) is not None:
                made.append(value)
        return Ranking(made, rest, len(then), self._size)

    async def _then(self) -> list["_Then"]:
        """What was active when the journal had this size, in its order: its entries say so."""
        newest: dict[str, _Then] = {}
        gone: set[int] = set()
        async with self._ledger.snapshot() as snapshot:
            async with aclosing(snapshot.rows(ENTRIES)) as chunks:
                async for chunk in chunks:
                    then = [
                        entry for entry in chunk if self._size is None or entry.seq < self._size
                    ]
                    for stored in then:
                        self._note(newest, gone, stored)
                    if len(then) < len(chunk):
                        break
            await self._note_lost(snapshot, gone)
        return [item for item in newest.values() if _is_active(item)]

    async def _note_lost(self, snapshot: LedgerSnapshot, gone: set[int]) -> None:
        """Note those that lost their bodies, and are not erased: the rows say which are."""
        if not gone:
            return
        async with aclosing(snapshot.rows(ROWS)) as chunks:
            async for rows in chunks:
                gone.difference_update(row.seq for row in rows if row.version.status == "erased")
        why = "its body is not there, and nothing says why"
        self._damaged += [EntryDamaged(seq, "body", why) for seq in sorted(gone)]

    def _note(self, newest: dict[str, "_Then"], gone: set[int], stored: StoredEntry) -> None:
        entry = read_entry(stored.entry)
        if entry.kind not in OBJECT_KINDS:
            return
        if stored.body is None or stored.salt is None:
            gone.add(stored.seq)
            return
        if isinstance(stored.body, Unreadable):
            return  # nobody can read it
        if body_digest(stored.salt, stored.body) != entry.body_digest:
            why = "its body is not the one that was written"
            self._damaged.append(EntryDamaged(stored.seq, "body", why))
            return
        document = decode(stored.body)
        current = Current(*row_of(document), stored.body)
        before = newest.get(current.id)
        if before is not None and not before.current.status == current.status == "active":
            del newest[current.id]  # what becomes active again is as new as what is created
        newest[current.id] = _Then(current, document, stored.seq)


class _Repeated:
    """Whether a text was found already: equal ones don't fill the top."""

    def __init__(self) -> None:
        self._found: set[str] = set()

    def __call__(self, data: Any) -> bool:
        if not isinstance(data, str):
            return False
        folded = " ".join(fold(data).split())
        if folded in self._found:
            return True
        self._found.add(folded)
        return False


class _Then(NamedTuple):
    current: Current
    document: Any
    seq: int


def _is_active(then: _Then) -> bool:
    return status_of(then.document) == "active"


def is_allowed(current: Current, request: Request) -> bool:
    """Whether a record is what was asked for, where its selector could not know."""
    return request.accepts(current) and fits(request.constraints.filter, current)


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
