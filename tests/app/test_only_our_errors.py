"""Whatever a verb is given, it raises nothing but our errors, and a refusal writes nothing.

``make fuzz`` runs the long form as well (`tests.app.long_fuzz`).
"""

import asyncio
import inspect
import os
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memoranda
from memoranda import App, Memory, MemoryFilter
from memoranda.errors import MemorandaError
from memoranda.journeys.govern.batch import Batch
from tests.app.odd import ODD, UNSHOWN, is_odd_for, odd_values, parameters
from tests.app.sample import SAMPLE, Call, Known, bound, come_to, opened
from tests.patience import PATIENCE

ANY: Final = inspect.Parameter.VAR_KEYWORD
LONG: Final = os.environ.get("MEMORANDA_FUZZ") == "long"
EXAMPLES: Final = 5_000 if LONG else 250
BY_NAME: Final = {call.name: call for call in SAMPLE}
KEPT: Final = {"tea": "Ada likes tea", "visit": {"state": "open"}}
"""What calls are about: there again before each of them."""


@contextmanager
def only_ours() -> Iterator[list[MemorandaError]]:
    """Takes our errors, each with a text; every other one comes through."""
    refusals: list[MemorandaError] = []
    try:
        yield refusals
    except MemorandaError as refused:
        refusals.append(refused)
    for one in refusals:
        assert 0 < len(str(one)) < 20_000, "what was given is not repeated whole"


class Tried:
    """A scope in which calls are tried."""

    def __init__(self, memory: Memory[Any]) -> None:
        self.memory = memory
        self.known = Known()

    async def fill(self) -> None:
        """Make each call as it should be made."""
        for call in SAMPLE:
            try:
                made = bound(self.memory, call.name)(
                    *call.given(self.known), **call.named(self.known)
                )
                self.known[call.name] = await come_to(made)
            except MemorandaError:  # some wait for another actor
                continue

    def arguments(self, call: Call) -> dict[str, Any]:
        """The arguments of a call, each by its name."""
        signature = inspect.signature(bound(self.memory, call.name))
        bound_to = signature.bind(*call.given(self.known), **call.named(self.known)).arguments
        rest = next((one.name for one in signature.parameters.values() if one.kind is ANY), "")
        return {**bound_to, **bound_to.pop(rest, {})}

    async def state(self) -> object:
        """All that a call could have changed."""
        head = await self.memory.journal.head()
        return head, await self.memory.records.ids(MemoryFilter())

    async def call(self, name: str, odd: dict[str, Any]) -> None:
        """Make a call with odd values among its arguments; nothing but our errors comes out."""
        for id, data in KEPT.items():
            if await self.memory.records.get(id) is None:
                await self.memory.put(id, data)
        before = await self.state()
        arguments = {**self.arguments(BY_NAME[name]), **odd}
        await self.refused(bound(self.memory, name), arguments, before)

    async def refused(self, method: Any, arguments: dict[str, Any], before: object) -> None:
        several = [
            one.name
            for one in inspect.signature(method).parameters.values()
            if one.kind is one.VAR_POSITIONAL
        ]
        given = [one for name in several for one in _each(arguments.pop(name, ()))]
        with only_ours() as refusals:
            async with asyncio.timeout(PATIENCE):
                await come_to(method(*given, **arguments))
        if refusals:
            assert await self.state() == before, "a refusal writes nothing"


def _each(given: object) -> tuple[object, ...]:
    """What is given in the place of several: one odd value is one of them."""
    return given if isinstance(given, tuple) else (given,)


@contextmanager
def trying(place: str) -> Iterator[tuple[Tried, Any]]:
    """A filled scope, and what runs coroutines on it."""
    with asyncio.Runner() as runner:
        block = opened(place)
        tried = Tried(runner.run(block.__aenter__()))
        runner.run(tried.fill())
        yield tried, runner.run
        assert runner.run(tried.memory.verify()).is_sound
        runner.run(_left(block))


async def _left(block: Any) -> None:
    await block.__aexit__(None, None, None)


