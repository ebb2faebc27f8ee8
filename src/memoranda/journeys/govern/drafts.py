"""How a governed change becomes an entry: the object's next version, and its place in the index.

Every draft carries a salt, and every object a nonce, both drawn at random: what is left in a
journal after an erasure can't be guessed.
"""

from binascii import b2a_base64
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from memoranda.identity import Frozen, canonical_bytes, decode, sha256_hex
from memoranda.journeys.govern.about import NOTHING_SAID, Declared, Said
from memoranda.journeys.govern.provenance import NO_PROVENANCE, Provenance, following, of_new
from memoranda.kernel.access import WriterTrust
from memoranda.kernel.clock import Randomness
from memoranda.kernel.errors import InvalidRecord, RecordExists
from memoranda.kernel.json import JsonValue
from memoranda.ledger.derive import row_of, tags_of
from memoranda.ledger.entry import SALT_BYTES, Kind
from memoranda.ledger.lifecycle import check_reason, lowest
from memoranda.ledger.object import (
    MARKED_AS_DERIVED,
    NONCE_BYTES,
    Cause,
    StatementType,
    data_bytes,
    description_of,
    hash_name,
    is_bytes,
    members_of_bytes,
    next_document,
    statement_of_json,
    with_members,
)
from memoranda.ledger.passages import FurtherMembers, ordinary_version
from memoranda.ledger.unit import Current, Draft, new_draft, new_version
from memoranda.records.table import Content, Note, Row, new_content, new_row_of

_HUMAN: Final = "human:"
_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")
_ORDINARY: Final = frozenset({
    "applicability_scope", "created_ms", "format", "id", "nonce", "reason", "source_refs",
    "statement", "statement_type", "supersedes", "tags", "temporal_scope", "timestamp", "trust",
    "type", "updated_ms", "valid_from", "valid_to", "verdict_type", "version",
})  # fmt: skip
_OF_A_NEW_OBJECT: Final = Draft("create", b"", b"", is_new=True)[6:-1]
"""What a draft of one says between what it replaces and how its body was written."""


