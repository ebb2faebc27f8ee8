"""One memory: what is remembered reaches a turn, and what a turn taught is remembered."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from memoranda import Memory
from memoranda.errors import (
    CycleFailed,
    InvalidInput,
    RecallFailed,
    SessionMismatch,
    WorldNotFound,
    WriteFailed,
)
from memoranda.journeys.recall.recaller import Recaller
from memoranda.kernel.errors import MarkMoved, StoreFailed
from memoranda.ledger.unit import Unit
from memoranda.models import ChatMessage, ExtractedFact, ModelExtractor, Prompt, Settings
from memoranda.plans.steps.context import RecallMemoryPayload
from memoranda.plans.steps.facts import ExtractFactsPayload
from memoranda.policies import MemoryOperation
from memoranda.types import Remembered, Turn
from tests.fixtures import Opens
from tests.journeys.turn.faults import with_table
from tests.journeys.turn.tables import Tables
from tests.journeys.turn.talking import ANSWER, Answering, Replaced, bodies, size, talk, told

CANARY = "Zanzibar"


async def taken(memory: Memory[Any], text: str, **options: Any) -> Turn:
    """A turn through a plan with all steps."""
    cycle_id = options.pop("cycle_id", None)
    document = options.pop("plan", None) or talk(is_governed=True)
    options.setdefault("model", Answering())
    turns = await memory.turns.open(document, **options)
    return await turns.take(text, cycle_id=cycle_id)


async def kept(memory: Memory[Any], id: str) -> Remembered[Any]:
    found = await memory.get(id)
    assert found is not None
    return found


async def records(memory: Memory[Any]) -> list[Any]:
    return sorted(found.data for found in await memory.list())


# ------------------------------------------------------------------------------ recalling


@pytest.mark.parametrize(
    ("known", "asked"),
    [
        ("The parcel of Ada left Busan on Monday", "Where is the parcel of Ada?"),
        ("에이다의 소포는 월요일에 부산을 떠났다", "에이다의 소포는 어디에 있나요?"),
    ],
    ids=["english", "korean"],
)
@pytest.mark.rule("ING-PASSING")
async def test_what_remember_keeps_reaches_the_prompt(
    memory: Memory[Any], known: str, asked: str
) -> None:
    receipt = await memory.remember(known)
    model = Answering()

    turn = await taken(memory, asked, model=model)

    assert [(one.id, one.text, one.verified) for one in turn.recalled] == [
        (receipt.id, known, True)
    ]
    assert known in model.asked[0].user
    assert f"not reviewed, verified, of {turn.recalled[0].timestamp}" in model.asked[0].user
    trace = turn.outputs["recall"].thaw()["traceId"]
    why = await memory.why(turn.cycle_id)
    assert [part.id for part in why.parts] == ["1", trace], "the attempt, and what it recalled"
    (fact, _) = await bodies(memory)
    assert f"trace/{trace}" in fact["inputs"]
    assert known not in str(fact), "only digests of it (ING-RAW)"


@pytest.mark.rule("ING-TOPK")
async def test_the_plan_says_how_many_are_recalled(memory: Memory[Any]) -> None:
    for number in range(5):
        await memory.remember(f"Parcel number {number} left Busan")
    for top_k in (0, 1, 4):
        document = talk(is_governed=True, top_k=top_k)
        turn = await taken(memory, "parcel Busan?", plan=document, session=f"s-{top_k}")

        assert len(turn.recalled) == top_k


@pytest.mark.rule("ING-HASH")
async def test_a_session_is_not_resumed_with_another_top_k_or_without_the_steps(
    memory: Memory[Any],
) -> None:
    await taken(memory, "Hello there")

    for other in (talk(is_governed=True, top_k=4), talk()):
        with pytest.raises(SessionMismatch):
            await taken(memory, "Hello there", plan=other)


@pytest.mark.rule("ING-NO-FALLBACK")
async def test_a_recall_that_fails_fails_the_cycle_and_nothing_is_stored(
    memory: Memory[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Answering()
    await memory.remember("something before")

    async def broken(*_: Any, **__: Any) -> Any:
        raise StoreFailed("the index", "it is torn")

    with monkeypatch.context() as patch:
        patch.setattr("memoranda.journeys.recall.sources.ScopeSources.ranked", broken)
        with pytest.raises(CycleFailed) as caught:
            await taken(memory, "I live in Seoul.", model=model, cycle_id="c-1")

    assert caught.value.step == "recall"
    assert isinstance(caught.value.__cause__, RecallFailed)
    assert model.asked == []
    assert await records(memory) == ["something before"]
    (fact,) = await told(memory, "c-1")
    assert (fact.outcome, fact.document["error"]) == ("failed", "world.recall_failed")
    turn = await taken(memory, "I live in Seoul.", model=model, cycle_id="c-1")
    assert len(turn.learned.learned) == 1


@pytest.mark.rule("ING-NO-FALLBACK")
async def test_a_degraded_recall_fails_the_cycle(memory: Memory[Any]) -> None:
    class Other(Answering):
        """A model that the scope has not declared: a conformance break stands from then on."""

        identity = "other/1"

    await memory.remember("The parcel of Ada left Busan on Monday")
    await taken(memory, "Where is the parcel?")
    await taken(memory, "Where is the parcel?", model=Other())
    recalled = await memory.recall("Where is the parcel?", top_k=3)
    assert (recalled.outcome, len(recalled)) == ("degraded", 1)

    with pytest.raises(CycleFailed) as caught:
        await taken(memory, "Where is the parcel?", model=Other())

    assert (caught.value.step, caught.value.code) == ("recall", "plan.cycle_failed")
    assert "conformance break" in caught.value.why


@pytest.mark.rule("ING-PARTIAL")
async def test_a_step_in_the_place_of_recall_is_looked_at(memory: Memory[Any]) -> None:
    lying = Replaced(
        "RecallMemory",
        "ContextSelect",
        {"query": ("$turn",)},
        ("memories", "traceId"),
        lambda _: {"memories": [{"text": "half of one"}], "traceId": "t"},
        RecallMemoryPayload,
    )

    with pytest.raises(CycleFailed) as caught:
        await taken(memory, "Where is it?", steps=[lying])

    assert caught.value.step == "select"


async def test_a_replay_uses_what_was_recalled_and_never_recalls(
    memory: Memory[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    receipt = await memory.remember("The parcel of Ada left Busan on Monday")
    model = Answering()
    await taken(memory, "Where is the parcel?", model=model, record=True, cycle_id="c-1")
    await memory.update(receipt.id, "The parcel of Ada is lost")
    before = await size(memory)

    def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError("a replay recalls nothing")

    monkeypatch.setattr(Recaller, "recall", refused)
    replay = await memory.turns.replay("c-1")

    assert (replay.difference, replay.prompt) == (None, model.asked[0].user)
    assert await size(memory) == before


async def test_the_replay_of_an_answer_too_short_for_an_item_is_the_same(
    memory: Memory[Any],
) -> None:
    await taken(memory, "I live in Seoul.", model=Answering("Ok."), record=True, cycle_id="c-1")

    assert (await memory.turns.replay("c-1")).difference is None


# ------------------------------------------------------------------------------- learning


async def test_what_a_turn_taught_is_a_record_with_the_cycle_as_its_source(
    memory: Memory[Any],
) -> None:
    turn = await taken(memory, "Hi! I live in Seoul. 제 생일은 5월 3일이에요.", subject="Min")

    first, second = turn.learned.learned
    assert (first.text, second.text) == ("I live in Seoul.", "제 생일은 5월 3일이에요.")
    record = await kept(memory, first.id)
    assert [source["uri"] for source in record.sources] == [f"cycle:{turn.cycle_id}"]
    assert (record.subject, record.speaker, record.trust) == ("Min", "Min", "unreviewed")
    assert record.verdict == "Unanswered"
    (fact, _) = await bodies(memory)
    assert record.thread == f"session:{fact['sessionRef']}"
    assert record.said_at is not None
    assert [item.id for item in await memory.recall("where does Min live?", top_k=1)] == [first.id]
    assert first.id in [found.id for found in await memory.list(text="seoul")]
    assert (await memory.verify()).is_sound


@pytest.mark.rule("ING-PERSIST")
async def test_what_was_taught_lands_with_the_cycle_in_one_unit(memory: Memory[Any]) -> None:
    await taken(memory, "Hello there", session="before")
    table = with_table(memory)
    before = await size(memory)

    turn = await taken(memory, "I live in Seoul. I have two dogs.")

    (unit,) = table.units
    assert len(turn.learned.learned) == 2
    # The trace comes first: no trace, no memory. Then the cycle and that it
    # recalled, two records, what came of each.
    assert await size(memory) == before + 1 + 2 + 2 + 2
    assert unit.about == turn.cycle_id
    assert turn.place.seq == before + 1


async def test_what_is_known_is_seen_again_and_what_denies_it_waits(
    memory: Memory[Any], opens: Opens
) -> None:
    first = await taken(memory, "I live in Seoul.", subject="Min")
    second = await taken(memory, "Well, i live in SEOUL!", subject="Min")
    third = await taken(memory, "I moved to Busan.", subject="Min")

    home = first.learned.learned[0].id
    assert [(one.id, one.count) for one in second.learned.seen_again] == [(home, 1)]
    record = await kept(memory, home)
    assert (record.seen_again, record.last_seen_at is not None) == (1, True)
    (proposed,) = third.learned.proposed
    assert (proposed.denies, proposed.source) == (home, f"cycle:{third.cycle_id}")
    assert await records(memory) == ["I live in Seoul."], "nobody decides behind anybody's back"
    async with opens(actor="human:lee") as human:
        (waiting,) = await human.inbox.list()
        assert waiting.proposal.proposal_id == proposed.proposal_id
        await human.inbox.approve(proposed.proposal_id, reason="Min moved")
    assert await records(memory) == ["I moved to Busan."]
    assert (await memory.verify()).is_sound


async def test_a_turn_and_learn_know_the_same(memory: Memory[Any]) -> None:
    learned = await memory.learn([{"content": "I have two dogs.", "name": "Min"}])

    turn = await taken(memory, "Yes, I have two dogs!", subject="Min")

    assert [one.id for one in turn.learned.seen_again] == [learned.learned[0].id]
    again = await memory.learn([{"content": "I have two dogs.", "name": "Min", "id": "m2"}])
    assert [one.count for one in again.seen_again] == [2]


async def test_what_another_person_says_is_another_fact(memory: Memory[Any]) -> None:
    for name in ("Min", "Kim"):
        await taken(memory, "I live in Seoul.", subject=name, session=name)

    assert len(await memory.list(text="seoul")) == 2


class Echo:
    """Finds what it is told to find."""

    def __init__(self, *facts: str) -> None:
        self.facts = facts

    async def extract(self, messages: Sequence[ChatMessage]) -> Sequence[ExtractedFact]:
        del messages
        return [ExtractedFact(text, 0) for text in self.facts]


def extracting(*facts: str) -> Replaced:
    """An ExtractFacts of one's own, which checks nothing."""

    def made(_: Mapping[str, Any]) -> dict[str, Any]:
        return {"facts": [{"text": text} for text in facts]}

    takes = {"text": ("$turn",), "response": ("LLMCall",)}
    return Replaced("ExtractFacts", "ExtractFacts", takes, ("facts",), made, ExtractFactsPayload)


