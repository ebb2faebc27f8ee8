"""Writes as values: what each reads, what is checked before it, and what follows from what it read.

A verb runs one write; a batch runs many in one transaction, each on what those before it left
(`GovernedTable.run`).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from memoranda.identity import decode, sha256_hex
from memoranda.journeys.govern.about import Said, said_of_new, said_of_next
from memoranda.journeys.govern.drafts import Drafts, check_typed, content_of
from memoranda.journeys.govern.provenance import NO_PROVENANCE, Provenance, of_new
from memoranda.journeys.govern.rulebook import Rulebook
from memoranda.journeys.records.codec import DataCodec
from memoranda.journeys.records.contents import (
    UNCHANGED,
    Request,
    Unchanged,
    annotation,
    check_expected,
    check_findable,
    check_not_blank,
    check_text,
    encoded,
    is_possible_id,
    new_row,
    patching,
    plain_meta,
    raw_bytes,
)
from memoranda.kernel.clock import IdSource
from memoranda.kernel.errors import InvalidRecord, RecordExists, RecordNotFound
from memoranda.ledger.lifecycle import check_reason
from memoranda.ledger.object import Cause
from memoranda.ledger.unit import Current, Draft
from memoranda.records.model import MemoryRecordInput
from memoranda.records.table import Content, Edit, Note, Row, check_version

T = TypeVar("T")

_Given = MemoryRecordInput[Any]  # to ask for it takes as long as to make one

Decision = Callable[[Sequence[Current | None], Note], list[Draft]]
"""What follows from the newest versions that were read; pure, for it may run a second time."""

Check = Callable[[Rulebook, str], Awaitable[None]]
"""Asks the policies whether an actor may; refused before anything is read."""


class Write(NamedTuple):
    """One write of one object; it makes one draft, or none where there is nothing to forget."""

    id: str
    decide: Decision
    reads: Sequence[str] = ()
    """Nothing, where its id was made for it."""
    request: Request = ()
    """What was asked for, so that a retry is known."""
    check: Check | None = None
    reason: str | None = None
    creates: bool = False
    """Whether it creates what is not there, or no longer."""
    forgets: bool = False

    def drafts(self, found: Sequence[Current | None], note: Note) -> list[Draft]:
        return self.decide(
            found, note if self.reason is None else note._replace(reason=self.reason)
        )


# ------------------------------------------------------------------ what is to be decided


def creating(
    drafts: Drafts,
    row: Row,
    provenance: Provenance = NO_PROVENANCE,
    *,
    is_dated: bool = False,
    **more: Any,
) -> Write:
    """A new object; RecordExists if its id is in use.

    `is_dated` says that its row knows when it was created; else that is when it is written.
    """
    decide = partial(_created, drafts, row, provenance, is_dated)  # there may be very many
    return Write(row.id, decide, () if row.is_minted else (row.id,), creates=True, **more)


def _created(
    drafts: Drafts,
    row: Row,
    provenance: Provenance,
    is_dated: bool,
    found: Sequence[Current | None],
    note: Note,
) -> list[Draft]:
    current = found[0] if found else None
    if current is not None and current.status == "active":
        raise RecordExists(row.id)
    dated = row if is_dated else Row(row.id, note.at, note.at, row.content)
    return [drafts.created(dated, note, provenance, current)]


def replacing(
    drafts: Drafts, row: Row, said: Said, expected_version: int | None, **more: Any
) -> Write:
    """A new object, or the next version of one with nothing of the old one left."""
    provenance = of_new(said)

    def decide(found: Sequence[Current | None], note: Note) -> list[Draft]:
        (current,) = found
        check_version(row.id, 0 if current is None else current.number, expected_version)
        if current is None or current.status != "active":
            return _created(drafts, row, provenance, False, found, note)
        return [drafts.replaced(current, row.content, note, said)]

    return Write(row.id, decide, (row.id,), creates=True, **more)


def editing(drafts: Drafts, edit: Edit, said: Said, **more: Any) -> Write:
    """The next version of an object; RecordNotFound without one."""

    def decide(found: Sequence[Current | None], note: Note) -> list[Draft]:
        current = active(edit.id, found[0])
        check_version(edit.id, current.number, edit.expected_version)
        before = decode(current.body)
        content = edit.apply(content_of(before))
        return [drafts.edited(current, before, content, note, said)]

    return Write(edit.id, decide, (edit.id,), **more)


def forgetting(
    drafts: Drafts, id: str, cause: Cause, expected_version: int | None, **more: Any
) -> Write:
    """The end of an object, if it is active; nothing else is an error.

    VersionConflict where somebody changed or forgot it since the expected version: whoever
    expects a version has not seen that.
    """

    def decide(found: Sequence[Current | None], note: Note) -> list[Draft]:
        (current,) = found
        if current is None:
            return []
        check_version(id, current.number, expected_version)
        return [drafts.invalidated(current, note, cause)] if current.status == "active" else []

    return Write(id, decide, (id,), forgets=True, **more)


def active(id: str, current: Current | None) -> Current:
    """The object, if it is there and active; else RecordNotFound."""
    if current is None or current.status != "active":
        raise RecordNotFound(id)
    return current


# ------------------------------------------------------------------------ what was asked


class Writer(Generic[T]):
    """Makes the writes that a caller asks for; what can't be written is refused at once."""

    def __init__(self, drafts: Drafts, codec: DataCodec[T], ids: IdSource) -> None:
        self._drafts = drafts
        self._codec = codec
        self._ids = ids

    def remember(
        self, data: T | bytes, id: str | None, said: Said, reason: str | None = None
    ) -> Write:
        provenance = of_new(said)
        row = self.row(data, id, said)
        if row.content.is_raw:
            check_typed(provenance.media_type)
        return creating(
            self._drafts,
            row,
            provenance,
            request=("remember", id, row.content, said.members),
            check=_judging(said) if said.members else None,
            reason=None if reason is None else _checked(reason),
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
            check=partial(_may_forget, cause),
            reason=_checked(reason),
        )

    def row(self, data: T | bytes, id: str | None, said: Said) -> Row:
        """The row of something new; its time is that of its write."""
        check_not_blank("$.data", data)
        raw = None
        if isinstance(data, bytes | bytearray | memoryview):
            raw = raw_bytes(self._codec, data, is_typed=bool(said.members.get("media_type")))
        elif id is None and said.tags is UNCHANGED and said.meta is UNCHANGED:
            content = Content(encoded(self._codec, data), None, None)
            return Row(self._ids.new_id(), 0, 0, content, is_minted=True)
        tags = None if isinstance(said.tags, Unchanged) else said.tags
        meta = None if isinstance(said.meta, Unchanged) else said.meta
        given = _Given(
            id=id, data=None if raw is not None else data, tags=tags, meta=plain_meta(meta)
        )
        return new_row(given, self._codec, self._ids, 0, raw)


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


async def _may_forget(cause: Cause, rulebook: Rulebook, actor: str) -> None:
    await rulebook.check_forgetting(actor, cause)
