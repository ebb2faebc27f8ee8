"""Effects: by value, with the same exceptions live and in a replay, matched by what they are."""

import asyncio
from contextvars import Context
from typing import Any, ClassVar

import pytest
from hypothesis import given
from pydantic import BaseModel

from memoranda.identity import canonical_bytes, freeze, sha256_hex
from memoranda.kernel.ambient import check_reach
from memoranda.kernel.errors import StoreUnavailable
from memoranda.worlds.action import ActionContext, Patch, Set
from memoranda.worlds.domain import Domain
from memoranda.worlds.host import (
    EffectDiffers,
    EffectError,
    EffectFailed,
    EffectRecord,
    RecordedSurroundings,
    arguments_digest,
    text_of,
)
from tests.worlds.running import NOW, SEED, Performed, run, values


def domain_with(function: Any) -> Domain:
    domain = Domain("d", "1", initial={"list": [1]})
    domain.action(name="act")(function)
    return domain


def live() -> Performed:
    return Performed(now=NOW, random_seed=SEED)


def recorded(*effects: EffectRecord) -> RecordedSurroundings:
    return RecordedSurroundings(now=NOW, random_seed=SEED, effects=effects)


def answered(number: int, name: str, result: Any, **arguments: Any) -> EffectRecord:
    return EffectRecord(number, name, arguments_digest(name, arguments), result=freeze(result))


async def never() -> None:
    pytest.fail("a replay calls nothing")


async def ask(surroundings: RecordedSurroundings, name: str, **arguments: Any) -> Any:
    return await surroundings.effect(name, arguments, never)


# ------------------------------------------------------------------------ by value


@given(values)
def test_a_digest_is_that_of_the_name_and_the_arguments_in_canonical_form(value: Any) -> None:
    expected = sha256_hex(canonical_bytes({"arguments": {"a": value}, "name": "n"}))

    assert arguments_digest("n", {"a": value}) == expected
    assert arguments_digest("m", {"a": value}) != expected


async def test_a_result_is_taken_by_value() -> None:
    kept: list[Any] = [{"a": 1.0}]
    seen: list[Any] = []

    async def act(ctx: ActionContext[None]) -> Patch:
        found = await ctx.effect("look", lambda: kept)
        kept[0]["a"] = "later"
        seen.append(repr(found))
        found.append("mine")
        return Set("found", found)

    surroundings = live()
    result = await run(domain_with(act), "act", surroundings=surroundings)

    assert seen == ["[{'a': 1}]"]
    assert result.terminal_snapshot.data["found"] == [{"a": 1}, "mine"]
    assert surroundings.effects == (answered(1, "look", [{"a": 1}]),)


class Elsewhere(Performed):
    """Surroundings that call where nothing of the action's context holds, and share one answer."""

    shared: ClassVar[list[int]] = []

    async def effect(self, name: str, arguments: Any, call: Any) -> Any:
        await asyncio.create_task(super().effect(name, arguments, call), context=Context())
        return self.shared


async def test_an_answer_is_the_actions_own_whatever_the_surroundings_hand_out() -> None:
    async def act(ctx: ActionContext[None]) -> Patch:
        (await ctx.effect("look", list)).append(1)
        return Set("found", await ctx.effect("look", list))

    surroundings = Elsewhere(now=NOW, random_seed=SEED)
    result = await run(domain_with(act), "act", surroundings=surroundings)

    assert result.terminal_snapshot.data["found"] == []
    assert Elsewhere.shared == []


@pytest.mark.rule("MEM-CONTEXT-2")
async def test_memory_is_out_of_reach_for_an_effect_wherever_it_is_called() -> None:
    async def act(ctx: ActionContext[None]) -> None:
        await ctx.effect("reach", check_reach)

    surroundings = Elsewhere(now=NOW, random_seed=SEED)
    result = await run(domain_with(act), "act", surroundings=surroundings)

    assert result.outcome == "failed"
    assert surroundings.effects[0].error is not None
    assert surroundings.effects[0].error.type == "MemoryOutOfReach"


async def test_the_function_gets_its_arguments_by_value() -> None:
    def changing(items: list[int], view: list[int]) -> int:
        items.clear()
        view.append(2)
        return len(view)

    async def act(ctx: ActionContext[None]) -> Patch:
        mine = [1, 2, 3]
        await ctx.effect("change", changing, items=mine, view=ctx.state["list"])
        return Set("mine", mine)

    surroundings = live()
    result = await run(domain_with(act), "act", surroundings=surroundings)

    assert result.terminal_snapshot.data == {"list": [1], "mine": [1, 2, 3]}
    assert surroundings.effects == (answered(1, "change", 2, items=[1, 2, 3], view=[1]),)


