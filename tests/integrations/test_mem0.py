"""mem0's names: a script of theirs runs, and what differs is what the documents say."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import Memory
from memoranda.integrations import AsyncMem0Memory, Mem0Memory
from memoranda.models import ScriptedAnswer, ScriptedModel
from tests.patience import PATIENCE

SAID = [
    {"role": "user", "content": "I live in Seoul. I have two dogs."},
    {"role": "assistant", "content": "Nice to meet you."},
]
MIN = {"user_id": "min"}
SCRIPT = """
from memoranda.integrations.mem0 import Memory

m = Memory()
m.add([{"role": "user", "content": "My name is Min. I live in Seoul."}], user_id="min")
found = m.search("what is my name?", filters={"user_id": "min"})
print([one["memory"] for one in found["results"]][0])
every = m.get_all(filters={"user_id": "min"})["results"]
print(len(every))
m.update(memory_id=every[0]["id"], text="I live in Busan.")
m.delete(every[1]["id"])
print([one["event"] for one in m.history(every[0]["id"])])
m.delete_all(user_id="min")
print(m.get_all(filters={"user_id": "min"}))
"""


@pytest.fixture
async def mem0(memory: Memory[Any]) -> AsyncMem0Memory:
    return AsyncMem0Memory(memory)


def test_a_script_runs_after_changing_its_import(tmp_path: Path) -> None:
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", SCRIPT], capture_output=True, check=False, cwd=tmp_path, text=True,
        timeout=PATIENCE,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "My name is Min.", "2", "['ADD', 'UPDATE']", "{'results': []}",
    ]  # fmt: skip
    assert (tmp_path / "memoranda.db").exists()


async def test_facts_are_learned_of_a_user_and_known_ones_change_nothing(
    mem0: AsyncMem0Memory, memory: Memory[Any]
) -> None:
    added = await mem0.add(SAID, user_id="min", metadata={"topic": "home"})
    again = await mem0.add("I have two dogs!", user_id="min")
    other = await mem0.add("I have two dogs!", user_id="lee")
    denied = await mem0.add("I moved to Busan last month.", user_id="min")

    assert [(one["memory"], one["event"]) for one in added["results"]] == [
        ("I live in Seoul.", "ADD"), ("I have two dogs.", "ADD"),
    ]  # fmt: skip
    assert (again["results"], len(again["seen_again"])) == ([], 1)
    assert len(other["results"]) == 1
    (waiting,) = denied["proposed"]
    assert waiting["denies"] == added["results"][0]["id"]
    assert len(await memory.inbox.list()) == 1
    shown = await mem0.get(added["results"][0]["id"])
    assert shown is not None
    assert (shown["user_id"], shown["metadata"]) == ("min", {"topic": "home"})


async def test_the_same_fact_of_two_agents_is_known_to_each(mem0: AsyncMem0Memory) -> None:
    for agent in ("a", "b"):
        made = await mem0.add("I like tea.", user_id="min", agent_id=agent)
        assert len(made["results"]) == 1

    assert len((await mem0.get_all(filters={"user_id": "min", "agent_id": "a"}))["results"]) == 1
    assert len((await mem0.get_all(filters={"user_id": "min"}))["results"]) == 2


async def test_a_search_is_a_recall_and_narrowed_by_metadata(
    mem0: AsyncMem0Memory, memory: Memory[Any]
) -> None:
    await mem0.add(
        "The plum tree blooms", user_id="min", infer=False, metadata={"year": 2024, "a.b": "x"}
    )
    await mem0.add("A plum fell", user_id="min", infer=False, metadata={"year": 2025})
    await mem0.add("A plum cake", user_id="lee", infer=False, metadata={"year": 2024})

    async def found(filters: dict[str, Any], **more: Any) -> list[str]:
        answer = await mem0.search("plum", filters=MIN | filters, **more)
        assert (await memory.why(answer["trace_id"])).known["query"] == "plum"
        return sorted(one["memory"] for one in answer["results"])

    both = ["A plum fell", "The plum tree blooms"]
    assert await found({}) == both
    assert await found({"year": {"gte": 2025}}) == both[:1]
    assert await found({"AND": [{"year": {"lt": 2025}}, {"year": {"gt": 2000}}]}) == both[1:]
    assert await found({"year": {"in": [2024, 1999]}}) == both[1:]
    assert await found({"a.b": "*"}) == both[1:]
    assert await found({"year": {"ne": 2024}}) == both[:1]
    assert len(await found({}, limit=1)) == 1
    assert (await mem0.search("plum", user_id="lee"))["results"][0]["memory"] == "A plum cake"


@pytest.mark.parametrize(
    "filters", [{"OR": [{"a": 1}]}, {"a": {"contains": "x"}}, {"NOT": [{"a": 1}]}, {}]
)
async def test_a_filter_that_there_is_not_is_refused_and_not_ignored(
    mem0: AsyncMem0Memory, filters: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match="filter"):
        await mem0.search("plum", filters=MIN | filters if filters else {})


async def test_messages_are_kept_as_they_are_where_nothing_is_to_be_inferred(
    mem0: AsyncMem0Memory,
) -> None:
    said = [{"role": "user", "name": "Min", "content": "What time is it?"}]
    (made,) = (await mem0.add(said, run_id="r1", infer=False))["results"]

    shown = await mem0.get(made["id"])
    assert shown is not None
    assert (shown["memory"], shown["actor_id"], shown["role"], shown["run_id"]) == (
        "What time is it?", "Min", "user", "r1",
    )  # fmt: skip


async def test_a_history_has_what_was_before_and_after_each_step(
    mem0: AsyncMem0Memory, memory: Memory[Any]
) -> None:
    (made,) = (await mem0.add("I like tea.", user_id="min", metadata={"a": 1}))["results"]
    await mem0.update(made["id"], "I like coffee.", metadata={"b": 2, "user_id": "other"})
    shown = await mem0.get(made["id"])
    await mem0.delete(made["id"])

    steps = await mem0.history(made["id"])

    assert [(one["event"], one["old_memory"], one["new_memory"]) for one in steps] == [
        ("ADD", None, "I like tea."),
        ("UPDATE", "I like tea.", "I like coffee."),
        ("DELETE", "I like coffee.", None),
    ]
    assert shown is not None
    assert (shown["metadata"], shown["user_id"]) == ({"a": 1, "b": 2}, "min")
    assert (await memory.history(made["id"]))[1].version == 2
    assert await mem0.get(made["id"]) is None
    for gone in (mem0.delete(made["id"]), mem0.update(made["id"], "x")):
        with pytest.raises(ValueError, match="not found"):
            await gone


async def test_deleting_all_needs_to_be_told_whose(
    mem0: AsyncMem0Memory, memory: Memory[Any]
) -> None:
    await mem0.add("I like tea.", user_id="min", agent_id="a")
    await mem0.add("I like milk.", user_id="lee", agent_id="a")
    await memory.remember("of somebody else")

    with pytest.raises(ValueError, match="At least one"):
        await mem0.delete_all()
    await mem0.delete_all(user_id="min", agent_id="a")
    assert len((await mem0.get_all(agent_id="a"))["results"]) == 1
    await mem0.reset()
    assert [one.data for one in await memory.list()] == ["of somebody else"]


async def test_what_has_expired_is_shown_only_if_that_is_asked_for(mem0: AsyncMem0Memory) -> None:
    (made,) = (await mem0.add("x y", user_id="min", infer=False, expiration_date="2020-01-31"))[
        "results"
    ]

    assert (await mem0.get_all(user_id="min"))["results"] == []
    (shown,) = (await mem0.get_all(user_id="min", show_expired=True))["results"]
    assert (shown["id"], shown["expiration_date"]) == (made["id"], "2020-01-31")
    await mem0.update(made["id"], expiration_date=None)
    assert len((await mem0.get_all(user_id="min"))["results"]) == 1


@pytest.mark.parametrize(
    "given",
    [{}, {"user_id": " "}, {"user_id": "a b"}, {"user_id": "a", "expiration_date": "soon",
                                                "infer": False}],
)  # fmt: skip
async def test_what_mem0_refuses_is_refused(
    mem0: AsyncMem0Memory, memory: Memory[Any], given: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"."):
        await mem0.add("I like tea.", **given)
    assert await memory.list() == []


async def test_a_model_finds_the_facts_where_one_is_given(memory: Memory[Any]) -> None:
    answer = '{"facts": [{"text": "Min moves in May", "message": 0}]}'
    model = ScriptedModel([ScriptedAnswer(when="", answer=answer)])

    made = await AsyncMem0Memory(memory, extractor=model).add("In May, then!", user_id="min")

    assert made["results"][0]["memory"] == "Min moves in May"


def test_the_blocking_names_do_the_same_and_a_configuration_says_what_is_not_used(
    url: str, scope: str
) -> None:
    config = {"memoranda": {"url": url, "scope": scope}, "vector_store": {"provider": "qdrant"}}
    with pytest.warns(UserWarning, match="vector_store"):
        opened = Mem0Memory.from_config(config)
    with opened as m:
        (made,) = m.add("I like tea.", user_id="min")["results"]
        assert m.get(made["id"])
        assert m.search("tea", user_id="min", top_k=1)["results"]
        assert m.get_all(user_id="min")["results"]
        m.update(made["id"], data="I like green tea.")
        assert len(m.history(made["id"])) == 2
        m.delete(made["id"])
        m.delete_all(user_id="min")
        m.reset()
    with memoranda.open_sync(url, scope=scope) as memory:
        assert memory.verify().is_sound
