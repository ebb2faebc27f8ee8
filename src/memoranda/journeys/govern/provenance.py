"""What holds of a version besides its statement: sources, validity, subject, verdict, thread."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memoranda.identity.canonical import thread_digest
from memoranda.journeys.govern.about import Declared, Said
from memoranda.kernel.clock import format_time
from memoranda.kernel.errors import InvalidObject
from memoranda.kernel.json import JsonValue
from memoranda.ledger.derive import thread_of
from memoranda.ledger.object import VerdictType, is_bytes
from memoranda.ledger.time import UNKNOWN, TemporalScope, Validity, parse_time, validity_of


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a version says besides its statement; unknown validity is written, never implied."""

    source_refs: Sequence[Mapping[str, JsonValue]] = ()
    validity: Validity = UNKNOWN
    expires: int | None = None
    subject: str | None = None
    jurisdiction: str | None = None
    verdict: VerdictType = "Unanswered"
    thread: str | None = None
    in_thread: str | None = None
    """The digest of the thread that it stands in, where neither it nor its first source says so."""
    speaker: str | None = None
    said_at: int | None = None
    media_type: str | None = None
    is_indexed: bool = True
    embed: Sequence[str] | None = None
    """The paths of what is embedded; None for all of it."""
    statement_type: Declared | None = None
    applies_here: bool = True
    """Whether it applies in its scope, as it does unless something else is said."""
    applicability: Mapping[str, JsonValue] | None = None
    """Where it applies instead; None restricts nothing."""

    @property
    def members(self) -> dict[str, JsonValue]:
        """What it is in an object; None takes a member away that is not the seed's own."""
        start, end = self.validity.valid_from, self.validity.valid_to
        return {
            "source_refs": list(self.source_refs),
            "valid_from": _written(start),
            "valid_to": _written(end),
            "temporal_scope": self.validity.scope,
            "expires": _written(self.expires),
            "verdict_type": self.verdict,
            **self.optional,
        }

    @property
    def optional(self) -> dict[str, JsonValue]:
        """Those of them that are left out of an object where they are None."""
        return {
            "subject": self.subject,
            "jurisdiction": self.jurisdiction,
            "thread": self.thread,
            "in_thread": self.in_thread,
            "speaker": self.speaker,
            "said_at": _written(self.said_at),
            "media_type": self.media_type,
            "indexed": None if self.is_indexed else False,
            "embed": self.embed,
        }

    def where_in(self, scope: Mapping[str, JsonValue]) -> Mapping[str, JsonValue] | None:
        """Where it applies, for an object of this scope."""
        return scope if self.applies_here else self.applicability


NO_PROVENANCE: Final = Provenance()
"""Of what is new, and of which nothing was said."""


def of_new(said: Said) -> Provenance:
    """What holds of something new; InvalidObject where two members don't go together."""
    given = said.members
    if not given:
        return NO_PROVENANCE
    sources = given.get("source", ())
    _check_supported(said.verdict, given.get("statement_type"), sources)
    bounds = given.get("valid_from"), given.get("valid_to")
    return Provenance(
        source_refs=sources,
        validity=validity_between(*bounds, given.get("temporal_scope")),
        expires=given.get("expires"),
        subject=given.get("subject"),
        jurisdiction=given.get("jurisdiction"),
        verdict=said.verdict,
        thread=given.get("thread"),
        speaker=given.get("speaker"),
        said_at=given.get("said_at"),
        media_type=given.get("media_type"),
        is_indexed=given.get("indexed", True),
        embed=given.get("embed"),
        statement_type=given.get("statement_type"),
        applies_here="applicability_scope" not in given,
        applicability=given.get("applicability_scope"),
    )


def following(
    said: Said, before: Mapping[str, JsonValue], *, is_restated: bool, is_raw: bool = False
) -> Provenance:
    """What holds of a version, or of an object, that follows another one.

    What is not said passes on. Another statement (`is_restated`) has the sources that are given
    with it, and is not judged yet; `keep_sources` keeps the old ones. What is Factual by other
    sources is not judged yet either. It stays in the thread that the one before stood in. The media
    type of bytes is not that of anything else: `is_raw` says that there are bytes now.
    """
    given = said.members
    sources: Sequence[Mapping[str, JsonValue]] = given.get("source", ())
    if "source" not in given and (given.get("keep_sources") or not is_restated):
        sources = before["source_refs"]
    is_resourced = list(sources) != list(before["source_refs"])
    verdict: VerdictType = before["verdict_type"]
    if is_restated or (verdict == "Factual" and is_resourced):
        verdict = "Unanswered"
    verdict = given.get("verdict", verdict)
    _check_supported(verdict, given.get("statement_type"), sources)
    media_type = before.get("media_type") if is_bytes(before) == is_raw else None
    return _in_thread(
        Provenance(
            source_refs=sources,
            validity=_validity(given, before),
            expires=_moment("expires", given, before),
            subject=given.get("subject", before.get("subject")),
            jurisdiction=given.get("jurisdiction", before.get("jurisdiction")),
            verdict=verdict,
            speaker=given.get("speaker", before.get("speaker")),
            said_at=_moment("said_at", given, before),
            media_type=given.get("media_type", media_type),
            is_indexed=given.get("indexed", before.get("indexed", True)),
            embed=given.get("embed", before.get("embed")),
            statement_type=given.get("statement_type"),
            applies_here=False,
            applicability=given.get("applicability_scope", before["applicability_scope"]),
        ),
        given,
        before,
    )


def validity_between(
    start: int | None, end: int | None, scope: TemporalScope | None = None
) -> Validity:
    """When something holds; without a scope, a bound that is missing is unknown (GOV-TIME-2)."""
    return Validity.between(start, end) if scope is None else Validity(start, end, scope)


def _check_supported(
    verdict: VerdictType, statement_type: Declared | None, sources: Sequence[object]
) -> None:
    """Refuse a verdict, or a type, without the sources that it needs (GOV-TYPE)."""
    if not sources and verdict == "Factual":
        raise InvalidObject("$.source", "what is Factual needs a source; name one")
    if not sources and statement_type == "SourceStatement":
        raise InvalidObject("$.source", "a SourceStatement needs a source; name one")


def _in_thread(
    found: Provenance, given: Mapping[str, JsonValue], before: Mapping[str, JsonValue]
) -> Provenance:
    """The same in its thread: the one that is said, or that the one before stood in."""
    if "thread" in given:
        return replace(found, thread=given["thread"])
    if before.get("thread") is not None:
        return replace(found, thread=before["thread"])
    stood_in = thread_of(before)
    own = thread_digest(found.source_refs[0]["uri"]) if found.source_refs else None
    return found if stood_in == own else replace(found, in_thread=stood_in)


def _validity(given: Mapping[str, JsonValue], before: Mapping[str, JsonValue]) -> Validity:
    known = validity_of(before)
    if not given.keys() & {"valid_from", "valid_to", "temporal_scope"}:
        return known
    start = _moment("valid_from", given, before)
    end = _moment("valid_to", given, before)
    if "temporal_scope" in given:
        return validity_between(start, end, given["temporal_scope"])
    is_endless = known.scope == "unbounded" and end is None and start is not None
    return validity_between(start, end, "unbounded" if is_endless else None)


def _moment(
    name: str, given: Mapping[str, JsonValue], before: Mapping[str, JsonValue]
) -> int | None:
    if name in given:
        found: int | None = given[name]
        return found
    return None if before.get(name) is None else parse_time(before[name])


def _written(moment: int | None) -> str | None:
    return None if moment is None else format_time(moment)