class Drafts:
    """Makes the drafts of one scope."""

    def __init__(
        self, scope: str, randomness: Randomness, trust: WriterTrust = "unreviewed"
    ) -> None:
        """`trust` is that of what is stated by whoever they are made for."""
        self.scope = scope
        self.trust: Final = trust
        self._lowered = {} if trust == "unreviewed" else {"trust": trust}
        self._scope = {"scope": scope}
        self._scope_text = canonical_bytes(scope)[1:-1]
        self._randomness = randomness

    def created(
        self,
        row: Row,
        note: Note,
        provenance: Provenance = NO_PROVENANCE,
        replaced: Current | None = None,
    ) -> Draft:
        """A new object; in the place of a deleted one it is that one's next version."""
        id, created_at, updated_at, content = row[:4]
        drawn = self._randomness.take(NONCE_BYTES + SALT_BYTES)
        data, tags, meta, is_raw = content
        first = ordinary_version(
            self._scope_text,
            id,
            b'""' if is_raw else data,
            tags,
            _written_type(provenance.statement_type, note.actor),
            note.at,
            created_at,
            updated_at,
            b2a_base64(drawn[:NONCE_BYTES], newline=False).translate(_URL_SAFE),
        )
        number = 1
        valid_from = valid_to = expires = subject = None
        if (
            provenance is not NO_PROVENANCE
            or is_raw
            or meta is not None
            or note.reason is not None
            or replaced is not None
            or self._lowered
        ):
            first = with_members(first, self._more(content, note, provenance, replaced))
            valid_from, valid_to = provenance.validity.valid_from, provenance.validity.valid_to
            expires, subject = provenance.expires, provenance.subject
            number = 1 if replaced is None else replaced.number + 1
        version = new_version((
            id, number, "active", created_at, updated_at, valid_from, valid_to, expires, subject,
        ))  # fmt: skip
        if tags and len(tags) > 1:
            tags = tuple(dict.fromkeys(tags))
        return new_draft((
            "create", first.body, drawn[NONCE_BYTES:], version, tags or (), replaced,
            *_OF_A_NEW_OBJECT, first,
        ))  # fmt: skip

    def new(
        self,
        row: Row,
        provenance: Provenance,
        found: Sequence[Current | None],
        note: Note,
        *,
        is_dated: bool,
    ) -> list[Draft]:
        """The decision on a new object; RecordExists where one is active under its id.

        One that is not dated yet is as old as its note.
        """
        current = found[0] if found else None
        if current is not None and current.status == "active":
            raise RecordExists(row.id)
        if not is_dated:
            row = new_row_of((row.id, note.at, note.at, *row[3:]))
        return [self.created(row, note, provenance, current)]

    def _more(
        self, content: Content, note: Note, provenance: Provenance, replaced: Current | None
    ) -> dict[str, Any]:
        """The members of a new object that not every one has."""
        more: dict[str, Any] = dict(self._lowered)
        if provenance is not NO_PROVENANCE:
            more |= provenance.members
            if not provenance.applies_here:
                more["applicability_scope"] = provenance.applicability
        if content.is_raw:
            more |= _saying(content, provenance)
        if content.meta is not None:
            more["meta"] = decode(content.meta)
        if note.reason is not None:
            more["reason"] = note.reason
        if replaced is not None:
            more["version"] = str(replaced.number + 1)
            more["supersedes"] = hash_name(Frozen(replaced.body).digest)
        return more

    def edited(
        self,
        current: Current,
        before: Mapping[str, Any],
        content: Content,
        note: Note,
        said: Said = NOTHING_SAID,
    ) -> Draft:
        """The object of this document with other content; what is not said of it passes on."""
        is_raw = content.is_raw
        if said is NOTHING_SAID and not (is_raw or is_bytes(before) or before["source_refs"]):
            # Only sources, media types and what is said now are ever otherwise than before.
            return self._restated(current, before, content, note, NO_PROVENANCE, {})
        if is_raw:
            media_type = said.members.get("media_type", before.get("media_type"))
            statement = description_of(content.data, str(media_type))
        else:
            statement, _ = statement_of_json(content.data)
        is_restated = statement != before["statement"]
        provenance = following(said, before, is_restated=is_restated, is_raw=is_raw)
        members = {"applicability_scope": provenance.applicability, **provenance.members}
        return self._restated(current, before, content, note, provenance, members)

    def replaced(self, current: Current, content: Content, note: Note, said: Said) -> Draft:
        """The object with other content, and nothing said of it but what is said now.

        Whoever approved it approved what it was.
        """
        before = decode(current.body)
        provenance = of_new(said) if said.members else NO_PROVENANCE
        if provenance is NO_PROVENANCE and content.meta is None and self._is_ordinary(before):
            return self._restated(current, before, content, note, provenance, {})
        lowered = {"trust": "unreviewed"} if before["trust"] == "approved" else {}
        where = {"applicability_scope": provenance.where_in(self._scope)}
        members = {**provenance.members, **lowered, **where}
        return self._restated(current, before, content, note, provenance, members)

    def _restated(
        self,
        current: Current,
        before: Mapping[str, Any],
        content: Content,
        note: Note,
        provenance: Provenance,
        members: Mapping[str, JsonValue],
    ) -> Draft:
        """The next version of an object, with these members besides its content changed.

        Time never goes back for a record.
        """
        is_plain = provenance is NO_PROVENANCE and content.meta is None and not self._lowered
        if is_plain and self._is_ordinary(before):
            updated_at = max(note.at, current.updated_at)
            type_ = _statement_type(note.actor)
            return self._next_ordinary(
                current, before, content.data, content.tags, type_, note, updated_at
            )
        type_ = before["statement_type"]
        if type_ not in MARKED_AS_DERIVED:
            type_ = _statement_type(note.actor)
        elif not provenance.source_refs:
            type_ = "DerivedStatement"  # what is consolidated has the sources of its inputs
        document = next_document(
            before,
            sha256_hex(current.body),
            **{
                "format": None,
                "data": None,
                **members,
                **self._lowered,
                **_saying(content, provenance),
            },
            statement_type=provenance.statement_type or type_,
            at=note.at,
            nonce=self.nonce(),
            updated_ms=max(note.at, current.updated_at),
            tags=content.tags,
            meta=None if content.meta is None else decode(content.meta),
            reason=note.reason,
        )
        return self._next(current, before, "create", canonical_bytes(document), document)

    def revised(
        self, current: Current, note: Note, said: Said, annotated: Mapping[str, JsonValue]
    ) -> Draft:
        """The same statement with something else said of it.

        What was approved was approved with its sources and its verdict: with others it is not.
        """
        before = decode(current.body)
        provenance = following(said, before, is_restated=False, is_raw=is_bytes(before))
        judged = (before["verdict_type"], list(before["source_refs"]))
        is_same = judged == (provenance.verdict, list(provenance.source_refs))
        is_lowered = before["trust"] == "approved" and not is_same
        document = next_document(
            before,
            sha256_hex(current.body),
            applicability_scope=provenance.applicability,
            **provenance.members,
            **annotated,
            statement_type=provenance.statement_type or before["statement_type"],
            trust=lowest([self.trust, before["trust"]])
            if is_lowered or self._lowered
            else before["trust"],
            at=note.at,
            nonce=self.nonce(),
            updated_ms=max(note.at, current.updated_at),
            reason=note.reason,
        )
        return self._next(current, before, "create", canonical_bytes(document), document)

    def invalidated(self, current: Current, note: Note, cause: Cause) -> Draft:
        """An active object as one that is not to be used any more (GOV-FORGET)."""
        check_reason(note.reason, cause, "invalidate")
        before = decode(current.body)
        if self._is_ordinary(before):
            data, tags, type_ = data_bytes(before), before.get("tags"), before["statement_type"]
            return self._next_ordinary(current, before, data, tags, type_, note, note.at, cause)
        document = next_document(
            before,
            sha256_hex(current.body),
            at=note.at,
            nonce=self.nonce(),
            status="invalidated",
            reason=note.reason,
            cause=cause,
            superseded_by=before.get("superseded_by"),
        )
        return self._next(current, before, "invalidate", canonical_bytes(document), document)

    def _is_ordinary(self, before: Mapping[str, Any]) -> bool:
        """Whether nothing is known of an active object but statement, tags and times."""
        return (
            _ORDINARY.issuperset(before)
            and not before["source_refs"]
            and before["verdict_type"] == "Unanswered"
            and before["trust"] == "unreviewed"
            and before["temporal_scope"] == "unknown"
            and before["valid_from"] is None
            and before["valid_to"] is None
            and before["statement_type"] not in MARKED_AS_DERIVED
            and before["applicability_scope"] == self._scope
            and before.get("format") != "bytes"
        )

    def _next_ordinary(
        self,
        current: Current,
        before: Mapping[str, Any],
        data: bytes,
        tags: Sequence[str] | None,
        statement_type: StatementType,
        note: Note,
        updated_at: int,
        cause: Cause | None = None,
    ) -> Draft:
        """The next version of an ordinary object; with a cause, the one that ends it.

        It has the bytes that `next_document` leads to, and is written without a document.
        """
        reason = b"" if note.reason is None else canonical_bytes(note.reason)[1:-1]
        more = FurtherMembers(current.number + 1, sha256_hex(current.body).encode(), reason)
        status = "active"
        if cause is not None:
            status = "invalidated"
            more = more._replace(cause=cause.encode(), status=b"invalidated")
        drawn = self._randomness.take(NONCE_BYTES + SALT_BYTES)
        written = ordinary_version(
            self._scope_text,
            current.id,
            data,
            tags,
            statement_type.encode(),
            note.at,
            current.created_at,
            updated_at,
            b2a_base64(drawn[:NONCE_BYTES], newline=False).translate(_URL_SAFE),
            more,
        )
        version = new_version((
            current.id, more.number, status, current.created_at, updated_at, None, None, None, None,
        ))  # fmt: skip
        found_by = tuple(dict.fromkeys(tags)) if tags and cause is None else ()
        return Draft(
            "create" if cause is None else "invalidate",
            written.body,
            drawn[NONCE_BYTES:],
            version,
            found_by,
            current,
            tags_of(before),
            first=written,
        )

    def following(self, current: Current, kind: Kind, object_: Frozen) -> Draft:
        """The next version of an object, whatever led to it."""
        before = decode(current.body)
        return self._next(current, before, kind, object_.canonical, object_.thaw())

    def _next(
        self,
        current: Current,
        before: Mapping[str, Any],
        kind: Kind,
        body: bytes,
        document: Mapping[str, Any],
    ) -> Draft:
        row, tags = row_of(document), tags_of(document)
        return Draft(kind, body, self.salt(), row, tags, current, tags_of(before))

    def nonce(self) -> str:
        drawn = b2a_base64(self._randomness.take(NONCE_BYTES), newline=False)
        return drawn.translate(_URL_SAFE).decode()

    def salt(self) -> bytes:
        return self._randomness.take(SALT_BYTES)