async def test_an_effect_may_be_a_coroutine_function_and_return_a_model() -> None:
    class Answer(BaseModel):
        text: str

    async def ask_model(name: str) -> Answer:
        await asyncio.sleep(0)
        return Answer(text=f"hello {name}")

    async def act(ctx: ActionContext[None]) -> Patch:
        return Set("answer", await ctx.effect("model", ask_model, name="kim"))

    result = await run(domain_with(act), "act")

    assert result.terminal_snapshot.data["answer"] == {"text": "hello kim"}


# ---------------------------------------------------------------------- exceptions


async def failing(**_arguments: Any) -> None:
    raise LookupError("no <object at 0x7f00deadbeef> here")


async def no_json() -> object:
    return {"when": object}


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        (failing, "LookupError", "no <object at 0x…> here"),
        (no_json, "InvalidJson", None),
        (lambda unknown: unknown, "TypeError", None),
    ],
)
async def test_what_an_effect_raises_is_the_same_live_and_in_a_replay(
    function: Any, kind: str, message: str | None
) -> None:
    seen: list[Any] = []

    async def act(ctx: ActionContext[None]) -> None:
        try:
            await ctx.effect("look", function)
        except EffectFailed as failed:
            seen.append((
                *(failed.effect, failed.type, failed.message, str(failed)),
                *(failed.__cause__, failed.__context__),
            ))  # fmt: skip
            raise

    surroundings = live()
    first = await run(domain_with(act), "act", surroundings=surroundings)
    again = await run(domain_with(act), "act", surroundings=recorded(*surroundings.effects))

    assert seen[0] == seen[1]
    assert seen[0][:2] == ("look", kind)
    assert seen[0][-2:] == (None, None)
    assert message is None or seen[0][2] == message
    assert first.terminal_snapshot == again.terminal_snapshot
    assert first.error is not None
    assert first.error.code == "action.raised"


async def test_arguments_that_are_no_json_fail_the_same_way_and_start_nothing() -> None:
    async def act(ctx: ActionContext[None]) -> None:
        await ctx.effect("look", failing, what=object())

    surroundings = live()
    result = await run(domain_with(act), "act", surroundings=surroundings)

    assert surroundings.effects == ()
    assert result.error is not None
    assert result.error.context == {"type": "InvalidJson"}


@pytest.mark.parametrize("name", ["", 5, None, "a\x00"])
async def test_an_effect_without_a_name_starts_nothing(name: Any) -> None:
    async def act(ctx: ActionContext[None]) -> None:
        await ctx.effect(name, failing)

    surroundings = live()
    result = await run(domain_with(act), "act", surroundings=surroundings)

    assert surroundings.effects == ()
    assert result.error is not None
    assert result.error.context == {"type": "ValueError"}


class Broken(Performed):
    async def effect(self, *_: Any) -> Any:
        raise StoreUnavailable("sqlite:///memory.db", "the journal can't be written")


async def test_what_the_surroundings_raise_comes_through_whatever_the_action_does() -> None:
    asked: list[type[BaseException]] = []

    async def act(ctx: ActionContext[None]) -> dict[str, Any]:
        for _ in range(2):
            try:
                await ctx.effect("look", failing)
            except Exception as raised:  # noqa: BLE001 - as careless actions do
                asked.append(type(raised))
        return {"all": "well"}

    with pytest.raises(StoreUnavailable):
        await run(domain_with(act), "act", surroundings=Broken(now=NOW, random_seed=SEED))

    assert asked == [StoreUnavailable, StoreUnavailable]


async def test_being_cancelled_goes_through() -> None:
    async def act(ctx: ActionContext[None]) -> None:
        await ctx.effect("wait", asyncio.Event().wait)

    task = asyncio.create_task(run(domain_with(act), "act"))
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (ValueError("a\x00b\ud800"), "a�b?"),
        (ValueError("<x at 0x7fa3b2c1d0e0> and 0xff"), "<x at 0x…> and 0xff"),
        (ValueError("x" * 20_000), "x" * 10_000),
        (ValueError(), ""),
    ],
)
def test_a_text_can_be_stored_and_has_no_addresses(raised: Exception, expected: str) -> None:
    assert text_of(raised) == expected


def test_an_exception_that_can_not_be_written_has_a_text() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert text_of(Mute()) == "(its text can't be made)"


# --------------------------------------------------------------------- unfinished


