"""What is said of a statement beside its content: sources, validity, expiry, subject, verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from recollect.journeys.govern.moments import Moment, milliseconds_or_none
from recollect.kernel.errors import InvalidObject
from recollect.kernel.json import JsonValue, storable
from recollect.kernel.wire import place_and_reason
from recollect.ledger.model import SourceRef
from recollect.ledger.object import VERDICT_TYPES, VerdictType
from recollect.ledger.time import UNKNOWN, Validity

Source = str | Mapping[str, JsonValue]

MAX_SUBJECT: Final = 512


@dataclass(frozen=True, slots=True)
class Facts:
    """What a first version says of itself; nothing is implied: unknown validity is written so."""

    source_refs: tuple[Mapping[str, JsonValue], ...] = ()
    validity: Validity = UNKNOWN
    expires: int | None = None
    subject: str | None = None
    jurisdiction: str | None = None
    verdict: VerdictType = "Unanswered"

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
    ) -> "Facts":
        """The facts that a caller gave; InvalidObject or InvalidTime for one that is none."""
        _check_text("subject", subject)
        _check_text("jurisdiction", jurisdiction)
        if verdict not in VERDICT_TYPES:
            raise InvalidObject("$.verdict_type", f"it is none of {', '.join(VERDICT_TYPES)}")
        sources = sources_of(source)
        if verdict == "Factual" and not sources:
            raise InvalidObject("$.source_refs", "what is Factual needs a source; name one")
        validity = Validity.between(
            milliseconds_or_none(valid_from), milliseconds_or_none(valid_to)
        )
        gone = milliseconds_or_none(expires)
        facts = cls(sources, validity, gone, subject, jurisdiction, verdict)
        return NO_FACTS if facts == NO_FACTS else facts


NO_FACTS: Final = Facts()


def sources_of(source: Source | Sequence[Source] | None) -> tuple[Mapping[str, JsonValue], ...]:
    """Sources as an object names them; a text is the uri of one."""
    if source is None:
        return ()
    named: Sequence[Any] = [source] if isinstance(source, str | Mapping) else source
    found = []
    for place, one in enumerate(named):
        given = {"uri": one} if isinstance(one, str) else dict(one)
        try:
            SourceRef.model_validate(given)
        except ValidationError as refused:
            where, why = place_and_reason(refused)
            raise InvalidObject(f"$.source_refs[{place}]{where[1:]}", why) from None
        found.append(given)
    return tuple(found)


def _check_text(name: str, text: str | None) -> None:
    if text is not None and not (
        isinstance(text, str) and text.strip() and len(text) <= MAX_SUBJECT and storable(text)
    ):
        why = f"it must be a text of 1 to {MAX_SUBJECT} characters, not blank"
        raise InvalidObject(f"$.{name}", why)
