"""Retention and expiry: what a policy lets go is archived, with a reason, and can be had again."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda import Memory
from memoranda.kernel.errors import InvalidPolicy, PolicyRefused
from memoranda.ledger.policy import Policy
from memoranda.records.filter import MemoryFilter
from memoranda.records.model import MemoryRecordInput, MemoryRetentionPolicy, expiries
from memoranda.testkit.strategies import FrozenClock
from tests.fixtures import Opens
from tests.handles import inside, opened
from tests.journeys.govern.conftest import Tampers
from tests.journeys.govern.test_damage import edited
from tests.journeys.maintain.conftest import counted, keeping, said

DAY = 86_400_000


@pytest.mark.rule("MEM-MAINT-2")
async def test_what_is_ephemeral_too_old_or_too_much_is_archived_with_its_reason(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    await memory.remember("said long ago", id="old")
    clock.advance(10 * DAY)
    await memory.remember("a note", id="scratch", tags=["scratch"])
    for n in range(4):
        clock.advance(1)
        await memory.remember(f"fact {n}", id=f"fact-{n}")
    policy = keeping(maxAge=5 * DAY, maxRecords=3, ephemeralTags=["scratch"])
    await memory.maintain.configure(policy, reason="data are kept for five days")
    size = (await memory.journal.head()).size

    wanted = {"ephemeral": 1, "past_max_age": 1, "beyond_max_records": 1}
    assert await counted(memory, "retention", dry_run=True) == wanted
    assert (await memory.journal.head()).size == size  # a dry run changes nothing
    assert await counted(memory, "retention") == wanted

    assert {item.id for item in await memory.list()} == {"fact-1", "fact-2", "fact-3"}
    archived = {body["id"]: body["reason"] for body in await said(memory, "archive")}
    assert archived == {
        "scratch": "retention: tagged scratch",
        "old": f"retention: last updated more than {5 * DAY} ms ago",
        "fact-0": "retention: more than 3 records",
    }
    assert (await memory.history("old"))[-1].actor == "policy:maintenance"
    (run,) = await said(memory, "job")
    assert (run["job"], run["policy_version"]) == ("retention", 2)
    assert {name: count for name, count in run["counts"].items() if count} == wanted
    assert await counted(memory, "retention") == {}  # and again: nothing, and no entry
    assert len(await said(memory, "job")) == 1
    await memory.govern.reinstate("old", reason="it was needed")
    assert (await memory.verify()).report.damages.found == []


@pytest.mark.rule("MEM-MAINT-2")
@settings(max_examples=25, deadline=None)
@given(
    ages=st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=12),
    max_age=st.none() | st.integers(0, 8),
    max_records=st.none() | st.integers(0, 8),
)
async def test_what_goes_is_what_the_definition_says(
    ages: list[tuple[int, bool]], max_age: int | None, max_records: int | None
) -> None:
    clock = FrozenClock(DAY)
    policy = MemoryRetentionPolicy(
        max_age=max_age, max_records=max_records, ephemeral_tags=["scratch"]
    )
    async with opened("sqlite:///:memory:", scope="s", clock=clock) as memory:
        for number, (age, is_scratch) in enumerate(ages):
            at = DAY - age
            tags = ["scratch"] if is_scratch else None
            await memory.records.create(
                MemoryRecordInput(
                    id=f"r{number}", data=number, created_at=at, updated_at=at, tags=tags
                )
            )
        before = await memory.records.query(MemoryFilter())
        config = keeping(**policy.model_dump(by_alias=True))
        await memory.maintain.configure(config, reason="a rule")
        await memory.maintain.run("retention")

        gone = expiries(policy, before, now=DAY)
        left = await memory.records.query(MemoryFilter())
        assert len(left) == len(before) - len(gone)
        by_id = {record.id: record for record in before}
        # Which of several that were made in one millisecond are too many, nobody promises.
        assert sorted(record.created_at for record in left) == sorted(
            by_id[id].created_at for id in by_id.keys() - {expiry.id for expiry in gone}
        )


@pytest.mark.rule("MEM-MAINT-2")
async def test_what_has_expired_is_archived(memory: Memory[Any], clock: FrozenClock) -> None:
    await memory.remember("a code", id="code", expires=clock.now_ms() + 1_000)
    await memory.remember("a fact", id="fact")
    assert await counted(memory, "expiry") == {}

    clock.advance(1_000)

    assert await counted(memory, "expiry", dry_run=True) == {"expired": 1}
    assert await counted(memory, "expiry") == {"expired": 1}
    (gone,) = await said(memory, "archive")
    assert gone["id"] == "code"
    assert gone["reason"].startswith("expired at 20")
    assert [item.id for item in await memory.list()] == ["fact"]


async def test_what_was_changed_since_it_was_found_stays(
    memory: Memory[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.remember("a note", id="note", tags=["scratch"])
    await memory.maintain.configure(keeping(ephemeralTags=["scratch"]), reason="tidy")
    ledger = inside(memory).ledger
    found = ledger.selected_ids

    async def and_then_it_changes(filter: MemoryFilter) -> list[str]:
        ids = await found(filter)
        await memory.records.annotate("note", tags=["kept"])
        return ids

    monkeypatch.setattr(ledger, "selected_ids", and_then_it_changes)
    await memory.maintain.run("retention")

    assert await memory.get("note") is not None
    assert await said(memory, "archive") == []


@pytest.mark.rule("GOV-BREAK")
async def test_a_policy_of_maintenance_changes_by_a_logged_version_and_breaks_nothing(
    memory: Memory[Any], opens: Opens
) -> None:
    receipt = await memory.maintain.configure(keeping(maxRecords=5), reason="five will do")

    assert (receipt.id, receipt.version) == ("policy/maintenance", 2)
    (change,) = await said(memory, "policy_change")
    assert change["reason"] == "five will do"
    assert change["policy"]["rules"]["retention"] == {"maxRecords": 5}
    assert change["prev_hash"] != change["new_hash"]
    async with opens() as again:
        status = await again.maintain.status()
        assert (status.enabled, status.policy_version) == (True, 2)
        assert status.retention == MemoryRetentionPolicy(max_records=5)
        assert (await again.govern.status()).breaks == {}


@pytest.mark.parametrize(
    ("rules", "where"),
    [
        ({"enabled": "yes", "retention": {}, "every": {}}, "rules.enabled"),
        ({"enabled": True, "retention": {"maxAge": -1}, "every": {}}, "rules.retention.maxAge"),
        ({"enabled": True, "retention": {"max_age": 1}, "every": {}}, "rules.retention.max_age"),
        ({"enabled": True, "retention": {}, "every": {"dust": 1}}, "rules.every.dust"),
        ({"enabled": True, "retention": {}, "every": {"index": 0}}, "rules.every.index"),
        ({"enabled": True, "retention": {}}, "rules.every"),
    ],
)
def test_a_policy_that_nobody_could_obey_is_refused(rules: Any, where: str) -> None:
    with pytest.raises(InvalidPolicy) as refused:
        Policy("maintenance", 2, rules)

    assert refused.value.code == "input.policy"
    assert where in refused.value.why


async def test_a_forgetting_policy_that_rules_it_out_is_obeyed_and_the_job_says_so(
    memory: Memory[Any],
) -> None:
    await memory.remember("a note", id="note", tags=["scratch"])
    rules = {**(await memory.govern.status()).policies["forgetting"].rules, "by": ["human"]}
    await memory.govern.change_policy(Policy("forgetting", 2, rules), reason="people only")
    await memory.maintain.configure(keeping(ephemeralTags=["scratch"]), reason="tidy")

    (run,) = await memory.maintain.run("retention")

    assert run.outcome == "failed"
    assert PolicyRefused.code in (run.error or "")
    assert await memory.get("note") is not None


async def test_what_is_damaged_is_left_alone_and_logged_as_a_break(
    opens: Opens, scope: str, tampers: Tampers
) -> None:
    async with opens() as memory:
        await _two_notes(memory)
    edited(tampers, scope, b"a note of mine", b"a note of hers")

    async with opens() as memory:
        assert await counted(memory, "retention") == {"ephemeral": 2, "damaged": 1}
        assert len((await memory.govern.status()).breaks) == 1
        assert (await memory.history("two"))[-1].act == "archive"


async def _two_notes(memory: Memory[Any]) -> None:
    await memory.remember("a note of mine", id="one", tags=["scratch"])
    await memory.remember("another one", id="two", tags=["scratch"])
    await memory.maintain.configure(keeping(ephemeralTags=["scratch"]), reason="tidy")
