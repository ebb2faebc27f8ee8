"""Recall keeps to filters exactly: the best of what fits, never what fits of the best."""

from typing import Any

import pytest

from memoranda import Memory
from tests.handles import inside

pytestmark = pytest.mark.rule("MEM-FILTER")

SELECTORS = ["context", "full-text", "keyword", "recent"]


async def crowd(memory: Memory[Any]) -> list[str]:
    """Many records that fit a question well, and three of another person that hardly do."""
    wanted = [
        (
            await memory.remember(
                {"said": f"the refund, and many other words of no use at all {n}", "n": n},
                subject="kim", tags=["vip", f"n/{n}"], meta={"tries": n}, source="chat/kim",
            )
        ).id
        for n in range(3)
    ]  # fmt: skip
    await memory.remember_many(
        [f"refund refund {n}" for n in range(60)], subject="lee", source="chat/lee"
    )
    return wanted


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize(
    "asked",
    [
        {"subject": "kim"},
        {"thread": "chat/kim"},
        {"where": {"meta.tries": {"$gte": 0}}},
        {"tag_prefix": "n/"},
        {"tags": ["vip"]},
        {"where": {"data.n": {"$lt": 9}}, "subject": "kim", "created_after": 0},
    ],
    ids=str,
)
async def test_the_best_of_what_fits_are_found(
    memory: Memory[Any], selector: str, asked: dict[str, Any]
) -> None:
    wanted = await crowd(memory)
    size = (await inside(memory).ledger.head()).size

    now = await memory.recall("refund", top_k=3, selector=selector, **asked)
    then = await memory.recall("refund", top_k=3, selector=selector, at=size - 1, **asked)

    assert sorted(item.id for item in now) == sorted(wanted)
    assert [item.id for item in then] == [item.id for item in now]


async def test_a_selection_goes_on_where_the_page_before_ended(memory: Memory[Any]) -> None:
    await crowd(memory)
    everything = await memory.recall("refund", top_k=10, subject="lee")

    pages = [await memory.recall("refund", top_k=4, offset=n, subject="lee") for n in (0, 4, 8)]

    together = [item.id for page in pages for item in page]
    assert together[:10] == [item.id for item in everything]
    assert [len(page) for page in pages] == [4, 4, 4]
    beyond = await memory.recall("refund", top_k=5, offset=60, subject="lee")
    assert (beyond.outcome, len(beyond)) == ("empty", 0)
    told = (await memory.why(pages[1].trace_id)).known
    assert told["constraints"] == {"subject": "lee"}


async def test_items_say_whose_they_are_and_what_is_said_of_them(memory: Memory[Any]) -> None:
    await crowd(memory)

    item = (await memory.recall("refund", top_k=1, where={"data.n": 2})).items[0]

    assert (item.subject, item.tags, dict(item.meta)) == ("kim", ("vip", "n/2"), {"tries": 2})


async def test_what_was_asked_for_stands_in_the_trace(memory: Memory[Any]) -> None:
    await crowd(memory)
    asked: dict[str, Any] = {"tags": ["vip"], "where": {"data.n": {"$lt": 2}}, "thread": "chat/kim"}

    found = await memory.recall("refund", top_k=2, created_after="1970-01-01", **asked)

    assert len(found) == 2
    told = (await memory.why(found.trace_id)).known
    assert told["constraints"] == {**asked, "createdAfter": 0}


@pytest.mark.rule("GOV-FORGET")
async def test_a_question_within_the_records_of_a_person_goes_with_them(
    memory: Memory[Any],
) -> None:
    await memory.remember("The refund of Lee", subject="lee")
    empty = await memory.recall("a refund", top_k=1, subject="kim")
    both = await memory.recall("a refund", top_k=1, subject="lee", about="kim")
    other = await memory.recall("a refund", top_k=1, subject="lee")
    assert (empty.outcome, len(both), len(other)) == ("empty", 1, 1)

    assert (await memory.erase(subject="kim", reason="asked for")).counts.traces == 2
    unanswered = await memory.recall("a giraffe", top_k=1, subject="lee", about="max")
    assert unanswered.outcome == "empty"
    assert (await memory.erase(subject="lee", reason="asked for")).counts.traces == 2


async def test_worlds_are_found_only_where_nothing_but_time_is_asked(memory: Memory[Any]) -> None:
    await memory.act("nothing")
    found = await memory.recall("nothing", top_k=1, selector="worlds", created_after="1970-01-01")

    assert len(found) == 1
    others: list[dict[str, Any]] = [{"subject": "kim"}, {"where": {"meta.a": {"$exists": False}}}]
    for asked in others:
        narrowed = await memory.recall("nothing", top_k=1, selector="worlds", **asked)
        assert narrowed.outcome == "empty"
