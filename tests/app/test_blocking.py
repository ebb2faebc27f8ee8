"""The blocking twin does what the async handle does, in scripts, threads and running loops."""

import asyncio
import contextlib
import gc
import inspect
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import App, MemoryFilter, MemoryHooks, MemoryRecordInput
from memoranda.app import blocking
from memoranda.app.portal import NAME, PORTAL
from memoranda.errors import (
    InvalidRecord,
    MemorandaError,
    ReasoningClosed,
    RecordNotFound,
    StoreClosed,
    WaitsForItself,
    WrongLoop,
)
from tests.app.sample import SAMPLE, Known, bound, come_to, opened, options
from tests.patience import PATIENCE


@contextlib.contextmanager
def blocking_on(place: str) -> Iterator[Any]:
    with memoranda.open_sync(place, scope="s", **options()) as memory:
        yield memory


# ------------------------------------------------------------------------------ the same


TWINS = [kind for name, kind in vars(blocking).items() if name.startswith("Blocking")]


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: str(twin.__name__))
def test_the_twin_has_every_public_name_and_its_signature(twin: Any) -> None:
    kind = getattr(blocking, twin.__name__.removeprefix("Blocking"))
    own = {name for name in vars(kind) if name[0] != "_"}

    assert own <= set(vars(twin))
    for name in own:
        if inspect.isfunction(member := getattr(kind, name)):
            here, there = (inspect.signature(one) for one in (member, getattr(twin, name)))
            assert here.parameters == there.parameters
            assert member.__doc__
            assert getattr(twin, name).__doc__


def blocked(made: Any) -> Any:
    """What a blocking call comes to, as `come_to` says of an async one."""
    if isinstance(made, AbstractContextManager):
        with made as inner:
            if hasattr(inner, "put"):
                inner.put("batched", 1)
            return type(inner).__name__.removeprefix("Blocking")
    if inspect.isgenerator(made):
        first = next(made, None)
        made.close()
        return first
    return made


def shown(made: Any) -> str:
    """The value, or what it is if it is a handle of its own."""
    said = repr(made)
    return type(made).__name__.removeprefix("Blocking") if " object at " in said else said


async def test_every_verb_comes_to_the_same_and_leaves_the_same_journal(place: str) -> None:
    came_to: list[tuple[str, str, str]] = []
    known, known_here = Known(), Known()
    async with opened("sqlite://:memory:") as memory:
        with blocking_on(place) as twin:
            for call in SAMPLE:
                here = there = "nothing"
                try:
                    made = bound(memory, call.name)(*call.given(known), **call.named(known))
                    known[call.name] = await come_to(made)
                    there = shown(known[call.name])
                except MemorandaError as refused:
                    there = repr(refused)
                try:
                    made = bound(twin, call.name)(*call.given(known_here), **call.named(known_here))
                    known_here[call.name] = blocked(made)
                    here = shown(known_here[call.name])
                except MemorandaError as refused:
                    here = repr(refused)
                came_to.append((call.name, here, there))
            head, head_there = twin.journal.head(), await memory.journal.head()

    # A unit that PostgreSQL refuses for what it expected decides again, and draws another nonce.
    alike = str if place.startswith("sqlite") else without_hashes
    assert alike(repr(head)) == alike(repr(head_there))
    assert [(name, alike(here)) for name, here, _ in came_to] == [
        (name, alike(there)) for name, _, there in came_to
    ]


def without_hashes(said: str) -> str:
    return re.sub(r"[0-9a-f]{8}…|[0-9a-f]{16,}|root=b.*?(?=, erased)", "#", said)


def test_it_says_which_scope_and_actor_it_is_of(place: str) -> None:
    with blocking_on(place) as memory:
        assert (memory.scope, str(memory.actor)) == ("s", "human:ada")
        assert repr(memory) == "<blocking <Memory scope='s' actor='human:ada'>>"
        assert set(dir(memory)) == set(dir(memory._twin))
        with memory.reasoning(branch="main") as phase:
            assert (phase.branch, str(phase.actor)) == ("main", "human:ada")


def test_a_database_serves_many_scopes(place: str) -> None:
    with memoranda.connect_sync(place) as db:
        db.scope("a", actor="agent:x").remember("one")
        db.scope("b", actor="agent:x").remember("two")
        assert db.scopes() == ["a", "b"]
        assert db.exists("a")
        memory = db.scope("a")
    with pytest.raises(StoreClosed):
        memory.list()
    db.close()


# ------------------------------------------------------------------------------- context