@pytest.mark.rule("ING-RAW")
@pytest.mark.parametrize(
    "options",
    [{"extractor": Echo(ANSWER)}, {"steps": [extracting("fine", ANSWER)]}],
    ids=["an extractor", "a step in the place of ours"],
)
async def test_a_fact_that_is_the_response_fails_the_cycle(
    memory: Memory[Any], options: Any
) -> None:
    with pytest.raises(CycleFailed) as caught:
        await taken(memory, "I live in Seoul.", cycle_id="c-1", **options)

    assert caught.value.step in ("extract", "remember")
    assert await records(memory) == []
    assert [one.outcome for one in await told(memory, "c-1")] == ["failed"]


@pytest.mark.rule("ING-PERSIST")
async def test_a_cycle_that_does_not_land_teaches_nothing(memory: Memory[Any]) -> None:
    def broken(unit: Unit) -> None:
        if unit.about:
            raise StoreFailed("the disk", "it is full")

    await memory.remember("something before")
    with_table(memory, before=broken)

    with pytest.raises(WriteFailed):
        await taken(memory, "I live in Seoul.", record=True, cycle_id="c-1")

    assert await records(memory) == ["something before"]
    with pytest.raises(WorldNotFound):
        await memory.turns.replay("c-1")


async def test_what_changed_while_it_was_compared_is_compared_anew(memory: Memory[Any]) -> None:
    known = await memory.remember("I live in Seoul.", subject="user")
    table = with_table(memory)
    commit, tried = table.commit, list[Unit]()

    async def late(unit: Unit) -> Any:
        tried.append(unit)
        if len(tried) == 1:
            await memory.forget(known.id, reason="it was wrong")
        return await commit(unit)

    table.commit = late  # type: ignore[method-assign]
    turn = await taken(memory, "I live in Seoul!")

    assert len(tried) == 2
    assert turn.learned.seen_again == ()
    assert [one.text for one in turn.learned.learned] == ["I live in Seoul!"]
    assert (await memory.verify()).is_sound


