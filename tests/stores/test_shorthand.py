"""What SQLite stores is shorter, and the same when it is read."""

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import canonical_bytes
from memoranda.kernel.json import MAX_INTEGER
from memoranda.ledger.codec import PLAIN
from memoranda.ledger.entry import KINDS, Entry, entry_bytes
from memoranda.ledger.passages import WrittenBody
from memoranda.stores.shorthand import BODY, ENTRY, InShorthand, packed, unpacked
from memoranda.testkit.strategies import json_values
from tests.ledger.objects import a_first_version

HASHES = st.binary(min_size=32, max_size=32).map(bytes.hex)
ACTORS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
ENTRIES = st.builds(
    Entry,
    seq=st.integers(0, MAX_INTEGER),
    kind=st.sampled_from(sorted(KINDS)),
    at=st.integers(-MAX_INTEGER, MAX_INTEGER),
    actor=ACTORS | st.sampled_from(["agent:support", "human:kim", 'a:"b"', "a:\\", "a:é"]),
    body_digest=HASHES,
    previous_entry_hash=HASHES,
)


@given(ENTRIES)
def test_an_entry_comes_back_as_it_was(entry: Entry) -> None:
    raw = entry_bytes(entry)

    assert unpacked(packed(raw, ENTRY), ENTRY) == raw
    assert len(packed(raw, ENTRY)) <= len(raw)


@given(json_values())
def test_a_body_comes_back_as_it_was(value: object) -> None:
    raw = canonical_bytes({"statement": canonical_bytes(value).decode(), "value": value})

    assert unpacked(packed(raw, BODY), BODY) == raw


@given(json_values())
def test_an_object_comes_back_as_it_was_and_is_shorter(data: object) -> None:
    raw = a_first_version(
        id="0199-a",
        statement=canonical_bytes(data).decode(),
        statement_type="SystemGeneratedStatement",
        at=1_763_257_839_123,
        nonce="x" * 20,
        trust="unreviewed",
        scope={"scope": "s"},
        format="json",
    ).canonical

    assert unpacked(packed(raw, BODY), BODY) == raw
    assert len(packed(raw, BODY)) < len(raw) - 250


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_an_ordinary_entry_takes_less_than_half(kind: str) -> None:
    raw = entry_bytes(Entry(100_000, kind, 1_763_257_839_123, "agent:a", "ab" * 32, "cd" * 32))

    assert len(packed(raw, ENTRY)) < len(raw) / 2


def test_sql_reads_the_data_of_a_record_as_json() -> None:
    data = {"text": 'a "word"\n\\', "n": [1, 2], "메모": None}
    raw = a_first_version(
        id="0199-a",
        statement=canonical_bytes(data).decode(),
        statement_type="SystemGeneratedStatement",
        at=1_763_257_839_123,
        nonce="x" * 20,
        trust="unreviewed",
        scope={"scope": "s"},
        format="json",
    ).canonical
    read = """
    WITH body (b) AS (SELECT ?),
    data (d) AS (
      SELECT CAST(substr(b, instr(b, x'11') + 1, instr(b, x'12') - instr(b, x'11') - 1) AS TEXT)
      FROM body
    )
    SELECT json_extract(d, '$.text'), json_extract(d, '$.n[1]'), json_type(d, '$.메모') FROM data
    """

    found = apsw.Connection(":memory:").execute(read, (BODY.pack(raw),)).fetchall()

    assert found == [('a "word"\n\\', 2, "null")]


def test_the_shorthand_of_a_body_that_was_replaced_is_not_stored() -> None:
    written = WrittenBody(b'{"statement":"a","statement_type":"b"}', b"\x10a\x12b")
    other = b'{"statement":"c","statement_type":"b"}'

    assert InShorthand(PLAIN).pack(written.body, None, written) == written.shorthand
    assert InShorthand(PLAIN).pack(other, None, written) == BODY.pack(other)
