"""Replay: the same bytes again, anywhere; or the first difference, by name."""

import asyncio
import inspect
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memoranda.identity import canonical_bytes, decode, freeze
from memoranda.kernel.ambient import check_reach
from memoranda.kernel.errors import MemoryOutOfReach
from memoranda.worlds.action import ActionContext, Patch, Set
from memoranda.worlds.domain import Domain
from memoranda.worlds.host import (
    EffectDiffers,
    EffectRecord,
    Host,
    HostExecutionResult,
    Surroundings,
    arguments_digest,
)
from memoranda.worlds.local_host import LocalHost
from memoranda.worlds.proposal import IntentScope
from memoranda.worlds.replay import Differs, Replayed, RunRecording, Same, replayed
from memoranda.worlds.snapshot import Snapshot
from tests.patience import PATIENCE
from tests.worlds.replaying import Gone, read, written
from tests.worlds.running import Prices, a_shop, base_of, record, run

KEPT = Path(__file__).parent / "data" / "recordings.json"
ROOT = Path(__file__).parents[2]
MEMORY = {"$app": {"memoryContext": {"likes": ["tea", 1.5]}, "memoryRecallFailed": False}}
FAILED = {"$app": {"memoryContext": None, "memoryRecallFailed": True}}


async def histories() -> list[RunRecording]:
    """One run of each kind."""
    outside = Prices({"tea": 3.5})
    shop = a_shop(outside)
    line = {"price": 1.0, "item": "jam", "count": 2}
    used = base_of(shop, {"tickets": [3, 1], "lines": [line], "note": "früh 😀", "placed_at": None})
    return [
        await record(shop, "order", {"item": "tea"}),
        await record(shop, "order", {"count": 3, "item": "tea"}, base=used),
        await record(shop, "order", {"item": "gold"}),
        await record(shop, "compare", base=used),
        await record(shop, "draw"),
        await record(shop, "remembered", base=base_of(shop, input=MEMORY)),
        await record(shop, "remembered", base=base_of(shop, input=FAILED)),
        await record(shop, "nothing", base=base_of(shop, input=None)),
        await record(shop, "listing", base=used),
        await record(shop, "give up"),
        await record(shop, "order", {}),
        await record(shop, "draw", approved_scope=IntentScope(allowed_paths=("lines",))),
    ]


async def again(recording: RunRecording, domain: Domain | None = None) -> Replayed:
    return await replayed(LocalHost(domain or a_shop(Gone())), recording)


def changed(function: Any, name: str = "act", initial: Any = None) -> Domain:
    domain = Domain("d", "1", initial=initial)
    domain.action(name=name)(function)
    return domain


async def difference(before: Any, after: Any, initial: Any = None) -> Differs:
    """What a replay says when an action is another one than the one that was recorded."""
    recording = await record(changed(before, initial=initial), "act")
    found = await replayed(LocalHost(changed(after, initial=initial)), recording)
    assert isinstance(found, Differs)
    assert found.action == "act"
    return found


# ----------------------------------------------------------------------- the same


@pytest.mark.rule("MEM-CONTEXT-2")
async def test_every_kind_of_run_replays_to_the_same_bytes_without_the_outside() -> None:
    for recording in await histories():
        assert await again(recording) == Same(recording.intent.type)


async def test_the_recorded_histories_still_replay() -> None:
    documents = json.loads(KEPT.read_text(encoding="utf-8"))

    found = [await again(read(document)) for document in documents]

    assert len(found) == 12
    assert [one for one in found if not isinstance(one, Same)] == []


async def test_the_recorded_histories_are_what_is_recorded_now() -> None:
    assert json.loads(KEPT.read_text(encoding="utf-8")) == [
        written(recording) for recording in await histories()
    ]


@pytest.mark.rule("MEM-CONTEXT-2")
@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "0", "TZ": "Asia/Kathmandu", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "1", "TZ": "America/St_Johns", "LC_ALL": "C.UTF-8"},
        {"PYTHONHASHSEED": "4294967295", "TZ": "Pacific/Apia", "LC_ALL": "POSIX"},
    ],
    ids=["nepal", "newfoundland", "samoa"],
)
def test_another_process_zone_and_locale_without_sockets_give_the_same_bytes(
    environment: dict[str, str],
) -> None:
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-X", "utf8=0", "-m", "tests.worlds.replaying", str(KEPT)],
        cwd=ROOT,
        env={**os.environ, "PYTHONCOERCECLOCALE": "0", **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )

    lines = done.stdout.splitlines()
    assert len(lines) == 12
    assert [line for line in lines if not line.endswith(": the same")] == []


@pytest.mark.rule("MEM-CONTEXT-2")
async def test_a_replay_uses_the_frozen_memory_and_not_that_of_the_stored_base() -> None:
    shop = a_shop()
    recording = await record(shop, "remembered", base=base_of(shop, input=MEMORY))
    moved = replace(recording, base=base_of(shop, input=FAILED))

    assert await again(moved) == Same("remembered")


