"""What is said of a statement beside its content: sources, validity, expiry, subject, verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from pydantic import ValidationError

from memoranda.identity import canonical_bytes, decode
from memoranda.journeys.govern.moments import Moment, milliseconds_or_none
from memoranda.journeys.records.contents import UNCHANGED, Unchanged
from memoranda.kernel.errors import InvalidJson, InvalidObject, InvalidRecord, ReasonMissing
from memoranda.kernel.json import JsonValue, storable
from memoranda.kernel.unseen import is_blank
from memoranda.kernel.wire import place_and_reason
from memoranda.ledger.derive import thread_of
from memoranda.ledger.model import SourceRef
from memoranda.ledger.object import TEMPORAL_SCOPES, VERDICT_TYPES, VerdictType
from memoranda.ledger.time import (
    UNKNOWN,
    TemporalScope,
    Validity,
    format_time,
    parse_time,
    validity_of,
)

Source = str | Mapping[str, JsonValue]

Declared = Literal["SourceStatement", "DerivedStatement"]
"""What a caller may say of the type of a statement: the others follow from who wrote it, or how."""

MAX_SUBJECT: Final = 512
_NO_SOURCE: Final = "a source is a text or an object; give one, or a list of them"


@dataclass(frozen=True, slots=True)
class Facts:
    """What a version says beside its statement; nothing is implied: unknown validity is written."""

    source_refs: tuple[Mapping[str, JsonValue], ...] = ()
    validity: Validity = UNKNOWN
    expires: int | None = None
    subject: str | None = None
    jurisdiction: str | None = None
    verdict: VerdictType = "Unanswered"
    thread: str | None = None
    """The thread that it stands in, where its first source does not say so."""
    statement_type: Declared | None = None
    applicability: Mapping[str, JsonValue] | Unchanged | None = UNCHANGED
    """Where it applies; the scope, unless said otherwise. None restricts nothing."""

    @classmethod
    def given(
        cls,
        *,
        source: Source | Sequence[Source] | None = None,
        valid_from: Moment | None = None,
        valid_to: Moment | None = None,
        expires: Moment | None = None,
        subject: str | None = None,
        jurisdiction: str | None = None,
        verdict: VerdictType = "Unanswered",
        statement_type: Declared | None = None,
        applicability_scope: Mapping[str, JsonValue] | Unchanged | None = UNCHANGED,
        temporal_scope: TemporalScope | None = None,
    ) -> "Facts":
        """The facts that a caller gave; InvalidObject or InvalidTime for one that is none."""
        check_name("subject", subject)
        check_name("jurisdiction", jurisdiction)
        sources = sources_of(source)
        check_supported(verdict, sources)
        check_type(statement_type, sources)
        validity = validity_between(
            milliseconds_or_none(valid_from), milliseconds_or_none(valid_to), temporal_scope
        )
        gone = milliseconds_or_none(expires)
        where = applies(applicability_scope)
        facts = cls(
            sources, validity, gone, subject, jurisdiction, verdict, None, statement_type, where
        )
        return NO_FACTS if facts == NO_FACTS else facts

    @property
    def members(self) -> dict[str, JsonValue]:
        """What they are in an object; None takes a member away that is not the seed's own."""
        start, end = self.validity.valid_from, self.validity.valid_to
        return {
            "source_refs": list(self.source_refs),
            "valid_from": None if start is None else format_time(start),
            "valid_to": None if end is None else format_time(end),
            "temporal_scope": self.validity.scope,
            "expires": None if self.expires is None else format_time(self.expires),
            "subject": self.subject,
            "jurisdiction": self.jurisdiction,
            "verdict_type": self.verdict,
            "thread": self.thread,
            "applicability_scope": self.applicability,
        }


NO_FACTS: Final = Facts()


