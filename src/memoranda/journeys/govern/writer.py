"""What a caller asks to be written: made into writes, committed as one actor, with receipts.

What can't be written is refused before anything is read. Each request is one transaction; the hooks
hear of what has landed.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from string import ascii_letters, digits
from typing import Any, Final, Generic, TypeVar

from memoranda.identity import canonical_bytes, decode, sha256_hex
from memoranda.journeys.govern.about import (
    About,
    Memo,
    Said,
    said_of_new,
    said_of_next,
)
from memoranda.journeys.govern.drafts import Drafts, check_typed, content_of
from memoranda.journeys.govern.objects import (
    Earlier,
    Receipt,
    Telling,
    dropped,
    earlier_writes,
)
from memoranda.journeys.govern.provenance import NO_PROVENANCE, of_new
from memoranda.journeys.govern.rulebook import Rulebook, may_forget
from memoranda.journeys.govern.table import GovernedTable, UnitOutcome
from memoranda.journeys.govern.writes import (
    Check,
    Write,
    active,
    editing,
    forgetting,
    replacing,
)
from memoranda.journeys.records.codec import DataCodec, JsonCodec
from memoranda.journeys.records.contents import (
    UNCHANGED,
    Request,
    Unchanged,
    annotation,
    batch,
    check_batch,
    check_expected,
    check_findable,
    check_not_blank,
    check_text,
    is_possible_id,
    new_row,
    patching,
    plain_meta,
    raw_bytes,
    retry_key,
)
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.ambient import ambient, check_writable
from memoranda.kernel.clock import Clock, IdSource
from memoranda.kernel.errors import InvalidJson, InvalidRecord
from memoranda.ledger.lifecycle import check_reason
from memoranda.ledger.object import Cause
from memoranda.ledger.unit import Committed, Current, Draft, EntryPlace
from memoranda.records.model import MemoryRecordInput
from memoranda.records.table import Note, Row, check_version, new_content, new_row_of

T = TypeVar("T")

_Given = MemoryRecordInput[Any]  # to ask for it takes as long as to make one
_READABLE: Final = frozenset(ascii_letters + digits)


class Writer(Generic[T]):
    """Makes the writes that a caller asks for, and runs them as one actor."""

    def __init__(
        self,
        table: GovernedTable,
        drafts: Drafts,
        codec: DataCodec[T],
        ids: IdSource,
        telling: Telling[T],
        actor: ActorRef,
        clock: Clock,
        wrote: Callable[[], None] | None = None,
    ) -> None:
        """`wrote` is called whenever anything was written."""
        self._wrote = wrote
        self._table = table
        self._drafts = drafts
        self._codec = codec
        self._is_json: Final = isinstance(codec, JsonCodec)
        self._ids = ids
        self._telling = telling
        self.actor: Final = str(actor)
        self._clock = clock

    # ------------------------------------------------------------------------ what is asked

    def remember(
        self, data: T | bytes, id: str | None, said: Said, reason: str | None = None
    ) -> Write:
        provenance = of_new(said) if said.members else NO_PROVENANCE
        row = self.row(data, id, said)
        if row.content.is_raw:
            check_typed(provenance.media_type)
        return Write(
            row.id,
            partial(self._drafts.new, row, provenance, is_dated=False),
            () if row.is_minted else (row.id,),
            ("remember", id, row.content, said.members),
            _judging(said) if said.members else None,
            None if reason is None else _checked(reason),
            creates=True,
        )

    def put(
        self,
        id: str,
        data: T | bytes,
        about: Mapping[str, Any],
        expected_version: int | None = None,
        reason: str | None = None,
    ) -> Write:
        if id is None:
            raise InvalidRecord("$.id", "say under which id; `remember` makes one")
        check_expected(expected_version)
        said = said_of_new(about)
        row = self.row(data, id, said)
        if row.content.is_raw:
            check_typed(said.members.get("media_type"))
        return replacing(
            self._drafts,
            row,
            said,
            expected_version,
            request=("put", id, expected_version, row.content, dict(said.members)),
            check=_judging(said),
            reason=_checked(reason),
        )

    def update(
        self,
        id: str,
        patch: Any,
        about: Mapping[str, Any],
        expected_version: int | None = None,
        reason: str | None = None,
    ) -> Write:
        check_not_blank("$.data", patch)
        said = said_of_next(about, "update", reason)
        raw = raw_bytes(self._codec, patch, is_typed=bool(said.members.get("media_type")))
        edit = patching(
            self._codec, id, patch, expected_version, tags=said.tags, meta=said.meta, raw=raw
        )
        patched = self._codec.encode_patch(patch) if raw is None else ["bytes", sha256_hex(raw)]
        return editing(
            self._drafts,
            edit,
            said,
            request=("update", id, expected_version, patched, said.request),
            check=_judging(said),
            reason=_checked(reason),
        )

    def revise(
        self,
        id: str,
        about: Mapping[str, Any],
        expected_version: int | None,
        reason: str,
    ) -> Write:
        """Say something else of a statement that stays as it is."""
        check_findable(id)
        check_expected(expected_version)
        check_text("reason", reason)
        said = said_of_next(about, "revise", reason)
        if said.is_nothing:
            raise InvalidRecord("$", "name what is to be said of it from now on")
        if "media_type" in said.members:
            raise InvalidRecord("$.media_type", "it is a part of what is stated; update it")
        annotated = annotation(said.tags, said.meta)

        def decide(found: Sequence[Current | None], note: Note) -> list[Draft]:
            current = active(id, found[0])
            check_version(id, current.number, expected_version)
            tags, meta = annotated(content_of(decode(current.body)))
            members = {"tags": tags, "meta": None if meta is None else decode(meta)}
            return [self._drafts.revised(current, note, said, members)]

        request = ("revise", id, expected_version, said.request)
        check = partial(_may_judge, id) if said.verdict == "Factual" else None
        return Write(id, decide, (id,), request, check, reason)

    def forget(
        self,
        id: str,
        cause: Cause,
        expected_version: int | None = None,
        reason: str | None = None,
    ) -> Write:
        """Forget something, if it is there."""
        check_reason(reason, cause, "forget")
        check_expected(expected_version)
        if not is_possible_id(id):
            return Write(id, lambda _found, _note: [], forgets=True)
        return forgetting(
            self._drafts,
            id,
            cause,
            expected_version,
            request=("forget", id, expected_version, {"reason": reason, "cause": cause}),
            reason=_checked(reason),
        )

    def row(self, data: T | bytes, id: str | None, said: Said) -> Row:
        """The row of something new; its time is that of its write."""
        if isinstance(data, str) and data[:1] not in _READABLE:
            check_not_blank("$.data", data)
        raw = None
        if isinstance(data, bytes | bytearray | memoryview):
            raw = raw_bytes(self._codec, data, is_typed=bool(said.members.get("media_type")))
        elif id is None and said.tags is UNCHANGED and said.meta is UNCHANGED:
            value = data if self._is_json else self._codec.encode(data)
            try:
                content = new_content((canonical_bytes(value), None, None, False))
            except InvalidJson as refused:  # as `encoded` has it; one call less for every write
                raise InvalidJson(f"$.data{refused.where[1:]}", refused.why) from None
            return new_row_of((self._ids.new_id(), 0, 0, content, 0, 0, True))
        tags = None if isinstance(said.tags, Unchanged) else said.tags
        meta = None if isinstance(said.meta, Unchanged) else said.meta
        given = _Given(
            id=id, data=None if raw is not None else data, tags=tags, meta=plain_meta(meta)
        )
        return new_row(given, self._codec, self._ids, 0, raw)

    # ------------------------------------------------------------------------- how it lands

    async def run(
        self, writes: Sequence[Write], key: str | None, *request: Any
    ) -> list[Receipt | None]:
        """Run writes in one transaction; a receipt for each, None where nothing was to forget.

        A retry with the same key, of the same request, is given the first receipts.
        """
        if ambient().barred is not None:
            check_writable()
        note = Note(self.actor, self._clock.now_ms(), None)
        for write in writes:
            if write.check is not None:
                await write.check(self._table.rulebook, note.actor)
        retry = None
        if key is not None:
            asked: Request = request or writes[0].request
            retry = retry_key(key, *asked)
        causes = [write.cause for write in writes if write.cause is not None]
        if causes:
            committed, made = await self._table.rulebook.obeyed(
                lambda state: may_forget(note.actor, causes, state),
                partial(self._table.run, writes, note, retry),
            )
        else:
            committed, made = await self._table.run(writes, note, retry)
        if not committed.fresh:
            return _first(writes, await earlier_writes(self._table.ledger, committed))
        if self._wrote is not None:
            self._wrote()
        if self._telling.is_heard:
            await self._telling.tell([draft for draft in made if draft is not None])
        places = iter(committed.places)
        return [None if draft is None else receipt_of(next(places), draft) for draft in made]

    async def one(self, write: Write, key: str | None) -> Receipt:
        """Run a write that leaves an entry, or raises."""
        (receipt,) = await self.run([write], key)
        assert receipt is not None  # noqa: S101 - only forgetting may find nothing
        return receipt

    async def remember_many(
        self,
        data: Sequence[T | Memo[T] | bytes],
        about: About,
        reason: str | None,
        key: str | None,
    ) -> list[Receipt]:
        """Remember all of these, or none; what a memo says of itself comes before `about`."""
        check_batch(data)
        if not data:
            return []
        shared = said_of_new(about)

        def write(memo: Any) -> Write:
            if not isinstance(memo, Memo):
                return self.remember(memo, None, shared, reason)
            said = said_of_new({**about, **memo.about}) if memo.about else shared
            return self.remember(memo.data, memo.id, said, reason)

        writes = batch(data, write)
        requests = tuple(write.request for write in writes) if key is not None else ()
        written = await self.run(writes, key, "remember_many", requests)
        return [receipt for receipt in written if receipt is not None]

    async def receipts(self, written: UnitOutcome) -> Sequence[Receipt]:
        """The receipts of what was written through the table itself."""
        committed, drafts = written
        if committed.fresh:
            await self._telling.tell(drafts)
            return receipts(committed, drafts)
        return [write.receipt() for write in await earlier_writes(self._table.ledger, committed)]

    def note(self, reason: str | None) -> Note:
        check_writable()
        if reason is not None:
            check_text("reason", reason)
        return Note(self.actor, self._clock.now_ms(), reason)

    def note_unchecked(self, reason: str) -> Note:
        """The same for an act that refuses by itself what is no reason."""
        check_writable()
        return Note(self.actor, self._clock.now_ms(), reason)


def _checked(reason: str | None) -> str | None:
    """A reason that says something, or none."""
    if reason is not None:
        check_text("reason", reason)
    return reason


def _judging(said: Said) -> Check | None:
    if said.verdict != "Factual":
        return None
    return lambda rulebook, actor: rulebook.check_judging("Factual", actor)


async def _may_judge(id: str, rulebook: Rulebook, actor: str) -> None:
    await rulebook.check_judging("Factual", actor, await rulebook.makers(id))


def receipts(committed: Committed, drafts: Sequence[Draft]) -> list[Receipt]:
    """The receipts of a unit that was committed now."""
    return [
        receipt_of(place, draft)
        for place, draft in zip(committed.places, drafts, strict=True)
        if draft.version is not None
    ]


def receipt_of(place: EntryPlace, draft: Draft) -> Receipt:
    """The receipt of a draft of an object that was committed now."""
    assert draft.version is not None  # noqa: S101 - it is of an object
    return Receipt(
        draft.version.id,
        draft.version.number,
        place.entry_hash.hex(),
        place.seq + 1,
        0 if draft.replaces is None else dropped(draft.replaces.body, draft.body),
        created=draft.is_new or draft.replaces is None,
    )


def _first(writes: Sequence[Write], earlier: Sequence[Earlier]) -> list[Receipt | None]:
    """The first receipts of writes that were made earlier: each has left one entry, or none."""
    left = iter(earlier)
    following = next(left, None)
    found: list[Receipt | None] = []
    for write in writes:
        is_its_own = following is not None and (
            not write.forgets or (following.kind == "invalidate" and following.id == write.id)
        )
        if following is None or not is_its_own:
            found.append(None)
            continue
        found.append(following.receipt(creates=write.creates))
        following = next(left, None)
    return found
