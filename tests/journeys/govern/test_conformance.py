"""What memory rests on can't change unnoticed; a break stands until a re-audit is recorded."""

from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import Memory
from memoranda.journeys.audit.checkpoints import Seal
from memoranda.journeys.maintain import upkeep
from memoranda.kernel.errors import ConformanceBroken, InvalidPolicy
from memoranda.ledger.policy import DEFAULTS, Policy
from memoranda.ledger.unit import Unit
from memoranda.outside.anchors import FileAnchor
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.govern.judging import audited, breaks, fact
from tests.journeys.govern.reading import events


async def logged(memory: Memory[Any]) -> list[dict[str, Any]]:
    return [one for one in await events(memory) if one["event_type"] == "conformance_break"]


# ------------------------------------------------------------------------------- models


@pytest.mark.rule("GOV-BREAK", "GOV-LOG")
async def test_a_model_that_the_scope_does_not_declare_is_a_break_logged_once(
    opens: Opens,
) -> None:
    async with opens(models={"embedder": "mini-1"}) as memory:
        await memory.remember("x")
        assert await breaks(memory) == []
    for _ in range(3):
        async with opens(models={"embedder": "mini-2"}) as memory:
            (why,) = await breaks(memory)
            assert "mini-1" in why
            await memory.remember("y")
    async with opens() as memory:
        assert len(await breaks(memory)) == 1, "a process without a model changes nothing"
        (event,) = await logged(memory)
        assert "mini-2" in event["reason"]


@pytest.mark.rule("GOV-BREAK")
async def test_the_first_model_of_a_role_is_declared_by_its_use_and_that_is_logged(
    opens: Opens,
) -> None:
    async with opens(models={"embedder": "mini-1"}) as memory:
        await memory.remember("x")
    async with opens(models={"chat": "large-1"}) as memory:
        await memory.remember("y")
        policy = (await memory.govern.status()).policies["models"]
        declared = [e for e in await events(memory) if e["memory_object_id"] == "policy/models"]

    assert policy.rules == {"roles": {"embedder": ["mini-1"], "chat": ["large-1"]}}
    assert policy.version == 3
    assert [event["event_type"] for event in declared] == ["policy_change"] * 2


@pytest.mark.rule("GOV-BREAK")
async def test_a_declared_set_of_models_may_be_used_in_any_order(opens: Opens) -> None:
    both = Policy("models", 2, {"roles": {"embedder": ["mini-1", "mini-2"]}})
    async with opens() as memory:
        await memory.govern.change_policy(both, reason="one for each machine")
    for model in ("mini-2", "mini-1", "mini-2"):
        async with opens(models={"embedder": model}) as memory:
            assert await breaks(memory) == []
    async with opens(models={"embedder": "mini-3"}) as memory:
        assert len(await breaks(memory)) == 1


@pytest.mark.rule("GOV-BREAK")
async def test_a_re_audit_excuses_a_change_once_and_never_the_same_change_again(
    opens: Opens,
) -> None:
    async with opens(models={"chat": "m/1"}) as memory:
        await memory.remember("x")
    for turn, model in enumerate(("m/2", "m/1", "m/2", "m/1")):
        async with opens(models={"chat": model}) as memory:
            assert len(await breaks(memory)) == 1, f"{model}, at turn {turn}"
            await audited(memory)
            assert await breaks(memory) == []
            assert (await memory.govern.status()).policies["models"].rules["roles"] == {
                "chat": [model]
            }
        async with opens(models={"chat": model}) as memory:
            assert await breaks(memory) == [], "what was audited may be used"


@pytest.mark.rule("GOV-BREAK")
async def test_while_a_break_stands_nothing_is_returned_for_factual_use(opens: Opens) -> None:
    async with opens(models={"embedder": "1"}) as memory:
        id = await fact(opens, memory, "x")
        assert await memory.get(id, factual=True) is not None
    async with opens(models={"embedder": "2"}) as memory:
        with pytest.raises(ConformanceBroken):
            await memory.get(id, factual=True)
        with pytest.raises(ConformanceBroken):
            await memory.list(factual=True)
        with pytest.raises(ConformanceBroken):
            await memory.list(text="x", factual=True)
        assert await memory.get(id) is not None, "other reading goes on"

        await audited(memory, "audit/7")

        assert await breaks(memory) == []
        assert await memory.get(id, factual=True) is not None
        (event,) = [e for e in await events(memory) if e.get("audit_ref")]
    assert (event["event_type"], event["audit_ref"]) == ("policy_change", "audit/7")
    assert event["prev_hash"] != event["new_hash"]
    async with opens(models={"embedder": "2"}) as memory:
        assert await breaks(memory) == []
    async with opens(models={"embedder": "3"}) as memory:
        assert len(await breaks(memory)) == 1, "an audit excuses what it audited, nothing later"


@pytest.mark.rule("GOV-BREAK")
async def test_only_what_is_judged_factual_is_for_factual_use(
    opens: Opens, memory: Memory[Any]
) -> None:
    id = await fact(opens, memory, "f")
    guess = await memory.remember("g", source="doc/1", verdict="Inference")

    assert [one.id for one in await memory.list(factual=True)] == [id]
    assert await memory.get(guess.id, factual=True) is None


# ----------------------------------------------------------------- policies, index, log


