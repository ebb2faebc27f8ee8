"""Witnesses of a database: what they find although its owner holds all keys, and their quorum."""

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from memoranda.app.audit import verify_database
from memoranda.app.databases import LedgerDatabase, acquire, release
from memoranda.app.options import seal_from_environment
from memoranda.journeys.audit.checkpoints import Checkpointer, Seal
from memoranda.journeys.audit.whole import Audit
from memoranda.kernel.clock import Randomness
from memoranda.kernel.errors import InvalidKey, InvalidOption
from memoranda.ledger.anchor import SCOPE as DIRECTORY
from memoranda.ledger.checkpoint import parse_checkpoint, scope_origin
from memoranda.ledger.signed_note import check_signatures
from memoranda.ledger.unit import Draft, Unit
from memoranda.outside.keys import verifiers
from memoranda.outside.witnesses import WitnessAnchor
from memoranda.stores.dictionary import DictDatabase
from memoranda.testkit.strategies import FrozenClock
from tests.fixtures import BOTH_DATABASES
from tests.handles import opened
from tests.witnesses import LOG_KEY, WitnessFiles

Databases = Callable[[str], str]
SCOPE = "support"
TRUE = ("email", "500 EUR", "approved")


@pytest.fixture(params=BOTH_DATABASES)
def databases(request: pytest.FixtureRequest, tmp_path: Path) -> Databases:
    """The URL of a database of its own, by a name."""
    if request.param == "sqlite":
        return lambda name: f"sqlite:///{tmp_path}/{name}.db"
    server = request.getfixturevalue("postgres_server")
    made: dict[str, str] = {}

    def url(name: str) -> str:
        if name not in made:
            made[name] = server.create_database()
            request.addfinalizer(lambda: server.drop_database(made[name]))
        return made[name]

    return url