async def test_an_effect_that_is_left_running_is_of_unknown_outcome() -> None:
    late: list[str] = []

    async def careless(ctx: ActionContext[None]) -> dict[str, Any]:
        async def more() -> None:
            await ctx.effect("wait", asyncio.sleep, delay=0)
            try:
                await ctx.effect("later", failing)
            except RuntimeError as refused:
                late.append(str(refused))

        tasks.append(asyncio.create_task(more()))
        await asyncio.sleep(0)
        return {"all": "well"}

    tasks: list[asyncio.Task[None]] = []
    result = await run(domain_with(careless), "act")
    await asyncio.gather(*tasks)

    assert result.outcome == "failed"
    assert result.error is not None
    assert result.error.code == "effect.unknown"
    assert len(late) == 1


async def test_an_effect_that_the_action_gives_up_is_of_unknown_outcome_in_a_replay_too() -> None:
    async def impatient(ctx: ActionContext[None]) -> dict[str, Any]:
        try:
            async with asyncio.timeout(0):
                await ctx.effect("wait", asyncio.Event().wait)
        except TimeoutError:
            return {"all": "well"}
        return {}

    surroundings = live()
    first = await run(domain_with(impatient), "act", surroundings=surroundings)
    again = await run(domain_with(impatient), "act", surroundings=recorded(*surroundings.effects))

    assert first.error is not None
    assert first.error.code == "effect.unknown"
    assert first.terminal_snapshot == again.terminal_snapshot


async def test_a_group_of_which_one_effect_fails_ends_the_same_in_a_replay() -> None:
    async def grouped(ctx: ActionContext[None]) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(ctx.effect("quick", asyncio.sleep, delay=0))
            group.create_task(ctx.effect("fail", failing))
            group.create_task(ctx.effect("wait", asyncio.Event().wait))

    surroundings = live()
    first = await run(domain_with(grouped), "act", surroundings=surroundings)
    replay = recorded(*surroundings.effects)
    again = await run(domain_with(grouped), "act", surroundings=replay)

    assert first.error is not None
    assert first.error.code == "effect.unknown"
    assert first.terminal_snapshot == again.terminal_snapshot
    assert replay.check_finished() is None


async def test_an_effect_without_a_known_outcome_ends_the_run_and_is_not_called_again() -> None:
    async def act(ctx: ActionContext[None]) -> dict[str, Any]:
        try:
            await ctx.effect("pay", never)
        except Exception:  # noqa: BLE001 - as careless actions do
            return {"all": "well"}
        return {}

    started = EffectRecord(1, "pay", arguments_digest("pay", {}))
    result = await run(domain_with(act), "act", surroundings=recorded(started))

    assert result.outcome == "failed"
    assert result.error is not None
    assert result.error.code == "effect.unknown"
    assert result.terminal_snapshot.data == {"list": [1]}


# ------------------------------------------------------------------------ matching


async def test_recorded_effects_are_served_by_name_and_arguments_in_order_of_start() -> None:
    surroundings = recorded(
        answered(3, "get", "third", a=1),
        answered(1, "get", "first", a=1),
        answered(2, "get", "other", a=2),
        EffectRecord(4, "put", arguments_digest("put", {}), error=EffectError("E", "no")),
    )

    found = [await ask(surroundings, "get", a=value) for value in (2, 1, 1)]
    with pytest.raises(EffectFailed):
        await ask(surroundings, "put")

    assert found == ["other", "first", "third"]
    assert surroundings.left == ()
    assert surroundings.check_finished() is None


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("get", {"a": 3}, ("get", 2, "arguments", {"a": 2}, {"a": 3})),
        ("post", {"a": 2}, ("post", 2, "name", "get", "post")),
    ],
)
async def test_an_effect_that_was_not_recorded_so_is_named(
    name: str, arguments: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    surroundings = recorded(answered(1, "get", 1, a=1), answered(2, "get", 2, a=2))
    await ask(surroundings, "get", a=1)

    with pytest.raises(EffectDiffers) as caught:
        await ask(surroundings, name, **arguments)

    wanted, found = (
        arguments_digest("get", one) if isinstance(one, dict) else one for one in expected[3:]
    )
    assert caught.value.args == (*expected[:3], wanted, found)
    assert surroundings.check_finished() is caught.value


async def test_one_effect_more_or_less_is_named() -> None:
    more, less = recorded(), recorded(answered(1, "get", 1, a=1))

    with pytest.raises(EffectDiffers) as caught:
        await ask(more, "get", a=1)
    unasked = less.check_finished()

    digest = arguments_digest("get", {"a": 1})
    assert caught.value.args == ("get", 1, "effect", None, digest)
    assert unasked is not None
    assert unasked.args == ("get", 1, "effect", digest, None)


async def test_an_answer_is_fresh_each_time() -> None:
    record = answered(1, "get", [1])

    record.answer().append(2)

    assert record.answer() == [1]
