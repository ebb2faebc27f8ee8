"""Bodies that are not text: kept as they are, described, exported, and never searched."""

import io
from base64 import b64encode
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Any

import pytest
from pydantic import BaseModel

import memoranda_verify
from memoranda import Memo, Memory, MemoryRecordInput
from memoranda.app.audit import export_scope
from memoranda.identity import canonical_bytes
from memoranda.kernel.errors import (
    IdempotencyConflict,
    InvalidInput,
    InvalidJson,
    InvalidObject,
    InvalidPatch,
    InvalidRecord,
)
from memoranda.ledger.body import broken_member
from memoranda.ledger.model import MemoryObject
from memoranda.ledger.snapshot import THREADS, WORDS
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.embeddings.toy import ToyEmbedder
from tests.journeys.govern.reading import objects

Verbs = list[Callable[[], Awaitable[object]]]

PICTURE = bytes(range(256)) * 8


async def index_rows(memory: Memory[Any]) -> list[Any]:
    """Every row of the word index and of its threads, once all is merged."""
    await memory.maintain.reindex()
    async with inside(memory).ledger.snapshot() as snapshot:
        words = [some async for chunk in snapshot.rows(WORDS) for some in chunk]
        found: list[Any] = [token for some in words for token in some.tokens]
        return found + [row async for chunk in snapshot.rows(THREADS) for row in chunk]


async def test_bytes_come_back_as_bytes_wherever_they_are_read(memory: Memory[Any]) -> None:
    receipt = await memory.remember(
        PICTURE, id="p", media_type="image/png", tags=["t"], subject="kim", thread="talk"
    )

    found = await memory.get("p")
    assert found is not None
    assert (found.data, found.media_type, found.is_indexed) == (PICTURE, "image/png", False)
    assert [one.data for one in await memory.list(tags=["t"])] == [PICTURE]
    assert [one.data for one in await memory.list(subject="kim")] == [PICTURE]
    (event,) = await memory.history("p")
    assert event.remembered is not None
    assert event.remembered.data == PICTURE
    assert [one.data for one in await memory.list(at=receipt.seq)] == [PICTURE]
    record = await memory.records.get("p")
    assert record is not None
    assert record.data == PICTURE
    (item,) = (await memory.recall("anything", top_k=1, selector="recent")).items
    assert item.data == PICTURE
    assert item.text == item.said == (await objects(memory))[0]["statement"]


async def test_the_statement_describes_the_bytes(memory: Memory[Any]) -> None:
    await memory.remember(PICTURE, id="p", media_type="image/png")

    (found,) = await objects(memory)

    digest = sha256(PICTURE).hexdigest()
    assert found["statement"] == f"image/png, {len(PICTURE)} bytes, sha256 {digest}"
    assert found["format"] == "bytes"
    assert found["data"] == b64encode(PICTURE).decode()
    assert (await memory.verify()).is_sound


async def test_bytes_are_put_updated_superseded_and_revised(memory: Memory[Any]) -> None:
    await memory.remember_many([Memo(b"1", id="p", media_type="image/png", source="s")])
    receipt = await memory.update("p", bytearray(b"2"))
    assert receipt.dropped_sources == 1
    assert await _now(memory, "p") == (b"2", "image/png")

    await memory.govern.revise("p", reason="r", subject="kim")
    await memory.records.annotate("p", tags=["t"])
    assert await _now(memory, "p") == (b"2", "image/png")
    await memory.update("p", b"2", media_type="image/gif")
    assert await _now(memory, "p") == (b"2", "image/gif")
    await memory.update("p", "a text")
    assert await _now(memory, "p") == ("a text", None)
    await memory.put("p", b"", media_type="text/plain")
    assert await _now(memory, "p") == (b"", "text/plain")
    await memory.put("p", {"a": 1})
    assert await _now(memory, "p") == ({"a": 1}, None)
    with pytest.raises(InvalidPatch):
        await memory.update("p", b"3", media_type="image/png")
    _, new = await memory.govern.supersede("p", b"4", reason="r", media_type="image/png")
    assert await _now(memory, new.id) == (b"4", "image/png")
    await memory.records.update(new.id, {"b": 2})
    assert await _now(memory, new.id) == ({"b": 2}, None)
    assert (await memory.verify()).is_sound


async def test_bytes_without_a_media_type_are_refused(memory: Memory[Any]) -> None:
    await memory.remember("x", id="a")

    verbs: Verbs = [
        lambda: memory.remember(b"ab"),
        lambda: memory.put("b", b"ab"),
        lambda: memory.update("a", b"ab"),
        lambda: memory.remember(b"ab", media_type=None),
        lambda: memory.govern.supersede("a", b"ab", reason="r"),
    ]
    for verb in verbs:
        with pytest.raises(InvalidRecord) as caught:
            await verb()
        assert caught.value.where == "$.media_type"
    with pytest.raises(InvalidRecord) as caught:
        await memory.remember_many([Memo("a"), Memo(b"ab")])
    assert caught.value.where == "$[1].media_type"
    with pytest.raises(InvalidRecord):
        await memory.govern.revise("a", reason="r", media_type="image/png")

    assert len(await objects(memory)) == 1


async def test_records_take_json_and_no_bytes(memory: Memory[Any]) -> None:
    with pytest.raises(InvalidJson):
        await memory.records.create(MemoryRecordInput(data=b"ab"))
    id = await memory.records.create(MemoryRecordInput(data="x"))
    with pytest.raises(InvalidJson):
        await memory.records.update(id, b"ab")


async def test_more_than_a_document_may_have_is_refused(memory: Memory[Any]) -> None:
    with pytest.raises(InvalidInput):
        await memory.remember(bytes(16 * 1024 * 1024), media_type="image/png")

    assert await objects(memory) == []


