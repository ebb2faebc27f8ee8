"""A survey of a journal: what is listed, in which order, page by page, on both databases."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

import memoranda
from memoranda.errors import InvalidFilter, WorldErased, WorldNotFound
from memoranda.journeys.audit import survey
from memoranda.surfaces import sample
from memoranda.surfaces.story import app


@pytest.fixture
async def memory(fresh_url: str) -> AsyncIterator[memoranda.Memory[Any]]:
    """A handle on the demo story."""
    await sample.tell(fresh_url)
    async with memoranda.open(fresh_url, scope=sample.SCOPE, actor="human:lee", app=app()) as found:
        yield found


async def test_what_happened_is_listed_backwards_page_by_page(
    memory: memoranda.Memory[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = [entry.seq for entry in await memory.journal.entries()]
    found: list[int] = []
    before: int | None = None
    while True:
        page = await memory.journal.backwards(before=before, limit=7)
        found += [entry.seq for entry in page]
        if page.next is None:
            break
        before = int(page.next)
    assert found == everything[::-1]

    traces = [entry.seq for entry in await memory.journal.entries() if entry.kind == "trace"]
    page = await memory.journal.backwards(kinds=["trace"], limit=3)
    assert [entry.seq for entry in page] == traces[::-1][:3]
    rest = await memory.journal.backwards(kinds=["trace"], before=int(page.next or 0))
    assert [entry.seq for entry in rest] == traces[::-1][3:]

    monkeypatch.setattr(survey, "LOOKED_AT", 5)
    page = await memory.journal.backwards(kinds=["nothing"], limit=3)
    assert (list(page), page.next) == ([], str(len(everything) - 5))


@pytest.mark.parametrize("what", ["recall", "proposal", "cycle"])
async def test_the_newest_of_a_kind_come_first_and_what_was_erased_has_no_words(
    memory: memoranda.Memory[Any], what: Any
) -> None:
    whole = await memory.journal.latest(what, limit=100)
    paged: list[str] = []
    previous: str | None = None
    while True:
        page = await memory.journal.latest(what, previous=previous, limit=2)
        paged += [one.id for one in page]
        if page.next is None:
            break
        previous = page.next

    assert paged == [one.id for one in whole]
    assert [one.at for one in whole] == sorted((one.at for one in whole), reverse=True)
    assert sum(not one.documents for one in whole) == (what == "recall")
    wish: Any = "wish"
    with pytest.raises(InvalidFilter):
        await memory.journal.latest(wish)


async def test_activity_counts_every_entry_once(memory: memoranda.Memory[Any]) -> None:
    entries = await memory.journal.entries()
    first, last = entries[0].at, entries[-1].at
    parts = await memory.journal.activity(since=first, until=last + 1, parts=10)

    assert sum(part.entries for part in parts) == len(entries)
    for part in parts:
        within = [entry for entry in entries if part.since <= entry.at < part.until]
        assert part.entries == len(within)
    with pytest.raises(InvalidFilter):
        await memory.journal.activity(since=last, until=first)


async def test_people_are_listed_by_name_and_exported(memory: memoranda.Memory[Any]) -> None:
    page = await memory.journal.subjects(limit=2)
    rest = await memory.journal.subjects(previous=page.next)
    kim = await memory.journal.subjects("customer:k")
    lines = [line async for line in memory.journal.export("objects", subject="customer:kim")]

    assert [one.subject for one in (*page, *rest)] == [
        "customer:ann", "customer:kim", "customer:seoyeon"]  # fmt: skip
    assert [(one.subject, one.objects) for one in kim] == [("customer:kim", 1)]
    assert [b"voucher" in line for line in lines] == [False, True]
    with pytest.raises(InvalidFilter):
        _ = [line async for line in memory.journal.export("journal", subject="customer:kim")]


async def test_a_branch_says_how_its_head_moved(memory: memoranda.Memory[Any]) -> None:
    steps = await memory.worlds.lineage("what-if")
    (head,) = (one for one in await memory.worlds.branches() if one.name == "what-if")

    assert steps[0].world == head.world
    assert [step.before for step in steps[:-1]] == [step.world for step in steps[1:]]
    assert steps[-1].proposal_id is None
    assert (steps[0].action, steps[0].input["euros"]) == ("refund", 25)
    with pytest.raises(WorldNotFound):
        await memory.worlds.lineage("nowhere")


async def test_a_turn_is_accounted_for_until_it_is_erased(memory: memoranda.Memory[Any]) -> None:
    (newest,) = await memory.journal.latest("cycle", limit=1)
    account = await memory.turns.account(newest.id)

    recording: Any = account.recording
    assert account.outcome == "completed"
    assert recording["turn"]["text"] == "환불은 어떻게 받나요?"
    assert (await memory.why(account.trace or "")).what == "recall"
    await memory.erase(newest.id, reason="asked")
    with pytest.raises(WorldErased):
        await memory.turns.account(newest.id)
    with pytest.raises(WorldNotFound):
        await memory.turns.account("nowhere")


async def test_a_scope_that_is_not_there_has_nothing_to_list(fresh_url: str) -> None:
    async with memoranda.open(fresh_url, scope="new") as nothing:
        assert list(await nothing.journal.backwards()) == []
        assert list(await nothing.journal.latest("recall")) == []
        assert list(await nothing.journal.subjects()) == []
        assert {part.entries for part in await nothing.journal.activity(since="2d ago")} == {0}