def test_what_was_recalled_is_attached_to_what_is_done_next(place: str) -> None:
    with blocking_on(place) as memory:
        memory.remember("Ada likes tea")
        recalled = memory.recall("tea", top_k=1)
        first = memory.act("add", {"by": 1})
        second = memory.act("add", {"by": 1})

        assert recalled.trace_id in str(memory.why(first.proposal_id).to_wire())
        assert recalled.trace_id not in str(memory.why(second.proposal_id).to_wire())


def test_a_phase_lies_around_the_calls_in_its_block(place: str) -> None:
    with blocking_on(place) as memory:
        memory.remember("Ada likes tea")
        with memory.reasoning() as phase:
            one, two = phase.recall("tea", top_k=1), phase.recall("Ada", top_k=1)
            assert [one.trace_id, two.trace_id] == [each.trace_id for each in phase.recalled]
            run = phase.act("add", {"by": 1})
            with pytest.raises(ReasoningClosed):
                phase.recall("too late", top_k=1)
        told = str(memory.why(run.proposal_id).to_wire())
        assert one.trace_id in told
        assert two.trace_id in told
        assert memory.act("add", {"by": 1}).status == "completed", "the phase is over"


def _together(*works: Callable[[], None]) -> None:
    with ThreadPoolExecutor(len(works)) as pool:
        for done in [pool.submit(work) for work in works]:
            done.result(PATIENCE)


@pytest.mark.parametrize("phased", [True, False])
def test_what_two_threads_recall_is_not_mixed(place: str, phased: bool) -> None:
    both = threading.Barrier(2, timeout=PATIENCE)
    with blocking_on(place) as memory:
        memory.remember("Ada likes tea")
        found: dict[str, tuple[str, str]] = {}

        def reasons(name: str) -> None:
            with memory.reasoning() if phased else contextlib.nullcontext(memory.worlds) as phase:
                both.wait()
                recalled = (phase if phased else memory).recall(name, top_k=1)
                both.wait()
                found[name] = (recalled.trace_id, phase.propose("nothing").proposal_id)

        _together(lambda: reasons("tea"), lambda: reasons("Ada"))

        for name, other in (("tea", "Ada"), ("Ada", "tea")):
            told = str(memory.why(found[name][1]).to_wire())
            assert found[name][0] in told
            assert found[other][0] not in told


async def test_what_two_workers_recall_is_not_mixed_where_they_inherit_a_context(
    place: str,
) -> None:
    with blocking_on(place) as memory:
        memory.remember("Ada likes tea")  # from here on, this task has a context beyond
        both = threading.Barrier(2, timeout=PATIENCE)

        def work(query: str) -> tuple[str, str]:
            recalled = memory.recall(query, top_k=1)
            both.wait()
            return recalled.trace_id, memory.worlds.propose("nothing").proposal_id

        one, other = await asyncio.gather(
            asyncio.to_thread(work, "tea"), asyncio.to_thread(work, "Ada")
        )

        assert other[0] not in str(memory.why(one[1]).to_wire())
        assert one[0] not in str(memory.why(other[1]).to_wire())


# ----------------------------------------------------------------------- streams, errors


def test_a_stream_that_is_left_early_is_closed_and_keeps_nobody_waiting(place: str) -> None:
    with blocking_on(place) as memory:
        memory.remember_many([f"number {n}" for n in range(500)])
        for _ in range(20):
            for entry in memory.journal.tail(0):
                assert entry.seq == 1
                break
            stream = memory.records.stream(MemoryFilter())
            next(stream)
            del stream
        gc.collect()
        assert len(list(memory.records.stream(MemoryFilter()))) == 500
        memory.remember("still writes")
        assert len(list(memory.journal.export("log"))) > 500


def test_errors_come_out_as_they_are(place: str) -> None:
    with blocking_on(place) as memory:
        with pytest.raises(RecordNotFound) as caught:
            memory.update("nowhere", 1)
        assert caught.value.code == "record.not_found"
        with pytest.raises(TypeError):
            memory.remember()
        with contextlib.suppress(ZeroDivisionError), memory.batch() as batch:
            batch.put("x", 1)
            raise ZeroDivisionError
        with pytest.raises(InvalidRecord):
            _ = batch.receipts
        assert memory.get("x") is None
        with memory.batch() as batch:
            id = batch.remember("in a batch")
            batch.put("x", 1)
            batch.forget("nothing", reason="tidy")
        assert [one and one.id for one in batch.receipts] == [id, "x", None]


def test_an_interrupt_cancels_the_call_that_is_waited_for(place: str) -> None:
    with blocking_on(place) as memory:
        started, cancelled = threading.Event(), threading.Event()

        async def forever() -> None:
            started.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.set()
                raise

        def interrupt() -> None:
            started.wait(PATIENCE)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            while not cancelled.wait(5):  # a finalizer may have swallowed it
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored
        try:
            thread.start()
            with pytest.raises(KeyboardInterrupt):
                PORTAL.call(forever())
        finally:
            signal.signal(signal.SIGINT, before)
        thread.join()
        assert cancelled.wait(PATIENCE)
        memory.remember("the handle works as before")


