"""``memoranda turn`` and ``memoranda chat``: an agent's turns through an execution plan."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final
from unicodedata import category

import orjson
import typer

from memoranda.app.memory import Memory
from memoranda.journeys.turn.turns import Turn, Turns
from memoranda.journeys.turn.verbs import Plan
from memoranda.kernel.errors import CycleFailed, InvalidInput, InvalidPlan
from memoranda.outside.profiles import read_document, read_profile
from memoranda.plans.session import DEFAULT_SESSION
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.lines import next_line
from memoranda.surfaces.cli.models import EndpointUrl, KeyVariable, ModelName, Script, model_of
from memoranda.surfaces.cli.options import Actor, AsJson, Database, Scope
from memoranda.surfaces.cli.present import plain, print_json, print_line
from memoranda.surfaces.errors import exit_code

PlanFile = Annotated[
    Path,
    typer.Option("--plan", metavar="FILE", help="A plan (YAML or JSON), or a profile's folder."),
]
SessionName = Annotated[
    str, typer.Option("--session", metavar="NAME", help="Which session; 'default' by default.")
]
FreshSession = Annotated[
    bool,
    typer.Option("--fresh-session", help="Put the session that is there aside, and begin anew."),
]
Record = Annotated[
    bool, typer.Option("--record", help="Keep what was said and answered, to replay it.")
]

_NOT_KEPT: Final = "(this cycle has landed before; what was answered then was not recorded)"


def turn(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What the user says.")],
    plan: PlanFile,
    session: SessionName = DEFAULT_SESSION,
    fresh_session: FreshSession = False,
    endpoint: EndpointUrl = None,
    model: ModelName = None,
    key_variable: KeyVariable = None,
    script: Script = None,
    record: Record = False,
    cycle: Annotated[
        str | None,
        typer.Option("--cycle", metavar="ID", help="The cycle's id, so that a retry lands once."),
    ] = None,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Take one turn through a plan.

    All of it lands, or nothing. Exits with 6 when a step failed (the next turn may go on), and
    with 7 when the runtime had to stop: a write failed, or the session is not this plan's.
    """
    asked = model_of(endpoint, model, key_variable, script)

    async def take(memory: Memory[Any]) -> Turn:
        turns = await memory.turns(
            _plan(plan), model=asked, session=session, fresh=fresh_session, record=record
        )
        return await turns.take(text, cycle_id=cycle)

    taken = Place(database, scope, actor).run(take, makes=True)
    if json:
        print_json(_as_json(taken))
    else:
        print_line(_NOT_KEPT if taken.response is None else _safe(taken.response))


def chat(
    plan: PlanFile,
    session: SessionName = DEFAULT_SESSION,
    fresh_session: FreshSession = False,
    endpoint: EndpointUrl = None,
    model: ModelName = None,
    key_variable: KeyVariable = None,
    script: Script = None,
    record: Record = False,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Take turns through a plan, a line of standard input each, until it ends.

    Answers are shown as they come. A turn that failed is told, and the next one goes on; what
    stops the runtime ends the chat. With --json it is a line for each turn.
    """
    asked = model_of(endpoint, model, key_variable, script)

    async def talk(memory: Memory[Any]) -> int:
        turns = await memory.turns(
            _plan(plan), model=asked, session=session, fresh=fresh_session, record=record
        )
        status = 0
        while line := await next_line():
            if line.strip():
                status = await _one(turns, line.strip(), json=json)
        return status

    if status := Place(database, scope, actor).run(talk, makes=True):
        raise typer.Exit(status)


async def _one(turns: Turns, text: str, *, json: bool) -> int:
    """One turn of a chat, shown; its exit code."""
    try:
        taken = await turns.take(text, listener=None if json else _show)
    except (CycleFailed, InvalidInput) as failed:
        if isinstance(failed.__cause__, BrokenPipeError):  # whoever listens has left
            raise failed.__cause__ from None
        if json:
            step = {"step": failed.step} if isinstance(failed, CycleFailed) else {}
            print_line(_line({"error": {"code": failed.code, **step, "message": str(failed)}}))
        else:
            typer.echo(f"\nerror: {plain(str(failed))}", err=True)
        return exit_code(failed)
    print_line(_line(_as_json(taken)) if json else "")
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


def _plan(path: Path) -> Plan:
    if path.is_dir():
        return read_profile(path)
    document = read_document(path)
    if not isinstance(document, dict):
        raise InvalidPlan((f"{path.name}: it is not an object",))
    return document


def _as_json(taken: Turn) -> dict[str, Any]:
    return {
        "cycle": taken.cycle_id,
        "response": taken.response,
        "retried": taken.retried,
        "retrieved": [one.model_dump(mode="json") for one in taken.retrieved],
        "items": list(taken.items),
        "not_kept": taken.not_kept,
        "seq": taken.place.seq,
        "entry_hash": taken.place.entry_hash.hex(),
        "steps": {id: output.digest for id, output in taken.outputs.items()},
    }


def _line(value: Mapping[str, Any]) -> str:
    return orjson.dumps(value).decode()  # noqa: TID251 - shown, never hashed
