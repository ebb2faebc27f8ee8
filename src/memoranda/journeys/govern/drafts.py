"""How a governed change becomes an entry: the object's next version, and its place in the index.

Every draft carries a salt, and every object a nonce, both drawn at random: what is left in a
journal after an erasure can't be guessed.
"""

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import Any, Final

from memoranda.identity import Frozen, canonical_bytes, decode
from memoranda.journeys.govern.facts import INHERITED, NO_FACTS, Facts, Following
from memoranda.journeys.records.contents import Unchanged
from memoranda.kernel.randomness import Randomness
from memoranda.ledger.derive import row_of, tags_of
from memoranda.ledger.entry import SALT_BYTES, Kind
from memoranda.ledger.forget import invalidate
from memoranda.ledger.object import (
    MARKED_AS_DERIVED,
    NONCE_BYTES,
    Cause,
    StatementType,
    data_of,
    first_version,
    hash_name,
    next_version,
    statement_of_json,
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
        self, row: NewRow, note: Note, facts: Facts, replaced: Current | None = None
    ) -> Draft:
        """A new object; in the place of a deleted one it is that one's next version."""
        id, created_at, updated_at, content, _ = row
        tags = tuple(dict.fromkeys(content.tags)) if content.tags else ()
        drawn = self._randomness.take(NONCE_BYTES + SALT_BYTES)
        nonce, salt = urlsafe_b64encode(drawn[:NONCE_BYTES]), drawn[NONCE_BYTES:]
        if facts is NO_FACTS and replaced is None and content.meta is None and note.reason is None:
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
            return Draft("create", body, salt, version, tags)
        statement, format_ = statement_of_json(content.data)
        again: dict[str, Any] = {}
        number = 1
        if replaced is not None:
            number = replaced.number + 1
            again["version"] = str(number)
            again["supersedes"] = hash_name(Frozen(replaced.body).digest)
        object_ = first_version(
            id=row.id,
            statement=statement,
            statement_type=facts.statement_type or _statement_type(note.actor),
            at=note.at,
            nonce=nonce.decode(),
            trust="unreviewed",
            scope=self._scope
            if isinstance(facts.applicability, Unchanged)
            else facts.applicability,
            verdict_type=facts.verdict,
            source_refs=facts.source_refs,
            validity=facts.validity,
            expires=facts.expires,
            subject=facts.subject,
            jurisdiction=facts.jurisdiction,
            format=format_,
            created_ms=row.created_at,
            updated_ms=row.updated_at,
            tags=content.tags,
            meta=None if content.meta is None else decode(content.meta),
            reason=note.reason,
            thread=facts.thread,
            **again,
        )
        version = Version(
            row.id,
            number,
            "active",
            row.created_at,
            row.updated_at,
            facts.validity.valid_from,
            facts.validity.valid_to,
            facts.expires,
            facts.subject,
        )
        return Draft("create", object_.canonical, salt, version, tags, replaced)

    def edited(
        self, current: Current, content: Encoded, note: Note, said: Following = INHERITED
    ) -> Draft:
        """The object with other content; time never goes back for a record."""
        statement, format_ = statement_of_json(content.data)
        before = decode(current.body)
        facts = said.facts(before, is_restated=statement != before["statement"])
        type_ = before["statement_type"]
        if type_ not in MARKED_AS_DERIVED:
            type_ = _statement_type(note.actor)
        elif not facts.source_refs:
            type_ = "DerivedStatement"  # what is consolidated has the sources of its inputs
        object_ = next_version(
            Frozen(current.body),
            **facts.members,
            statement_type=facts.statement_type or type_,
            at=note.at,
            nonce=self.nonce(),
            updated_ms=max(note.at, current.updated_at),
            statement=statement,
            format=None if format_ == "text" else format_,
            tags=content.tags,
            meta=None if content.meta is None else decode(content.meta),
            reason=note.reason,
        )
        return self.following(current, "create", object_)

    def revised(self, current: Current, note: Note, said: Following) -> Draft:
        """The same statement with something else said of it.

        What was approved was approved with its sources and its verdict: with others it is not.
        """
        before = decode(current.body)
        facts = said.facts(before, is_restated=False)
        judged = (before["verdict_type"], list(before["source_refs"]))
        is_same = judged == (facts.verdict, list(facts.source_refs))
        is_lowered = before["trust"] == "approved" and not is_same
        object_ = next_version(
            Frozen(current.body),
            **facts.members,
            statement_type=facts.statement_type or before["statement_type"],
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
        data_of(document),
        None if tags is None else tuple(tags),
        document.get("meta"),
    )


def _statement_type(actor: str) -> StatementType:
    is_human = actor.startswith(_HUMAN)
    return "UserProvidedStatement" if is_human else "SystemGeneratedStatement"