@dataclass(frozen=True, slots=True)
class Following:
    """What is said of a version, or of an object, that follows another one.

    What is not named passes on: subject, jurisdiction, validity, expiry. None says that there is
    none. Another statement has the sources that are given with it, and is not judged yet; whoever
    keeps the old ones says why. What is Factual by other sources is not judged yet either. It stays
    in the thread that the one before stood in.
    """

    source: Source | Sequence[Source] | None = None
    keep_sources: bool = False
    valid_from: Moment | Unchanged | None = UNCHANGED
    valid_to: Moment | Unchanged | None = UNCHANGED
    expires: Moment | Unchanged | None = UNCHANGED
    subject: str | Unchanged | None = UNCHANGED
    jurisdiction: str | Unchanged | None = UNCHANGED
    verdict: VerdictType | Unchanged = UNCHANGED
    statement_type: Declared | None = None
    applicability_scope: Mapping[str, JsonValue] | Unchanged | None = UNCHANGED
    temporal_scope: TemporalScope | Unchanged = UNCHANGED

    def checked(self, verb: str, reason: str | None) -> "Following":
        """The same, if it can be said; refused before anything is read."""
        check_name("subject", _or_none(self.subject))
        check_name("jurisdiction", _or_none(self.jurisdiction))
        for moment in (self.valid_from, self.valid_to, self.expires):
            milliseconds_or_none(_or_none(moment))
        sources_of(self.source)
        applies(self.applicability_scope)
        _check_temporal(_or_none(self.temporal_scope))
        if self.statement_type is not None:
            check_type(self.statement_type, [self.source])
        if self.keep_sources:
            if self.source is not None:
                raise InvalidRecord("keep_sources", "other sources are given; name one of the two")
            if reason is None:
                why = "sources that were given with another statement are kept for a reason alone"
                raise ReasonMissing(verb, f"{why}; say why with a reason")
        return self

    def facts(self, before: Mapping[str, JsonValue], *, is_restated: bool) -> Facts:
        """What holds of the one that follows; `is_restated` says that it has another statement."""
        sources = sources_of(self.source)
        if self.source is None and (self.keep_sources or not is_restated):
            sources = tuple(before["source_refs"])
        is_resourced = list(sources) != list(before["source_refs"])
        verdict: VerdictType = before["verdict_type"]
        if is_restated or (verdict == "Factual" and is_resourced):
            verdict = "Unanswered"
        if not isinstance(self.verdict, Unchanged):
            verdict = self.verdict
        check_supported(verdict, sources)
        check_type(self.statement_type, sources)
        thread = thread_of(before)
        return Facts(
            sources,
            self._validity(before),
            self._moment(self.expires, before.get("expires")),
            before.get("subject") if isinstance(self.subject, Unchanged) else self.subject,
            before.get("jurisdiction")
            if isinstance(self.jurisdiction, Unchanged)
            else self.jurisdiction,
            verdict,
            None if thread == thread_of({"source_refs": sources}) else thread,
            self.statement_type,
            before["applicability_scope"]
            if isinstance(self.applicability_scope, Unchanged)
            else applies(self.applicability_scope),
        )

    def request(self) -> list[JsonValue]:
        """The same as a part of a request that may be retried."""
        named: dict[str, Any] = {
            "valid_from": self.valid_from,
            "valid_to": self.valid_to,
            "expires": self.expires,
            "subject": self.subject,
            "jurisdiction": self.jurisdiction,
            "verdict": self.verdict,
            "statement_type": self.statement_type or UNCHANGED,
            "applicability_scope": self.applicability_scope,
            "temporal_scope": self.temporal_scope,
        }
        said: dict[str, JsonValue] = {
            name: milliseconds_or_none(value)
            if name in ("valid_from", "valid_to", "expires")
            else value
            for name, value in named.items()
            if value is not UNCHANGED
        }
        return [self.source is not None, list(sources_of(self.source)), self.keep_sources, said]

    def _validity(self, before: Mapping[str, JsonValue]) -> Validity:
        known = validity_of(before)
        if {self.valid_from, self.valid_to, self.temporal_scope} == {UNCHANGED}:
            return known
        start = self._moment(self.valid_from, before.get("valid_from"))
        end = self._moment(self.valid_to, before.get("valid_to"))
        if not isinstance(self.temporal_scope, Unchanged):
            return validity_between(start, end, self.temporal_scope)
        is_endless = known.scope == "unbounded" and end is None and start is not None
        return validity_between(start, end, "unbounded" if is_endless else None)

    def _moment(self, given: Moment | Unchanged | None, before: str | None) -> int | None:
        if isinstance(given, Unchanged):
            return None if before is None else parse_time(before)
        return milliseconds_or_none(given)


