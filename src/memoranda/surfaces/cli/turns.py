"""``memoranda turns``: an agent's turns through an execution plan, taken and replayed."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Annotated, Any, Final
from unicodedata import category

import typer
from rich.console import RenderableType
from typing_extensions import Unpack

from memoranda import Memory
from memoranda.app.surfaces import DEFAULT_SESSION, Plan
from memoranda.errors import CapabilityMissing, CycleFailed, InvalidInput, InvalidPlan
from memoranda.formats import chat_profile, read_document, read_profile
from memoranda.models import Model
from memoranda.surfaces.cli.command import command
from memoranda.surfaces.cli.groups import arg, error_lines, group, opt, wrong_use
from memoranda.surfaces.cli.model_options import ModelOptions, chosen_model
from memoranda.surfaces.cli.options import IdKind
from memoranda.surfaces.cli.present import print_json, print_json_line, print_line, shows, table
from memoranda.surfaces.errors import exit_code
from memoranda.types import CycleReplay, Turn, Turns, TurnSession

_NOT_KEPT: Final = "(this cycle has landed before; what was answered then was not recorded)"


_NO_MODEL: Final = (
    "Name an --endpoint with a --model, or a --script. On a server its app names the model."
)


class SessionOptions(ModelOptions, total=False):
    """Which plan, which session, and which model is asked."""

    plan: Annotated[
        Path, opt("A plan (YAML or JSON), or a profile's folder; else ours.", metavar="FILE")
    ]
    session: Annotated[str, opt("Which session; else 'default'.", metavar="NAME")]
    subject: Annotated[str, opt("Whom it is with; else 'user'.", metavar="NAME")]
    fresh: Annotated[bool, opt("Put the session that is there aside, and begin anew.")]
    record: Annotated[bool, opt("Keep what was said and answered, to replay it.")]


@command(create=True)
async def take(
    memory: Memory[Any],
    json: bool,
    text: Annotated[str, arg("TEXT", "What the user says.")],
    cycle_id: Annotated[
        str | None, opt("The cycle's id, so that a retry lands once.", metavar="ID")
    ] = None,
    **session: Unpack[SessionOptions],
) -> None:
    """Take one turn through a plan; ours recalls what is remembered, and learns from what is said.

    All of it lands, or nothing. Exits with 6 when a step failed (the next turn may go on), and
    with 7 when the runtime had to stop: a write failed, or the session is not this plan's.
    """
    taken: Turn = await _taken(memory, text, cycle_id, session)
    if json:
        print_json(taken)
    else:
        print_line(_NOT_KEPT if taken.response is None else _safe(taken.response))


@command(create=True)
async def chat(memory: Memory[Any], json: bool, **session: Unpack[SessionOptions]) -> None:
    """Take turns through a plan, a line of standard input each, until it ends.

    Answers are shown as they come. A turn that failed is reported, and the next one goes on; what
    stops the runtime ends the chat. With --json it is a line for each turn.
    """
    turns = await _opened(memory, session)
    status = 0
    while line := await next_line():
        if line.strip():
            status = await _one(turns, line.strip(), json=json)
    if status:
        raise typer.Exit(status)


def _sessions(found: Sequence[TurnSession]) -> RenderableType:
    rows = [[one.name, one.updated_at, one.cycle_id, one.plan_hash[:12]] for one in found]
    return table("session, updated, cycle, plan", rows)


@shows(TurnSession, table=_sessions)
def _session(one: TurnSession) -> RenderableType:
    return _sessions([one])


@command(read_only=True, nothing="There are no sessions.")
async def sessions(memory: Memory[Any]) -> Sequence[TurnSession]:
    """List the sessions of the scope: what the next turn of each goes on from."""
    return await memory.turns.sessions()


@command("replay", read_only=True)
async def replay_turn(
    memory: Memory[Any],
    cycle_id: Annotated[
        str, arg("CYCLE", "The id of a cycle, or the beginning of it."), IdKind.CYCLE
    ],
) -> CycleReplay:
    """Run a recorded turn again, without a model and without memory, and compare.

    Exits with 5 when it comes out otherwise than it did.
    """
    return await memory.turns.replay(cycle_id)


async def _taken(
    memory: Memory[Any], text: str, cycle_id: str | None, given: SessionOptions
) -> Turn:
    if chosen_model(given) is not None or "plan" in given:
        return await (await _opened(memory, given)).take(text, cycle_id=cycle_id)
    asked = {
        name: given[name] for name in ("session", "subject", "fresh", "record") if name in given
    }
    try:
        return await memory.turns.take(text, cycle_id=cycle_id, **asked)
    except CapabilityMissing:
        raise wrong_use(_NO_MODEL) from None


async def _opened(memory: Memory[Any], given: SessionOptions) -> Turns:
    return await memory.turns.open(
        _plan(given.get("plan")),
        model=_model(given),
        session=given.get("session", DEFAULT_SESSION),
        fresh=given.get("fresh", False),
        record=given.get("record", False),
        subject=given.get("subject"),
    )


def _model(asked: SessionOptions) -> Model:
    """The model that the options name; wrong use where they name none."""
    model = chosen_model(asked)
    if model is None:
        raise wrong_use(_NO_MODEL)
    return model


def _plan(path: Path | None) -> Plan:
    if path is None:
        return chat_profile()
    if path.is_dir():
        return read_profile(path)
    document = read_document(path)
    if not isinstance(document, dict):
        raise InvalidPlan((f"{path.name}: it is not an object",))
    return document


async def _one(turns: Turns, text: str, *, json: bool) -> int:
    """One turn of a chat, shown; its exit code."""
    try:
        taken = await turns.take(text, listener=None if json else _show)
    except (CycleFailed, InvalidInput) as failed:
        if isinstance(failed.__cause__, BrokenPipeError):  # whoever listens has left
            raise failed.__cause__ from None
        if json:
            step = {"step": failed.step} if isinstance(failed, CycleFailed) else {}
            print_json_line({"error": {"code": failed.code, **step, "message": str(failed)}})
        else:
            typer.echo(f"\n{error_lines(str(failed))}", err=True)
        return exit_code(failed)
    if json:
        print_json_line(taken)
    else:
        print_line("")
    return 0


async def _show(piece: str) -> None:
    """A piece of an answer, at once."""
    typer.echo(_safe(piece).encode(), nl=False)


def _safe(text: str) -> str:
    """A text of several lines, without a character that would steer a terminal."""
    return "".join(one if one.isprintable() or _is_harmless(one) else "\ufffd" for one in text)


def _is_harmless(character: str) -> bool:
    """Whether it is one of the spaces, or joins the parts of an emoji or of a word."""
    return character in "\n\t\u200c\u200d" or category(character) == "Zs"


_UTF8: Final = "utf-8"


async def next_line() -> str:
    """The next line of standard input with its end; nothing where it has ended, or is closed.

    It is read by a thread of its own that nobody waits for: with one of asyncio's, an interrupt
    would end the program only after the next line. And it is read unbuffered: the interpreter can't
    end while a thread has the lock of a buffer.
    """
    if sys.stdin is None:
        return ""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[bytes] = loop.create_future()
    Thread(target=_read, args=(loop, line), daemon=True).start()
    return (await line).decode(sys.stdin.encoding or _UTF8, "surrogateescape")


def _read(loop: asyncio.AbstractEventLoop, line: "asyncio.Future[bytes]") -> None:
    given = sys.stdin.buffer
    try:
        read = partial(line.set_result, getattr(given, "raw", given).readline())
    except (OSError, ValueError) as failed:
        read = partial(line.set_exception, failed)
    with suppress(RuntimeError):  # the loop is over, and nobody waits
        loop.call_soon_threadsafe(_tell, line, read)


def _tell(line: "asyncio.Future[bytes]", read: Callable[[], None]) -> None:
    if not line.done():  # somebody still waits
        read()


turns = group("Turns of an agent through an execution plan.", take, chat, sessions, replay_turn)
