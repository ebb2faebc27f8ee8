"""The frequent object that is written piece by piece has the bytes of any other."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import canonical_bytes
from memoranda.ledger import passages
from memoranda.ledger.object import STATEMENT_TYPES, statement_of_json
from memoranda.testkit.strategies import json_values
from tests.ledger.objects import a_first_version

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
TIMES = st.integers(-60_000_000_000_000, 250_000_000_000_000)


@given(
    scope=TEXTS,
    id=TEXTS,
    data=json_values() | st.just(""),
    tags=st.none() | st.lists(TEXTS).map(tuple),
    statement_type=st.sampled_from(STATEMENT_TYPES),
    at=TIMES,
    created=st.none() | TIMES,
    updated=st.none() | TIMES,
)
def test_an_ordinary_object_has_the_bytes_of_any_first_version(
    *,
    scope: str,
    id: str,
    data: Any,
    tags: tuple[str, ...] | None,
    statement_type: Any,
    at: int,
    created: int | None,
    updated: int | None,
) -> None:
    statement, format_ = statement_of_json(canonical_bytes(data))
    created_ms = at if created is None else created
    updated_ms = at if updated is None else updated

    written, shorthand = passages.ordinary_version(
        canonical_bytes(scope)[1:-1],
        id,
        canonical_bytes(data),
        tags,
        statement_type.encode(),
        at,
        created_ms,
        updated_ms,
        b"x" * 20,
    )

    assert written == (
        a_first_version(
            id=id,
            statement=statement,
            statement_type=statement_type,
            at=at,
            nonce="x" * 20,
            trust="unreviewed",
            scope={"scope": scope},
            format=format_,
            created_ms=created_ms,
            updated_ms=updated_ms,
            tags=tags,
        ).canonical
    )
    assert shorthand == passages.pack(written)
    assert passages.unpack(shorthand) == written