def content_of(document: Mapping[str, Any]) -> Content:
    """What a record says, from the object that it is."""
    tags, meta, form = document.get("tags"), document.get("meta"), document.get("format")
    return new_content((
        document["statement"].encode() if form == "json" else data_bytes(document),
        None if tags is None else tuple(tags),
        None if meta is None else canonical_bytes(meta),
        form == "bytes",
    ))  # fmt: skip


def check_typed(media_type: str | None) -> str:
    """Refuse bytes of which nobody says what they are."""
    if media_type is None:
        why = "there are bytes, and nobody says of which media type; name one, such as image/png"
        raise InvalidRecord("$.media_type", why)
    return media_type


def _saying(content: Content, provenance: Provenance) -> dict[str, Any]:
    if content.is_raw:
        return members_of_bytes(content.data, check_typed(provenance.media_type))
    statement, format_ = statement_of_json(content.data)
    return {"statement": statement, **({} if format_ == "text" else {"format": format_})}


@lru_cache(maxsize=1024)
def _written_type(declared: Declared | None, actor: str) -> bytes:
    return (declared or _statement_type(actor)).encode()


def _statement_type(actor: str) -> StatementType:
    is_human = actor.startswith(_HUMAN)
    return "UserProvidedStatement" if is_human else "SystemGeneratedStatement"
