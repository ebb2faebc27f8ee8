"""Why: who used, who approved, the memories as they were then, and what is known of them now."""

from typing import Any

import pytest

from memoranda import Memory
from memoranda.journeys.audit.why import Why
from memoranda.journeys.govern.objects import Receipt
from memoranda.kernel.errors import InvalidRecord, RecordNotFound
from memoranda.records.model import MemoryRecordInput
from memoranda.testkit.strategies import CountedIds
from memoranda.worlds.policies import HumanInTheLoop, Majority, Tribunal
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.intent.reading import said
from tests.journeys.intent.simulators import Provider


def part(tree: Why, what: str) -> Why:
    """The first part of a kind, anywhere in the tree."""
    found = parts(tree, what)
    assert found, f"there is no {what} in {tree.to_wire()}"
    return found[0]


def parts(tree: Why, what: str) -> list[Why]:
    """Every part of a kind, anywhere in the tree."""
    found = [tree] if tree.what == what else []
    for each in tree.parts:
        found += parts(each, what)
    return found


def reads(memory: Memory[Any], *ids: str) -> Any:
    """What recalls these records."""

    async def recalled(_: Any) -> Any:
        found = [await memory.records.get(id) for id in ids]
        return [one and one.data for one in found]

    return recalled


@pytest.mark.rule("R-3")
async def test_why_a_world_is_says_who_used_who_approved_and_what_was_remembered(
    opens: Opens,
) -> None:
    provider = Provider()
    policy = HumanInTheLoop(["human:alice"], authority_id="desk")
    async with opens(provider=provider, authority=policy) as memory:
        await memory.remember("tea is green", id="tea")
        provider.answer = reads(memory, "tea")
        proposed = await memory.worlds.propose("ask", {"text": 3}, reason="because it is due")
        async with opens(actor="human:alice") as alice:
            await alice.inbox.approve(proposed.proposal_id, reason="fine by me")
        run = await memory.worlds.run(proposed.proposal_id)

        tree = await memory.why(run.world or "")
        execution, proposal = part(tree, "execution"), part(tree, "proposal")
        decision, remembered = part(tree, "decision"), part(tree, "memory")
        assert tree.what == "world"
        assert execution.known["memoryContext"] == ["tea is green"]
        assert (execution.known["recall"], execution.known["outcome"]) == ("answered", "completed")
        assert proposal.known["used by"] == "agent:worker"
        assert proposal.known["trace"] == {"summary": "because it is due"}
        assert decision.known["authority"].endswith(":desk")
        assert decision.known["decided by"] == "human:alice"
        assert decision.known["reasoning"] == "fine by me"
        assert remembered.known["content"] == "tea is green"
        assert remembered.known["now"] == "unchanged"
        assert part(tree, "effect").known == {"result": 6}
        for each in (tree, execution, proposal, decision, remembered):
            assert each.proof is not None
            assert each.proof.holds


async def test_why_shows_memories_as_they_were_then_and_what_is_known_now(opens: Opens) -> None:
    provider = Provider()
    async with opens(provider=provider) as memory:
        for name in ("kept", "updated", "forgotten", "archived"):
            await memory.records.create(MemoryRecordInput(id=name, data={"was": name}))
        provider.answer = reads(memory, "kept", "updated", "forgotten", "archived")
        run = await memory.act("nothing")
        await memory.records.update("updated", {"was": "something else"})
        await memory.forget("forgotten", reason="it was wrong", cause="correction")
        await memory.govern.archive("archived", reason="it is old", cause="obsolescence")

        tree = await memory.why(run.execution_key or "")
        then = {one.id: one.known["content"] for one in parts(tree, "memory")}
        now = {one.id: one.known["now"] for one in parts(tree, "memory")}
        assert then == {name: {"was": name} for name in then}
        assert now == {
            "kept": "unchanged",
            "updated": "superseded by version 2",
            "forgotten": "invalidated (version 2)",
            "archived": "archived (version 2)",
        }