INHERITED: Final = Following()
"""Nothing is said of it: everything passes on that can."""


def check_verdict(verdict: VerdictType) -> None:
    """Refuse a verdict that is none."""
    if verdict not in VERDICT_TYPES:
        raise InvalidObject("$.verdict_type", f"it is none of {', '.join(VERDICT_TYPES)}")


def check_supported(verdict: VerdictType, sources: Sequence[object]) -> None:
    """Refuse a verdict that is none, or one without the sources that it needs."""
    check_verdict(verdict)
    if verdict == "Factual" and not sources:
        raise InvalidObject("$.source_refs", "what is Factual needs a source; name one")


def check_type(statement_type: Declared | None, sources: Sequence[object]) -> None:
    """Refuse a type that nobody may say, or one without what it needs (GOV-TYPE)."""
    if statement_type is not None and statement_type not in get_args(Declared):
        why = f"what may be said of it is one of {', '.join(get_args(Declared))}"
        raise InvalidObject("$.statement_type", why)
    if statement_type == "SourceStatement" and not sources:
        raise InvalidObject("$.source_refs", "a SourceStatement needs a source; name one")


def validity_between(
    start: int | None, end: int | None, scope: TemporalScope | None = None
) -> Validity:
    """When something holds; without a scope, a bound that is missing is unknown (GOV-TIME-2)."""
    _check_temporal(scope)
    return Validity.between(start, end) if scope is None else Validity(start, end, scope)


def applies(
    scope: Mapping[str, JsonValue] | Unchanged | None,
) -> Mapping[str, JsonValue] | Unchanged | None:
    """Where a statement applies, by value; InvalidObject for what is no JSON object."""
    if scope is None or isinstance(scope, Unchanged):
        return scope
    if not isinstance(scope, Mapping):
        raise InvalidObject("$.applicability_scope", "it is an object, or null")
    try:
        found: dict[str, JsonValue] = decode(canonical_bytes(dict(scope)))
    except InvalidJson as refused:
        where = f"$.applicability_scope{refused.where[1:]}"
        raise InvalidObject(where, refused.why) from None
    return found


def _check_temporal(scope: TemporalScope | None) -> None:
    if scope is not None and scope not in TEMPORAL_SCOPES:
        raise InvalidObject("$.temporal_scope", f"it is none of {', '.join(TEMPORAL_SCOPES)}")


def sources_of(source: Source | Sequence[Source] | None) -> tuple[Mapping[str, JsonValue], ...]:
    """Sources as an object names them; a text is the uri of one."""
    if source is None:
        return ()
    named: object = [source] if isinstance(source, str | Mapping) else source
    if not isinstance(named, Sequence) or isinstance(named, bytes):
        raise InvalidObject("$.source_refs", _NO_SOURCE)
    found = []
    for place, one in enumerate(named):
        if not isinstance(one, str | Mapping):
            raise InvalidObject(f"$.source_refs[{place}]", _NO_SOURCE)
        given = {"uri": one} if isinstance(one, str) else dict(one)
        try:
            SourceRef.model_validate(given)
        except ValidationError as refused:
            where, why = place_and_reason(refused)
            raise InvalidObject(f"$.source_refs[{place}]{where[1:]}", why) from None
        found.append(given)
    return tuple(found)


def check_name(name: str, text: str | None) -> None:
    """Refuse a subject or a jurisdiction that names nothing."""
    if text is not None and not (
        isinstance(text, str) and not is_blank(text) and len(text) <= MAX_SUBJECT and storable(text)
    ):
        why = f"it must be a text of 1 to {MAX_SUBJECT} characters, not blank"
        raise InvalidObject(f"$.{name}", why)


def _or_none(given: Any) -> Any:
    return None if given is UNCHANGED else given