def named_parameters() -> list[tuple[str, str]]:
    """Every parameter of every verb."""
    memory = memoranda.connect("dict://")
    kinds = memory.scope("s")

    def method(name: str) -> Any:
        if name.startswith("records."):
            from memoranda.journeys.records.store import Records  # noqa: PLC0415

            return getattr(Records, name.removeprefix("records."))
        return bound(kinds, name)

    return [
        (call.name, parameter)
        for call in SAMPLE
        for parameter in parameters(method(call.name), call.name)
        if parameter != "self"
    ]


PARAMETERS: Final = named_parameters()


def test_odd_values_for_any_verb_raise_only_our_errors(place: str) -> None:
    with trying(place) as (tried, run):

        @settings(max_examples=EXAMPLES)
        @given(st.sampled_from(PARAMETERS), odd_values, st.sampled_from(PARAMETERS), st.booleans())
        def try_it(
            first: tuple[str, str], value: Any, second: tuple[str, str], is_two: bool
        ) -> None:
            name, parameter = first
            odd = {parameter: value}
            if is_two and second[0] == name:
                odd[second[1]] = value
            if all(is_odd_for(one, name, value) for one in odd):
                run(tried.call(name, odd))

        try_it()


def test_what_can_not_be_shown_raises_only_our_errors() -> None:
    with trying("sqlite://:memory:") as (tried, run):
        for name, parameter in PARAMETERS:
            for value in UNSHOWN:
                run(tried.call(name, {parameter: value}))


KNOWN_BAD: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("remember", {"meta": "abc"}),
    ("remember", {"source": 0.3}),
    ("remember", {"source": [0.3]}),
    ("remember", {"valid_from": {"nested": ["2020"]}}),
    ("remember", {"tags": "abc"}),
    ("remember", {"data": {"a": {1: 2}}}),
    ("remember_many", {"data": 1}),
    ("remember_many", {"data": {"a": 1}}),
    ("remember_many", {"data": b"ab"}),
    ("remember_many", {"data": [memoranda.Memo("x", nothing=1)]}),  # type: ignore[call-arg]
    ("erase", {"id": None, "subject": "\udcff"}),
    *(("get", {"at": at}) for at in ("3", True, -1, 1e3)),
    ("get", {"include": None}),
    ("get", {"include": "expired"}),
    ("list", {"include": None}),
    ("list", {"limit": "x"}),
    ("list", {"cursor": "y"}),
    ("list", {"order_by": 3}),
    ("recall", {"top_k": True}),
    ("recall", {"offset": -1}),
    ("act", {"paths": 5}),
    ("act", {"paths": "count"}),
    ("act", {"hints": []}),
    ("act", {"wait": "3"}),
    ("act", {"wait": -1}),
    ("act", {"action": []}),
    ("worlds.project", {"projection": 5}),
    ("worlds.restore", {"id": 10**5000}),
    ("turns.open", {"plan": 5}),
    ("turns.open", {"steps": [5]}),
    ("turns.open", {"session": 5}),
    ("turns.replay", {"cycle_id": None}),
    ("govern.change_policy", {"policy": {}}),
    ("govern.record_audit", {"report": {}}),
    ("govern.consolidate", {"tags": 5}),
    ("govern.consolidate", {"derived_fragments": [[1]]}),
    ("forget", {"cause": 10**5000}),
    ("journal.object", {"version": []}),
    ("journal.import_objects", {"objects": 5}),
    ("verify", {"progress": 5}),
)


def test_what_was_known_to_be_bad_is_refused_by_name(place: str) -> None:
    with trying(place) as (tried, run):
        for name, odd in KNOWN_BAD:

            async def refused(name: str = name, odd: dict[str, Any] = odd) -> None:
                arguments = {**tried.arguments(BY_NAME[name]), **odd}
                before = await tried.state()
                with pytest.raises(MemorandaError) as caught:
                    await come_to(bound(tried.memory, name)(**arguments))
                assert caught.value.code.startswith(("input", "record")), (name, odd)
                assert await tried.state() == before

            run(refused())


# -------------------------------------------------------------------- batches, databases

