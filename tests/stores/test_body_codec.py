"""Bodies pass through a codec: with one that encrypts, everything works as it does without.

The same on SQLite and on PostgreSQL, as the role that programs should use.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import memoranda_verify
from memoranda import Memory, MemoryFilter, MemoryRecordInput
from memoranda.app.audit import export_scope, verify_database
from memoranda.app.maintain import backup, copy_scopes, restore
from memoranda.journeys.govern.objects import Receipt
from memoranda.kernel.errors import BodyUnreadable, CapabilityMissing, StoreFailed
from memoranda.ledger.codec import PLAIN, BodyCodec
from memoranda.stores.sqlite.connection import connect
from tests.handles import opened as handle_on
from tests.stores.postgres.catalogue import asked
from tests.stores.postgres.roles import make_roles
from tests.stores.postgres.server import PostgresServer
from tests.stores.toy_codec import MARK, ToyCodec, key_of, name_of

SAID = "The customer is allergic to penicillin"
SCOPE = "one"


@dataclass(frozen=True)
class Place:
    """A database, and a look at what it stores as bodies."""

    url: str
    bodies: Callable[[], list[bytes]]


@pytest.fixture
def file(tmp_path: Path) -> Place:
    path = str(tmp_path / "memory.db")

    def bodies() -> list[bytes]:
        connection = connect(path)
        try:
            rows: Any = connection.execute("SELECT body FROM bodies ORDER BY place").fetchall()
        finally:
            connection.close()
        return [body for (body,) in rows]

    return Place(f"sqlite:///{path}", bodies)


@pytest.fixture
def server(postgres_server: PostgresServer, postgres_url: str) -> Place:
    roles = asyncio.run(make_roles(postgres_server, postgres_url))
    query = "SELECT body FROM memoranda.entries WHERE body IS NOT NULL ORDER BY journal, seq"
    return Place(roles.app, lambda: [row[0] for row in asked(postgres_url, query)])  # type: ignore[misc]


@pytest.fixture(
    params=[
        pytest.param("file", marks=pytest.mark.backend("sqlite")),
        pytest.param("server", marks=pytest.mark.backend("postgres")),
    ]
)
def place(request: pytest.FixtureRequest) -> Place:
    """Each of the two databases."""
    found: Place = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def codec() -> ToyCodec:
    return ToyCodec()


def opened(place: Place, codec: BodyCodec) -> Any:
    return handle_on(place.url, scope=SCOPE, actor="agent:a", codec=codec)


async def fill(memory: Memory[Any]) -> None:
    """A bit of everything, across a block of the tree, in one statement and in several."""
    await memory.remember(SAID, id="allergy", subject="kim", tags=["health"])
    texts = [f"note {n} of many" for n in range(300)]
    many = await memory.remember_many(texts, source="doc/1", tags=["note"])
    await memory.update("allergy", SAID + ", and to nuts")
    await memory.update("allergy", SAID + ", and to soy", idempotency_key="k")
    await memory.update("allergy", SAID + ", and to soy", idempotency_key="k")
    await memory.forget(many[0].id, reason="wrong")
    made = await memory.govern.consolidate([many[1].id, many[2].id], "both", justification="j")
    assert isinstance(made, Receipt)
    await memory.records.create(MemoryRecordInput(id="plain", data={"of": "nobody"}, tags=["note"]))


async def exported(place: Place, codec: BodyCodec) -> bytes:
    return b"".join([line async for line in export_scope(place.url, SCOPE, bodies=codec)])


def keys_of(place: Place) -> Counter[bytes]:
    """How many bodies are stored under each key."""
    return Counter(key_of(body) for body in place.bodies())


# ------------------------------------------------------------------------ with every key


async def test_what_was_written_is_read_found_listed_and_told_again(
    place: Place, codec: ToyCodec
) -> None:
    async with opened(place, codec) as memory:
        await fill(memory)
        at_first = [one async for one in memory.records.stream(MemoryFilter(tags=["note"]))]

    async with opened(place, codec) as memory:
        found = await memory.get("allergy")
        listed = await memory.list(tags=["health"], created_after=1, limit=5)
        by_id = await memory.list(ids=["allergy", "plain"], order_by="updated")
        searched = await memory.list(text="penicillin soy")
        many = await memory.list(text="note many", limit=None)
        history = await memory.history("allergy")
        as_of = await memory.list(limit=1_000, at=309)
        again = [one async for one in memory.records.stream(MemoryFilter(tags=["note"]))]

    assert found is not None
    assert found.data == SAID + ", and to soy"
    assert [one.id for one in listed] == [one.id for one in searched] == ["allergy"]
    assert {one.id for one in by_id} == {"allergy", "plain"}
    assert len(many) == 299
    assert [event.remembered and event.remembered.data for event in history] == [
        SAID,
        SAID + ", and to nuts",
        SAID + ", and to soy",
    ]
    assert len(as_of) > 300
    assert again == at_first
    assert len(again) == 300


async def test_no_body_is_stored_as_it_is(place: Place, codec: ToyCodec) -> None:
    async with opened(place, codec) as memory:
        await fill(memory)

    stored = place.bodies()

    assert len(stored) > 300
    for body in stored:
        assert body.startswith(MARK)
        # Long enough that none of them turns up in random bytes.
        for passage in (b"penicillin", b"statement", b"MemoryObject", b"source_refs"):
            assert passage not in body


async def test_both_verifiers_find_the_journal_sound(place: Place, codec: ToyCodec) -> None:
    async with opened(place, codec) as memory:
        await fill(memory)
        own = await memory.verify()

    audit = await verify_database(place.url, bodies=codec)
    lines = await exported(place, codec)
    log = [line async for line in export_scope(place.url, SCOPE, "log", bodies=codec)]

    assert own.is_sound
    assert audit.is_sound
    assert memoranda_verify.verify(BytesIO(lines)).ok
    assert b"penicillin" in lines
    assert len(log) > 300


async def test_a_word_index_made_anew_is_that_of_the_bodies(place: Place, codec: ToyCodec) -> None:
    async with opened(place, codec) as memory:
        await fill(memory)
        await memory.maintain.reindex()
        found = await memory.list(text="penicillin")
        audit = await memory.verify()

    assert [one.id for one in found] == ["allergy"]
    assert audit.is_sound
    assert audit.report.indexed


@pytest.mark.backend("sqlite")
@pytest.mark.backend("postgres")
async def test_a_copy_is_encrypted_too_and_has_the_same_journal(
    file: Place, server: Place, codec: ToyCodec, tmp_path: Path
) -> None:
    async with opened(file, codec) as memory:
        await fill(memory)

    there = await copy_scopes(file.url, server.url, bodies=codec)
    await backup(server.url, tmp_path / "backup.db", bodies=codec)
    back = await restore(tmp_path / "backup.db", f"sqlite:///{tmp_path}/back.db", bodies=codec)

    assert there.is_sound
    assert back.is_sound
    assert await exported(server, codec) == await exported(file, codec)
    assert all(body.startswith(MARK) for body in server.bodies())
    assert keys_of(server)[name_of("kim")] == keys_of(file)[name_of("kim")] == 3


async def test_what_is_erased_of_a_subject_is_gone(place: Place, codec: ToyCodec) -> None:
    async with opened(place, codec) as memory:
        await fill(memory)
        before = keys_of(place)[name_of("kim")]
        certificate = await memory.erase(subject="kim", reason="asked")
        left = await memory.get("allergy")
        found = await memory.list(text="penicillin")
        audit = await memory.verify()

    assert certificate.counts.versions == 3
    assert left is None
    assert found == []
    assert audit.is_sound
    assert audit.report.erased == 3
    assert before == 3
    assert keys_of(place)[name_of("kim")] == 0


async def test_a_whole_scope_is_cleared_and_erased(place: Place, codec: ToyCodec) -> None:
    async with opened(place, codec) as memory:
        await fill(memory)
        await memory.records.clear()
        await memory.erase(whole_scope=True, reason="asked")
        audit = await memory.verify()

    assert audit.is_sound
    assert await exported(place, codec) != b""


async def test_what_was_there_before_the_codec_is_read_and_what_comes_is_encrypted(
    place: Place, codec: ToyCodec
) -> None:
    async with opened(place, PLAIN) as memory:
        await memory.remember("before", id="before")
    plain = set(place.bodies())

    async with opened(place, codec) as memory:
        await memory.update("before", "after")
        history = await memory.history("before")
        audit = await memory.verify()

    assert [event.remembered and event.remembered.data for event in history] == ["before", "after"]
    assert audit.is_sound
    new = [body for body in place.bodies() if body not in plain]
    assert new
    assert all(body.startswith(MARK) for body in new)


# ----------------------------------------------------------------------- without a key


async def test_without_its_key_a_body_is_an_error_with_a_name(
    place: Place, codec: ToyCodec
) -> None:
    async with opened(place, codec) as memory:
        await fill(memory)
    codec.forget("kim")

    async with opened(place, codec) as memory:
        for call in (
            memory.get("allergy"),
            memory.history("allergy"),
            memory.list(tags=["health"], limit=5),
            memory.list(ids=["allergy"]),
            memory.list(text="penicillin"),
            memory.update("allergy", "other"),
            memory.erase("allergy", reason="asked"),
        ):
            with pytest.raises(BodyUnreadable) as caught:
                await call
            assert caught.value.code == "store.body_unreadable"
        other = await memory.get("plain")
        found = await memory.list(text="both")

    assert other is not None
    assert len(found) == 1


async def test_without_its_key_a_body_keeps_nobody_from_finding_others(
    place: Place, codec: ToyCodec
) -> None:
    async with opened(place, codec) as memory:
        await memory.remember("known", id="known")
        await memory.remember(SAID, id="allergy", subject="kim")
        codec.forget("kim")
        found = await memory.list(text="known")

    assert [one.id for one in found] == ["known"]


@pytest.mark.parametrize("lost", [["kim"], ["kim", None]])
async def test_without_its_key_a_body_is_damage_to_a_verifier(
    place: Place, codec: ToyCodec, lost: list[str | None]
) -> None:
    async with opened(place, codec) as memory:
        await fill(memory)
    for subject in lost:
        codec.forget(subject)

    audit = await verify_database(place.url, bodies=codec)

    assert not audit.is_sound
    found = [damage for damage in audit.scopes[0].report.damages.found if damage.check == "body"]
    assert {damage.why for damage in found} == {"it can't be read: its key is missing"}
    assert len(found) == (3 if len(lost) == 1 else 100)


async def test_without_a_key_nothing_is_exported_or_copied(
    place: Place, codec: ToyCodec, tmp_path: Path
) -> None:
    async with opened(place, codec) as memory:
        await fill(memory)
    codec.forget("kim")

    with pytest.raises(BodyUnreadable):
        await exported(place, codec)
    with pytest.raises(BodyUnreadable):
        assert [line async for line in export_scope(place.url, SCOPE, "log", bodies=codec)]
    with pytest.raises(StoreFailed) as caught:
        await copy_scopes(place.url, f"sqlite:///{tmp_path}/copy.db", bodies=codec)
    assert "its key is missing" in caught.value.why


async def test_a_body_that_was_changed_is_damage(place: Place, codec: ToyCodec) -> None:
    class Forgetful(ToyCodec):
        def unpack(self, stored: bytes) -> bytes:
            return super().unpack(stored[:-1] + bytes([stored[-1] ^ 1]))

    async with opened(place, codec) as memory:
        await memory.remember(SAID, id="allergy")
    broken = Forgetful()
    broken.keys = codec.keys

    audit = await verify_database(place.url, bodies=broken)

    assert audit.scopes[0].report.damages.counts["body"] == audit.scopes[0].report.size


# ------------------------------------------------------------------------- handing one in


async def test_two_handles_with_their_own_codecs_have_nothing_in_common(
    place: Place, codec: ToyCodec
) -> None:
    async with opened(place, codec) as memory:
        await memory.remember(SAID, id="allergy", subject="kim")
        other = ToyCodec()
        other.keys = dict(codec.keys)
        other.forget("kim")
        async with opened(place, other) as stranger:
            with pytest.raises(BodyUnreadable):
                await stranger.get("allergy")
        assert await memory.get("allergy") is not None


async def test_a_dict_has_no_bodies_to_encrypt(codec: ToyCodec) -> None:
    with pytest.raises(CapabilityMissing) as caught:
        async with handle_on("dict://", codec=codec):
            pass

    assert caught.value.code == "store.capability_missing"
