"""The command ``memoranda``: its commands, each of which is loaded when it is named.

The verbs of the handle stand at the top, and so do the few of its groups that are used daily; each
of the others is in the group that the API has it in. Nothing is in two places (docs/cli.md). What
the help says of a command at the top stands here, so that nothing is loaded for it; a test compares
it with the command's own help.
"""

from typing import Annotated, Any, Final

import typer

from memoranda.surfaces.cli.groups import PlainErrors, Stub, arg, as_typer, opt, wrong_use

_COMMANDS: Final = {
    "Remembering and forgetting": (
        ("remember", "memory", "Remember a text, or data; or many of them at once."),
        ("put", "memory", "Create something under an id, or replace it whole."),
        ("update", "memory", "Make the next version of what is remembered."),
        ("learn", "memory", "Learn facts out of a conversation, each message once."),
        ("recall", "memory", "Select memory for a question, and put that on record."),
        ("get", "memory", "Show one thing that is remembered, if it is current."),
        ("list", "memory", "List what is remembered and current, newest first."),
        ("history", "memory", "Show everything that was done to one thing, the first step first."),
        (
            "forget",
            "memory",
            "Say that something is not to be used any more; its history keeps it.",
        ),
        ("erase", "memory", "Remove content for good: of one thing, a person, or a whole scope."),
    ),
    "Acting and deciding": (
        ("act", "actions", "Propose an action, and run it once it is approved."),
        ("run", "actions", "Run a proposal that was approved, or go on with a run that died."),
        ("inbox", "actions", "List what waits for a decision, the oldest first."),
        ("approve", "actions", "Approve a proposal that waits, or something that is remembered."),
        ("reject", "actions", "Reject a proposal that waits: it will never run."),
        ("abstain", "actions", "Neither approve nor reject a proposal that several decide."),
        ("worlds", "actions", "Proposals, branches and snapshots; what was done, run again."),
        ("turns", "turns", "Turns of an agent through an execution plan."),
    ),
    "Governing and auditing": (
        ("why", "database", "Show what led to something, with proofs."),
        ("verify", "database", "Verify a database: its chain, tree, rows, checkpoints, anchors."),
        ("status", "database", "Show how each scope stands."),
        ("govern", "govern", "Governed acts on memory, its policies and its audits."),
        ("journal", "journal", "The journal itself: entries, proofs, originals."),
        ("validate", "rules", "Validate a document of others, or of ours."),
    ),
    "Databases": (
        ("scopes", "database", "List every scope that was ever written to in a database."),
        ("export", "journal", "Export a scope as NDJSON, for memoranda-verify and for others."),
        (
            "import",
            "journal",
            "Bring in what another memory exported: ours, mem0, LangGraph and more.",
        ),
        ("copy", "journal", "Copy scopes into another database, whole and verified."),
        ("upgrade", "journal", "Bring the schema of a database up to date."),
        (
            "grants",
            "grants",
            "Print the SQL that lets a PostgreSQL role in, for its owner to run.",
        ),
        ("reindex", "database", "Make the word index anew."),
        ("eval", "evaluate", "Measure how well recall finds, with questions of your own."),
        ("backup", "journal", "Take backups, and put them back."),
        (
            "maintain",
            "maintain",
            "Jobs that keep scopes in order; vectors, and bytes of what was erased.",
        ),
        ("witness", "witness", "Keep the checkpoints of others append-only, over HTTP."),
        (
            "keys",
            "serve",
            "Keys: those that open a server's doors, and those that sign checkpoints.",
        ),
        ("serve", "serve", "Serve a database over HTTP."),
        ("mcp", "serve", "Serve one MCP client by stdio: tools, resources and prompts."),
    ),
    "Getting to know it": (
        (
            "doctor",
            "doctor",
            "Say what is wrong with an installation, a database or a server, and what to do.",
        ),
        ("rules", "rules", "List the rules that memoranda must prove, and what proves them."),
        ("help", "main", "Show the help of a command, or of all of them."),
        ("start", "start", "Serve a database with the web console, and say how to try it."),
        (
            "demo",
            "demo",
            "Show an agent that refunds 900 euros, and what can be asked of that afterwards.",
        ),
    ),
}
"""By headings of the help: a name, the module that has the command, and what the help says."""


class _Root(PlainErrors):
    """The group of all commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for panel, commands in _COMMANDS.items():
            for name, module, summary in commands:
                self.commands[name] = Stub(name, module, summary, panel)


app = typer.Typer(
    name="memoranda",
    cls=_Root,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 - for this alone

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


@as_typer
def help_(
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
        found = getattr(commands[word], "loaded", commands[word])
        shown = type(root)(found, info_name=word, parent=shown)
    typer.echo(shown.get_help())
