"""Keys: shown once, kept as a digest, refused when they are not good, counted by all together."""

import asyncio
from typing import Any

import pytest

import memoranda
from memoranda.errors import (
    CapabilityMissing,
    InvalidActor,
    InvalidOption,
    InvalidScope,
    KeyRefused,
    RateExceeded,
    RecordNotFound,
)
from memoranda.journeys.access import gate
from memoranda.journeys.access.gate import AccessGate
from memoranda.journeys.access.keys import principal_of
from memoranda.testkit.strategies import FrozenClock


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(1_763_000_040_000)


def rows(database: memoranda.Database) -> Any:
    return database._connected.key_rows()


async def made(database: memoranda.Database, **more: Any) -> Any:
    given = {"scope": "s", "actor": "agent:a", "rights": ["read", "write"], **more}
    return await database.keys.create(**given)


async def test_a_key_is_shown_once_and_only_its_digest_is_kept(fresh_url: str) -> None:
    async with memoranda.connect(fresh_url) as database:
        new = await made(database, name="ours", per_minute=7)
        (listed,) = await database.keys.list()
        (stored,) = await rows(database).keys()

    secret = new.key.rpartition("_")[2]
    assert listed == new.made
    assert (listed.rights, listed.name, listed.per_minute) == (("read", "write"), "ours", 7)
    assert secret not in str(stored)
    assert secret not in repr(new)
    assert secret not in str(listed.to_wire())
    assert len(stored.digest) == 32


async def test_a_key_stands_for_its_actor_until_it_is_revoked(
    fresh_url: str, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "KNOWN_FOR_S", 0.0)
    async with memoranda.connect(fresh_url) as database:
        door = AccessGate(rows(database), clock)
        assert not await door.is_guarded()
        new = await made(database)
        found = await door.principal(new.key)
        assert await door.is_guarded()
        revoked = await database.keys.revoke(new.made.id)
        again = await database.keys.revoke(new.made.id)

        with pytest.raises(KeyRefused):
            await door.principal(new.key)
        with pytest.raises(RecordNotFound):
            await database.keys.revoke("nowhere")
        assert await door.is_guarded(), "nobody is let in without a key again"

    assert (found.actor, found.scope) == ("agent:a", "s")
    assert sorted(found.rights) == ["read", "write"]
    assert revoked == again
    assert revoked.revoked_at is not None


async def test_a_key_is_read_again_within_a_second(fresh_url: str, clock: FrozenClock) -> None:
    async with memoranda.connect(fresh_url) as database:
        new = await made(database)
        door = AccessGate(rows(database), clock)
        await door.principal(new.key)
        (read_at, _) = door._known[new.made.id]

    assert asyncio.get_running_loop().time() - read_at < 60
    assert gate.KNOWN_FOR_S == 1.0


async def test_a_key_is_refused_from_its_expiry_on(fresh_url: str, clock: FrozenClock) -> None:
    async with memoranda.connect(fresh_url, clockwork=memoranda.Clockwork(clock)) as database:
        new = await made(database, expires=clock.now_ms() + 1)
        (stored,) = await rows(database).keys()

    assert principal_of(new.key, stored, clock.now_ms()).key_id == new.made.id
    with pytest.raises(KeyRefused):
        principal_of(new.key, stored, clock.now_ms() + 1)


@pytest.mark.parametrize("key", ["", "mk_", "x" * 10_000, "mk_000000000000_é", "Basic abc"])
async def test_what_is_no_key_is_refused(fresh_url: str, key: str, clock: FrozenClock) -> None:
    async with memoranda.connect(fresh_url) as database:
        with pytest.raises(KeyRefused):
            await AccessGate(rows(database), clock).principal(key)


async def test_several_gates_keep_one_limit(fresh_url: str, clock: FrozenClock) -> None:
    async with memoranda.connect(fresh_url) as database:
        new = await made(database, per_minute=40)
        gates = [AccessGate(rows(database), clock) for _ in range(3)]
        principal = await gates[0].principal(new.key)

        async def counted(number: int) -> int:
            try:
                await gates[number % 3].count(principal)
            except RateExceeded as refused:
                return 0 if 1 <= refused.seconds <= 60 else 1_000
            return 1

        first = sum(await asyncio.gather(*map(counted, range(120))))
        clock.advance(60_000)
        second = sum(await asyncio.gather(*map(counted, range(120))))

    assert 34 <= first <= 40, "what a gate has taken and does not use is lost for the minute"
    assert 34 <= second <= 40


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"scope": ""}, InvalidScope),
        ({"actor": "nobody"}, InvalidActor),
        ({"rights": []}, InvalidOption),
        ({"rights": "read"}, InvalidOption),
        ({"rights": ["rule"]}, InvalidOption),
        ({"expires": 1}, InvalidOption),
        ({"per_minute": 0}, InvalidOption),
        ({"name": "\ud800"}, InvalidOption),
    ],
)
async def test_a_key_that_can_not_be_is_not_made(
    fresh_url: str, given: dict[str, Any], refused: type[Exception]
) -> None:
    async with memoranda.connect(fresh_url) as database:
        with pytest.raises(refused):
            await made(database, **given)
        assert list(await database.keys.list()) == []


async def test_a_dictionary_has_no_keys() -> None:
    async with memoranda.connect("dict://") as database:
        with pytest.raises(CapabilityMissing):
            _ = database.keys
