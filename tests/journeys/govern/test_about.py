"""What is said of a statement: the same members in every verb, checked, inherited or refused."""

from collections.abc import Awaitable, Callable
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from memoranda import Memo, Memory
from memoranda.kernel.errors import (
    IdempotencyConflict,
    InvalidInput,
    InvalidJson,
    InvalidObject,
    InvalidRecord,
    InvalidTime,
    RecordExists,
)
from tests.handles import inside

Verbs = list[Callable[[], Awaitable[object]]]

EVERYTHING: dict[str, Any] = {
    "tags": ["a"],
    "meta": {"n": 1},
    "subject": "kim",
    "source": "chat/1",
    "valid_from": "2026-01-01T00:00:00Z",
    "valid_to": "2099-01-01T00:00:00Z",
    "expires": "2099-01-01T00:00:00Z",
    "thread": "talk",
    "speaker": "Kim",
    "said_at": "2025-01-01T00:00:00Z",
    "jurisdiction": "KR",
    "verdict": "Inference",
    "statement_type": "SourceStatement",
    "applicability_scope": {"country": "KR"},
    "temporal_scope": "bounded",
    "media_type": "text/plain",
    "indexed": False,
    "embed": ["$.text"],
}

REFUSED: list[tuple[dict[str, Any], type[InvalidInput]]] = [
    ({"colour": "red"}, InvalidRecord),
    ({"tag": ["a"]}, InvalidRecord),
    ({"meta": "abc"}, InvalidRecord),
    ({"meta": {"n": {1, 2}}}, InvalidJson),
    ({"tags": "abc"}, InvalidRecord),
    ({"tags": [1]}, InvalidRecord),
    ({"source": 0.3}, InvalidObject),
    ({"source": b"ab"}, InvalidObject),
    ({"source": [["a"]]}, InvalidObject),
    ({"source": "\udcff"}, InvalidObject),
    ({"source": {"uri": "a", "more": {1}}}, InvalidObject),
    ({"valid_from": [["2026-01-01"]]}, InvalidTime),
    ({"valid_to": {}}, InvalidTime),
    ({"said_at": 1.5}, InvalidTime),
    ({"expires": True}, InvalidTime),
    ({"subject": ""}, InvalidObject),
    ({"subject": "\udcff"}, InvalidObject),
    ({"thread": 7}, InvalidObject),
    ({"speaker": " "}, InvalidObject),
    ({"jurisdiction": ["KR"]}, InvalidObject),
    ({"verdict": None}, InvalidObject),
    ({"verdict": ["Factual"]}, InvalidObject),
    ({"statement_type": "ConsolidatedStatement"}, InvalidObject),
    ({"applicability_scope": "KR"}, InvalidObject),
    ({"applicability_scope": {"a": {1}}}, InvalidObject),
    ({"temporal_scope": "always"}, InvalidObject),
    ({"media_type": "png"}, InvalidObject),
    ({"indexed": None}, InvalidRecord),
    ({"indexed": 1}, InvalidRecord),
    ({"embed": "$.text"}, InvalidRecord),
    ({"embed": ["text"]}, InvalidRecord),
    ({"embed": ["$.a"] * 17}, InvalidRecord),
    ({"embed": [1]}, InvalidObject),
]


@pytest.mark.parametrize(("about", "error"), REFUSED, ids=str)
async def test_what_can_not_be_said_is_refused_by_every_verb_and_nothing_is_written(
    memory: Memory[Any], about: dict[str, Any], error: type[InvalidInput]
) -> None:
    await memory.remember("there", id="there")
    size = (await inside(memory).ledger.head()).size

    verbs: Verbs = [
        lambda: memory.remember("x", **about),
        lambda: memory.remember_many(["x"], **about),
        lambda: memory.remember_many(["x", Memo("y", **about)]),
        lambda: memory.put("new", "x", **about),
        lambda: memory.update("there", "y", **about),
        lambda: memory.govern.supersede("there", "y", reason="r", **about),
        lambda: memory.govern.revise("there", reason="r", **about),
    ]
    for verb in verbs:
        with pytest.raises(error) as caught:
            await verb()
        assert (name := next(iter(about))) in str(caught.value), name

    assert (await inside(memory).ledger.head()).size == size


@pytest.mark.parametrize("given", [1, {"a": 1}, b"ab", "ab", None, {"a"}])
async def test_many_are_a_list(memory: Memory[Any], given: Any) -> None:
    with pytest.raises(InvalidRecord) as caught:
        await memory.remember_many(given)

    assert caught.value.where == "$"