@pytest.fixture
async def witnesses(tmp_path: Path) -> AsyncIterator[list[WitnessAnchor]]:
    """Two witnesses, each served."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(WitnessFiles.make(tmp_path / name, name=name).served())
            for name in ("w1", "w2")
        ]


def sealed_by(witnesses: Sequence[WitnessAnchor], quorum: int = 0) -> Seal:
    keys = [LOG_KEY.key, *(one.key for one in witnesses if one.key)]
    return Seal([LOG_KEY], witnesses, verifiers(keys), quorum=quorum)


async def write(url: str, said: Sequence[str], seal: Seal) -> None:
    """A journal of these statements; with the same random bytes it always has the same name."""
    randomness = Randomness(lambda count: bytes(range(256)) * (count // 256 + 1))
    async with opened(url, scope=SCOPE, seal=seal, randomness=randomness) as memory:
        for text in said:
            await memory.remember(text)


async def audited(url: str, seal: Seal, quorum: int = 0) -> Audit:
    found = await verify_database(url, seal=seal, quorum=quorum)
    (audit,) = found.scopes
    return audit


def verdicts(audit: Audit) -> list[str]:
    return [finding.verdict for finding in audit.outside]


# -------------------------------------------------------------------------- rewriting


async def test_a_database_that_was_left_alone_agrees_with_its_witnesses(
    databases: Databases, witnesses: list[WitnessAnchor]
) -> None:
    seal = sealed_by(witnesses, 2)
    await write(databases("true"), TRUE, seal)

    found = await verify_database(databases("true"), seal=seal, quorum=2)

    assert found.is_sound
    for audit in (*found.scopes, found.directory):
        assert audit is not None
        assert verdicts(audit) == ["agrees", "agrees"]
        assert audit.kept_outside == audit.report.size
        assert {name.partition("+")[0] for name in audit.signed_by} == {LOG_KEY.name, "w1", "w2"}


async def test_a_database_that_grows_is_cosigned_again_with_a_proof(
    databases: Databases, witnesses: list[WitnessAnchor]
) -> None:
    seal = sealed_by(witnesses[:1], 1)
    await write(databases("true"), TRUE, seal)
    for said in ("more", "and more"):
        # a client that knows nothing of what the witness knows
        fresh = sealed_by([WitnessAnchor(witnesses[0].url, witnesses[0].key)], 1)
        async with opened(databases("true"), scope=SCOPE, seal=fresh) as memory:
            await memory.remember(said)

        grown = await audited(databases("true"), seal, quorum=1)
        assert grown.is_sound
        assert grown.kept_outside == grown.report.size


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        (("email", "900 EUR", "approved"), "forked"),
        (TRUE[:2], "rolled_back"),
        ((*TRUE[:2], "rejected", "and more"), "forked"),
    ],
    ids=["rewritten", "truncated", "put back and written on"],
)
async def test_what_its_owner_signs_anew_is_found_by_a_witness_alone(
    databases: Databases, witnesses: list[WitnessAnchor], said: Sequence[str], verdict: str
) -> None:
    seal = sealed_by(witnesses[:1])
    await write(databases("true"), TRUE, seal)
    await write(databases("forged"), said, Seal([LOG_KEY]))

    alone = await audited(databases("forged"), Seal(known=seal.known))
    found = await audited(databases("forged"), seal)

    assert alone.is_sound
    assert alone.report.origin == found.report.origin
    assert verdicts(found) == [verdict]
    assert found.report.damages.counts == {"anchor": 1}


async def test_a_rewritten_journal_is_not_cosigned_and_its_owner_hears_of_it(
    databases: Databases, witnesses: list[WitnessAnchor], caplog: pytest.LogCaptureFixture
) -> None:
    await write(databases("true"), TRUE, sealed_by(witnesses[:1]))
    with caplog.at_level(logging.WARNING):
        await write(databases("forged"), ("email", "900 EUR", "approved"), sealed_by(witnesses[:1]))

    assert "is no beginning of the journal" in caplog.text
    found = await audited(databases("forged"), sealed_by(witnesses[:1]))
    assert verdicts(found) == ["forked"], "the witness has what it had"


async def test_two_witnesses_that_were_shown_two_histories_are_named(
    databases: Databases, witnesses: list[WitnessAnchor]
) -> None:
    await write(databases("true"), TRUE, sealed_by(witnesses[:1]))
    await write(databases("forged"), ("email", "900 EUR"), sealed_by(witnesses[1:]))

    found = await audited(databases("true"), sealed_by(witnesses))

    assert verdicts(found) == ["agrees", "forked"]
    (_, split) = found.report.damages.found
    assert split.check == "anchor"
    assert "were shown two histories" in split.why
    assert all(one.name in split.why for one in witnesses)
    third = Seal([LOG_KEY])
    await write(databases("third"), ("email", "700 EUR", "approved"), third)
    both = await audited(databases("third"), sealed_by(witnesses))
    assert verdicts(both) == ["forked", "forked"]
    assert both.report.damages.counts == {"anchor": 2}, "of two sizes, one may extend the other"


async def test_without_enough_witnesses_the_quorum_of_an_audit_is_not_met(
    databases: Databases, witnesses: list[WitnessAnchor]
) -> None:
    seal = sealed_by(witnesses)
    await write(databases("true"), TRUE, sealed_by(witnesses[:1]))
    unknown = Seal(anchors=[WitnessAnchor(witnesses[0].url)])

    assert (await audited(databases("true"), seal, quorum=1)).is_sound
    assert not (await audited(databases("true"), unknown, quorum=1)).is_sound, "of no known key"
    found = await audited(databases("true"), seal, quorum=2)
    assert found.report.damages.counts == {"signature": 1}
    await write(databases("true"), ["more"], Seal())
    found = await audited(databases("true"), seal, quorum=1)
    assert "the newest that 1 have cosigned" in found.report.damages.found[0].why


async def test_a_witness_that_is_down_fails_nobody_and_is_named(
    databases: Databases, witnesses: list[WitnessAnchor]
) -> None:
    down = WitnessAnchor("http://127.0.0.1:1", witnesses[1].key)
    seal = sealed_by([witnesses[0], down])
    await write(databases("true"), TRUE, seal)

    found = await audited(databases("true"), seal, quorum=1)

    assert found.is_sound
    assert verdicts(found) == ["agrees"]
    assert list(found.unreachable) == [down.name]


# ----------------------------------------------------------------------------- quorum


@pytest.fixture
async def database(databases: Databases) -> AsyncIterator[LedgerDatabase]:
    opened_, lease = await acquire(databases("true"), FrozenClock())
    assert not isinstance(opened_, DictDatabase)
    yield opened_
    await release(lease)


async def test_what_too_few_have_cosigned_is_sent_again_until_enough_have(
    database: LedgerDatabase, witnesses: list[WitnessAnchor], caplog: pytest.LogCaptureFixture
) -> None:
    ledger = await database.ledger(SCOPE, scope_origin("0193", SCOPE), 0)
    await ledger.commit(Unit("system:test", 1, lambda _: [Draft("maintenance", b"{}", bytes(16))]))
    late = WitnessAnchor("http://127.0.0.1:1", witnesses[1].key)
    seal = sealed_by([witnesses[0], late], 2)
    checkpointer = Checkpointer(database, seal, FrozenClock(), Randomness())
    checkpointer.committed(SCOPE, 1)

    async def cosigned() -> list[int]:
        """How many have cosigned the newest checkpoint of the scope, and of the directory."""
        found = [await database.existing(scope) for scope in (SCOPE, DIRECTORY)]
        notes = [(await one.notes(1))[0] for one in found if one is not None]
        known = verifiers(one.key for one in witnesses if one.key)
        return [len(check_signatures(parse_checkpoint(one).note, known).signed) for one in notes]

    await checkpointer.close()
    assert await cosigned() == [1, 1]
    assert "has 1 cosignatures, not 2" in caplog.text
    before = [(one.size, one.noted) for one in await database.heads([SCOPE, DIRECTORY])]
    late.url = witnesses[1].url
    await checkpointer.close()

    assert await cosigned() == [2, 2]
    after = [(one.size, one.noted) for one in await database.heads([SCOPE, DIRECTORY])]
    assert after == before == [(1, 1), (1, 1)], "nothing was written for it"
    caplog.clear()
    await checkpointer.close()
    assert caplog.text == "", "nothing is left to do"


async def test_the_environment_names_witnesses_and_their_quorum(
    witnesses: list[WitnessAnchor],
) -> None:
    named = [f"{one.url}#{one.key}" for one in witnesses]

    seal = seal_from_environment({"MEMORANDA_WITNESSES": " ".join(named)})
    assert [one.name for one in seal.anchors] == [one.name for one in witnesses]
    assert (seal.quorum, [one.name for one in seal.known]) == (2, ["w1", "w2"])
    one = {"MEMORANDA_WITNESSES": named[0], "MEMORANDA_QUORUM": "0"}
    assert seal_from_environment(one).quorum == 0
    for quorum in ("3", "-1", "all", "²"):
        with pytest.raises(InvalidOption) as caught:
            seal_from_environment({**one, "MEMORANDA_QUORUM": quorum})
        assert caught.value.code == "input.option"
    with pytest.raises(InvalidKey) as refused:
        seal_from_environment({"MEMORANDA_WITNESSES": "http://w#key"})
    assert refused.value.code == "input.key"
    with pytest.raises(InvalidOption) as few:
        Seal(quorum=1)
    assert few.value.code == "input.option"
