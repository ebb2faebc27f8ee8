"""LocalHost: what an action returns becomes a snapshot, and failures are results."""

import asyncio
import contextlib
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given

from memoranda.identity import canonical_bytes
from memoranda.worlds.action import ActionContext, Merge, Set, Unset
from memoranda.worlds.delta import changes
from memoranda.worlds.domain import Domain
from memoranda.worlds.host import HostExecutionOptions, HostExecutionResult
from memoranda.worlds.local_host import LocalHost
from memoranda.worlds.proposal import IntentScope
from memoranda.worlds.snapshot import Snapshot, snapshot_hash
from tests.worlds.running import (
    NOW,
    SEED,
    Order,
    Performed,
    Shop,
    a_shop,
    base_of,
    intent_of,
    objects,
    run,
)

DATA: Any = {"a": {"b": 1, "c": [1, 2]}, "d": "x"}


def domain_with(function: Any, state: Any = None, initial: Any = None, **members: Any) -> Domain:
    domain = Domain("d", "1", state=state, initial=initial)
    domain.action(name="act", **members)(function)
    return domain


def returning(value: Any) -> Domain:
    return domain_with(lambda _ctx: value, initial=DATA)


def failure(result: HostExecutionResult, base: Snapshot | None = None) -> tuple[str, str]:
    """The code and the place of a failure, which has left the data alone and is told twice."""
    system = result.terminal_snapshot.system
    assert result.outcome == "failed"
    assert result.error is not None
    assert result.error == system.last_error == system.errors[-1]
    assert system.status == "error"
    assert result.error.timestamp == NOW
    if base is not None:
        assert result.terminal_snapshot.data == base.data
        assert result.terminal_snapshot.computed == base.computed
    return result.error.code, result.error.source.node_path


# ------------------------------------------------------------------ what it leads to


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (None, DATA),
        ({"new": [1.0, (2,)]}, {"new": [1, [2]]}),
        (MappingProxyType({"new": 1}), {"new": 1}),
        (Shop(note="x"), {"lines": [], "tickets": [], "note": "x", "placed_at": None}),
        (Set("d", 1), {"a": {"b": 1, "c": [1, 2]}, "d": 1}),
        ([Unset("d"), Merge("a", {"b": 2})], {"a": {"b": 2, "c": [1, 2]}}),
        ((Set("a.c.0", 9),), {"a": {"b": 1, "c": [9, 2]}, "d": "x"}),
        ([], DATA),
        ({}, {}),
    ],
)
async def test_an_action_returns_a_state_or_patches_or_nothing(
    returned: Any, expected: Any
) -> None:
    result = await run(returning(returned), "act")

    assert result.outcome == "completed"
    assert canonical_bytes(result.terminal_snapshot.data) == canonical_bytes(expected)


@pytest.mark.rule("APP-INPUT-3")
async def test_the_terminal_snapshot_has_the_next_version_and_exactly_four_meta_members() -> None:
    domain = a_shop()
    frozen = {"$app": {"memoryContext": 1, "memoryRecallFailed": False}, "item": "tea"}
    base = base_of(domain, input=frozen)

    result = await run(domain, "order", {"item": "tea"}, base=base)

    wire = result.terminal_snapshot.to_wire()
    assert wire["meta"] == {
        "version": 1,
        "timestamp": NOW,
        "randomSeed": SEED,
        "schemaHash": domain.schema_hash,
    }
    assert wire["system"] == {
        "status": "idle",
        "lastError": None,
        "errors": [],
        "pendingRequirements": [],
        "currentAction": None,
    }
    assert wire["input"] == frozen
    assert Snapshot.from_wire(wire).canonical() == result.terminal_snapshot.canonical()
    assert result.error is None


@pytest.mark.rule("APP-INPUT-3")
async def test_a_failed_run_extends_no_meta_either() -> None:
    result = await run(returning(1), "act")

    assert set(result.terminal_snapshot.to_wire()["meta"]) == {
        "version",
        "timestamp",
        "randomSeed",
        "schemaHash",
    }


async def test_an_input_that_is_absent_stays_absent_and_null_stays_null() -> None:
    domain = returning(None)

    absent = await run(domain, "act")
    null = await run(domain, "act", base=base_of(domain, input=None))

    assert "input" not in absent.terminal_snapshot.to_wire()
    assert null.terminal_snapshot.to_wire()["input"] is None


async def test_what_an_action_leaves_alone_is_shared_with_the_base() -> None:
    domain = domain_with(
        lambda ctx: {**ctx.state, "n": ctx.state["n"] + 1}, initial={"n": 1, "big": [[1], [2]]}
    )
    base = base_of(domain)

    result = await run(domain, "act", base=base)

    assert result.terminal_snapshot.data["big"] is base.data["big"]
    assert changes(base.data, result.terminal_snapshot.data) == [["set", ["n"], 2]]


