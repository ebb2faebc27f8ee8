"""What memory rests on can't change unnoticed; a break stands until a re-audit is recorded."""

from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import Memory
from recollect.journeys.audit.checkpoints import Seal
from recollect.journeys.maintain import reindex
from recollect.kernel.errors import ConformanceBroken, InvalidPolicy
from recollect.ledger.policy import DEFAULTS, Policy
from recollect.ledger.unit import Unit
from recollect.outside.anchors import FileAnchor
from tests.govern.conftest import Opens
from tests.govern.reading import events


async def breaks(memory: Memory[Any]) -> list[str]:
    return list((await memory.status()).breaks.values())


@pytest.mark.rule("GOV-BREAK", "GOV-LOG")
async def test_a_model_that_changes_without_a_re_audit_is_a_break_logged_once(
    opens: Opens,
) -> None:
    async with opens(models={"embedder": "mini-1"}) as memory:
        await memory.remember("x", source="doc/1", verdict="Factual")
        assert await breaks(memory) == []
    async with opens(models={"embedder": "mini-2"}) as memory:
        (why,) = await breaks(memory)
        assert "mini-1" in why
    async with opens(models={"embedder": "mini-2"}) as memory:
        logged = [e for e in await events(memory) if e["event_type"] == "conformance_break"]
        assert len(logged) == len(await breaks(memory)) == 1
        assert "mini-2" in logged[0]["reason"]


@pytest.mark.rule("GOV-BREAK")
async def test_while_a_break_stands_nothing_is_returned_for_factual_use(opens: Opens) -> None:
    async with opens(models={"embedder": "1"}) as memory:
        receipt = await memory.remember("x", source="doc/1", verdict="Factual")
        assert await memory.get(receipt.id, factual=True) is not None
    async with opens(models={"embedder": "2"}) as memory:
        with pytest.raises(ConformanceBroken):
            await memory.get(receipt.id, factual=True)
        with pytest.raises(ConformanceBroken):
            await memory.list(factual=True)
        assert await memory.get(receipt.id) is not None, "other reading goes on"

        await memory.record_audit("audit/7", reason="drift checked, none found")

        assert await breaks(memory) == []
        assert await memory.get(receipt.id, factual=True) is not None
        last = (await events(memory))[-1]
    assert (last["event_type"], last["audit_ref"]) == ("policy_change", "audit/7")
    async with opens(models={"embedder": "2"}) as memory:
        assert await breaks(memory) == []
    async with opens(models={"embedder": "3"}) as memory:
        assert len(await breaks(memory)) == 1, "an audit excuses what it audited, nothing later"


@pytest.mark.rule("GOV-BREAK")
async def test_only_what_is_judged_factual_is_for_factual_use(memory: Memory[Any]) -> None:
    fact = await memory.remember("f", source="doc/1", verdict="Factual")
    guess = await memory.remember("g", source="doc/1", verdict="Inference")

    assert [one.id for one in await memory.list(factual=True)] == [fact.id]
    assert await memory.get(guess.id, factual=True) is None


@pytest.mark.rule("GOV-BREAK")
async def test_a_policy_changes_by_a_logged_event_and_then_breaks_nothing(opens: Opens) -> None:
    policy = Policy("source_hierarchy", 2, {"order": ["https://law.example/"]})
    async with opens() as memory:
        await memory.change_policy(policy, reason="the law comes first")
        with pytest.raises(InvalidPolicy):
            await memory.change_policy(policy, reason="the same version again")
    async with opens() as memory:
        status = await memory.status()
        event = (await events(memory))[-1]

    assert status.breaks == {}
    assert status.policies["source_hierarchy"] == policy
    assert event["event_type"] == "policy_change"
    assert event["prev_hash"] == f"sha256:{DEFAULTS['source_hierarchy'].digest}"
    assert event["new_hash"] == f"sha256:{policy.digest}"


@pytest.mark.rule("GOV-BREAK")
@pytest.mark.parametrize("kind", ["consolidation", "forgetting", "source_hierarchy"])
async def test_a_policy_that_changes_without_an_event_is_a_break(
    opens: Opens, monkeypatch: pytest.MonkeyPatch, kind: Any
) -> None:
    async with opens():
        pass
    changed = Policy(kind, 1, {"other": "rules"})
    monkeypatch.setattr("recollect.ledger.governance.DEFAULTS", {**DEFAULTS, kind: changed})

    async with opens() as memory:
        assert len(await breaks(memory)) == 1


@pytest.mark.rule("GOV-BREAK")
async def test_an_index_that_is_another_one_without_a_logged_rebuild_is_a_break(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reindex, "SMALL", 0)
    async with opens() as memory:
        await memory.remember("x")
        assert (await memory.reindex()).objects == 1
    async with opens() as memory:
        unlogged = Unit("system:somebody", 0, lambda _: [], tokenizer="another")
        await memory._ledger.commit(unlogged)

    async with opens() as memory:
        (why,) = await breaks(memory)
        assert "tokenizer" in why
        await memory.reindex()
        await memory.record_audit("audit/8", reason="the index was made anew")
        assert await breaks(memory) == []


@pytest.mark.rule("GOV-BREAK")
async def test_growth_of_the_log_is_no_break(opens: Opens) -> None:
    for _ in range(3):
        async with opens() as memory:
            await memory.remember_many(["x"] * 300)
            assert await breaks(memory) == []


@pytest.mark.rule("GOV-BREAK")
async def test_a_log_that_is_shorter_than_its_anchor_is_a_break(
    url: str, scope: str, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    seal = Seal(anchors=[FileAnchor(elsewhere / "anchor")])
    async with recollect.open(url, scope=scope, seal=seal) as memory:
        await memory.remember("x")
        origin = (await memory._ledger.head()).origin
    note = (elsewhere / "anchor").read_text()
    assert origin in note
    forged = Seal(anchors=[FileAnchor(elsewhere / "forged")])
    root = "A" * 43 + "="
    await forged.anchors[0].publish(f"{origin}\n99\n{root}\n\n")

    async with recollect.open(url, scope=scope, seal=forged) as memory:
        (why,) = await breaks(memory)
        status = await memory.status()

    assert "log" in why
    assert [one.verdict for one in status.anchors] == ["rolled_back"]


async def test_an_anchor_that_can_not_be_reached_fails_no_write(
    url: str, scope: str, tmp_path: Path
) -> None:
    seal = Seal(anchors=[FileAnchor(tmp_path / "no" / "such" / "folder")])

    async with recollect.open(url, scope=scope, seal=seal) as memory:
        receipt = await memory.remember("x")
        assert await memory.get(receipt.id) is not None
        assert (await memory.status()).unreachable
