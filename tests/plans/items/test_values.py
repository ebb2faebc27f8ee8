"""What an item is: five fields, each of its own form, and nothing besides (ING-WHITELIST)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.kernel.errors import InvalidItem, ItemDamaged
from memoranda.plans.items import (
    MemoryItem,
    RetrievedItem,
    check_item,
    check_session_ref,
    item_bytes,
    item_digest,
    read_item,
    read_retrieved,
    retrieved,
)
from memoranda.testkit.items.opening import item, sessions_items
from memoranda.testkit.strategies import json_values

ID = "6f1f0e9a-52b5-4c9e-9d1f-0a2b3c4d5e6f"
MEMBERS: dict[str, Any] = {
    "id": ID,
    "keywords": ["메모리", "C++"],
    "sessionRef": "s1",
    "summary": "They talked about memory.",
    "timestamp": "2026-11-16T08:00:00.000Z",
}
WRITTEN = (
    '{"id":"6f1f0e9a-52b5-4c9e-9d1f-0a2b3c4d5e6f","keywords":["메모리","C++"],"sessionRef":"s1",'
    '"summary":"They talked about memory.","timestamp":"2026-11-16T08:00:00.000Z"}'
)


@pytest.mark.rule("ING-WHITELIST")
def test_an_item_has_exactly_five_fields() -> None:
    made = MemoryItem.model_validate(MEMBERS)

    assert made.model_dump(mode="json") == MEMBERS
    assert set(MemoryItem.model_fields) == {"id", "session_ref", "timestamp", "summary", "keywords"}
    assert set(RetrievedItem.model_fields) == {"id", "summary", "timestamp"}


@pytest.mark.rule("ING-WHITELIST")
@pytest.mark.parametrize("missing", MEMBERS)
def test_an_item_without_one_of_them_is_refused(missing: str) -> None:
    with pytest.raises(InvalidItem) as caught:
        MemoryItem.model_validate({k: v for k, v in MEMBERS.items() if k != missing})

    assert (caught.value.code, caught.value.where) == ("input.item", f"$.{missing}")


@pytest.mark.rule("ING-WHITELIST")
@pytest.mark.parametrize(
    "further", ["raw_content", "rawContent", "response", "content", "embedding", "meta", "Summary"]
)
def test_an_item_with_any_other_field_is_refused(further: str) -> None:
    values: list[Any] = [None, "", "the whole response", [0.1], {}]
    for value in values:
        with pytest.raises(InvalidItem) as caught:
            MemoryItem.model_validate({**MEMBERS, further: value})
        assert caught.value.where == f"$.{further}"


@pytest.mark.rule("ING-WHITELIST")
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("id", ["", "one", ID.upper(), ID.replace("-4", "-7"), ID + "\n", 1, None,
                "6f1f0e9a-52b5-4c9e-cd1f-0a2b3c4d5e6f", ID.replace("-", "")]),
        ("sessionRef", ["", None, 1, "x" * 257, "a\u0000", "\ud800"]),
        ("timestamp", ["", "2026-11-16", "2026-11-16T08:00:00Z", "2026-11-16T08:00:00.000+00:00",
                       "2026-11-16T08:00:00.000000Z", "2026-02-30T08:00:00.000Z", 1, None,
                       "2026-11-16t08:00:00.000z", "0000-01-01T00:00:00.000Z"]),
        ("summary", ["", " ", "\n\t", "\u00ad", None, 1, ["x"], "a\u0000b", "\udfff"]),
        ("keywords", [None, "memory", [""], [" "], ["\u200d\ufe0f"], [1], [None], ["x" * 257],
                      ["a", ["b"]], {"a": 1}, ["\u0000"]]),
    ],
)  # fmt: skip
def test_a_field_of_another_form_is_refused(name: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(InvalidItem) as caught:
            MemoryItem.model_validate({**MEMBERS, name: value})
        assert caught.value.where.startswith(f"$.{name}"), value


def test_keywords_may_be_none_at_all_and_keep_their_order_and_spelling() -> None:
    assert item("s1").keywords == ()
    assert item("s1", "B", "a", "b", "e\u0301").keywords == ("B", "a", "b", "e\u0301")


def test_items_can_not_be_changed() -> None:
    made = MemoryItem.model_validate(MEMBERS)

    for name in ("id", "session_ref", "timestamp", "summary", "keywords", "more"):
        with pytest.raises(ValidationError):
            setattr(made, name, "x")
    assert isinstance(made.keywords, tuple)


def test_the_digest_is_that_of_the_canonical_bytes() -> None:
    made = MemoryItem.model_validate(MEMBERS)

    assert item_bytes(made) == WRITTEN.encode() == canonical_bytes(json.loads(WRITTEN))
    assert item_digest(made) == sha256_hex(WRITTEN.encode())
    assert item_digest(made) == "5bf9297545689d163f2b57c052731de3c804129e2f64540434a290824d0e54c0"


@given(st.data())
def test_an_item_comes_back_from_its_bytes_and_differs_by_its_digest(data: st.DataObject) -> None:
    items = data.draw(sessions_items("s1", max_size=4))

    for one in items:
        assert read_item(item_bytes(one), id=one.id, session_ref="s1") == one
        assert check_item(one, "s1") == one
    assert len({item_digest(one) for one in items}) == len(items)


@given(json_values())
def test_bytes_that_are_no_item_are_damage(value: Any) -> None:
    with pytest.raises(ItemDamaged) as caught:
        read_item(canonical_bytes(value), id=ID, session_ref="s1")

    assert (caught.value.code, caught.value.item) == ("store.item_damaged", ID)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"\xff",
        b"null",
        WRITTEN.encode()[:-1],
        WRITTEN.replace('"sessionRef":"s1",', "").encode(),
        WRITTEN.replace("{", '{"more":1,', 1).encode(),
        WRITTEN.replace('"s1"', '"s2"').encode(),
        WRITTEN.replace("6f1f0e9a", "6f1f0e9b").encode(),
    ],
)
def test_a_damaged_item_is_told(raw: bytes) -> None:
    for read in (read_item, read_retrieved):
        with pytest.raises(ItemDamaged):
            read(raw, id=ID, session_ref="s1")


def as_the_model_says(raw: bytes, session_ref: str = "s1") -> bool:
    """Whether bytes are an item; either way, the short way says the same."""
    try:
        expected = retrieved(read_item(raw, id=ID, session_ref=session_ref))
    except ItemDamaged:
        with pytest.raises(ItemDamaged):
            read_retrieved(raw, id=ID, session_ref=session_ref)
        return False
    found = read_retrieved(raw, id=ID, session_ref=session_ref)
    assert found == expected
    assert vars(found) == vars(expected)
    assert type(found) is RetrievedItem
    return True


TEXTS = (
    "", " ", "\n", "\u3164", "\u3164a", "\u115f", "\u00ad", "\u200b", "a\nb", "a\u0000", '"', "\\",
    "a", "\u2028", "메모리", "c++", " c", "🦜", "x" * 256, "x" * 257, "가" * 256, "가" * 257,
    "\ufffd", "\x7f",
)  # fmt: skip
TIMES = (
    "2026-11-30T08:00:00.000Z", "2026-11-31T08:00:00.000Z", "2026-02-29T08:00:00.000Z",
    "2026-02-30T08:00:00.000Z", "2024-02-29T08:00:00.000Z", "2026-12-31T23:59:59.999Z",
    "2026-12-32T00:00:00.000Z", "2026-13-01T00:00:00.000Z", "2026-00-01T00:00:00.000Z",
    "2026-01-00T00:00:00.000Z", "0000-01-01T00:00:00.000Z", "0001-01-01T00:00:00.000Z",
    "2026-11-16T24:00:00.000Z", "2026-11-16T08:60:00.000Z", "2026-11-16T08:00:60.000Z",
    "2026-11-16T08:00:00Z", "2026-11-16T08:00:00.0000Z", "2026-11-16t08:00:00.000Z",
    "٢026-11-16T08:00:00.000Z",
)  # fmt: skip


def written(members: dict[str, Any]) -> bytes:
    """An item with these members as JSON, also where it is none."""
    document = {**MEMBERS, **members}
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), sort_keys=True)  # noqa: TID251 - U+0000, too
    return text.encode()


def test_what_leaves_a_store_is_what_the_model_says() -> None:
    outcomes = {
        name: [as_the_model_says(written({name: value})) for value in values]
        for name, values in (
            ("summary", TEXTS),
            ("keywords", [[], *([text, "c"] for text in TEXTS), *(["c", text] for text in TEXTS)]),
            ("keywords", ["a", None, [1], ["a", ["b"]]]),
            ("timestamp", TIMES),
            ("id", [ID.upper(), ID.replace("-4", "-1"), 1]),
        )
    }

    assert {True, False} <= set(outcomes["summary"]) & set(outcomes["timestamp"])


@given(st.text(max_size=5), st.lists(st.text(max_size=5), max_size=3), st.text(max_size=3))
def test_so_it_is_for_any_texts(summary: str, keywords: list[str], session: str) -> None:
    as_the_model_says(written({"summary": summary}))
    as_the_model_says(written({"keywords": keywords}))
    as_the_model_says(written({"sessionRef": session}), session)


@given(st.data())
def test_so_it_is_for_bytes_of_which_some_were_changed(data: st.DataObject) -> None:
    raw = bytearray(WRITTEN.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place] = data.draw(
            st.sampled_from(b'"\\,:[]{}0129\xff\x80\xed\x00\n-TZ ') | st.integers(0, 255)
        )

    as_the_model_says(bytes(raw))


def test_plain_items_and_others_are_read() -> None:
    some: list[dict[str, Any]] = [
        {}, {"keywords": []}, {"summary": 'She said "no".'}, {"keywords": ["🦜"]}
    ]  # fmt: skip
    for members in some:
        assert as_the_model_says(canonical_bytes({**MEMBERS, **members}))


@pytest.mark.rule("ING-OUTPUT")
def test_what_leaves_a_store_has_no_keywords_and_no_session() -> None:
    one = retrieved(MemoryItem.model_validate(MEMBERS))

    assert one == RetrievedItem.model_validate(one.model_dump())
    assert one.model_dump_json() == (
        f'{{"id":"{ID}","summary":"They talked about memory.",'
        '"timestamp":"2026-11-16T08:00:00.000Z"}'
    )
    with pytest.raises(InvalidItem):
        RetrievedItem.model_validate({**one.model_dump(), "keywords": ["메모리"]})


@pytest.mark.parametrize("ref", ["", None, 1, b"s1", "x" * 257, "\u0000", "a\ud800"])
def test_a_store_is_bound_to_a_session_that_can_be_one(ref: object) -> None:
    with pytest.raises(InvalidItem) as caught:
        check_session_ref(ref)

    assert caught.value.where == "$.sessionRef"
