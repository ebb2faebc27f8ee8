"""The MemoryObject: its stored form, its hash, its versions."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import Frozen, canonical_bytes
from memoranda.kernel.clock import format_time
from memoranda.kernel.errors import InvalidObject
from memoranda.kernel.json import parse
from memoranda.ledger.model import MemoryObject
from memoranda.ledger.object import (
    STATEMENT_TYPES,
    VERDICT_TYPES,
    data_of,
    integrity_digest,
    next_version,
    record_times,
    sealed,
    statement_of_json,
    status_of,
    unsealed,
    version_of,
)
from memoranda.ledger.validate import validate_object
from tests.ledger.objects import (
    NONCE,
    NOW,
    OTHER_NONCE,
    SOURCE,
    a_document,
    a_fact,
    an_object,
    checks,
    json_values,
    shared_file,
    texts,
    times,
    validities,
)

# ------------------------------------------------------------------------- the form


@pytest.mark.rule("GOV-OBJECT")
def test_an_ordinary_object_is_these_bytes_for_ever() -> None:
    object_ = an_object("0199c0de-1111-7222-8333-444455556666")

    assert object_.canonical == (
        b'{"applicability_scope":{"scope":"support"},"id":"0199c0de-1111-7222-8333-444455556666",'
        b'"nonce":"AAAAAAAAAAAAAAAAAAAA","source_refs":[],"statement":"The customer prefers email",'
        b'"statement_type":"SystemGeneratedStatement","temporal_scope":"unknown",'
        b'"timestamp":"2026-02-15T10:22:31.123Z","trust":"unreviewed","type":"MemoryObject",'
        b'"valid_from":null,"valid_to":null,"verdict_type":"Unanswered","version":"1"}'
    )
    assert object_.digest == "07e9d4b8617098248e5f427cbfae41bdd608ab44646905dfc7789acbdd86cab6"


def test_an_ordinary_object_has_at_most_380_bytes_beside_its_statement() -> None:
    statement = "The customer prefers email"
    object_ = an_object("0199c0de-1111-7222-8333-444455556666", statement)

    assert len(object_.canonical) - len(statement) <= 380


@pytest.mark.rule("GOV-OBJECT")
def test_what_is_written_breaks_no_rule_of_the_seed() -> None:
    assert validate_object(sealed(an_object().thaw())) == []
    assert validate_object(a_document()) == []


@pytest.mark.rule("GOV-OBJECT")
def test_the_hash_is_over_the_object_without_it() -> None:
    document = an_object().thaw()
    shown = sealed(document)

    assert shown["integrity_hash"] == {
        "algo": "sha256",
        "digest": integrity_digest(canonical_bytes(document)),
    }
    assert unsealed(shown) == document
    assert sealed(shown) == shown


def test_the_object_of_the_reference_has_its_digest() -> None:
    shown = parse(shared_file("memory-object.sealed.json").read_bytes())
    stored = shared_file("memory-object.canonical.txt").read_bytes()

    kept = MemoryObject.model_validate(shown)

    assert kept.frozen == Frozen(stored)
    assert sealed(kept.document) == shown


@given(
    id=texts,
    data=json_values,
    at=times,
    validity=validities(),
    verdict_type=st.sampled_from(VERDICT_TYPES),
    statement_type=st.sampled_from(STATEMENT_TYPES),
    source_refs=st.lists(
        st.builds(lambda uri, more: {"more": more, "uri": uri}, texts, json_values)
    ),
    optional=st.fixed_dictionaries(
        {},
        optional={
            "jurisdiction": texts,
            "subject": texts,
            "tags": st.lists(texts, max_size=3),
            "meta": st.dictionaries(texts, json_values, max_size=2),
            "expires": times,
            "created_ms": times,
        },
    ),
)
def test_an_object_survives_being_sealed_and_read(
    id: str, data: Any, at: int, optional: dict[str, Any], **members: Any
) -> None:
    statement, format_ = statement_of_json(canonical_bytes(data))
    object_ = an_object(id, statement, format=format_, at=at, **members, **optional)

    kept = MemoryObject.model_validate(sealed(object_.thaw()))

    assert kept.frozen == object_
    assert canonical_bytes(data_of(kept.document)) == canonical_bytes(data)
    assert set(checks(validate_object(sealed(object_.thaw())))) <= {"O11", "O12"}
    assert record_times(object_.thaw()) == (optional.get("created_ms", at), at)


def test_a_text_is_its_own_statement_and_data_is_canonical_json() -> None:
    assert statement_of_json(canonical_bytes("hello")) == ("hello", "text")
    assert statement_of_json(canonical_bytes("")) == ('""', "json")
    assert statement_of_json(canonical_bytes({"b": 1.0, "a": None})) == ('{"a":null,"b":1}', "json")


# ------------------------------------------------------------------------- versions


@pytest.mark.rule("GOV-OBJECT")
def test_the_next_version_names_the_hash_of_the_one_before() -> None:
    first = an_object(tags=["x"])

    second = next_version(first, at=NOW + 5, nonce=OTHER_NONCE, statement="By phone", tags=None)

    document = second.thaw()
    assert (version_of(document), status_of(document)) == (2, "active")
    assert document["supersedes"] == f"sha256:{first.digest}"
    assert (document["statement"], document["nonce"]) == ("By phone", OTHER_NONCE)
    assert document["timestamp"] == format_time(NOW + 5)
    assert record_times(document) == (NOW, NOW + 5)
    assert "tags" not in document
    assert validate_object(sealed(document)) == []


def test_a_null_of_the_seed_is_a_value_and_is_not_removed() -> None:
    first = an_object()

    second = next_version(
        first, at=NOW, nonce=NONCE, valid_to=None, applicability_scope=None
    ).thaw()

    assert (second["valid_to"], second["applicability_scope"]) == (None, None)
    assert "created_ms" not in second


@pytest.mark.rule("GOV-TYPE")
@pytest.mark.parametrize("marked", ["DerivedStatement", "ConsolidatedStatement"])
def test_what_is_derived_stays_marked_as_derived(marked: str) -> None:
    first = a_fact(statement_type=marked)

    with pytest.raises(InvalidObject) as caught:
        next_version(first, at=NOW, nonce=NONCE, statement_type="SourceStatement")

    assert caught.value.where == "$.statement_type"
    kept = next_version(first, at=NOW, nonce=NONCE, statement="Otherwise").thaw()
    assert kept["statement_type"] == marked


def test_another_statement_inherits_neither_verdict_nor_approval() -> None:
    first = a_fact(trust="approved")

    same = next_version(first, at=NOW, nonce=NONCE, tags=["x"]).thaw()
    other = next_version(first, at=NOW, nonce=NONCE, statement="By phone").thaw()
    judged = next_version(
        first, at=NOW, nonce=NONCE, statement="By phone", verdict_type="Inference"
    ).thaw()

    assert (same["verdict_type"], same["trust"]) == ("Factual", "approved")
    assert (other["verdict_type"], other["trust"]) == ("Unanswered", "unreviewed")
    assert judged["verdict_type"] == "Inference"


def test_another_statement_of_an_untrusted_object_stays_untrusted() -> None:
    first = a_fact(trust="untrusted")

    assert next_version(first, at=NOW, nonce=NONCE, statement="x").thaw()["trust"] == "untrusted"


# -------------------------------------------------------------------- from elsewhere


def test_a_member_that_is_absent_stays_absent() -> None:
    document = unsealed(
        a_document(source_refs=[{**SOURCE, "extra": 1}, {"uri": "x", "anchor": None}])
    )

    assert MemoryObject.model_validate(document).document == document


@pytest.mark.rule("GOV-OBJECT", "GOV-TYPE")
@pytest.mark.parametrize(
    ("members", "where"),
    [
        ({"statement_type": "Rumour"}, "$.statement_type"),
        ({"verdict_type": False}, "$.verdict_type"),
        ({"source_refs": [{"anchor": "x"}]}, "$.source_refs[0].uri"),
        ({"source_refs": ...}, "$.source_refs"),
        ({"applicability_scope": ...}, "$.applicability_scope"),
        ({"timestamp": "2026-02-15"}, "$.timestamp"),
        ({"temporal_scope": "bounded"}, "$.temporal_scope"),
        ({"temporal_scope": None}, "$.temporal_scope"),
        ({"version": 1}, "$.version"),
        ({"trust": "high"}, "$.trust"),
        ({"status": "gone"}, "$.status"),
        ({"unknown": 1}, "$.unknown"),
        ({"meta": {"a": 2**60}}, "$.meta"),
        ({"format": "json", "statement": "{ }"}, "$.statement"),
        ({"supersedes": "sha256:0"}, "$.supersedes"),
        ({"statement": ""}, "$.statement"),
        ({"id": "\x00"}, "$.id"),
    ],
)
def test_an_object_with_a_wrong_member_is_refused_with_its_place(
    members: dict[str, Any], where: str
) -> None:
    document = {**unsealed(a_document()), **members}
    document = {name: member for name, member in document.items() if member is not ...}

    with pytest.raises(InvalidObject) as caught:
        MemoryObject.model_validate(document)

    assert caught.value.where == where
    assert caught.value.code == "input.object"


@pytest.mark.rule("GOV-OBJECT")
def test_an_object_with_the_hash_of_another_is_refused() -> None:
    shown = sealed(an_object().thaw())
    shown["statement"] = "The customer prefers the phone"

    with pytest.raises(InvalidObject) as caught:
        MemoryObject.model_validate(shown)

    assert caught.value.where == "$.integrity_hash.digest"