BATCHED: Final[dict[str, dict[str, Any]]] = {
    "remember": {"data": "something"},
    "put": {"id": "tea", "data": "other"},
    "update": {"id": "visit", "patch": {"state": "x"}},
    "forget": {"id": "visit", "reason": "asked"},
}
IN_BATCHES: Final = [
    (name, one)
    for name in BATCHED
    for one in parameters(getattr(Batch, name), name)
    if one != "self"
]


def test_a_batch_with_something_odd_in_it_writes_all_or_nothing(place: str) -> None:
    with trying(place) as (tried, run):

        async def batched(name: str, parameter: str, value: Any) -> None:
            before = await tried.state()
            batch = tried.memory.batch(reason="all of it")
            with only_ours() as refusals:
                async with batch:
                    batch.put("before", 1)
                    getattr(batch, name)(**{**BATCHED[name], parameter: value})
                    batch.put("after", 1)
            if refusals:
                assert await tried.state() == before
            else:
                assert len(batch.receipts) == 3
                await tried.memory.put("visit", {"state": "open"})

        @settings(max_examples=EXAMPLES // 2)
        @given(st.sampled_from(IN_BATCHES), odd_values)
        def try_it(of: tuple[str, str], value: Any) -> None:
            run(batched(*of, value))

        try_it()


async def test_a_batch_that_is_misused_is_refused(place: str) -> None:
    async with opened(place) as memory:
        batch = memory.batch()
        assert set(BATCHED) == {
            name
            for name, member in vars(Batch).items()
            if name[0] != "_" and inspect.isfunction(member)
        }
        for misuse in (
            lambda: batch.put("x", 1),
            lambda: batch.receipts,
            lambda: memory.batch(reason=""),
            lambda: memory.batch(reason=5),  # type: ignore[arg-type]
        ):
            with pytest.raises(MemorandaError):
                misuse()
        async with batch:
            batch.put("x", 1)
        with pytest.raises(MemorandaError):
            await batch.__aenter__()
        with pytest.raises(MemorandaError):
            batch.put("y", 1)
        with pytest.raises(MemorandaError):
            async with memory.batch(idempotency_key=5) as other:  # type: ignore[arg-type]
                other.put("y", 1)
        assert await memory.get("y") is None


OPTIONS: Final = (
    *("url", "seal", "embedder", "codec", "models", "clockwork"),
    *("scope", "actor", "model", "app"),
)


def test_odd_options_of_a_database_raise_only_our_errors() -> None:
    async def tried(option: str, value: Any) -> None:
        with only_ours():
            async with memoranda.open(**{"url": "sqlite://:memory:", option: value}) as memory:
                await memory.remember("something")

    def is_file(option: str, value: Any) -> bool:
        return option == "url" and isinstance(value, str) and "://" not in value

    with asyncio.Runner() as runner:
        for option in OPTIONS:
            for value in (*ODD, *UNSHOWN):
                if not is_file(option, value) and value is not None:
                    runner.run(tried(option, value))


APP: Final = (
    *("domain", "provider", "authority", "memory_policy", "hooks", "recall_limit", "run_limit"),
)


def test_odd_members_of_an_app_raise_only_our_errors() -> None:
    async def tried(option: str, value: Any) -> None:
        with only_ours():
            app = App(**{option: value})
            async with memoranda.open("sqlite://:memory:", app=app) as memory:
                await memory.remember("something")

    with asyncio.Runner() as runner:
        for option in APP:
            for value in (*ODD, *UNSHOWN):
                if value is not None and not (option == "provider" and callable(value)):
                    runner.run(tried(option, value))


def test_odd_names_of_scopes_raise_only_our_errors(place: str) -> None:
    async def tried() -> None:
        async with memoranda.connect(place) as db:
            for value in (*ODD, *UNSHOWN):
                for using in (db.exists, memoranda.exists):
                    with only_ours():
                        await _exists(using, value, place)
            assert await db.scopes() == []

    asyncio.run(tried())


def _exists(using: Any, value: Any, place: str) -> Coroutine[Any, Any, bool]:
    found: Coroutine[Any, Any, bool] = (
        using(value) if inspect.ismethod(using) else using(value, place)
    )
    return found