async def test_a_handle_with_a_model_keeps_bytes_too(opens: Opens) -> None:
    class Note(BaseModel):
        text: str

    async with opens(model=Note) as memory:
        await memory.remember(b"ab", id="p", media_type="image/png")
        await memory.remember(Note(text="x"), id="n")

        assert await _now(memory, "p") == (b"ab", "image/png")
        found = await memory.get("n")
        assert found is not None
        assert found.data == Note(text="x")


async def test_a_retry_of_bytes_is_known_by_what_they_are(memory: Memory[Any]) -> None:
    first = await memory.remember(b"ab", media_type="image/png", idempotency_key="k")

    assert await memory.remember(b"ab", media_type="image/png", idempotency_key="k") == first
    with pytest.raises(IdempotencyConflict):
        await memory.remember(b"ac", media_type="image/png", idempotency_key="k")


# ------------------------------------------------------------------------- exports


async def test_an_export_with_bytes_is_right_for_the_stand_alone_verifier(
    memory: Memory[Any], url: str
) -> None:
    await memory.remember(PICTURE, id="p", media_type="image/png")
    await memory.remember("x", thread="t", speaker="Kim", said_at=1, indexed=False)
    await memory.update("p", b"other")

    export = b"".join([line async for line in export_scope(url, memory.scope)])

    report = memoranda_verify.verify(io.BytesIO(export), anchors=[], keys=[])
    assert list(report.findings) == []
    assert b64encode(PICTURE) in export


async def test_objects_with_bytes_are_imported_again(opens: Opens, scope: str) -> None:
    async with opens() as memory:
        await memory.remember(PICTURE, id="p", media_type="image/png", tags=["t"])
        await memory.remember("x", id="q", thread="t", speaker="Kim", said_at=1, indexed=False)
        await memory.update("p", b"other", reason="r")
        lines = b"\n".join(canonical_bytes(one) for one in await objects(memory))

    async with opens(scope=f"{scope}-other") as other:
        report = await other.journal.import_objects(lines)

        assert (report.objects, report.versions) == (2, 3)
        shown = [event.remembered for event in await other.history("p")]
        assert [None if one is None else one.data for one in shown] == [PICTURE, b"other"]
        found = await other.get("q")
        assert found is not None
        assert (found.thread, found.speaker, found.said_at, found.is_indexed) == (
            "t", "Kim", 1, False
        )  # fmt: skip
        assert (await other.verify()).is_sound


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("data", "QQ"),
        ("data", "QQ=="),
        ("data", "Q R="),
        ("data", None),
        ("media_type", None),
        ("statement", "image/png, 2 bytes"),
    ],
)
@pytest.mark.rule("GOV-OBJECT")
async def test_bytes_that_are_not_what_is_stated_do_not_come_in(
    memory: Memory[Any], member: str, value: Any
) -> None:
    await memory.remember(b"ab", id="p", media_type="image/png")
    (document,) = await objects(memory)
    del document["integrity_hash"]
    changed = {**document, member: value}

    with pytest.raises(InvalidObject):
        MemoryObject.model_validate(changed)
    assert broken_member(document) is None
    assert broken_member(changed) is not None
    memoranda_verify.require_readable(document)
    with pytest.raises(memoranda_verify.Malformed):
        memoranda_verify.require_readable(changed)


# ----------------------------------------------------------------------- not indexed


async def test_what_is_not_indexed_has_no_rows_in_the_index(memory: Memory[Any]) -> None:
    big = bytes(1024 * 1024)
    await memory.remember(big, id="blob", media_type="image/png", thread="talk")
    await memory.remember("secret words", id="quiet", thread="talk", tags=["t"], indexed=False)

    assert await memory.list(text="image") == []
    assert await memory.list(text="secret") == []
    assert await index_rows(memory) == []
    assert await memory.list(text="secret") == []
    assert not (await memory.recall("secret words image", top_k=5)).items
    assert [one.id for one in await memory.list(tags=["t"])] == ["quiet"]
    found = await memory.get("quiet")
    assert found is not None
    assert (await memory.verify()).is_sound

    await memory.govern.revise("quiet", reason="r", indexed=True)
    assert [one.id for one in await memory.list(text="secret")] == ["quiet"]
    assert await index_rows(memory) != []
    await memory.govern.revise("quiet", reason="r", indexed=False)
    assert await index_rows(memory) == []
    assert (await memory.verify()).is_sound


async def test_a_large_body_is_read_for_a_search_once(
    memory: Memory[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.remember(bytes(1024 * 1024), media_type="image/png")
    await memory.remember("a small text")
    await memory.list(text="small")
    looked_at: list[int] = []
    monkeypatch.setattr("memoranda.stores.tail.words_in", lambda body: looked_at.append(len(body)))

    assert [one.data for one in await memory.list(text="small")] == ["a small text"]

    assert looked_at == []


async def test_what_is_not_indexed_is_never_embedded(opens: Opens) -> None:
    embedder = ToyEmbedder()
    async with opens(embedder=embedder) as memory:
        await memory.remember(b"ab", media_type="image/png")
        await memory.remember("quiet", indexed=False)
        await memory.remember("told", id="told")

        brought = await memory.maintain.embed()

        assert (brought.embedded, brought.vectors) == (1, 1)
        assert await inside(memory).ledger.vectors.count_missing(brought.model) == 0
        assert (await memory.maintain.embed()).embedded == 0
        assert (await memory.verify()).is_sound
        found = await memory.recall("told", top_k=5)
        assert [one.id for one in found.items] == ["told"]
        assert found.outcome == "found"


async def _now(memory: Memory[Any], id: str) -> tuple[Any, str | None]:
    found = await memory.get(id)
    assert found is not None
    return found.data, found.media_type