def test_an_interrupt_before_the_waiting_cancels_the_call_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop, cancelled = PORTAL._running(), threading.Event()
    scheduled = loop.call_soon_threadsafe

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def interrupted(*given: Any) -> None:
        monkeypatch.undo()
        scheduled(*given)
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result(PATIENCE)  # it has begun
        raise KeyboardInterrupt

    monkeypatch.setattr(loop, "call_soon_threadsafe", interrupted)
    with pytest.raises(KeyboardInterrupt):
        PORTAL.call(forever())
    assert cancelled.wait(PATIENCE)


def test_a_hook_that_ends_the_loop_ends_one_call_alone(place: str) -> None:
    async def leave(*_: object) -> None:
        raise SystemExit(3)

    app = App[Any](hooks=MemoryHooks(on_created=leave))
    with memoranda.open_sync(place, scope="s", app=app) as memory:
        with contextlib.suppress(SystemExit):
            memory.records.create(MemoryRecordInput(id="x", data=1))
        assert memory.records.get("x") is not None, "the loop goes on"


def test_a_blocking_call_from_the_loop_itself_is_refused(place: str) -> None:
    refused: list[str] = []

    async def hook(*_: object) -> None:
        try:
            memory.get("x")
        except WaitsForItself as error:
            refused.append(error.code)

    app = App[Any](hooks=MemoryHooks(on_created=hook))
    with memoranda.open_sync(place, scope="s", app=app) as memory:
        memory.remember("something")
        assert refused == ["store.waits_for_itself"]


# ------------------------------------------------------------- threads, loops, processes


def test_threads_share_a_handle(place: str) -> None:
    with blocking_on(place) as memory:

        def write(name: int) -> None:
            for number in range(5):
                memory.put(f"{name}-{number}", number)

        _together(*[lambda name=name: write(name) for name in range(8)])

        assert len(memory.list()) == 40
        assert memory.verify().is_sound
        assert [one.name for one in threading.enumerate()].count(NAME) == 1


async def test_it_works_inside_of_a_running_loop(place: str) -> None:
    with blocking_on(place) as memory:
        memory.remember("from a coroutine")
        async with memoranda.open(place, scope="s") as other:
            assert len(await other.list()) == len(memory.list()) == 1


async def test_the_async_handle_behind_it_is_refused_elsewhere(place: str) -> None:
    with blocking_on(place) as memory:
        with pytest.raises(WrongLoop):
            await memory._twin.list()
        assert memory.list() == []


def test_what_is_dropped_closes_nothing_under_its_user(place: str) -> None:
    memory = memoranda.open_sync(place, scope="s").__enter__()
    gc.collect()
    memory.remember("still open")
    assert len(memory.list()) == 1
    memory.close()
    memory.close()
    with pytest.raises(StoreClosed):
        memory.list()


def test_a_child_process_is_refused_by_name_and_opens_its_own(place: str) -> None:
    with blocking_on(place) as memory:
        memory.remember("from the parent")
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:  # it ends without the rest of pytest
            said = b"?"
            try:
                memory.list()
            except WrongLoop:
                with memoranda.open_sync(place, scope="s", actor="agent:child") as own:
                    own.remember("from the child")
                    said = str(len(own.list())).encode()
            finally:
                os.write(writing, said)
                os._exit(0)
        os.close(writing)
        assert os.read(reading, 10) == b"2"
        os.close(reading)
        assert os.waitpid(child, 0)[1] == 0
        memory.remember("the parent goes on")
        assert len(memory.list()) == 3
        assert memory.verify().is_sound


ENDS = """
import sys, memoranda
memory = memoranda.open_sync(sys.argv[1], scope="s", actor="agent:a").__enter__()
for number in range(20):
    memory.put(f"n{number}", number)
stream = memory.journal.tail(0)
next(stream)
phase = memory.reasoning()
phase.__enter__()
print("acknowledged", flush=True)
"""


@pytest.mark.parametrize("how", ["", "raise SystemExit(0)", "import os; os._exit(0)"])
def test_a_process_that_ends_without_closing_neither_hangs_nor_loses(place: str, how: str) -> None:
    done = subprocess.run(  # noqa: S603 - ours
        [sys.executable, "-c", ENDS + how, place],
        capture_output=True,
        timeout=PATIENCE,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert (done.returncode, done.stdout) == (0, b"acknowledged\n"), done.stderr
    assert b"Traceback" not in done.stderr
    with memoranda.open_sync(place, scope="s") as memory:
        assert len(memory.list()) == 20
        assert memory.verify().is_sound