async def test_a_memory_that_changes_while_the_run_goes_on_is_shown_as_it_was_read(
    opens: Opens,
) -> None:
    provider = Provider()
    async with opens(provider=provider) as memory:
        await memory.records.create(MemoryRecordInput(id="tea", data={"is": "green"}))
        provider.answer = reads(memory, "tea")
        own = inside(memory).intents._runner
        assert own is not None
        proposed = await memory.worlds.propose("nothing")
        original = own._executed

        async def executed(*given: Any) -> Any:
            await memory.records.update("tea", {"is": "black"})
            return await original(*given)

        own._executed = executed  # type: ignore[assignment, method-assign]
        run = await memory.worlds.run(proposed.proposal_id)

        tree = await memory.why(run.execution_key or "")
        assert part(tree, "execution").known["memoryContext"] == [{"is": "green"}]
        assert part(tree, "memory").known["content"] == {"is": "green"}
        assert part(tree, "memory").known["now"] == "superseded by version 2"


async def test_why_a_proposal_waits_or_ended(opens: Opens) -> None:
    members = ["human:alice", "human:bob", "human:carol"]
    async with opens(authority=Tribunal(members, Majority())) as memory:
        proposed = await memory.worlds.propose("add", {"by": 2})
        tree = await memory.why(proposed.proposal_id)
        assert tree.what == "proposal"
        assert parts(tree, "decision") == []
        async with opens(actor="human:alice") as alice, opens(actor="human:bob") as bob:
            await alice.inbox.reject(proposed.proposal_id, reason="no")
            await bob.inbox.reject(proposed.proposal_id, reason="no, too")

        tree = await memory.why(proposed.proposal_id)
        assert part(tree, "decision").known["decision"] == "rejected"
        assert parts(tree, "execution") == []


async def test_why_a_proposal_leads_to_its_execution_once(memory: Memory[Any]) -> None:
    run = await memory.act("add", {"by": 2})

    tree = await memory.why(run.proposal_id)
    assert [one.id for one in parts(tree, "execution")] == [run.execution_key]
    assert len(parts(tree, "proposal")) == 1
    assert part(tree, "execution").known["world"] == run.world


async def test_why_a_record_says_what_happened_to_it_and_what_was_made_from_it(
    opens: Opens,
) -> None:
    provider = Provider()
    async with opens(provider=provider) as memory:
        await memory.records.create(MemoryRecordInput(id="tea", data={"is": "green"}))
        provider.answer = reads(memory, "tea")
        run = await memory.act("nothing")
        await memory.records.update("tea", {"is": "black"})
        await memory.records.delete("tea", reason="nobody asks")

        tree = await memory.why("tea")
        assert (tree.what, tree.known["status"]) == ("record", "invalidated")
        assert [one.known["event"] for one in parts(tree, "version")] == [
            "create",
            "update",
            "invalidate",
        ]
        assert parts(tree, "version")[-1].known["reason"] == "nobody asks"
        assert [one.id for one in parts(tree, "execution")] == [run.execution_key]
        assert tree.proof is not None
        assert tree.proof.holds


async def test_why_the_first_world_is(memory: Memory[Any]) -> None:
    await memory.act("add", {"by": 2})
    genesis = (await said(memory, "Branch"))[0].document["head"]

    tree = await memory.why(genesis)
    assert part(tree, "branch").id == "main"
    assert tree.known["createdBy"] is None


async def test_why_is_plain_json(memory: Memory[Any]) -> None:
    run = await memory.act("work", {"steps": 2})
    wire = (await memory.why(run.world or "")).to_wire()

    assert wire["what"] == "world"
    assert wire["parts"][0]["proof"]["holds"] is True
    assert len(wire["proof"]["root"]) == 64


@pytest.mark.parametrize("id", ["nowhere", "\ud800", "\x00", "x" * 5_000])
async def test_there_is_no_why_of_what_never_was(memory: Memory[Any], id: str) -> None:
    with pytest.raises(RecordNotFound):
        await memory.why(id)


async def test_only_a_text_has_a_why(memory: Memory[Any]) -> None:
    with pytest.raises(InvalidRecord):
        await memory.why(None)  # type: ignore[arg-type]


async def test_a_summary_whose_id_has_a_slash_is_a_memory(opens: Opens) -> None:
    async with opens(ids=CountedIds("execution/")) as memory:
        for name in ("a", "b"):
            await memory.remember(f"tea is {name}", id=name, source="https://example.org/tea")
        receipt = await memory.govern.consolidate(
            ["a", "b"], "tea is a and b", justification="both are known"
        )

        assert isinstance(receipt, Receipt)
        assert receipt.id.startswith("execution/")
        assert [one.id for one in parts(await memory.why("a"), "memory")] == [receipt.id]
