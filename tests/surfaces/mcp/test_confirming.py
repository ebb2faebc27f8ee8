"""What a person has to say yes to, on both wires; and who may decide at all."""

from typing import Any

import pytest
from mcp_types import ElicitResult, InputRequiredResult

from memoranda.kernel.access import RIGHTS
from tests.surfaces.mcp.clients import (
    AGENT,
    DESK,
    LEE,
    MODERN,
    REFUND,
    Desk,
    Person,
    problem,
    talking,
)


async def remembered(door: Desk, data: str = "Ann prefers email") -> str:
    async with talking(door.server(), MODERN) as client:
        made = await client.call_tool("remember", {"data": data, "id": "ann"})
    return str(made.structured_content["id"])


async def current(door: Desk, id: str) -> bool:
    async with talking(door.server(), MODERN) as client:
        return not (await client.call_tool("get_memory", {"id": id})).is_error


# ------------------------------------------------------------------------------ forgetting


async def test_a_person_who_can_be_asked_confirms_what_is_forgotten(door: Desk, mode: str) -> None:
    id, person = await remembered(door), Person()
    async with talking(door.server(), mode, person) as client:
        done = await client.call_tool("forget", {"id": id, "reason": "out of date"})

    assert not done.is_error
    (asked,) = person.asked
    assert "“Ann prefers email”" in asked
    assert "version 1" in asked
    assert "“out of date”" in asked
    assert not await current(door, id)


@pytest.mark.parametrize("says", [None, {"confirm": False}, {}])
async def test_what_a_person_does_not_confirm_stays(door: Desk, mode: str, says: Any) -> None:
    id, person = await remembered(door), Person(says)
    async with talking(door.server(), mode, person) as client:
        shown = problem(await client.call_tool("forget", {"id": id, "reason": "out of date"}))

    assert shown["code"] == "door.not_confirmed"
    assert await current(door, id)


async def test_a_client_that_can_not_ask_forgets_at_once(door: Desk, mode: str) -> None:
    id = await remembered(door)
    async with talking(door.server(), mode) as client:
        assert not (await client.call_tool("forget", {"id": id, "reason": "gone"})).is_error

    assert not await current(door, id)


async def test_hidden_characters_are_shown_to_the_person(door: Desk, mode: str) -> None:
    id, person = await remembered(door, "pay \u202eeerht\u202c " + "x" * 1_000), Person()
    async with talking(door.server(), mode, person) as client:
        await client.call_tool("forget", {"id": id, "reason": "odd"})

    assert "\u202e" not in person.asked[0]
    assert len(person.asked[0]) < 600


async def test_an_answer_counts_for_the_question_that_was_asked_alone(door: Desk) -> None:
    id, asked = await remembered(door), {"id": "ann", "reason": "gone"}
    yes = ElicitResult(action="accept", content={"confirm": True})
    async with talking(door.server(), MODERN, Person()) as client:
        session = client.session
        first = await session.call_tool("forget", asked, allow_input_required=True)
        assert isinstance(first, InputRequiredResult)
        (name,) = first.input_requests or {}
        forged = await session.call_tool(
            "forget", asked, input_responses={"confirm": yes}, allow_input_required=True
        )
        await door.service.database.scope("shop", actor=AGENT).put("ann", "Ann prefers calls")
        late = await session.call_tool(
            "forget", asked, input_responses={name: yes}, allow_input_required=True
        )

    assert isinstance(forged, InputRequiredResult)
    assert isinstance(late, InputRequiredResult)
    assert await current(door, id)


# -------------------------------------------------------------------------------- deciding


async def proposed(door: Desk) -> str:
    async with talking(door.server(), MODERN) as client:
        given = {"action": "refund", "input": REFUND, "memory": [], "reason": "broken"}
        made = await client.call_tool("propose", given)
    return str(made.structured_content["proposalId"])


async def status_of(door: Desk, id: str) -> str:
    run = await door.service.memory(DESK).worlds.standing(id)
    return str(run.status)


@pytest.mark.parametrize(("decision", "status"), [("approve", "approved"), ("reject", "rejected")])
async def test_a_person_decides_with_a_key_of_their_own_and_a_yes(
    door: Desk, mode: str, decision: str, status: str
) -> None:
    id, person = await proposed(door), Person({"confirm": True, "reason": "Kim called me"})
    async with talking(door.server(LEE), mode, person) as client:
        answer = await client.call_tool(
            "review", {"proposalId": id, "decision": decision, "reason": "looks fine"}
        )

    assert not answer.is_error, answer.content
    assert answer.structured_content["answer"]["verdict"] == status
    assert "Kim called me" in str(answer.structured_content)
    assert await status_of(door, id) == status
    (asked,) = person.asked
    assert id in asked
    assert "250" in asked
    assert AGENT in asked


async def test_an_agent_never_decides_whatever_its_rights(door: Desk, mode: str) -> None:
    id, person = await proposed(door), Person()
    async with talking(door.server(AGENT, RIGHTS), mode, person) as client:
        shown = problem(
            await client.call_tool(
                "review", {"proposalId": id, "decision": "approve", "reason": "I say so"}
            )
        )

    assert shown["code"] == "world.decision_refused"
    assert person.asked == []
    assert await status_of(door, id) == "evaluating"


@pytest.mark.parametrize(
    ("rights", "person", "code"),
    [
        (["read", "write"], Person(), "door.right_missing"),
        (RIGHTS, None, "door.not_confirmed"),
        (RIGHTS, Person(None), "door.not_confirmed"),
    ],
    ids=["without the right", "where nobody can be asked", "who says no"],
)
async def test_nothing_is_decided_by_a_person(
    door: Desk, mode: str, rights: Any, person: Person | None, code: str
) -> None:
    id = await proposed(door)
    async with talking(door.server(LEE, rights), mode, person) as client:
        given = {"proposalId": id, "decision": "approve", "reason": "fine"}
        shown = problem(await client.call_tool("review", given))

    assert shown["code"] == code
    assert await status_of(door, id) == "evaluating"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"proposalId": "nowhere", "decision": "approve", "reason": "x"}, "world.decision_refused"),
        ({"proposalId": "nowhere", "decision": "maybe", "reason": "x"}, "input.record"),
        ({"decision": "approve", "reason": "x"}, "input.record"),
        ({"proposalId": "nowhere"}, "input.record"),
    ],
)
async def test_a_review_that_makes_no_sense_is_refused(
    door: Desk, given: dict[str, str], code: str
) -> None:
    async with talking(door.server(LEE), MODERN, Person()) as client:
        assert problem(await client.call_tool("review", given))["code"] == code