@pytest.mark.rule("MEM-CONTEXT-2")
async def test_other_memory_is_a_difference_and_not_asked_for_again() -> None:
    shop = a_shop()
    recording = await record(shop, "remembered", base=base_of(shop, input=MEMORY))

    found = await again(replace(recording, input=freeze(FAILED)))

    assert isinstance(found, Differs)
    assert (found.what, found.path) == ("field", "$.data.note")


@pytest.mark.rule("MEM-CONTEXT-2")
def test_a_replay_has_neither_store_nor_provider_nor_clock_in_its_signature() -> None:
    assert list(inspect.signature(replayed).parameters) == ["host", "recording"]
    assert set(RunRecording.__dataclass_fields__) == {
        *("execution_key", "base", "intent", "options", "now", "random_seed"),
        *("input", "effects", "terminal", "outcome"),
    }


@pytest.mark.rule("MEM-CONTEXT-2")
async def test_memory_is_out_of_reach_for_a_host_that_replays() -> None:
    class Reaching:
        def within(self, surroundings: Surroundings) -> Host:
            check_reach()
            return LocalHost(a_shop()).within(surroundings)

    recording = await record(a_shop(), "draw")

    with pytest.raises(MemoryOutOfReach) as caught:
        await replayed(Reaching(), recording)

    assert caught.value.who == "a replay"


async def test_effects_that_ran_at_the_same_time_find_their_answers() -> None:
    class Slow(Prices):
        async def look_up(self, item: str) -> float:
            for _ in range(5 - len(self.asked)):
                await asyncio.sleep(0)
            self.asked.append(item)
            return len(self.asked)

    recording = await record(a_shop(Slow()), "compare")

    assert [effect.number for effect in recording.effects] == [1, 2, 3]
    assert len({effect.arguments_digest for effect in recording.effects}) == 2
    assert await again(recording) == Same("compare")


async def test_a_run_that_was_told_to_end_is_told_so_again() -> None:
    class Told:
        questions = 0

        def is_set(self) -> bool:
            self.questions += 1
            return self.questions > 2

    async def act(ctx: ActionContext[None]) -> Patch:
        return Set("n", [await ctx.effect("f", lambda n: n, n=n) for n in range(4)])

    recording = await record(changed(act), "act", signal=Told())

    assert len(recording.effects) == 2
    assert decode(recording.terminal)["system"]["lastError"]["code"] == "run.aborted"
    assert await again(recording, changed(act)) == Same("act")


async def test_a_run_with_an_effect_of_unknown_outcome_replays() -> None:
    async def act(ctx: ActionContext[None]) -> Patch:
        return Set("n", await ctx.effect("f", lambda: 1))

    recording = await record(changed(act), "act")
    started = EffectRecord(1, "f", arguments_digest("f", {}))
    unknown = replace(recording, effects=(started,))
    found = await again(unknown, changed(act))

    assert isinstance(found, Differs)
    assert found.error is not None
    assert found.error.startswith("effect.unknown")


# ------------------------------------------------------------------ the first difference


@pytest.mark.parametrize(
    ("before", "after", "path", "expected", "found"),
    [
        ({"n": 1}, {"n": 2}, "$.data.n", "1", "2"),
        ({"n": 1}, {"n": 1, "m": 2}, "$.data.m", None, "2"),
        ({"n": 1, "m": {"x": [1]}}, {"n": 1}, "$.data.m", '{"x":[1]}', None),
        ({"n": [1, 2]}, {"n": [1, 3, 4]}, "$.data.n[1]", "2", "3"),
        ({"n": [1]}, {"n": [1, None]}, "$.data.n[1]", None, "null"),
        ({"n": 1}, {"n": True}, "$.data.n", "1", "true"),
        ({"n": {}}, {"n": []}, "$.data.n", "{}", "[]"),
        ({"b": 1, "a": 1}, {"b": 2, "a": 2}, "$.data.a", "1", "2"),
        ({"\uff5e": 1, "😀": 1}, {"\uff5e": 2, "😀": 2}, "$.data['\\U0001f600']", "1", "2"),
    ],
)
async def test_the_first_field_that_differs_is_named(
    before: Any, after: Any, path: str, expected: str | None, found: str | None
) -> None:
    differs = await difference(lambda _ctx: before, lambda _ctx: after)

    assert (differs.what, differs.path) == ("field", path)
    assert (differs.expected, differs.found) == (expected, found)
    assert differs.where == path


async def test_an_action_that_fails_now_says_why() -> None:
    differs = await difference(lambda _ctx: {"n": 1}, lambda ctx: ctx.nowhere)

    assert differs.path == "$.data.n"
    assert differs.error is not None
    assert differs.error.startswith("action.raised: ")
    assert differs.error in str(differs)


async def test_another_schema_is_named() -> None:
    recording = await record(changed(lambda _ctx: {"n": 1}), "act")

    found = await again(recording, a_shop())

    assert isinstance(found, Differs)
    assert found.error == "schema.differs: the base is of another domain or version"


def number(x: str) -> float:
    return float(x)


