"""One session that gets every kind of result."""

from pathlib import Path
from typing import Any

import memoranda
from examples.refunds.shop import authority, shop
from memoranda.app.audit import verify_database
from memoranda.journeys.recall.evaluation import KnownAnswer
from memoranda.kernel.results import Wired
from tests.handles import opened
from tests.journeys.embeddings.toy import ToyEmbedder
from tests.journeys.turn.talking import Answering, talk


async def every_result(path: Path) -> list[Wired]:
    """What the verbs returned, one after another."""
    url = f"sqlite:///{path}/memory.db"
    found: list[Any] = []
    async with opened(
        url, actor="human:7", domain=shop, authority=authority, embedder=ToyEmbedder()
    ) as memory:
        found += await _governed(memory)
        found += await _acted(memory)
        async with opened(url, actor="human:lee", domain=shop) as lee:
            waiting = await memory.inbox.list()
            found += [waiting, waiting[0]]
            answer = await lee.inbox.approve(waiting[0].proposal.proposal_id, reason="yes")
            found.append(answer)
        found += await _turned(memory)
        found += [
            await memory.maintain.reindex(),
            await memory.maintain.embed(),
            await memory.maintain.evaluate([KnownAnswer("email?", ["a"])]),
            await memory.maintain.run("expiry"),
            (await memory.maintain.run("expiry"))[0],
            (status := await memory.maintain.status()),
            status.jobs[0],
            await memory.maintain.run("checkpoint"),
            (await memory.journal.checkpoints())[0],
            await memory.govern.status(),
            await memory.verify(),
            await memory.erase("a", reason="asked", dry_run=True),
            await memory.erase("a", reason="asked"),
            await memory.history("a"),
        ]
    found.append(await verify_database(url))
    return found


async def _governed(memory: memoranda.Memory[Any]) -> list[Any]:
    long = "a text that is far too long to be shown in one line, " * 20
    first = await memory.remember({"said": long}, id="a", source="t/1", tags=["x"], meta={"a_b": 1})
    await memory.remember("Kim prefers <b>email</b>", id="b", source="t/2", subject="kim")
    item = (recalled := await memory.recall("what does kim prefer?", top_k=2)).items[0]
    got = await memory.get("a")
    refusal = await memory.govern.consolidate(["a"], "x", justification="y")
    objects = [await memory.journal.object("b") | {"id": "c"}]
    imported = await memory.journal.import_objects(objects, dry_run=True, lenient=True)
    return [
        first,
        await memory.update("a", {"more": 1}, reason="more"),
        got,
        await memory.history("a"),
        (await memory.history("a"))[0],
        recalled,
        item,
        await memory.journal.original(item),
        await memory.why("a"),
        await memory.why(recalled.trace_id),
        refusal,
        imported,
        await memory.records.get("b"),
        await memory.learn([{"content": "I live in Seoul.", "name": "kim"}]),
        await memory.list(tags=["x"], limit=1),
        *await _journal(memory),
    ]


async def _journal(memory: memoranda.Memory[Any]) -> list[Any]:
    entries = await memory.journal.entries(limit=2)
    return [
        entries,
        entries[0],
        await memory.journal.head(),
        await memory.journal.proof(0),
        (await memory.journal.latest("recall"))[0],
        (await memory.journal.activity(since="1d ago"))[0],
        (await memory.journal.subjects())[0],
    ]


async def _acted(memory: memoranda.Memory[Any]) -> list[Any]:
    small = {"ticket": "t1", "customer": "ann", "amount": 20}
    large = {"ticket": "t2", "customer": "kim", "amount": 250}
    run = await memory.act("refund", small)
    assert run.world is not None
    return [
        run,
        await memory.worlds.propose("refund", large),
        await memory.worlds.restore(run.world),
        await memory.worlds.branches(),
        await memory.worlds.branch("other", at=run.world),
        (await memory.worlds.lineage())[0],
        await memory.worlds.replay(run.world),
        await memory.why(run.world),
    ]


async def _turned(memory: memoranda.Memory[Any]) -> list[Any]:
    turns = await memory.turns.open(talk(), model=Answering(), record=True)
    turn = await turns.take("Was the invoice of Ada paid?")
    account = await memory.turns.account(turn.cycle_id)
    sessions = await memory.turns.sessions()
    return [turn, account, sessions, sessions[0], await memory.turns.replay(turn.cycle_id)]