async def test_a_refusal_says_which_of_many_is_meant(memory: Memory[Any]) -> None:
    with pytest.raises(InvalidRecord) as caught:
        await memory.remember_many(["a", Memo("b", colour="red")])  # type: ignore[call-arg]
    assert caught.value.where == "$[1].colour"

    with pytest.raises(InvalidObject) as other:
        await memory.remember_many([Memo("a", subject="kim"), Memo("b", subject="")])
    assert other.value.where == "$[1].subject"

    assert await memory.list() == []


async def test_all_that_can_be_said_is_kept_and_passes_on(memory: Memory[Any]) -> None:
    await memory.remember("x", id="one", **EVERYTHING)

    await memory.govern.revise("one", reason="r", subject="lee")
    revised = await _object(memory, "one")
    assert revised["subject"] == "lee"
    assert (revised["thread"], revised["speaker"]) == ("talk", "Kim")
    assert revised["said_at"] == "2025-01-01T00:00:00.000Z"
    assert revised["indexed"] is False
    assert revised["embed"] == ["$.text"]
    assert revised["media_type"] == "text/plain"
    assert revised["statement_type"] == "SourceStatement"

    await memory.update("one", "y", reason="r", keep_sources=True, tags=None, thread=None)
    updated = await _object(memory, "one")
    assert {"tags", "thread"}.isdisjoint(updated)
    assert (updated["jurisdiction"], updated["meta"]) == ("KR", {"n": 1})
    assert updated["verdict_type"] == "Unanswered"

    _, new = await memory.govern.supersede("one", "z", reason="r", speaker=None)
    superseding = await _object(memory, new.id)
    assert "speaker" not in superseding
    assert superseding["said_at"] == "2025-01-01T00:00:00.000Z"
    assert superseding["applicability_scope"] == {"country": "KR"}


async def test_what_is_remembered_shows_what_was_said_of_it(memory: Memory[Any]) -> None:
    await memory.remember("x", id="one", thread="talk", speaker="Kim", said_at=5, indexed=False)

    found = await memory.get("one")

    assert found is not None
    assert (found.thread, found.speaker, found.said_at) == ("talk", "Kim", 5)
    assert (found.is_indexed, found.media_type) == (False, None)


async def test_no_source_is_another_thing_than_none_said(memory: Memory[Any]) -> None:
    await memory.remember("x", id="one", source="chat/1")

    await memory.govern.revise("one", reason="r", subject="kim")
    assert len((await _object(memory, "one"))["source_refs"]) == 1
    receipt = await memory.govern.revise("one", reason="r", source=None)

    assert (await _object(memory, "one"))["source_refs"] == []
    assert receipt.dropped_sources == 1


async def test_what_is_new_has_no_sources_to_keep(memory: Memory[Any]) -> None:
    with pytest.raises(InvalidRecord) as caught:
        await memory.remember("x", keep_sources=True)

    assert caught.value.where == "$.keep_sources"


# ------------------------------------------------------------------------------- memos


async def test_a_memo_says_what_holds_of_it_alone(memory: Memory[Any]) -> None:
    receipts = await memory.remember_many(
        ["plain", Memo("own", id="mine", tags=["b"], subject=None)], tags=["a"], subject="kim"
    )

    plain, own = [await memory.get(receipt.id) for receipt in receipts]
    assert plain is not None
    assert own is not None
    assert (plain.tags, plain.subject) == (("a",), "kim")
    assert (own.id, own.tags, own.subject) == ("mine", ("b",), None)


async def test_a_memo_is_a_value() -> None:
    memo = Memo("x", id="one", tags=["a"])

    assert memo == Memo("x", "one", tags=["a"])
    assert memo != Memo("x", "one", tags=["b"])
    with pytest.raises(FrozenInstanceError):
        memo.data = "y"  # type: ignore[misc]
    with pytest.raises(TypeError):
        memo.about["tags"] = ["b"]  # type: ignore[index]


async def test_a_retry_of_many_is_told_the_first_receipts(memory: Memory[Any]) -> None:
    items = ["a", Memo("b", id="mine"), "c"]
    first = await memory.remember_many(items, idempotency_key="k", reason="r")

    assert await memory.remember_many(items, idempotency_key="k", reason="r") == first
    assert len(await memory.list()) == 3
    assert all(receipt.created for receipt in first)
    with pytest.raises(IdempotencyConflict):
        await memory.remember_many(["a", "b"], idempotency_key="k")


async def test_of_many_all_are_remembered_or_none(memory: Memory[Any]) -> None:
    await memory.remember("x", id="taken")

    with pytest.raises(RecordExists):
        await memory.remember_many(["a", Memo("b", id="taken")])
    with pytest.raises(RecordExists):
        await memory.remember_many([Memo("a", id="twice"), Memo("b", id="twice")])

    assert [one.id for one in await memory.list()] == ["taken"]


async def _object(memory: Memory[Any], id: str) -> dict[str, Any]:
    return await memory.journal.object(id)
