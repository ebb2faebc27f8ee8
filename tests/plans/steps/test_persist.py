"""The persisting steps validate and stage; they never write, and make no keywords."""

from typing import Any

import pytest

from memoranda.kernel.errors import CycleFailed, InvalidItem, MemorandaError
from memoranda.plans.steps.answer import (
    PersistMemory,
    PersistMemoryPayload,
    PersistSession,
    PersistSessionPayload,
)
from tests.plans.steps.standing_in import (
    SESSION,
    KeepingStaging,
    StandingClock,
    counted_randomness,
)

MADE = {"summary": "이메일을 선호", "keywords": ["Email", "이메일"], "sessionRef": SESSION}


async def persisted(staging: KeepingStaging, inputs: dict[str, Any]) -> Any:
    step = PersistMemory(staging, StandingClock(), counted_randomness())
    return await step.run(PersistMemoryPayload(), inputs)


@pytest.mark.rule("ING-WHITELIST", "ING-KEYWORDS")
async def test_an_item_of_exactly_five_fields_is_staged_with_its_keywords_as_they_came() -> None:
    staging = KeepingStaging()

    output = await persisted(staging, MADE)

    assert output == {"id": "00010203-0405-4607-8809-0a0b0c0d0e0f"}
    assert [item.model_dump(mode="json") for item in staging.items] == [
        {
            "id": output["id"],
            "sessionRef": SESSION,
            "timestamp": "2026-11-16T08:00:00.000Z",
            "summary": "이메일을 선호",
            "keywords": ["Email", "이메일"],
        }
    ]


async def test_without_a_summary_nothing_is_staged() -> None:
    staging = KeepingStaging()

    assert await persisted(staging, {**MADE, "summary": None, "keywords": []}) == {"id": None}
    assert staging.items == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"summary": ""},
        {"summary": None},
        {"summary": ["x"]},
        {"keywords": None},
        {"keywords": "email"},
        {"keywords": [""]},
        {"keywords": [1]},
        {"sessionRef": ""},
        {"sessionRef": 7},
    ],
    ids=str,
)
async def test_what_cant_be_an_item_is_refused_and_nothing_is_staged(wrong: dict[str, Any]) -> None:
    staging = KeepingStaging()

    with pytest.raises((InvalidItem, CycleFailed)):
        await persisted(staging, MADE | wrong)

    assert staging.items == []


@pytest.mark.parametrize("name", MADE)
async def test_an_input_that_is_missing_is_refused(name: str) -> None:
    staging = KeepingStaging()

    with pytest.raises(CycleFailed):
        await persisted(staging, {key: value for key, value in MADE.items() if key != name})

    assert staging.items == []


@pytest.mark.parametrize("repo", [None, "abc"])
async def test_the_session_is_staged_with_the_version_that_was_scanned(repo: str | None) -> None:
    staging = KeepingStaging()
    inputs = {"sessionRef": SESSION} | ({} if repo is None else {"repo": repo})

    output = await PersistSession(staging).run(PersistSessionPayload(), inputs)

    assert output == {"status": "staged"}
    assert staging.sessions == [(SESSION, repo)]


@pytest.mark.parametrize(
    "inputs", [{}, {"sessionRef": ""}, {"sessionRef": None}, {"sessionRef": SESSION, "repo": None}]
)
async def test_a_session_that_cant_be_one_is_refused(inputs: dict[str, Any]) -> None:
    staging = KeepingStaging()

    with pytest.raises(MemorandaError):
        await PersistSession(staging).run(PersistSessionPayload(), inputs)

    assert staging.sessions == []


async def test_a_staging_that_fails_is_told_by_both() -> None:
    broken = KeepingStaging(OSError(28, "full"))

    with pytest.raises(OSError, match="full"):
        await persisted(broken, MADE)
    with pytest.raises(OSError, match="full"):
        await PersistSession(broken).run(PersistSessionPayload(), {"sessionRef": SESSION})
