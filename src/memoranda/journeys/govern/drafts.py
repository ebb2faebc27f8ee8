"""How a governed change becomes an entry: the object's next version, and its place in the index.

Every draft carries a salt, and every object a nonce, both drawn at random: what is left in a
journal after an erasure can't be guessed.
"""

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import Any, Final

from memoranda.identity import Frozen, canonical_bytes, decode, sha256_hex
from memoranda.journeys.govern.about import NOTHING_SAID, Said
from memoranda.journeys.govern.provenance import NO_PROVENANCE, Provenance, following, of_new
from memoranda.kernel.clock import Randomness
from memoranda.kernel.errors import InvalidRecord
from memoranda.kernel.json import JsonValue
from memoranda.ledger.derive import row_of, tags_of
from memoranda.ledger.entry import SALT_BYTES, Kind
from memoranda.ledger.lifecycle import check_reason
from memoranda.ledger.object import (
    MARKED_AS_DERIVED,
    NONCE_BYTES,
    Cause,
    StatementType,
    data_bytes,
    description_of,
    first_version,
    hash_name,
    is_bytes,
    members_of_bytes,
    next_document,
    statement_of_json,
)
from memoranda.ledger.unit import Current, Draft, Version
from memoranda.records.table import Content, Note, Row

_HUMAN: Final = "human:"


class Drafts:
    """Makes the drafts of one scope."""

    def __init__(self, scope: str, randomness: Randomness) -> None:
        self.scope = scope
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
        id, created_at, updated_at, content, *_ = row
        drawn = self._randomness.take(NONCE_BYTES + SALT_BYTES)
        more: dict[str, Any] = {}
        number = 1
        if provenance is not NO_PROVENANCE:
            more = provenance.members
            if not provenance.applies_here:
                more["applicability_scope"] = provenance.applicability
        if content.is_raw:
            more |= _saying(content, provenance)
        if content.meta is not None:
            more["meta"] = decode(content.meta)
        if note.reason is not None:
            more["reason"] = note.reason
        if replaced is not None:
            number = replaced.number + 1
            more["version"] = str(number)
            more["supersedes"] = hash_name(Frozen(replaced.body).digest)
        first = first_version(
            scope=self._scope_text,
            id=id,
            data=b'""' if content.is_raw else content.data,
            tags=content.tags,
            statement_type=provenance.statement_type or _statement_type(note.actor),
            at=note.at,
            created_ms=created_at,
            updated_ms=updated_at,
            nonce=urlsafe_b64encode(drawn[:NONCE_BYTES]),
            more=more,
        )
        version = Version(
            id, number, "active", created_at, updated_at,
            provenance.validity.valid_from, provenance.validity.valid_to,
            provenance.expires, provenance.subject,
        )  # fmt: skip
        tags = tuple(dict.fromkeys(content.tags)) if content.tags else ()
        salt = drawn[NONCE_BYTES:]
        return Draft("create", first.body, salt, version, tags, replaced, is_new=True, first=first)

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
        provenance = of_new(said)
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
        type_ = before["statement_type"]
        if type_ not in MARKED_AS_DERIVED:
            type_ = _statement_type(note.actor)
        elif not provenance.source_refs:
            type_ = "DerivedStatement"  # what is consolidated has the sources of its inputs
        document = next_document(
            before,
            sha256_hex(current.body),
            **{"format": None, "data": None, **members, **_saying(content, provenance)},
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
            trust="unreviewed" if is_lowered else before["trust"],
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
        return urlsafe_b64encode(self._randomness.take(NONCE_BYTES)).decode()

    def salt(self) -> bytes:
        return self._randomness.take(SALT_BYTES)


def content_of(document: Mapping[str, Any]) -> Content:
    """What a record says, from the object that it is."""
    tags, meta = document.get("tags"), document.get("meta")
    return Content(
        data_bytes(document),
        None if tags is None else tuple(tags),
        None if meta is None else canonical_bytes(meta),
        is_bytes(document),
    )


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


def _statement_type(actor: str) -> StatementType:
    is_human = actor.startswith(_HUMAN)
    return "UserProvidedStatement" if is_human else "SystemGeneratedStatement"
