"""The command ``memoranda`` and its list of commands.

A command is a plain function in a module of its own, with its options as annotated parameters;
one line at the end of this file adds it.
"""

from importlib.metadata import version
from typing import Annotated

import typer

from memoranda.surfaces.cli.act import act, resume, run
from memoranda.surfaces.cli.consolidate import consolidate
from memoranda.surfaces.cli.copies import backup, copy
from memoranda.surfaces.cli.demo import demo
from memoranda.surfaces.cli.embed import embed
from memoranda.surfaces.cli.erase import erase
from memoranda.surfaces.cli.errors import PlainErrors
from memoranda.surfaces.cli.evaluate import evaluate
from memoranda.surfaces.cli.export import export
from memoranda.surfaces.cli.forget import archive, forget, reinstate, supersede
from memoranda.surfaces.cli.govern import audit, policy
from memoranda.surfaces.cli.importing import import_
from memoranda.surfaces.cli.inbox import abstain, approve, inbox, reject
from memoranda.surfaces.cli.keys import keys
from memoranda.surfaces.cli.read import get, history, list_
from memoranda.surfaces.cli.recall import original, recall
from memoranda.surfaces.cli.reindex import reindex
from memoranda.surfaces.cli.remember import remember, revise, update
from memoranda.surfaces.cli.replay import replay
from memoranda.surfaces.cli.rules import rules
from memoranda.surfaces.cli.scopes import scopes
from memoranda.surfaces.cli.search import search
from memoranda.surfaces.cli.status import status
from memoranda.surfaces.cli.turn import chat, turn
from memoranda.surfaces.cli.upgrade import upgrade
from memoranda.surfaces.cli.validate import validate
from memoranda.surfaces.cli.verify import verify
from memoranda.surfaces.cli.why import why
from memoranda.surfaces.cli.worlds import branches, restore

app = typer.Typer(
    name="memoranda",
    cls=PlainErrors,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"memoranda {version('memoranda')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def memoranda(
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
app.command(rich_help_panel=_REMEMBERING)(revise)
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
app.command("import", rich_help_panel=_REMEMBERING)(import_)
app.add_typer(validate, name="validate", rich_help_panel=_AUDITING)
app.add_typer(audit, name="audit", rich_help_panel=_AUDITING)
app.add_typer(policy, name="policy", rich_help_panel=_AUDITING)
app.add_typer(keys, name="keys", rich_help_panel=_AUDITING)
app.command(rich_help_panel=_AUDITING)(scopes)
app.command(rich_help_panel=_AUDITING)(reindex)
app.command(rich_help_panel=_AUDITING)(embed)
app.command(rich_help_panel=_MOVING)(copy)
app.add_typer(backup, name="backup", rich_help_panel=_MOVING)
app.command(rich_help_panel=_MOVING)(upgrade)
app.add_typer(demo, name="demo", rich_help_panel=_LEARNING)
app.add_typer(evaluate, name="eval", rich_help_panel=_LEARNING)
app.command(rich_help_panel=_LEARNING)(rules)
