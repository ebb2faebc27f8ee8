"""Resources, prompts and completions, on both revisions."""

from typing import Any
from urllib.parse import quote

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from memoranda.kernel.json import parse
from memoranda.surfaces.mcp.calls import NOTICE
from tests.surfaces.mcp.clients import DESK, REFUND, Desk, said, talking

ODD = "a/b c?#ü"


def text_of(found: Any) -> Any:
    (content,) = found.contents
    assert content.mime_type == "application/json"
    return parse(content.text)


async def test_memories_traces_and_worlds_are_read_by_their_address(door: Desk, mode: str) -> None:
    memory = door.service.memory(DESK)
    await memory.remember("Ann prefers email", id=ODD)
    recalled = await memory.recall("Ann", top_k=1)
    small = {**REFUND, "amount": 20}
    run = await memory.act("refund", small, memory=recalled)
    async with talking(door.server(), mode) as client:
        listed = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        remembered = text_of(
            await client.read_resource(f"memoranda://memories/{quote(ODD, safe='')}")
        )
        trace = text_of(await client.read_resource(f"memoranda://traces/{recalled.trace_id}"))
        world = text_of(await client.read_resource(f"memoranda://worlds/{run.world}"))

    assert [(found.uri, found.title) for found in listed] == [
        (f"memoranda://memories/{quote(ODD, safe='')}", "Ann prefers email")
    ]
    assert [found.uri_template for found in templates] == [
        "memoranda://memories/{id}",
        "memoranda://traces/{id}",
        "memoranda://worlds/{id}",
    ]
    assert remembered["data"] == "Ann prefers email"
    assert trace["query"] == "Ann"
    assert world["data"]["paid"]["t2"]["amount"] == 20


async def test_resources_are_listed_page_by_page(door: Desk, mode: str) -> None:
    memory = door.service.memory(DESK)
    await memory.remember_many([f"fact {number}" for number in range(60)])
    async with talking(door.server(), mode) as client:
        first = await client.list_resources()
        second = await client.list_resources(cursor=first.next_cursor)

    assert [len(page.resources) for page in (first, second)] == [50, 10]
    assert second.next_cursor is None


@pytest.mark.parametrize(
    "uri",
    [
        "memoranda://memories/nowhere",
        "memoranda://traces/nowhere",
        "memoranda://worlds/nowhere",
        "memoranda://erasures/nowhere",
        "memoranda://memories/nowhere?scope=theirs",
        "file:///etc/passwd",
    ],
)
async def test_what_is_not_there_is_an_error_of_the_protocol_with_the_problem(
    door: Desk, mode: str, uri: str
) -> None:
    async with talking(door.server(), mode) as client:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)

    error = caught.value.error
    assert error.code == -32602
    assert error.data["code"] in ("record.not_found", "world.not_found")
    assert error.message == error.data["detail"]


async def test_whoever_may_not_read_sees_no_resource(door: Desk, mode: str) -> None:
    async with talking(door.server(rights=["write"]), mode) as client:
        for asked in (
            client.list_resources(),
            client.read_resource("memoranda://memories/x"),
            client.get_prompt("explain", {"id": "x"}),
        ):
            with pytest.raises(MCPError) as caught:
                await asked
            assert caught.value.error.data["code"] == "door.right_missing"


async def test_prompts_hand_over_memory_as_quoted_data(door: Desk, mode: str) -> None:
    memory = door.service.memory(DESK)
    made = await memory.remember("Ann prefers email", source="ticket/1")
    async with talking(door.server(), mode) as client:
        listed = (await client.list_prompts()).prompts
        answer = await client.get_prompt("answer_from_memory", {"question": "How to reach Ann?"})
        explained = await client.get_prompt("explain", {"id": made.id})
        kept = await client.get_prompt("keep_what_matters")

    assert all(prompt.description for prompt in listed)
    assert [prompt.name for prompt in listed] == [
        "answer_from_memory", "explain", "keep_what_matters"
    ]  # fmt: skip
    assert "> Ann prefers email" in said(answer.messages[0].content).splitlines()
    assert said(answer.messages[1].content).endswith("How to reach Ann?")
    assert said(explained.messages[0].content) == NOTICE
    assert "remember" in said(kept.messages[0].content)


@pytest.mark.parametrize(
    ("name", "given"),
    [("fly", {}), ("explain", {}), ("keep_what_matters", {"scope": "theirs"})],
)
async def test_a_prompt_with_other_arguments_is_refused(
    door: Desk, mode: str, name: str, given: dict[str, str]
) -> None:
    async with talking(door.server(), mode) as client:
        with pytest.raises(MCPError) as caught:
            await client.get_prompt(name, given)

    assert caught.value.error.code == -32602


async def test_ids_are_completed_by_how_they_begin(door: Desk, mode: str) -> None:
    memory = door.service.memory(DESK)
    for id in ("visit-1", "visit-2", "other"):
        await memory.remember(id, id=id)
    ref = ResourceTemplateReference(uri="memoranda://memories/{id}")
    async with talking(door.server(), mode) as client:
        found = await client.complete(ref, {"name": "id", "value": "visit-"})
        asked = {"name": "question", "value": "visit-"}
        none = await client.complete(PromptReference(name="answer_from_memory"), asked)
        with pytest.raises(MCPError):
            await client.complete(ResourceTemplateReference(uri="x://y/{id}"), asked)

    assert sorted(found.completion.values) == ["visit-1", "visit-2"]
    assert none.completion.values == []
