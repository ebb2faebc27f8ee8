"""The command ``recollect`` and its list of commands.

A command is a plain function in a module of its own, with its options as annotated parameters;
one line at the end of this file adds it.
"""

from importlib.metadata import version
from typing import Annotated

import typer

from recollect.surfaces.cli.act import act, resume, run
from recollect.surfaces.cli.consolidate import consolidate
from recollect.surfaces.cli.copies import backup, copy
from recollect.surfaces.cli.demo import demo
from recollect.surfaces.cli.embed import embed
from recollect.surfaces.cli.erase import erase
from recollect.surfaces.cli.errors import PlainErrors
from recollect.surfaces.cli.evaluate import evaluate
from recollect.surfaces.cli.export import export
from recollect.surfaces.cli.forget import archive, forget, reinstate, supersede
from recollect.surfaces.cli.govern import audit, policy
from recollect.surfaces.cli.inbox import abstain, approve, inbox, reject
from recollect.surfaces.cli.keys import keys
from recollect.surfaces.cli.read import get, history, list_
from recollect.surfaces.cli.recall import original, recall
from recollect.surfaces.cli.reindex import reindex
from recollect.surfaces.cli.remember import remember, update
from recollect.surfaces.cli.replay import replay
from recollect.surfaces.cli.rules import rules
from recollect.surfaces.cli.scopes import scopes
from recollect.surfaces.cli.search import search
from recollect.surfaces.cli.status import status
from recollect.surfaces.cli.turn import chat, turn
from recollect.surfaces.cli.validate import validate
from recollect.surfaces.cli.verify import verify
from recollect.surfaces.cli.why import why
from recollect.surfaces.cli.worlds import branches, restore

app = typer.Typer(
    name="recollect",
    cls=PlainErrors,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"recollect {version('recollect')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def recollect(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Memory for AI agents that can be audited, replayed and trusted."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


_REMEMBERING = "Remembering"
_ACTING = "Acting and deciding"
_FORGETTING = "Forgetting"
_AUDITING = "Auditing"
_MOVING = "Copies and backups"
_LEARNING = "Getting to know it"

app.command(rich_help_panel=_REMEMBERING)(remember)
app.command(rich_help_panel=_REMEMBERING)(update)
app.command("list", rich_help_panel=_REMEMBERING)(list_)
app.command(rich_help_panel=_REMEMBERING)(recall)
app.command(rich_help_panel=_REMEMBERING)(original)
app.command(rich_help_panel=_REMEMBERING)(search)
app.command(rich_help_panel=_REMEMBERING)(get)
app.command(rich_help_panel=_REMEMBERING)(history)
app.command(rich_help_panel=_REMEMBERING)(consolidate)
app.command(rich_help_panel=_ACTING)(turn)
app.command(rich_help_panel=_ACTING)(chat)
app.command(rich_help_panel=_ACTING)(act)
app.command(rich_help_panel=_ACTING)(inbox)
app.command(rich_help_panel=_ACTING)(approve)
app.command(rich_help_panel=_ACTING)(reject)
app.command(rich_help_panel=_ACTING)(abstain)
app.command(rich_help_panel=_ACTING)(run)
app.command(rich_help_panel=_ACTING)(resume)
app.command(rich_help_panel=_ACTING)(branches)
app.command(rich_help_panel=_ACTING)(restore)
app.command(rich_help_panel=_FORGETTING)(forget)
app.command(rich_help_panel=_FORGETTING)(archive)
app.command(rich_help_panel=_FORGETTING)(reinstate)
app.command(rich_help_panel=_FORGETTING)(supersede)
app.command(rich_help_panel=_FORGETTING)(erase)
app.command(rich_help_panel=_AUDITING)(why)
app.command(rich_help_panel=_AUDITING)(replay)
app.command(rich_help_panel=_AUDITING)(status)
app.command(rich_help_panel=_AUDITING)(verify)
app.command(rich_help_panel=_AUDITING)(export)
app.add_typer(validate, name="validate", rich_help_panel=_AUDITING)
app.add_typer(audit, name="audit", rich_help_panel=_AUDITING)
app.add_typer(policy, name="policy", rich_help_panel=_AUDITING)
app.add_typer(keys, name="keys", rich_help_panel=_AUDITING)
app.command(rich_help_panel=_AUDITING)(scopes)
app.command(rich_help_panel=_AUDITING)(reindex)
app.command(rich_help_panel=_AUDITING)(embed)
app.command(rich_help_panel=_MOVING)(copy)
app.add_typer(backup, name="backup", rich_help_panel=_MOVING)
app.add_typer(demo, name="demo", rich_help_panel=_LEARNING)
app.add_typer(evaluate, name="eval", rich_help_panel=_LEARNING)
app.command(rich_help_panel=_LEARNING)(rules)
