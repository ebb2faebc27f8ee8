"""The engine runs the steps of a plan, hands on what they name, and fails as it must."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import Frozen, freeze
from memoranda.kernel.errors import (
    CycleFailed,
    InvalidJson,
    InvalidPlan,
    ItemDamaged,
    RuntimeStopped,
    SessionDamaged,
    WriteFailed,
)
from tests.plans.simulated import KITCHEN, SimulatedStep, chop, engine, kitchen, recipe, serve

TURN = {"order": "무", "guest": "Ada"}


async def test_the_steps_run_in_the_order_of_the_plan() -> None:
    ran: list[str] = []

    def noting(name: str, output: dict[str, Any]) -> Any:
        def doing(*_: Any) -> dict[str, Any]:
            ran.append(name)
            return output

        return doing

    types = kitchen(
        noting("chop", {"pieces": 1}),
        noting("cook", {"dish": 1, "heat": 1}),
        noting("serve", {"served": 1}),
    )
    outputs = await engine(reversed(types)).cycle(TURN)

    assert ran == ["chop", "cook", "serve"]
    assert list(outputs) == ["1", "2", "3"]


@pytest.mark.rule("ING-PASSING")
async def test_a_step_gets_its_payload_and_what_it_named_and_nothing_else() -> None:
    types = kitchen()
    outputs = await engine(types).cycle(TURN)

    handed = [(payload.amount, dict(inputs)) for one in types for payload, inputs in one.handed]
    assert handed == [
        (2, {"what": "무"}),
        (1, {"pieces": ["무", "무"]}),
        (1, {"dish": {"of": ["무", "무"]}, "to": "Ada"}),
    ]
    assert outputs["3"].thaw() == {"served": [{"of": ["무", "무"]}, "Ada"]}


@pytest.mark.rule("ING-PASSING")
async def test_outputs_are_frozen_and_the_table_is_read_only() -> None:
    outputs = await engine(kitchen()).cycle(TURN)

    assert all(isinstance(one, Frozen) for one in outputs.values())
    assert outputs["1"] == freeze({"pieces": ["무", "무"]})
    with pytest.raises(TypeError):
        outputs["4"] = outputs["1"]  # type: ignore[index]


@pytest.mark.rule("ING-PASSING")
async def test_what_a_step_does_to_its_inputs_reaches_nobody() -> None:
    kept: list[Any] = []

    def spoiling(_payload: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
        inputs["pieces"].append("salt")
        output = {"dish": {"of": ["soup"]}, "heat": 1}
        kept.append(output)
        return output

    def late(payload: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
        kept[0]["dish"]["of"].append("too late")
        return serve(payload, inputs)

    outputs = await engine(kitchen(cooking=spoiling, serving=late)).cycle(TURN)

    assert outputs["1"].thaw() == {"pieces": ["무", "무"]}
    assert outputs["3"].thaw() == {"served": [{"of": ["soup"]}, "Ada"]}


@pytest.mark.rule("ING-NO-GLOBAL")
async def test_two_cycles_at_once_share_nothing() -> None:
    ready = [asyncio.Event(), asyncio.Event()]

    async def cooking(_payload: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
        mine = 0 if "A" in inputs["pieces"] else 1
        ready[mine].set()
        await ready[1 - mine].wait()  # both are in the middle of their cycles now
        return {"dish": inputs["pieces"], "heat": mine}

    one = engine(kitchen(cooking=cooking))
    first, second = await asyncio.gather(
        one.cycle({"order": "A", "guest": "a"}), one.cycle({"order": "B", "guest": "b"})
    )

    assert first["3"].thaw() == {"served": [["A", "A"], "a"]}
    assert second["3"].thaw() == {"served": [["B", "B"], "b"]}


@pytest.mark.rule("ING-NO-GLOBAL")
async def test_nothing_of_a_cycle_is_left_in_the_engine() -> None:
    one = engine(kitchen())
    before = {name: repr(value) for name, value in vars(one).items()}
    await one.cycle({"order": "canary", "guest": "canary"})

    assert {name: repr(value) for name, value in vars(one).items()} == before


# -------------------------------------------------------------------------- failures


@pytest.mark.rule("ING-NO-FALLBACK")
async def test_a_step_that_fails_ends_the_cycle_and_says_what_was_not_done() -> None:
    def failing(*_: Any) -> Any:
        raise ItemDamaged("7", "its row is cut off")

    types = kitchen(failing)
    with pytest.raises(CycleFailed) as caught:
        await engine(types).cycle(TURN)

    assert (caught.value.step, caught.value.not_done) == ("1", ("2", "3"))
    assert isinstance(caught.value.__cause__, ItemDamaged)
    assert types[1].handed == types[2].handed == []


@pytest.mark.rule("ING-NO-FALLBACK")
async def test_after_a_failed_cycle_the_next_one_runs() -> None:
    turns = iter([False, True])

    def sometimes(payload: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
        if not next(turns):
            raise OSError("no knife")
        return chop(payload, inputs)

    one = engine(kitchen(sometimes))
    with pytest.raises(CycleFailed):
        await one.cycle(TURN)

    assert not one.is_stopped
    assert list(await one.cycle(TURN)) == ["1", "2", "3"]


@pytest.mark.rule("ING-NO-FALLBACK")
@pytest.mark.parametrize(
    "output",
    [
        None,
        [],
        "dish",
        {},
        {"dish": 1},
        {"dish": 1, "heat": 2, "keywords": []},
        {"dish": 1, "heat": float("nan")},
        {"dish": object(), "heat": 1},
        {"dish": {1: 2}, "heat": 1},
        {"dish": 2**60, "heat": 1},
    ],
)
async def test_an_output_that_is_not_whole_fails_the_cycle(output: Any) -> None:
    with pytest.raises(CycleFailed) as caught:
        await engine(kitchen(cooking=lambda *_: output)).cycle(TURN)

    assert caught.value.step == "2"
    assert isinstance(caught.value.__cause__, InvalidJson)


@pytest.mark.rule("ING-FAILFAST")
async def test_a_write_that_fails_stops_everything() -> None:
    def failing(*_: Any) -> Any:
        raise OSError("disk full")

    types = kitchen(serving=failing)
    one = engine(types)
    with pytest.raises(WriteFailed) as caught:
        await one.cycle(TURN)
    with pytest.raises(RuntimeStopped):
        await one.cycle(TURN)

    assert caught.value.what == "3"
    assert one.is_stopped
    assert len(types[0].handed) == 1  # of the first cycle


@pytest.mark.rule("ING-FAILFAST")
async def test_a_failure_that_stops_everything_is_never_made_smaller() -> None:
    damaged = SessionDamaged("s", "half of it")

    def failing(*_: Any) -> Any:
        raise damaged

    one = engine(kitchen(failing))
    with pytest.raises(SessionDamaged) as caught:
        await one.cycle(TURN)
    with pytest.raises(RuntimeStopped):
        await one.cycle(TURN)

    assert caught.value is damaged


@pytest.mark.rule("ING-FAILFAST")
async def test_an_output_of_a_write_that_is_not_whole_stops_everything() -> None:
    one = engine(kitchen(serving=lambda *_: {}))
    with pytest.raises(WriteFailed):
        await one.cycle(TURN)

    assert one.is_stopped


@pytest.mark.rule("ING-FAILFAST")
async def test_the_first_reason_is_the_one_that_is_told() -> None:
    one = engine(kitchen())
    one.stop(WriteFailed("the cycle", "first"))
    one.stop(WriteFailed("the cycle", "second"))

    with pytest.raises(RuntimeStopped) as caught:
        one.check_running()
    assert "first" in caught.value.why


# ------------------------------------------------------------ time limits, cancellation


async def for_ever(*_: Any) -> Any:
    await asyncio.Event().wait()


async def test_a_step_that_takes_too_long_fails_the_cycle() -> None:
    one = engine(kitchen(cooking=for_ever), recipe({"llmMs": 1}))
    with pytest.raises(CycleFailed) as caught:
        await one.cycle(TURN)

    assert caught.value.step == "2"


async def test_each_kind_of_limit_holds_for_its_own_steps() -> None:
    seen: list[float] = []

    async def noting(seconds: float, work: Any) -> Any:
        seen.append(seconds)
        return await work

    plan = engine(kitchen(), recipe({"llmMs": 30_000, "ioMs": 5_000}))
    plan._within = noting
    await plan.cycle(TURN)

    assert seen == [5.0, 30.0, 5.0]


async def test_a_cancelled_cycle_ends_and_leaves_the_engine_as_it_was() -> None:
    begun = asyncio.Event()

    async def waiting(*_: Any) -> Any:
        begun.set()
        await asyncio.Event().wait()

    types = kitchen(cooking=waiting)
    one = engine(types, recipe({"llmMs": 60_000}))
    cycle = asyncio.ensure_future(one.cycle(TURN))
    await begun.wait()
    cycle.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cycle

    assert not one.is_stopped
    assert types[2].handed == []


# -------------------------------------------------------------------- before it runs


def test_a_plan_that_is_wrong_is_refused_before_anything_runs() -> None:
    document = recipe()
    document["steps"][1]["inputs"]["pieces"]["from"] = "3"
    types = kitchen()

    with pytest.raises(InvalidPlan):
        engine(types, document)
    assert [one.handed for one in types] == [[], [], []]


@pytest.mark.parametrize("missing", [0, 1, 2])
async def test_a_type_that_is_not_at_hand_is_refused(missing: int) -> None:
    types = [one for place, one in enumerate(kitchen()) if place != missing]

    with pytest.raises(InvalidPlan):
        await engine(types).cycle(TURN)
    assert [one.handed for one in types] == [[], []]


@pytest.mark.parametrize(
    "other",
    [
        SimulatedStep("Chop", chop, {"what": ("$turn",)}, ("pieces",), stage="Garden"),
        SimulatedStep("Chop", chop, {"what": ("$turn",)}, ("pieces", "peel")),
        SimulatedStep("Chop", chop, {"what": ("$turn",), "knife?": ("Cook",)}, ("pieces",)),
        SimulatedStep("Chop", chop, {"what": ("Cook",)}, ("pieces",)),
    ],
)
async def test_a_type_that_is_not_that_of_the_contract_is_refused(other: SimulatedStep) -> None:
    with pytest.raises(InvalidPlan):
        await engine([other, *kitchen()[1:]]).cycle(TURN)
    assert other.handed == []


async def test_a_turn_without_what_it_must_bring_is_refused() -> None:
    types = kitchen()
    with pytest.raises(InvalidJson):
        await engine(types).cycle({"order": "무"})

    assert types[0].handed == []


@pytest.mark.rule("ING-PASSING")
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab한😀\n"),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("a한"), inner),
        max_leaves=6,
    )
)
def test_any_json_goes_from_step_to_step_unchanged(value: Any) -> None:
    outputs = asyncio.run(engine(kitchen()).cycle({"order": value, "guest": "x"}))

    assert outputs["2"].thaw() == {"dish": {"of": [value, value]}, "heat": 180}
    assert KITCHEN.version == "kitchen-1"