async def test_a_retry_teaches_nothing_twice(memory: Memory[Any]) -> None:
    first = await taken(memory, "I live in Seoul.", cycle_id="c-1")
    before = await size(memory)

    again = await taken(memory, "I live in Seoul.", cycle_id="c-1")

    assert (first.retried, again.retried) == (False, True)
    assert (len(first.learned.learned), len(again.learned.learned)) == (1, 0)
    assert await size(memory) == before


async def test_a_turn_that_taught_nothing_says_so(memory: Memory[Any]) -> None:
    turn = await taken(memory, "What is the weather like?")
    without = await taken(memory, "I live in Seoul.", plan=talk(), session="other")

    assert not any(turn.learned.to_wire().values())
    assert not any(without.learned.to_wire().values())
    assert await records(memory) == []


class NeedsApproval:
    """Asks for approval of whatever is new."""

    def requires_authority(self, op: MemoryOperation) -> bool:
        return op.type == "create"


async def test_where_new_memory_needs_approval_a_turn_proposes_it(opens: Opens) -> None:
    async with opens(actor="agent:worker", memory_policy=NeedsApproval()) as memory:
        turn = await taken(memory, "I live in Seoul.")

        assert (turn.learned.learned, len(turn.learned.proposed)) == ((), 1)
        assert await records(memory) == []


