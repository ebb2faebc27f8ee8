"""Objects to test with: made as the write path makes them, and sealed."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from memoranda.identity import Frozen, freeze
from memoranda.kernel.clock import format_time
from memoranda.ledger.object import sealed
from memoranda.ledger.time import UNKNOWN, Validity

SHARED = Path(__file__).parents[3] / "shared" / "data" / "governance"
NOW = 1_771_150_951_123
DAY = 86_400_000
NONCE = "AAAAAAAAAAAAAAAAAAAA"
OTHER_NONCE = "BBBBBBBBBBBBBBBBBBBB"
SOURCE = {"uri": "https://example.org/policy", "anchor": "#section-2"}

MAX_TIME = 253_402_300_799_999
times = st.integers(-62_135_596_800_000, MAX_TIME)
texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=40
)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def validities(draw: st.DrawFn) -> Validity:
    """Every kind of validity that there is."""
    start, end = sorted([draw(times), draw(times)])
    return draw(
        st.sampled_from([
            Validity(),
            Validity(start, None),
            Validity(None, end),
            Validity(start, end),
            Validity(start, end, "bounded"),
            Validity(start, None, "unbounded"),
        ])
    )  # fmt: skip


def an_object(
    id: str = "a", statement: str = "The customer prefers email", **members: Any
) -> Frozen:
    """An ordinary object."""
    defaults: dict[str, Any] = {
        "statement_type": "SystemGeneratedStatement",
        "at": NOW,
        "nonce": NONCE,
        "trust": "unreviewed",
        "scope": {"scope": "support"},
    }
    return a_first_version(id=id, statement=statement, **defaults | members)


def a_first_version(
    *,
    at: int,
    scope: Any,
    validity: Validity = UNKNOWN,
    expires: int | None = None,
    created_ms: int | None = None,
    updated_ms: int | None = None,
    format: str = "text",  # noqa: A002 - the name on the wire
    **members: Any,
) -> Frozen:
    """A first version, member by member: the write path must come to the same bytes."""
    bounds = {"valid_from": validity.valid_from, "valid_to": validity.valid_to}
    optional = {
        "format": None if format == "text" else format,
        "created_ms": None if created_ms == at else created_ms,
        "updated_ms": None if updated_ms == at else updated_ms,
        "expires": None if expires is None else format_time(expires),
        **members,
    }
    return freeze({
        "type": "MemoryObject",
        "verdict_type": "Unanswered",
        "source_refs": [],
        "timestamp": format_time(at),
        **{name: None if ms is None else format_time(ms) for name, ms in bounds.items()},
        "temporal_scope": validity.scope,
        "applicability_scope": scope,
        "version": "1",
        **{name: member for name, member in optional.items() if member is not None},
    })  # fmt: skip


def a_fact(id: str = "a", statement: str = "The customer prefers email", **members: Any) -> Frozen:
    """An object with a source, so that it can be consolidated."""
    defaults: dict[str, Any] = {
        "statement_type": "SourceStatement",
        "verdict_type": "Factual",
        "source_refs": [{"uri": f"https://example.org/{id}"}],
    }
    return an_object(id, statement, **defaults | members)


def a_document(**members: Any) -> dict[str, Any]:
    """A sealed object that no check finds anything wrong with; `...` removes a member."""
    document = a_fact().thaw() | {"jurisdiction": "CA-QC"} | members
    return sealed({name: member for name, member in document.items() if member is not ...})


def checks(violations: Any, severity: str = "error") -> list[str]:
    """The labels of what was found, each once."""
    return sorted({one.check for one in violations if one.severity == severity})


def shared_file(name: str) -> Path:
    """A file of shared/data/governance, or a skipped test."""
    if not (SHARED / name).exists():
        pytest.skip(f"the shared cases are not here: {SHARED / name}")
    return SHARED / name
