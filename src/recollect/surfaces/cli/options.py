"""The options that many commands share, each said once."""

from typing import Annotated

import typer

from recollect.ledger.object import Cause

Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        "-d",
        metavar="URL",
        help="Which database; by default RECOLLECT_DATABASE_URL, then sqlite:///recollect.db.",
    ),
]
Scope = Annotated[
    str | None,
    typer.Option("--scope", "-s", help="Which scope; by default RECOLLECT_SCOPE, then 'default'."),
]
Scopes = Annotated[
    list[str] | None,
    typer.Option("--scope", "-s", help="Only this scope; may be repeated. By default, all."),
]
Actor = Annotated[
    str | None,
    typer.Option(
        "--actor",
        metavar="KIND:ID",
        help="Who acts; by default RECOLLECT_ACTOR, then human:uid-<your user number>.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="The id of what is remembered.")]
Words = Annotated[str | None, typer.Argument(metavar="TEXT", help="The text; - is standard input.")]
Data = Annotated[
    str | None, typer.Option("--data", metavar="JSON", help="A JSON value instead of a text.")
]
Sources = Annotated[
    list[str] | None,
    typer.Option("--source", metavar="URI", help="Where it is from; may be repeated."),
]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be repeated.")]
Reason = Annotated[str, typer.Option(help="Why; it is kept in the journal.")]
OptionalReason = Annotated[str | None, typer.Option(help="Why; it is kept in the journal.")]
OptionalCause = Annotated[Cause | None, typer.Option(help="What kind of reason it is.")]
ExpectedVersion = Annotated[
    int | None,
    typer.Option("--expected-version", metavar="N", help="Refuse if it is at another version."),
]
RetryKey = Annotated[
    str | None,
    typer.Option("--key", help="A name for this request, so that a retry of it lands once."),
]