class AnswersFacts(Answering):
    """Answers, and finds facts where it is asked for them."""

    identity = "m/1"
    facts = '{"facts":[{"text":"Min lives in Seoul","message":0,"subject":"Min"}]}'

    async def complete(self, prompt: Prompt, settings: Settings) -> str:
        if prompt.system is not None and '"facts"' in prompt.system:
            return self.facts
        return await super().complete(prompt, settings)


async def test_the_turns_own_model_may_find_the_facts_and_a_replay_asks_nobody(
    memory: Memory[Any],
) -> None:
    turn = await taken(
        memory,
        "Seoul it is!",
        model=AnswersFacts(),
        extractor=ModelExtractor,
        record=True,
        cycle_id="c-1",
    )

    (fact,) = turn.learned.learned
    assert (fact.text, fact.subject) == ("Min lives in Seoul", "Min")
    assert (await kept(memory, fact.id)).statement_type == "DerivedStatement"
    assert (await memory.turns.replay("c-1", extractor=ModelExtractor)).difference is None
    assert "extractor" in str((await memory.govern.status()).to_wire())


async def test_a_model_that_finds_no_facts_as_it_must_fails_the_cycle(memory: Memory[Any]) -> None:
    class Chatty(AnswersFacts):
        facts = "Sure! Here are the facts."

    with pytest.raises(CycleFailed) as caught:
        await taken(memory, "I live in Seoul.", model=Chatty(), extractor=ModelExtractor)

    assert caught.value.step == "extract"
    assert await records(memory) == []


