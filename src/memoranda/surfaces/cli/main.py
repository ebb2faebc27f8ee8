"""The command ``memoranda``: its commands, and the words by which they are found.

The verbs of the handle stand at the top, and so do the few of its groups that are used daily; each
of the others is in the group that the API has it in. Nothing is in two places (docs/cli.md).
"""

from importlib.metadata import version
from typing import Annotated, Any

import typer

from memoranda.surfaces.cli.acting import abstain, act, approve, inbox, reject, run
from memoranda.surfaces.cli.auditing import (
    embed,
    reindex,
    scopes,
    scrub,
    status,
    validate_log_file,
    validate_object_file,
    verify,
    why_,
)
from memoranda.surfaces.cli.command import Command
from memoranda.surfaces.cli.copies import copy, take, upgrade
from memoranda.surfaces.cli.copies import restore as restore_backup
from memoranda.surfaces.cli.demo import demo
from memoranda.surfaces.cli.errors import PlainErrors, wrong_use
from memoranda.surfaces.cli.evaluate import evaluate_locomo, evaluate_pairs
from memoranda.surfaces.cli.forgetting import erase, forget
from memoranda.surfaces.cli.govern import (
    archive,
    change_policy,
    consolidate,
    policies,
    record_audit,
    reinstate,
    revise,
    supersede,
)
from memoranda.surfaces.cli.help import Plain, arg, group, opt
from memoranda.surfaces.cli.journal import entries, export, import_, object_, original, proof, tail
from memoranda.surfaces.cli.keys import create, retire, rotate, show_keys
from memoranda.surfaces.cli.remembering import get, history, list_, put, recall, remember, update
from memoranda.surfaces.cli.rules import rules
from memoranda.surfaces.cli.turns import chat, replay_turn
from memoranda.surfaces.cli.turns import take as take_turn
from memoranda.surfaces.cli.worlds import (
    branch,
    branches,
    propose,
    replay,
    restore,
    resume,
    standing,
)

app = typer.Typer(
    name="memoranda",
    cls=PlainErrors,
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
        opt(
            "Print the version and exit.",
            "--version",
            callback=_print_version,
            is_eager=True,
            metavar="",
        ),
    ] = False,
) -> None:
    """Memory for AI agents that can be audited, replayed and trusted."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def show_help(
    context: typer.Context,
    command: Annotated[list[str] | None, arg("COMMAND", "Which command.")] = None,
) -> None:
    """Show the help of a command, or of all of them."""
    root = context.find_root()
    shown: Any = root
    for word in command or ():
        commands = getattr(shown.command, "commands", {})
        if word not in commands:
            raise wrong_use(f"There is no command '{shown.command_path} {word}'.")
        shown = type(root)(commands[word], info_name=word, parent=shown)
    typer.echo(shown.get_help())


def _add(panel: str, *commands: Command) -> None:
    """Put commands at the top, under a heading of the help."""
    for one in commands:
        one.add_to(app, panel)


def _group(panel: str | None, name: str, help: str, *commands: Command) -> typer.Typer:  # noqa: A002
    """Put a group of commands at the top; without a heading it is for another group."""
    made = group(help)
    for one in commands:
        one.add_to(made)
    if panel is not None:
        app.add_typer(made, name=name, rich_help_panel=panel)
    return made


_REMEMBERING = "Remembering and forgetting"
_ACTING = "Acting and deciding"
_AUDITING = "Governing and auditing"
_DATABASES = "Databases"
_LEARNING = "Getting to know it"

_add(_REMEMBERING, remember, put, update, recall, get, list_, history, forget, erase)
_add(_ACTING, act, run, inbox, approve, reject, abstain)
_group(
    *(_ACTING, "worlds", "Proposals, branches and snapshots; what was done, run again."),
    *(propose, resume, standing, restore, branch, branches, replay),
)
_group(
    *(_ACTING, "turns", "Turns of an agent through an execution plan."),
    *(take_turn, chat, replay_turn),
)
_add(_AUDITING, why_, verify, status)
_group(
    *(_AUDITING, "govern", "Governed acts on memory, its policies and its audits."),
    *(archive, reinstate, supersede, revise, consolidate),
    *(policies, change_policy, record_audit),
)
_group(
    *(_AUDITING, "journal", "The journal itself: entries, proofs, originals."),
    *(entries, tail, proof, original, object_),
)
_group(
    *(_AUDITING, "validate", "Validate a document of others, or of ours."),
    *(validate_object_file, validate_log_file),
)
_add(_DATABASES, scopes, export, import_, copy, upgrade, reindex)
_group(_DATABASES, "backup", "Take backups, and put them back.", take, restore_backup)
_group(_DATABASES, "maintain", "Vectors, and bytes of what was erased.", embed, scrub)
_keys = _group(_DATABASES, "keys", "Keys.")
_keys.add_typer(
    _group(
        *(None, "signer", "The keys that sign checkpoints: pip install 'memoranda\\[sign]'."),
        *(create, rotate, retire, show_keys),
    ),
    name="signer",
)
app.add_typer(demo, name="demo", rich_help_panel=_LEARNING)
_group(
    *(_LEARNING, "eval", "Measure how well recall finds, on questions whose answers are known."),
    *(evaluate_locomo, evaluate_pairs),
)
_add(_LEARNING, rules)
app.command("help", cls=Plain, rich_help_panel=_LEARNING)(show_help)