@given(objects)
async def test_what_was_returned_is_taken_by_value(state: dict[str, Any]) -> None:
    handed: dict[str, Any] = {"state": state, "list": []}
    result = await run(returning(handed), "act")
    before = result.terminal_snapshot.canonical()

    handed["list"].append("later")
    handed["state"] = "later"

    assert result.terminal_snapshot.canonical() == before


async def test_old_errors_stay_and_do_not_fail_a_run() -> None:
    domain = domain_with(lambda ctx: {"n": 1} if ctx.state else ctx.nothing, initial={})
    failed = (await run(domain, "act")).terminal_snapshot
    base = Snapshot.from_wire(failed.to_wire() | {"data": {"m": 1}})

    result = await run(domain, "act", base=base)

    assert result.outcome == "completed"
    assert result.terminal_snapshot.system.errors == failed.system.errors
    assert result.terminal_snapshot.system.last_error is None


@pytest.mark.parametrize("returned", [{"own": 2}, Set("own", 2), None])
async def test_the_platforms_members_are_neither_seen_nor_lost(returned: Any) -> None:
    seen: list[Any] = []

    def act(ctx: ActionContext[None]) -> Any:
        seen.append(list(ctx.state))
        return returned

    domain = domain_with(act)
    result = await run(domain, "act", base=base_of(domain, {"own": 1, "$host": {"x": 1}}))

    assert seen == [["own"]]
    assert result.terminal_snapshot.data == {"own": 2 if returned else 1, "$host": {"x": 1}}


async def test_without_surroundings_the_time_is_that_of_the_base_and_no_effect_is_called() -> None:
    domain = a_shop()
    base, options = base_of(domain), HostExecutionOptions()
    host = LocalHost(domain)

    drawn = await host.execute("k", base, intent_of("draw"), options)
    ordered = await host.execute("k", base, intent_of("order", {"item": "tea"}), options)

    assert drawn.terminal_snapshot.data == (await run(domain, "draw")).terminal_snapshot.data
    assert drawn.terminal_snapshot.meta.timestamp == base.meta.timestamp
    assert ordered.error is not None
    assert ordered.error.code == "effect.unrecorded"


# ------------------------------------------------------------------------- failures


async def test_an_action_that_raises_is_a_result() -> None:
    def act(ctx: ActionContext[None]) -> None:
        raise ValueError(f"at {ctx.now}")

    domain = domain_with(act, initial=DATA)
    base = base_of(domain, computed={"old": 1})

    result = await run(domain, "act", base=base)

    assert failure(result, base) == ("action.raised", "action")
    assert result.error is not None
    assert result.error.message == f"at {NOW}"
    assert result.error.source.action_id == "act"
    assert result.error.context == {"type": "ValueError"}


@pytest.mark.parametrize(
    "raised", [RecursionError("deep"), AssertionError(), ExceptionGroup("g", [ValueError()])]
)
async def test_whatever_an_action_raises_is_a_result(raised: Exception) -> None:
    async def act(_ctx: ActionContext[None]) -> None:
        await asyncio.sleep(0)
        raise raised

    assert failure(await run(domain_with(act), "act"))[0] == "action.raised"


class Odd(dict[str, Any]):
    def __getitem__(self, name: str) -> Any:
        raise KeyError(name)


@pytest.mark.parametrize(
    "returned",
    [
        1,
        "state",
        [1],
        [Set("d", 1), {"d": 1}],
        {"a": object()},
        {"a": float("nan")},
        {"a": 2**53},
        {1: "a"},
        {"a": "\ud800"},
        {"$app": {"memoryContext": 1}},
        Set("$host", 1),
        Set("d.e", 1),
        Set("", [1]),
        Odd(a=1),
    ],
)
async def test_what_is_no_state_is_a_failed_result(returned: Any) -> None:
    domain = returning(returned)
    base = base_of(domain)

    assert failure(await run(domain, "act", base=base), base) == ("state.invalid", "state")


@pytest.mark.parametrize("returned", [{"lines": 1}, Set("more", 1), Set("note", 5), Unset("lines")])
async def test_a_state_that_breaks_its_model_is_a_failed_result(returned: Any) -> None:
    domain = domain_with(lambda _ctx: returned, state=Shop)
    base = base_of(domain)
    result = await run(domain, "act", base=base)

    if isinstance(returned, Unset):  # it has a default
        assert result.outcome == "completed"
    else:
        assert failure(result, base) == ("state.invalid", "state")