@pytest.mark.parametrize("options", [{"subject": " "}, {"subject": 7}, {"extractor": 7}], ids=str)
async def test_wrong_options_are_refused(memory: Memory[Any], options: Any) -> None:
    with pytest.raises(InvalidInput):
        await taken(memory, "I live in Seoul.", **options)

    assert await size(memory) == 0


# -------------------------------------------------------------------------------- erasing


@pytest.fixture
def canary(request: pytest.FixtureRequest) -> str:
    """A word that is in no other test."""
    return f"{CANARY}{abs(hash(request.node.name)) % 10**12}"


def held(tables: Tables, canary: str) -> set[str]:
    return tables.holding(canary) | tables.holding(canary.lower())


@pytest.mark.rule("GOV-FORGET")
async def test_erasing_what_was_recalled_empties_what_recordings_hold_of_it(
    memory: Memory[Any], tables: Tables, canary: str
) -> None:
    receipt = await memory.remember(f"The parcel went to {canary}")
    await taken(memory, "Where did the parcel go?", record=True, cycle_id="c-1")
    await taken(memory, "And the letter?", record=True, cycle_id="c-2", plan=talk(), session="b")
    assert held(tables, canary)

    done = await memory.erase(receipt.id, reason="asked for")

    assert (done.counts.cycles, done.counts.recordings, done.counts.traces) == (1, 1, 1)
    assert held(tables, canary) == set()
    assert await told(memory, "c-1") == []
    assert (await memory.turns.replay("c-2")).difference is None
    assert (await memory.verify()).is_sound


@pytest.mark.rule("GOV-FORGET")
@pytest.mark.parametrize("is_said_again", [False, True])
async def test_erasing_what_a_turn_taught_takes_the_turn_and_leaves_other_facts(
    memory: Memory[Any], tables: Tables, canary: str, is_said_again: bool
) -> None:
    known = [await memory.remember(f"I live in {canary}", subject="Min")] if is_said_again else []
    said = f"I live in {canary}. I have two dogs."
    turn = await taken(memory, said, subject="Min", record=True, cycle_id="c-1")
    home = known[0].id if known else turn.learned.learned[0].id

    done = await memory.erase(home, reason="asked for")

    assert (done.counts.cycles, done.counts.recordings) == (1, 1)
    assert held(tables, canary) == set()
    assert await records(memory) == ["I have two dogs."]
    assert (await memory.verify()).is_sound


@pytest.mark.rule("GOV-FORGET")
async def test_a_person_is_erased_with_the_turns_that_were_with_them(
    memory: Memory[Any], tables: Tables, canary: str
) -> None:
    await taken(memory, f"Is {canary} far?", subject="Min", session="a", record=True)
    await taken(memory, "I live in Jeju.", subject="Kim", session="b", cycle_id="c-2")

    await memory.erase(subject="Min", reason="Min asked for it")

    assert held(tables, canary) == set()
    assert [one.outcome for one in await told(memory, "c-2")] == ["completed"]


@pytest.mark.rule("GOV-FORGET")
async def test_a_cycle_does_not_land_once_what_it_recalled_is_erased(memory: Memory[Any]) -> None:
    receipt = await memory.remember("The parcel of Ada left Busan on Monday")

    class Erasing(Answering):
        """Erases what was recalled while it is asked."""

        async def complete(self, prompt: Prompt, settings: Settings) -> str:
            await memory.erase(receipt.id, reason="asked for")
            return await super().complete(prompt, settings)

    with pytest.raises(WriteFailed) as caught:
        await taken(memory, "Where is the parcel? I live in Seoul.", model=Erasing())

    assert isinstance(caught.value.__cause__, MarkMoved)
    assert await records(memory) == []
