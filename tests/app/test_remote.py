"""A script moves from a file to a server by its URL: the same verbs, the same values and errors."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import memoranda
from memoranda import Memo, Memory, MemoryRecordInput
from memoranda.app.remote.memory import (
    RemoteGovern,
    RemoteInbox,
    RemoteJournal,
    RemoteMaintain,
    RemoteMemory,
    RemoteTurns,
    RemoteWorlds,
)
from memoranda.app.remote.records import RemoteRecords
from memoranda.app.service.operations import NOT_OFFERED
from memoranda.errors import (
    CapabilityMissing,
    IdentityRefused,
    InvalidOption,
    InvalidUrl,
    KeyRefused,
    ReasoningClosed,
    RecordNotFound,
    RightMissing,
    StoreUnavailable,
    TraceMissing,
    VersionConflict,
)
from memoranda.journeys.records.store import Records
from memoranda.kernel.access import RIGHTS
from memoranda.policies import MemoryMaintenanceConfig, MemoryRetentionPolicy
from memoranda.surfaces.cli.main import app
from tests.fixtures import BOTH_DATABASES
from tests.surfaces.http.serving import process, served


@pytest.fixture(scope="module", params=BOTH_DATABASES)
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str]]:
    """A database, and the address of a server of it."""
    folder = tmp_path_factory.mktemp("served")
    url = f"sqlite:///{folder}/memory.db"
    if request.param == "postgres":
        url = request.getfixturevalue("postgres_server").create_database()
    with memoranda.connect_sync(url) as database:
        database.keys.create(scope="first", actor="agent:a", rights=RIGHTS)
    shop = ("--app", "tests.app.talking_shop:app")
    with process(url, *shop, folder=Path.cwd()) as (address, _):
        yield url, address


async def key_for(url: str, scope: str, rights: Any = RIGHTS, actor: str = "agent:a") -> str:
    async with memoranda.connect(url) as database:
        made = await database.keys.create(scope=scope, actor=actor, rights=rights)
    return str(made.key)


@asynccontextmanager
async def remote(place: tuple[str, str], scope: str, **how: Any) -> AsyncIterator[Any]:
    url, address = place
    async with memoranda.open(address, key=await key_for(url, scope, **how)) as memory:
        yield memory


async def test_the_verbs_do_on_a_server_what_they_do_on_a_file(
    place: tuple[str, str], scope: str
) -> None:
    url, _ = place
    async with remote(place, scope) as memory:
        assert (memory.scope, str(memory.actor)) == (scope, "agent:a")
        receipt = await memory.remember("Kim prefers email", id="kim", source="t/1", tags=["x"])
        many = await memory.remember_many(["one", Memo("two", id="two", tags=["t"])])
        await memory.put("visit", {"state": "open"})
        await memory.update("visit", {"by": "ann"}, expected_version=1)
        async with memory.batch(reason="over") as batch:
            batch.put("visit", {"state": "done"})
            batch.forget("two")
        found = await memory.recall("what does kim prefer?", top_k=3)
        why = await memory.why(found.trace_id)
        listed = await memory.list(limit=2)
        everything = await memory.list()
        history = await memory.history("visit")
        certificate = await memory.erase("kim", reason="asked", dry_run=True)
        audit = await memory.verify()
        status = await memory.govern.status()
        entries = await memory.journal.entries()
        export = [line async for line in memory.journal.export()]
        bytes_back = await memory.put("b", b"\x00\xff", media_type="image/png")

        async with memoranda.open(url, scope=scope, actor="agent:a") as direct:
            assert await direct.get("kim") == await memory.get("kim")
            assert await direct.get("b") == await memory.get("b")
            assert await direct.history("visit") == history
            assert list(await direct.list()) == list(await memory.list())
            assert await direct.journal.entries() == await memory.journal.entries()
            assert (await direct.why(found.trace_id)).known == why.known
            assert await direct.journal.proof(1) == await memory.journal.proof(1)
            assert [line async for line in direct.journal.export()][1] == export[1]

    assert receipt.created
    assert len(many) == 2
    assert [receipt.id for receipt in batch.receipts] == ["visit", "two"]
    assert found.items[0].data == "Kim prefers email"
    assert found.framed
    assert (len(listed), listed.next is None, len(everything)) == (2, False, 3)
    assert (certificate.is_dry_run, certificate.counts.objects) == (True, 1)
    assert audit.is_sound
    assert status.scope == scope
    assert len(entries) == audit.report.size
    assert bytes_back.version == 1


async def test_refusals_are_the_same_errors(place: tuple[str, str], scope: str) -> None:
    async with remote(place, scope) as memory:
        await memory.put("a", 1)

        with pytest.raises(VersionConflict) as conflict:
            await memory.put("a", 2, expected_version=7)
        with pytest.raises(RecordNotFound):
            await memory.update("nowhere", 1)
        assert await memory.get("nowhere") is None
        assert await memory.records.get("nowhere") is None

    assert (conflict.value.expected, conflict.value.current) == (7, 1)


async def test_a_key_is_for_one_scope_one_actor_and_its_rights(
    place: tuple[str, str], scope: str
) -> None:
    url, address = place
    key = await key_for(url, scope, rights=["read"])
    async with memoranda.connect(address, key=key) as database:
        with pytest.raises(RightMissing):
            await database.scope().remember("x")
        with pytest.raises(IdentityRefused):
            await database.scope("others").list()
        with pytest.raises(IdentityRefused):
            await database.scope(actor="human:boss").list()
        assert list(await database.scope(scope, actor="agent:a").list()) == []
        for refused in (database.scopes(), database.exists("x")):
            with pytest.raises(CapabilityMissing):
                await refused
    with pytest.raises(KeyRefused):
        await memoranda.connect(address, key="mk_" + "0" * 12 + "_" + "A" * 43)


async def test_an_action_rests_on_what_was_recalled(place: tuple[str, str], scope: str) -> None:
    small = {"ticket": "t1", "customer": "ann", "amount": 20}
    async with remote(place, scope) as memory:
        await memory.remember("ann is a customer")
        found = await memory.recall("ann", top_k=1)
        run = await memory.act("refund", small)
        why = await memory.why(run.proposal_id)
        replayed = await memory.worlds.replay(run.world)
        snapshot = await memory.worlds.restore(run.world)

    assert run.is_completed
    assert found.trace_id in str(why.to_wire())
    assert replayed.is_same
    assert snapshot.data == run.data


async def test_a_decision_is_made_by_whoever_has_the_key(
    place: tuple[str, str], scope: str
) -> None:
    large = {"ticket": "t2", "customer": "kim", "amount": 250}
    async with remote(place, scope) as memory:
        submitted = await memory.worlds.propose("refund", large, memory=())
        (waiting,) = await memory.inbox.list()
    async with remote(place, scope, actor="human:lee") as lee:
        answer = await lee.inbox.approve(submitted.proposal_id, reason="yes")
        run = await lee.worlds.run(submitted.proposal_id)

    assert waiting.proposal.proposal_id == submitted.proposal_id
    assert type(answer.verdict).__name__ == "Approved"
    assert run.is_completed


@pytest.mark.rule("M-2", "M-3")
async def test_a_reasoning_phase_lies_around_code_here_and_stands_on_the_server(
    place: tuple[str, str], scope: str
) -> None:
    small = {"ticket": "t2", "customer": "kim", "amount": 10}
    async with remote(place, scope) as memory:
        await memory.remember("Kim was promised a refund", id="kim")
        async with memory.reasoning() as r:
            await r.recall("what was kim promised?", top_k=2)
            run = await r.act("refund", small, reason="promised")
            with pytest.raises(ReasoningClosed):
                await r.recall("and ann?", top_k=1)
        with pytest.raises(ReasoningClosed):
            await memory.recall("and ann?", top_k=1, reasoning_id=r.id)
        async with memory.reasoning() as r:
            await memory.get("kim")
            with pytest.raises(TraceMissing):
                await r.propose("refund", small)
        async with memory.reasoning() as r:
            nothing = await r.propose("refund", {**small, "amount": 250})
        why = await memory.why(run.proposal_id)

    assert run.is_completed
    assert "what was kim promised?" in str(why.to_wire())
    assert nothing.status == "evaluating"


async def test_a_scope_is_maintained_over_the_wire(place: tuple[str, str], scope: str) -> None:
    kept = MemoryRetentionPolicy(ephemeral_tags=["scratch"])
    config = MemoryMaintenanceConfig(enabled=True, retention=kept)
    async with remote(place, scope) as memory:
        await memory.remember("call back", tags=["scratch"])
        await memory.maintain.configure(config, reason="kept short", every={"retention": 60})
        (dry,) = await memory.maintain.run("retention", dry_run=True)
        (run,) = await memory.maintain.run("retention")
        status = await memory.maintain.status()
        left = await memory.list()

    assert (dry.outcome, run.outcome, dry.counts["ephemeral"]) == ("dry", "done", 1)
    assert [job.job for job in status.jobs if job.every_s == 60] == ["retention"]
    assert list(left) == []


async def test_checkpoints_are_made_and_shown(place: tuple[str, str], scope: str) -> None:
    async with remote(place, scope) as memory:
        await memory.remember("hello")
        (run,) = await memory.maintain.run("checkpoint")
        (checkpoint,) = await memory.journal.checkpoints()
        head = await memory.journal.head()
        proof = await memory.journal.proof(0)

    assert run.counts == {"checkpoints": 1}
    assert (checkpoint.size, checkpoint.standing) == (head.size, "unsigned")
    assert checkpoint.note.startswith(f"{head.origin}\n{head.size}\n")
    assert checkpoint.root == (proof.root if isinstance(proof.root, str) else proof.root.hex())


async def test_turns_go_through_the_plan_and_the_model_of_the_server(
    place: tuple[str, str], scope: str
) -> None:
    async with remote(place, scope, actor="human:ann") as memory:
        taken = await memory.turns.take(
            "I live in Seoul. Was my invoice paid?", cycle_id="c1", subject="ann", record=True
        )
        again = await memory.turns.take(
            "I live in Seoul. Was my invoice paid?", cycle_id="c1", subject="ann", record=True
        )
        other = await memory.turns.take("And now?", session="other")
        several = await asyncio.gather(
            *(memory.turns.take(f"Question {n}", session="other") for n in range(3))
        )
        sessions = await memory.turns.sessions()
        first = await memory.turns.sessions(limit=1)
        replayed = await memory.turns.replay("c1")
        learned = await memory.list(subject="ann")

    assert taken.response.startswith("The invoice of Ada")
    assert (again.cycle_id, again.retried, again.place) == ("c1", True, taken.place)
    assert len({turn.cycle_id for turn in (other, *several)}) == 4
    assert [session.name for session in sessions] == ["default", "other"]
    assert ([session.name for session in first], first.next) == (["default"], "default")
    assert replayed.is_same
    assert [fact.id for fact in taken.learned.learned] == [item.id for item in learned]


async def test_a_server_without_a_model_takes_no_turns(tmp_path: Path) -> None:
    async with served(f"sqlite:///{tmp_path}/m.db") as door:
        assert await door.refused("POST", "/v1/turns", json={"message": "hello"}) == (
            409,
            "store.capability_missing",
        )
        assert await door.told("GET", "/v1/sessions") == {"items": [], "next": None}


async def test_what_is_code_does_not_go_over_the_wire(place: tuple[str, str], scope: str) -> None:
    _, address = place
    async with remote(place, scope) as memory:
        with pytest.raises(CapabilityMissing):
            await memory.verify(progress=print)
        with pytest.raises(CapabilityMissing):
            await memory.turns.open({}, model=None)
    with pytest.raises(InvalidOption):
        memoranda.connect(address, models={"a": "b"})
    with pytest.raises(InvalidOption):
        memoranda.connect("memory.db", key="mk_x")
    with pytest.raises(InvalidUrl):
        memoranda.connect("http://example.org", key="mk_x")
    with pytest.raises(StoreUnavailable):
        await memoranda.connect("http://127.0.0.1:9")


def test_blocking_code_asks_a_server_as_well(place: tuple[str, str], scope: str) -> None:
    url, address = place
    with memoranda.connect_sync(url) as database:
        key = database.keys.create(scope=scope, actor="human:me", rights=RIGHTS).key
    with memoranda.open_sync(address, key=key) as memory:
        memory.remember("hello", id="h")
        id = memory.records.create(MemoryRecordInput(data={"n": 1}))

        assert memory.get("h").data == "hello"  # type: ignore[union-attr]
        assert [record.id for record in memory.records.stream(memoranda.MemoryFilter())] == [
            id,
            "h",
        ]


def test_the_command_line_asks_a_server_as_well(
    place: tuple[str, str], scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, address = place
    with memoranda.connect_sync(url) as database:
        key = database.keys.create(scope=scope, actor="human:me", rights=RIGHTS).key
    monkeypatch.setenv("MEMORANDA_API_KEY", key)
    monkeypatch.setenv("MEMORANDA_ACTOR", "")
    commands = (
        "remember hello --id h", "recall hello -k 1", "maintain run checkpoint", "verify", "status",
        "maintain status", "maintain run retention --dry-run", "erase h --reason over --dry-run",
        "turns take hello", "turns sessions", "journal checkpoints", "journal entries",
    )  # fmt: skip
    for command in commands:
        done = CliRunner().invoke(app, [*command.split(), "--database", address])
        assert done.exit_code == 0, (command, done.output)


GROUP_OF = {RemoteWorlds: "worlds.", RemoteTurns: "turns.", RemoteMaintain: "maintain."}


def test_every_verb_is_called_on_a_server_as_on_a_file() -> None:
    pairs: list[tuple[type, type]] = [
        (RemoteMemory, Memory),
        (RemoteRecords, Records),
        *((kind, kind.__mro__[1]) for kind in (
            RemoteInbox, RemoteWorlds, RemoteTurns, RemoteGovern, RemoteJournal, RemoteMaintain,
        )),
    ]  # fmt: skip
    compared = 0
    for there, here in pairs:
        for name in [name for name in vars(there) if not name.startswith("_")]:
            offered = f"{GROUP_OF.get(there, '')}{name}"
            if not inspect.isfunction(getattr(here, name, None)) or offered in NOT_OFFERED:
                continue
            takes = inspect.signature(getattr(there, name)).parameters
            is_open = any(one.kind is one.VAR_KEYWORD for one in takes.values())
            for parameter in inspect.signature(getattr(here, name)).parameters.values():
                if parameter.kind is parameter.VAR_KEYWORD:
                    assert is_open, (there, name)
                elif parameter.name not in takes:
                    assert is_open, (there, name, parameter)
                    assert parameter.kind is parameter.KEYWORD_ONLY, (there, name, parameter)
                else:
                    assert takes[parameter.name].kind is parameter.kind, (there, name, parameter)
            compared += 1

    assert compared > 50
