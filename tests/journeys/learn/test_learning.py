"""What `learn` keeps of a conversation, on both databases: once, in one commit, with its source."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from memoranda import Memory
from memoranda.errors import InvalidInput, MemorandaError, ModelFailed
from memoranda.identity import decode
from memoranda.models import ChatMessage, ExtractedFact, Prompt, Settings
from memoranda.policies import MemoryOperation
from memoranda.types import Learned, Remembered
from tests.fixtures import Opens
from tests.handles import inside

SAID = [
    {"role": "user", "content": "Hi! I live in Seoul. I have two dogs.", "name": "Min"},
    {"role": "assistant", "content": "I live in a computer."},
    {
        "role": "user",
        "content": "저는 커피를 좋아해요.",
        "name": "민수",
        "at": "2026-03-01T00:00:00Z",
    },
]


async def size(memory: Memory[Any]) -> int:
    return (await memory.journal.head()).size


async def facts(memory: Memory[Any]) -> list[Any]:
    """What the journal says of messages, in its order."""
    size = (await memory.journal.head()).size
    stored = await inside(memory).ledger.entries_at(range(size))
    bodies = [decode(entry.body) for entry in stored if entry.body is not None]
    return [body for body in bodies if body["type"] == "Learned"]


async def kept(memory: Memory[Any], id: str) -> Remembered[Any]:
    found = await memory.get(id)
    assert found is not None
    return found


def texts(learned: Learned) -> list[str]:
    return [fact.text for fact in learned.learned]


async def test_facts_are_records_with_their_message_as_source(memory: Memory[Any]) -> None:
    learned = await memory.learn(SAID, thread="chat/7")

    assert texts(learned) == ["I live in Seoul.", "I have two dogs.", "저는 커피를 좋아해요."]
    first, second, third = [await kept(memory, fact.id) for fact in learned.learned]
    assert (first.subject, first.speaker, first.thread) == ("Min", "Min", "chat/7")
    assert (first.trust, first.verdict) == ("unreviewed", "Unanswered")
    assert [one["uri"] for one in first.sources] == [learned.learned[0].source]
    assert first.sources == second.sources != third.sources
    assert (third.subject, third.said_at) == ("민수", 1_772_323_200_000)
    assert [one.why for one in learned.skipped] == [
        "it says nothing to be kept; it is of the role 'assistant'"
    ]
    assert (await memory.verify()).is_sound


async def test_all_of_it_is_one_commit_or_nothing(
    memory: Memory[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.remember("something before")
    before = await size(memory)
    ledger = inside(memory).ledger
    commit = ledger.commit
    commits = 0

    async def counted(unit: Any) -> Any:
        nonlocal commits
        commits += 1
        return await commit(unit)

    monkeypatch.setattr(ledger, "commit", counted)
    learned = await memory.learn(SAID)

    assert (commits, len(learned.learned)) == (1, 3)
    assert await size(memory) == before + 3 + 3 + 1  # records, what came of each, and the rest


async def test_the_same_messages_again_change_nothing(memory: Memory[Any]) -> None:
    first = await memory.learn(SAID)
    before = await size(memory)

    again = await memory.learn(SAID)

    assert await size(memory) == before
    assert (again.learned, again.seen_again, again.proposed) == ((), (), ())
    assert {one.why for one in again.skipped} == {"it was learned from before"}
    await memory.forget(first.learned[0].id, reason="not to be used")
    assert (await memory.learn(SAID)).learned == ()


async def test_what_is_known_is_seen_again_and_get_says_so(memory: Memory[Any]) -> None:
    known = await memory.remember("I live in Seoul", subject="Min")

    seen = await memory.learn([{"content": "Well, i live in SEOUL!", "speaker": "Min"}])
    await memory.learn([{"content": "I live in Seoul.", "speaker": "Min", "id": "m2"}])

    assert [(one.id, one.count) for one in seen.seen_again] == [(known.id, 1)]
    found = await kept(memory, known.id)
    assert (found.seen_again, found.last_seen_at is not None) == (2, True)
    assert len(await memory.list()) == 1
    never = await memory.remember("Nobody said this again")
    assert "seenAgain" not in (await kept(memory, never.id)).to_wire()
    (entry,) = [one for one in await facts(memory) if one["source"]["uri"] == "message:m2"]
    assert (entry["record"], entry["outcome"], entry["count"]) == (known.id, "seen", 2)


async def test_what_another_person_says_is_another_fact(memory: Memory[Any]) -> None:
    learned = await memory.learn(
        [{"content": "I live in Seoul.", "name": name} for name in ("Min", "Kim")]
    )

    assert [fact.subject for fact in learned.learned] == ["Min", "Kim"]


async def test_other_numbers_are_another_fact(memory: Memory[Any]) -> None:
    learned = await memory.learn(
        [{"content": "I have 2 cats at home. I have 3 cats at home.", "name": "Min"}]
    )

    assert texts(learned) == ["I have 2 cats at home.", "I have 3 cats at home."]


async def test_what_denies_something_known_waits_for_a_human(
    memory: Memory[Any], human: Memory[Any]
) -> None:
    home = (await memory.learn([{"content": "I live in Seoul.", "name": "Min"}])).learned[0]

    learned = await memory.learn([{"content": "I moved to Busan in May.", "name": "Min"}])

    (proposed,) = learned.proposed
    assert (proposed.denies, proposed.text) == (home.id, "I moved to Busan in May.")
    assert (await kept(memory, home.id)).data == "I live in Seoul."
    (waiting,) = await human.inbox.list()
    assert waiting.proposal.proposal_id == proposed.proposal_id
    with pytest.raises(MemorandaError):
        await memory.inbox.approve(proposed.proposal_id, reason="an agent may not")
    await human.inbox.approve(proposed.proposal_id, reason="Min moved")
    assert await memory.get(home.id) is None
    (now,) = await memory.list()
    assert (now.data, now.sources[0]["uri"]) == ("I moved to Busan in May.", proposed.source)
    assert (await memory.verify()).is_sound


async def test_the_same_contradiction_is_proposed_once(
    memory: Memory[Any], human: Memory[Any]
) -> None:
    said = [
        {"content": "I like tea.", "name": "Min"},
        {"content": "I don't like tea.", "name": "Min"},
        {"content": "I don't like tea!", "name": "Min"},
    ]
    first = await memory.learn(said)
    second = await memory.learn([{"content": "And I do not like tea.", "name": "Min"}])

    assert [len(first.learned), len(first.proposed), len(second.proposed)] == [1, 1, 0]
    (proposed,) = first.proposed
    assert all(proposed.proposal_id in one.why for one in (*first.skipped, *second.skipped))
    await human.inbox.reject(proposed.proposal_id, reason="it was a joke")
    before = await size(memory)
    again = await memory.learn(said)
    assert (again.proposed, await size(memory)) == ((), before)
    anew = await memory.learn([{"content": "I don't like tea. Really.", "name": "Min"}])
    assert len(anew.proposed) == 1


async def test_an_erasure_takes_what_was_noted_of_the_messages(
    memory: Memory[Any], human: Memory[Any]
) -> None:
    await memory.learn(SAID)
    await memory.learn([{"content": "I live in Seoul!", "name": "Min"}])

    await human.erase(subject="Min", reason="Min asked for it")

    assert [one["record"] for one in await facts(memory)] == [
        one.id for one in await memory.list(subject="민수")
    ]
    assert texts(await memory.learn(SAID)) == ["I live in Seoul.", "I have two dogs."]
    assert (await memory.verify()).is_sound


async def test_two_who_learn_the_same_at_once_learn_it_once(opens: Opens) -> None:
    async with opens(actor="agent:a") as one, opens(actor="agent:b") as other:
        await asyncio.gather(one.learn(SAID), other.learn(SAID))

        assert len(await one.list()) == 3


class NeedsApproval:
    """Asks for approval of whatever is new."""

    def requires_authority(self, op: MemoryOperation) -> bool:
        return op.type == "create"


async def test_where_new_memory_needs_approval_it_is_proposed(opens: Opens) -> None:
    async with opens(actor="agent:a", memory_policy=NeedsApproval()) as memory:
        learned = await memory.learn(SAID[:1])

        assert (learned.learned, len(learned.proposed)) == ((), 2)
        assert list(await memory.list()) == []


# ------------------------------------------------------------------------------- extractors


class Answers:
    """A model that answers one thing."""

    identity = "answers/1"

    def __init__(self, answer: str) -> None:
        self.answer, self.asked = answer, 0

    async def complete(self, prompt: Prompt, settings: Settings) -> str:
        del prompt, settings
        self.asked += 1
        return self.answer

    async def stream(self, prompt: Prompt, settings: Settings) -> Any:
        yield await self.complete(prompt, settings)


async def test_a_model_extracts_and_what_it_puts_in_other_words_is_derived(
    memory: Memory[Any],
) -> None:
    model = Answers('{"facts":[{"text":"Min lives in Seoul","message":0,"subject":"Min"}]}')

    learned = await memory.learn(SAID, extractor=model)
    await memory.learn(SAID, extractor=model)

    assert (texts(learned), model.asked) == (["Min lives in Seoul"], 1)
    assert (await kept(memory, learned.learned[0].id)).statement_type == "DerivedStatement"
    assert "extractor" in str((await memory.govern.status()).to_wire())


@pytest.mark.parametrize(
    "answer",
    [
        "Sure! Here are the facts:",
        "[]",
        '{"facts":{}}',
        '{"facts":[{"text":"a b c"}]}',
        '{"facts":[{"text":"a b c","message":7}]}',
        '{"facts":[{"text":"a b c","message":true}]}',
        '{"facts":[{"text":" ","message":0}]}',
        '{"facts":[{"text":"a b c","message":0,"sure":1}]}',
        '{"facts":[{"text":"a b c","message":0,"subject":""}]}',
        '{"facts":[],"more":1}',
    ],
)
async def test_nothing_is_stored_when_a_model_answers_something_else(
    memory: Memory[Any], answer: str
) -> None:
    await memory.remember("something before")
    before = await size(memory)

    with pytest.raises(ModelFailed):
        await memory.learn(SAID, extractor=Answers(answer))

    assert await size(memory) == before


class Breaks:
    """An extractor that fails."""

    async def extract(self, messages: Sequence[ChatMessage]) -> Sequence[ExtractedFact]:
        raise KeyError(len(messages))


async def test_an_extractor_that_fails_stores_nothing(memory: Memory[Any]) -> None:
    with pytest.raises(ModelFailed):
        await memory.learn(SAID, extractor=Breaks())

    assert await size(memory) == 0


@pytest.mark.parametrize(
    "messages",
    [
        None,
        "I live in Seoul",
        {"content": "I live in Seoul"},
        ["I live in Seoul"],
        [{"role": "user"}],
        [{"content": 7}],
        [{"content": "I live\0 in Seoul"}],
        [{"content": "I live in Seoul", "contents": ""}],
        [{"content": "I live in Seoul", "at": "yesterday"}],
        [{"content": "I live in Seoul", "name": " "}],
        [{"content": "I live in Seoul", "name": "Min", "speaker": "Kim"}],
    ],
)
async def test_what_is_no_message_is_refused_and_changes_nothing(
    memory: Memory[Any], messages: Any
) -> None:
    with pytest.raises(InvalidInput):
        await memory.learn(messages)

    assert await size(memory) == 0


@pytest.mark.parametrize(
    "options", [{"extractor": 7}, {"extractor": Answers}, {"thread": ""}, {"subject": 7}]
)
async def test_wrong_options_are_refused(memory: Memory[Any], options: Any) -> None:
    with pytest.raises(InvalidInput):
        await memory.learn(SAID, **options)

    assert await size(memory) == 0


async def test_facts_have_the_tags_and_the_meta_and_are_compared_with_those_that_have_them(
    memory: Memory[Any],
) -> None:
    said = [{"content": "I have two dogs.", "name": "Min"}]
    await memory.learn(said, tags=["agent:a"], meta={"rank": 1})

    other = await memory.learn(said, tags=["agent:b"], thread="b")
    again = await memory.learn([{"content": "I have two dogs!", "name": "Min"}], tags=["agent:a"])

    assert (len(other.learned), len(again.seen_again)) == (1, 1)
    (found,) = await memory.list(tags=["agent:a"])
    assert (found.meta, found.subject) == ({"rank": 1}, "Min")
    with pytest.raises(InvalidInput):
        await memory.learn([{"content": "I like tea.", "name": "Min"}], tags=[""])