@pytest.mark.rule("GOV-BREAK")
async def test_a_policy_changes_by_a_logged_event_and_then_breaks_nothing(opens: Opens) -> None:
    policy = Policy("source_hierarchy", 2, {"order": ["https://law.example/"]})
    async with opens() as memory:
        await memory.govern.change_policy(policy, reason="the law comes first")
        with pytest.raises(InvalidPolicy):
            await memory.govern.change_policy(policy, reason="the same version again")
    async with opens() as memory:
        status = await memory.govern.status()
        event = (await events(memory))[-1]

    assert status.breaks == {}
    assert status.policies["source_hierarchy"] == policy
    assert event["event_type"] == "policy_change"
    assert event["prev_hash"] == f"sha256:{DEFAULTS['source_hierarchy'].digest}"
    assert event["new_hash"] == f"sha256:{policy.digest}"


@pytest.mark.rule("GOV-BREAK")
@pytest.mark.parametrize(
    ("kind", "other"),
    [
        ("consolidation", {"by": []}),
        ("forgetting", {"causes": []}),
        ("source_hierarchy", {"order": ["law/"]}),
        ("oversight", {"maker_may_judge": True}),
    ],
)
async def test_a_policy_that_changes_without_an_event_is_a_break(
    opens: Opens, monkeypatch: pytest.MonkeyPatch, kind: Any, other: dict[str, Any]
) -> None:
    async with opens() as memory:
        await memory.remember("x")
    changed = Policy(kind, 1, {**DEFAULTS[kind].rules, **other})
    monkeypatch.setattr("memoranda.ledger.governance.DEFAULTS", {**DEFAULTS, kind: changed})

    for _ in range(2):
        async with opens() as memory:
            assert len(await breaks(memory)) == 1
            await memory.remember("y")
    monkeypatch.undo()
    async with opens() as memory:
        assert len(await breaks(memory)) == 2, "and so is changing it back"


@pytest.mark.rule("GOV-BREAK")
async def test_an_index_that_is_another_one_without_a_logged_rebuild_is_a_break(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "SMALL", 0)
    async with opens() as memory:
        await memory.remember("x")
        assert (await memory.maintain.reindex()).objects == 1
    async with opens() as memory:
        unlogged = Unit("system:somebody", 0, lambda _: [], tokenizer="another")
        await inside(memory).ledger.commit(unlogged)

    async with opens() as memory:
        (why,) = await breaks(memory)
        assert "index" in why
        await memory.maintain.reindex()
        await audited(memory)
        assert await breaks(memory) == []
    async with opens() as memory:
        assert await breaks(memory) == []


@pytest.mark.rule("GOV-BREAK")
async def test_how_an_index_was_built_names_all_that_went_into_it(opens: Opens) -> None:
    async with opens() as memory:
        await memory.remember("x")
        await memory.maintain.reindex()
        state = await inside(memory).scoped.conformance.state()

    assert state.fingerprint is not None
    built = str(state.fingerprint.index)
    for part in ("memoranda-text/", "words=unicode-", "forms=unicode-", "stems=", "layout="):
        assert part in built


@pytest.mark.rule("GOV-BREAK")
async def test_growth_of_the_log_is_no_break(opens: Opens) -> None:
    for _ in range(3):
        async with opens() as memory:
            await memory.remember_many(["x"] * 300)
            assert await breaks(memory) == []


@pytest.mark.rule("GOV-BREAK")
async def test_a_log_that_is_shorter_than_its_anchor_is_a_break_logged_once(
    url: str, scope: str, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    seal = Seal(anchors=[FileAnchor(elsewhere / "anchor")])
    async with memoranda.open(url, scope=scope, seal=seal) as memory:
        await memory.remember("x")
        origin = (await inside(memory).ledger.head()).origin
    note = (elsewhere / "anchor").read_text()
    assert origin in note
    forged = Seal(anchors=[FileAnchor(elsewhere / "forged")])
    root = "A" * 43 + "="
    await forged.anchors[0].publish(f"{origin}\n9\n{root}\n\n")

    for _ in range(4):  # shorter at first, then longer with another root: the same damage
        async with memoranda.open(url, scope=scope, seal=forged) as memory:
            assert len(await breaks(memory)) == 1
            await memory.remember_many(["y"] * 3)
    async with memoranda.open(url, scope=scope, seal=forged) as memory:
        (why,) = await breaks(memory)
        assert len(await logged(memory)) == 1
        report = await memory.verify()
        assert len(await logged(memory)) == 1, "verify finds what was found"
        await memory.govern.record_audit(
            "audit/1", report=report, reason="the anchor was forged", accept=["anchor"]
        )
        assert await breaks(memory) == []
    async with memoranda.open(url, scope=scope, seal=forged) as memory:
        assert await breaks(memory) == []
        status = await memory.govern.status()

    assert "log" in why
    assert [one.verdict for one in status.anchors][:1] == ["forked"]


async def test_an_anchor_that_can_not_be_reached_fails_no_write(
    url: str, scope: str, tmp_path: Path
) -> None:
    seal = Seal(anchors=[FileAnchor(tmp_path / "no" / "such" / "folder")])

    async with memoranda.open(url, scope=scope, seal=seal) as memory:
        receipt = await memory.remember("x")
        assert await memory.get(receipt.id) is not None
        assert (await memory.govern.status()).unreachable
