"""How a governed change becomes an entry: the object's next version, and its place in the index.

Every draft carries a salt, and every object a nonce, both drawn at random: what is left in a
journal after an erasure can't be guessed.
"""

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import Any, Final

from memoranda.identity import Frozen, canonical_bytes, decode
from memoranda.journeys.govern.about import NOTHING_SAID, Said
from memoranda.journeys.govern.provenance import NO_PROVENANCE, Provenance, following, of_new
from memoranda.kernel.errors import InvalidRecord
from memoranda.kernel.json import JsonValue
from memoranda.kernel.randomness import Randomness
from memoranda.ledger.derive import row_of, tags_of
from memoranda.ledger.entry import SALT_BYTES, Kind
from memoranda.ledger.forget import invalidate
from memoranda.ledger.object import (
    MARKED_AS_DERIVED,
    NONCE_BYTES,
    Cause,
    StatementType,
    description_of,
    first_version,
    hash_name,
    is_bytes,
    members_of_bytes,
    next_version,
    statement_of_json,
    value_of,
)
from memoranda.ledger.ordinary import ordinary_version
from memoranda.ledger.unit import Current, Draft, Version
from memoranda.records.table import Content, Encoded, NewRow, Note

_HUMAN: Final = "human:"


class Drafts:
    """Makes the drafts of one scope."""

    def __init__(self, scope: str, randomness: Randomness) -> None:
        self.scope = scope
        self._scope = {"scope": scope}
        self._scope_json = canonical_bytes(self._scope)
        self._randomness = randomness

    def created(
        self, row: NewRow, note: Note, provenance: Provenance, replaced: Current | None = None
    ) -> Draft:
        """A new object; in the place of a deleted one it is that one's next version."""
        id, created_at, updated_at, content, _ = row
        tags = tuple(dict.fromkeys(content.tags)) if content.tags else ()
        drawn = self._randomness.take(NONCE_BYTES + SALT_BYTES)
        nonce, salt = urlsafe_b64encode(drawn[:NONCE_BYTES]), drawn[NONCE_BYTES:]
        is_ordinary = provenance is NO_PROVENANCE and replaced is None and not content.is_raw
        if is_ordinary and content.meta is None and note.reason is None:
            body = ordinary_version(
                scope=self._scope_json,
                id=id,
                data=content.data,
                tags=content.tags,
                statement_type=_statement_type(note.actor),
                at=note.at,
                created_ms=created_at,
                updated_ms=updated_at,
                nonce=nonce,
            )
            version = Version(id, 1, "active", created_at, updated_at, None, None, None, None)
            return Draft("create", body, salt, version, tags, is_new=True)
        again: dict[str, Any] = {}
        number = 1
        if replaced is not None:
            number = replaced.number + 1
            again["version"] = str(number)
            again["supersedes"] = hash_name(Frozen(replaced.body).digest)
        object_ = first_version(
            id=row.id,
            statement_type=provenance.statement_type or _statement_type(note.actor),
            at=note.at,
            nonce=nonce.decode(),
            trust="unreviewed",
            scope=provenance.where_in(self._scope),
            verdict_type=provenance.verdict,
            source_refs=provenance.source_refs,
            validity=provenance.validity,
            expires=provenance.expires,
            created_ms=row.created_at,
            updated_ms=row.updated_at,
            tags=content.tags,
            meta=None if content.meta is None else decode(content.meta),
            reason=note.reason,
            **{**provenance.optional, **_saying(content, provenance)},
            **again,
        )
        version = Version(
            row.id,
            number,
            "active",
            row.created_at,
            row.updated_at,
            provenance.validity.valid_from,
            provenance.validity.valid_to,
            provenance.expires,
            provenance.subject,
        )
        return Draft("create", object_.canonical, salt, version, tags, replaced, is_new=True)

    def edited(
        self, current: Current, content: Encoded, note: Note, said: Said = NOTHING_SAID
    ) -> Draft:
        """The object with other content; what is not said of it passes on."""
        before = decode(current.body)
        if content.is_raw:
            media_type = said.members.get("media_type", before.get("media_type"))
            statement = description_of(content.data, str(media_type))
        else:
            statement, _ = statement_of_json(content.data)
        is_restated = statement != before["statement"]
        provenance = following(said, before, is_restated=is_restated, is_raw=content.is_raw)
        return self._restated(current, before, content, note, provenance)

    def replaced(self, current: Current, content: Encoded, note: Note, said: Said) -> Draft:
        """The object with other content, and nothing said of it but what is said now.

        Whoever approved it approved what it was.
        """
        before = decode(current.body)
        provenance = of_new(said)
        lowered = {"trust": "unreviewed"} if before["trust"] == "approved" else {}
        where = {"applicability_scope": provenance.where_in(self._scope)}
        return self._restated(current, before, content, note, provenance, **lowered, **where)

    def _restated(
        self,
        current: Current,
        before: Mapping[str, Any],
        content: Encoded,
        note: Note,
        provenance: Provenance,
        **changes: JsonValue,
    ) -> Draft:
        """The next version of an object; time never goes back for a record."""
        type_ = before["statement_type"]
        if type_ not in MARKED_AS_DERIVED:
            type_ = _statement_type(note.actor)
        elif not provenance.source_refs:
            type_ = "DerivedStatement"  # what is consolidated has the sources of its inputs
        members = {
            "applicability_scope": provenance.applicability,
            **provenance.members,
            "format": None,
            "data": None,
            **_saying(content, provenance),
            **changes,
        }
        object_ = next_version(
            Frozen(current.body),
            **members,
            statement_type=provenance.statement_type or type_,
            at=note.at,
            nonce=self.nonce(),
            updated_ms=max(note.at, current.updated_at),
            tags=content.tags,
            meta=None if content.meta is None else decode(content.meta),
            reason=note.reason,
        )
        return self.following(current, "create", object_)

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
        object_ = next_version(
            Frozen(current.body),
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
        return self.following(current, "create", object_)

    def invalidated(self, current: Current, note: Note, cause: Cause) -> Draft:
        """The object as one that is not to be used any more (GOV-FORGET)."""
        change = invalidate(
            Frozen(current.body),
            reason=note.reason or "",
            cause=cause,
            at=note.at,
            nonce=self.nonce(),
        )
        return self.following(current, change.event_type, change.object)

    def following(self, current: Current, kind: Kind, object_: Frozen) -> Draft:
        """The next version of an object, whatever led to it."""
        document = object_.thaw()
        return Draft(
            kind,
            object_.canonical,
            self.salt(),
            row_of(document),
            tags_of(document),
            current,
            tags_of(decode(current.body)),
        )

    def nonce(self) -> str:
        """A nonce for an object."""
        return urlsafe_b64encode(self._randomness.take(NONCE_BYTES)).decode()

    def salt(self) -> bytes:
        """A salt for a body."""
        return self._randomness.take(SALT_BYTES)


def content_of(document: Mapping[str, Any]) -> Content:
    """What a record says, from the object that it is."""
    tags = document.get("tags")
    return Content(
        value_of(document),
        None if tags is None else tuple(tags),
        document.get("meta"),
    )


def check_typed(media_type: str | None) -> str:
    """Refuse bytes of which nobody says what they are."""
    if media_type is None:
        why = "there are bytes, and nobody says of which media type; name one, such as image/png"
        raise InvalidRecord("$.media_type", why)
    return media_type


def _saying(content: Encoded, provenance: Provenance) -> dict[str, Any]:
    """The members that say what some content says."""
    if content.is_raw:
        return members_of_bytes(content.data, check_typed(provenance.media_type))
    statement, format_ = statement_of_json(content.data)
    return {"statement": statement, **({} if format_ == "text" else {"format": format_})}


def _statement_type(actor: str) -> StatementType:
    is_human = actor.startswith(_HUMAN)
    return "UserProvidedStatement" if is_human else "SystemGeneratedStatement"