@pytest.mark.parametrize("given", [{}, {"item": 1}, {"item": "tea", "$app": 1}, "tea", None])
async def test_an_input_that_the_action_does_not_take_is_a_failed_result(given: Any) -> None:
    ran: list[int] = []
    domain = domain_with(lambda _ctx: ran.append(1), input=Order)

    assert failure(await run(domain, "act", given)) == ("input.invalid", "input")
    assert ran == []


async def test_an_unknown_action_and_another_schema_are_failed_results() -> None:
    domain, other = returning(None), Domain("other", "1")

    assert failure(await run(domain, "nowhere")) == ("action.unknown", "action")
    assert failure(await run(domain, "act", base=base_of(other))) == ("schema.differs", "schema")


async def test_a_base_whose_state_is_no_object_is_a_failed_result() -> None:
    domain = returning({})

    result = await run(domain, "act", base=base_of(domain, [1]))

    assert failure(result) == ("state.invalid", "state")


async def test_a_computed_value_that_raises_is_a_failed_result() -> None:
    domain = returning({"n": 1})
    domain.computed(name="total")(lambda data: data["nowhere"])
    base = base_of(domain)

    assert failure(await run(domain, "act", base=base), base) == ("computed.raised", "computed")


async def test_two_failures_at_the_same_place_have_the_same_identity() -> None:
    def act(ctx: ActionContext[None]) -> None:
        raise ValueError(str(ctx.now))

    domain = domain_with(act)
    first = await run(domain, "act", surroundings=Performed(now=1, random_seed="a"))
    second = await run(domain, "act", surroundings=Performed(now=2, random_seed="b"))

    assert snapshot_hash(first.terminal_snapshot) == snapshot_hash(second.terminal_snapshot)
    assert first.terminal_snapshot != second.terminal_snapshot


async def test_an_interrupt_is_not_a_result() -> None:
    def act(_ctx: ActionContext[None]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await run(domain_with(act), "act")


class Told:
    """A signal that is set after so many questions."""

    def __init__(self, after: int) -> None:
        self.left = after

    def is_set(self) -> bool:
        self.left -= 1
        return self.left < 0


async def test_a_run_that_is_told_to_end_ends_before_its_next_effect() -> None:
    called: list[int] = []

    async def call(number: int) -> None:
        called.append(number)

    async def act(ctx: ActionContext[None]) -> dict[str, Any]:
        for number in range(5):
            with contextlib.suppress(Exception):  # as careless actions do
                await ctx.effect("call", call, number=number)
        return {"all": "well"}

    result = await run(domain_with(act), "act", signal=Told(after=2))

    assert called == [0, 1]
    assert failure(result) == ("run.aborted", "effect")


# ---------------------------------------------------------------------------- scope


@pytest.mark.parametrize(
    ("allowed", "returned", "fits"),
    [
        (["a"], Set("a.b", 2), True),
        (["a.b"], Set("a.b", 2), True),
        (["a.b"], {"a": {"b": 5, "c": [1, 2]}, "d": "x"}, True),
        (["a.*"], Set("a.b", 2), True),
        (["*"], Set("new", 2), True),
        (["?.b"], Set("a.b", 2), True),
        (["a.c.*"], Set("a.c.0", 2), True),
        (["n.e"], Set("n.e.w", 2), True),
        (["a", "d"], {}, True),
        ([], None, True),
        (["x"], Set("d", "x"), True),
        ([], Set("d", 1), False),
        (["a.b"], Set("a.c", 2), False),
        (["a.b"], Set("a", 2), False),
        (["a.b"], Unset("a"), False),
        (["n.e"], Set("n.x", 2), False),
        (["a"], Set("ab", 2), False),
        (["[ab]"], Set("a.b", 2), False),
        (["a"], [Set("a.b", 2), Unset("d")], False),
    ],
)
async def test_what_changes_outside_the_approved_scope_fails(
    allowed: list[str], returned: Any, *, fits: bool
) -> None:
    domain = returning(returned)
    base = base_of(domain)

    result = await run(
        domain, "act", base=base, approved_scope=IntentScope(allowed_paths=tuple(allowed))
    )

    if fits:
        assert result.outcome == "completed"
    else:
        assert failure(result, base) == ("scope.violated", "scope")


@pytest.mark.parametrize("scope", [None, IntentScope(), IntentScope(note="all of it")])
async def test_a_scope_without_paths_allows_every_change(scope: IntentScope | None) -> None:
    result = await run(returning({"n": 1}), "act", approved_scope=scope)

    assert result.outcome == "completed"