async def asks_tea(ctx: ActionContext[None]) -> Patch:
    return Set("price", await ctx.effect("price", number, x="1.5"))


async def test_other_arguments_of_an_effect_are_named_before_any_field() -> None:
    async def other(ctx: ActionContext[None]) -> Patch:
        return Set("other", await ctx.effect("price", number, x="2.5"))

    differs = await difference(asks_tea, other)

    assert (differs.what, differs.effect, differs.number) == ("arguments", "price", 1)
    assert differs.expected == arguments_digest("price", {"x": "1.5"})
    assert differs.found == arguments_digest("price", {"x": "2.5"})
    assert differs.where == "effect 1 (price), arguments"


async def test_another_effect_is_named() -> None:
    async def other(ctx: ActionContext[None]) -> Patch:
        return Set("price", await ctx.effect("cost", number, x="1.5"))

    differs = await difference(asks_tea, other)

    assert (differs.what, differs.effect, differs.number) == ("name", "cost", 1)
    assert (differs.expected, differs.found) == ("price", "cost")


async def test_an_effect_more_is_named_though_the_action_hides_it() -> None:
    async def hiding(ctx: ActionContext[None]) -> Patch:
        found = await asks_tea(ctx)
        try:
            await ctx.effect("log", print, text="x")
        except Exception:  # noqa: BLE001 - as careless actions do
            return found
        return found

    differs = await difference(asks_tea, hiding)

    assert (differs.what, differs.effect, differs.number) == ("effect", "log", 2)
    assert (differs.expected, differs.found) == (None, arguments_digest("log", {"text": "x"}))


async def test_an_effect_less_is_named_though_the_state_is_the_same() -> None:
    differs = await difference(asks_tea, lambda _ctx: Set("price", None))

    assert (differs.what, differs.effect, differs.number) == ("effect", "price", 1)
    assert (differs.expected, differs.found) == (arguments_digest("price", {"x": "1.5"}), None)


async def test_an_effect_is_named_though_the_host_hides_it() -> None:
    class Hiding:
        """A host that makes a result of whatever is raised."""

        def within(self, surroundings: Surroundings) -> Any:
            inner = LocalHost(changed(asks_tea)).within(surroundings)

            class Bound:
                async def execute(self, *given: Any) -> HostExecutionResult:
                    try:
                        return await inner.execute(*given)
                    except EffectDiffers:
                        return await run(changed(lambda _ctx: {}), "act")

            return Bound()

    recording = await record(changed(lambda _ctx: {}), "act")
    found = await replayed(Hiding(), recording)

    assert isinstance(found, Differs)
    assert (found.what, found.effect) == ("effect", "price")


async def test_a_recorded_outcome_that_is_not_that_of_its_snapshot_is_a_difference() -> None:
    recording = await record(a_shop(), "draw")

    found = await again(replace(recording, outcome="failed"))

    assert found == Differs("draw", "outcome", "failed", "completed")
    assert str(found) == "draw: outcome: expected failed, found completed"


async def test_every_member_of_the_snapshot_is_compared() -> None:
    recording = await record(a_shop(), "order", {"item": "tea"})
    terminal = decode(recording.terminal)
    tampered: list[tuple[str, Any]] = [
        ("$.computed.total", lambda whole: whole["computed"].update(total=1)),
        ("$.data.lines[0].price", lambda whole: whole["data"]["lines"][0].update(price=1)),
        ("$.input", lambda whole: whole.update(input=None)),
        ("$.meta.timestamp", lambda whole: whole["meta"].update(timestamp=1)),
        ("$.system.status", lambda whole: whole["system"].update(status="error")),
    ]

    for path, tamper in tampered:
        whole = decode(canonical_bytes(terminal))
        tamper(whole)
        found = await again(replace(recording, terminal=canonical_bytes(whole)))

        assert isinstance(found, Differs)
        assert found.path == path


async def test_bytes_that_are_not_canonical_are_a_difference() -> None:
    recording = await record(a_shop(), "draw")

    found = await again(replace(recording, terminal=recording.terminal.replace(b",", b", ", 1)))

    assert isinstance(found, Differs)
    assert found.path == "$"


async def test_a_long_value_is_cut_when_it_is_shown() -> None:
    differs = await difference(lambda _ctx: {"n": "x" * 10_000}, lambda _ctx: {})

    assert differs.expected is not None
    assert len(differs.expected) == 10_002
    assert len(str(differs)) < 400
    assert str(differs).endswith("found nothing")


async def test_a_recording_is_not_changed_by_its_replay() -> None:
    for recording in await histories():
        before = canonical_bytes(written(recording))

        await again(recording)

        assert canonical_bytes(written(recording)) == before


async def test_a_base_without_an_input_is_replayed_without_one() -> None:
    recording = await record(a_shop(), "nothing")

    assert recording.input is None
    assert await again(replace(recording, base=base_of(a_shop(), input={"x": 1}))) == Same(
        "nothing"
    )
    assert "input" not in Snapshot.from_wire(decode(recording.terminal)).to_wire()
