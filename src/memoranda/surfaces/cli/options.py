"""The options that many commands share, each said once."""

from typing import Annotated, Any

import typer

from memoranda.journeys.govern.facts import Declared
from memoranda.kernel.json import parse
from memoranda.ledger.object import Cause, VerdictType
from memoranda.ledger.time import TemporalScope

Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        "-d",
        metavar="URL",
        help="Which database; by default MEMORANDA_DATABASE_URL, then sqlite:///memoranda.db.",
    ),
]
Scope = Annotated[
    str | None,
    typer.Option("--scope", "-s", help="Which scope; by default MEMORANDA_SCOPE, then 'default'."),
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
        help="Who acts; by default MEMORANDA_ACTOR, then human:uid-<your user number>.",
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
Subject = Annotated[str | None, typer.Option(help="The person it is about, for erasure.")]
ValidFrom = Annotated[str | None, typer.Option(metavar="TIME", help="From when it holds.")]
ValidTo = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Until when it holds, as 2026-12-31T23:59:59Z."),
]
Expires = Annotated[
    str | None, typer.Option(metavar="TIME", help="From when it is not to be returned.")
]
Jurisdiction = Annotated[str | None, typer.Option(help="Where it applies.")]
Verdict = Annotated[
    VerdictType,
    typer.Option(help="What is known of its truth; that it is Factual, somebody else says."),
]
StatementType = Annotated[
    Declared | None,
    typer.Option(help="Say that a source states it, or that it is derived; else by who writes."),
]
AppliesTo = Annotated[
    str | None,
    typer.Option(
        "--applicability-scope", metavar="JSON", help="Where it applies: an object, or null."
    ),
]
Temporal = Annotated[
    TemporalScope | None,
    typer.Option("--temporal-scope", help="What a missing bound means; unbounded is: without end."),
]
KeepSources = Annotated[
    bool,
    typer.Option(
        "--keep-sources", help="Keep the sources for another statement; needs a --reason."
    ),
]
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


def said_of(
    tag: list[str] | None = None, applicability_scope: str | None = None, **options: Any
) -> dict[str, Any]:
    """What is said of a statement, as the verbs take it."""
    where = (
        {} if applicability_scope is None else {"applicability_scope": parse(applicability_scope)}
    )
    return named(tags=tag or None, **options) | where


def named(**options: Any) -> dict[str, Any]:
    """The options that were given: for a verb in which the others pass on."""
    return {name: value for name, value in options.items() if value is not None}
