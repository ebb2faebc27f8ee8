"""Options that several commands share, each said once, under the names of the API.

A TypedDict stands for the options of that name: a command takes ``**about: Unpack[AboutOptions]``
and hands it to the verb. What may be repeated has the name of one: ``--tag`` for ``tags``. An id
may be given by the beginning that only one has, or as a table shows it, with ``…`` in its middle.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Annotated, Any, Final, TypedDict

import typer

from memoranda import Memory
from memoranda.app.surfaces import (
    Cause,
    Declared,
    Include,
    TemporalScope,
    VerdictType,
    milliseconds_of,
)
from memoranda.errors import InvalidJson
from memoranda.formats import parse_json as parse
from memoranda.surfaces.cli.groups import arg, opt, wrong_use
from memoranda.types import JsonValue, SystemClock


@dataclass(frozen=True, slots=True)
class Value:
    """How what is given with an option becomes what the function takes."""

    read: Callable[[Any, str], Any]
    """From what was given, and the name of the option."""
    given_as: Any = str | None


def json_value(text: str | bytes, option: str) -> JsonValue:
    """A JSON value; wrong use, with the place, where it is none."""
    try:
        return parse(text)
    except InvalidJson as refused:
        raise wrong_use(f"{option} is not JSON: {refused.why}, at {refused.where}.") from None


def json_object(text: str, option: str) -> JsonValue:
    """A JSON object."""
    found = json_value(text, option)
    if not isinstance(found, dict):
        raise wrong_use(f'{option} is not a JSON object, such as {{"name": "value"}}.')
    return found


def _since(text: str, _: str) -> int | None:
    return milliseconds_of(text, SystemClock().now_ms())


def _until(text: str, _: str) -> int | None:
    return milliseconds_of(text, SystemClock().now_ms(), is_end=True)


def name_of(file: Any) -> str:
    """The name of a file that was given, for messages."""
    name = getattr(file, "name", None)
    return name if isinstance(name, str) and name != "<stdin>" else "standard input"


JSON: Final = Value(json_value)
JSON_OBJECT: Final = Value(json_object)
SINCE: Final = Value(_since)
"""A moment as people write it; a day is its start."""
UNTIL: Final = Value(_until)
"""The same; a day is its end."""
AT: Final = Value(lambda text, _: int(text) if text.isdecimal() else text)
"""A number is that of an entry, anything else a time."""


# --------------------------------------------------------------------------------- ids

MOST: Final = 10
"""So many candidates are named where a beginning is not enough."""
_TIME_ORDERED: Final = re.compile(
    r"([0-9a-f]{8})-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f-]{13}([0-9a-f]{4})"
)


class IdKind(Enum):
    """What an id is that of."""

    ANY = ()
    RECORD = ("record",)
    PROPOSAL = ("proposal",)
    DECIDED = ("proposal", "record")
    WORLD = ("world", "execution")
    ACTED = ("world", "execution", "proposal")
    RECALL = ("recall",)
    CYCLE = ("cycle",)


def short_id(id: str) -> str:
    """An id that was made in the order of time, shortened; another one as it is."""
    return _TIME_ORDERED.sub(r"\1…\2", id)


async def whole_id(memory: Memory[Any], given: Any, kind: IdKind) -> Any:
    """The only id that begins so; what was given where none does, because the verb says that."""
    if given is None:
        return None
    if isinstance(given, list):
        return [await whole_id(memory, value, kind) for value in given]
    start, _, end = given.replace("...", "…").partition("…")
    begin_so = await memory.journal.ids(start, kinds=kind.value) if start else []
    executions = {f"{id}:1" for id in begin_so}  # a proposal stands for its own
    candidates = [id for id in begin_so if id.endswith(end) and id not in executions]
    if not candidates:
        return given
    if len(candidates) == 1:
        return candidates[0]
    named = ", ".join(candidates[:MOST])
    more = f" and {len(candidates) - MOST} more" if len(candidates) > MOST else ""
    raise wrong_use(f"{given!r} is the beginning of several ids; give more of one: {named}{more}.")


# ---------------------------------------------------------------------------- arguments

Id = Annotated[str, arg("ID", "Its id, or the beginning of it."), IdKind.RECORD]
Words = Annotated[str | None, arg("TEXT", "The text; - is standard input.")]
ProposalId = Annotated[
    str, arg("ID", "The id of a proposal, or the beginning of it."), IdKind.PROPOSAL
]
File = Annotated[typer.FileBinaryRead, arg("FILE", "The file; - is standard input.")]

# ------------------------------------------------------------------------------- writing

Data = Annotated[
    JsonValue | None, opt("A JSON value instead of a text.", "--data", metavar="JSON"), JSON
]


Reason = Annotated[str, opt("Why; it is kept in the journal.")]
OptionalReason = Annotated[str | None, opt("Why; it is kept in the journal.")]


class RetryOptions(TypedDict, total=False):
    """How a request is repeated."""

    idempotency_key: Annotated[
        str, opt("A name for this request, so that a retry of it lands once.")
    ]


class VersionOptions(RetryOptions, total=False):
    """How a next version is written."""

    expected_version: Annotated[int, opt("Refuse if it is at another version.")]


class ForgetOptions(VersionOptions, total=False):
    """How something is put out of use."""

    cause: Annotated[Cause, opt("What kind of reason it is.")]


class AboutOptions(TypedDict, total=False):
    """What may be said of a statement, as `About` names it."""

    tags: Annotated[list[str], opt("A tag; may be repeated.", "--tag")]
    meta: Annotated[
        Mapping[str, Any], opt("An object of your own, kept with it.", metavar="JSON"), JSON_OBJECT
    ]
    subject: Annotated[str, opt("The person it is about, for erasure.")]
    source: Annotated[list[str], opt("Where it is from; may be repeated.", metavar="URI")]
    valid_from: Annotated[int, opt("From when it holds.", metavar="TIME"), SINCE]
    valid_to: Annotated[int, opt("Until when it holds, as 2026-12-31.", metavar="TIME"), UNTIL]
    expires: Annotated[int, opt("From when it is not to be returned.", metavar="TIME"), SINCE]
    thread: Annotated[str, opt("What it is a part of, say a conversation.")]
    speaker: Annotated[str, opt("Who said it.")]
    said_at: Annotated[int, opt("When it was said.", metavar="TIME"), SINCE]
    jurisdiction: Annotated[str, opt("Where it applies.")]
    verdict: Annotated[
        VerdictType, opt("What is known of its truth; that it is Factual, somebody else says.")
    ]
    statement_type: Annotated[
        Declared, opt("That a source states it, or that it is derived; else by who writes.")
    ]
    applicability_scope: Annotated[
        Mapping[str, JsonValue] | None,
        opt("Where it applies: an object, or null.", metavar="JSON"),
        JSON,
    ]
    temporal_scope: Annotated[
        TemporalScope, opt("What a missing bound means: it is unknown, or none.")
    ]
    media_type: Annotated[str, opt("What kind of bytes standard input has.")]
    indexed: Annotated[bool, opt("Whether it can be found by its words.", "--indexed/--no-indexed")]
    embed: Annotated[
        JsonValue,
        opt('Paths of what is found by its meaning, as ["$.text"]; [] for none.', metavar="JSON"),
        JSON,
    ]


class RememberOptions(AboutOptions, RetryOptions, total=False):
    """What is said of something new."""


class PutOptions(AboutOptions, VersionOptions, total=False):
    """What is said of something, whether it is new or not."""


class NextOptions(PutOptions, total=False):
    """What is said of a version that follows another one."""

    keep_sources: Annotated[bool, opt("Keep the sources for another statement; needs a --reason.")]


class SupersedeOptions(NextOptions, total=False):
    """What is said of something that takes the place of something else."""

    cause: Annotated[Cause, opt("What kind of reason it is.")]


# ------------------------------------------------------------------------------- reading

At = Annotated[
    str | int | None,
    opt("As it was known then: '2026-11-16', '2h ago', 17.", metavar="TIME|ENTRY"),
    AT,
]


class _Included(StrEnum):
    """What `Include` names, as an option that is repeated takes it."""

    EXPIRED = "expired"
    FALSE = "false"
    INVALIDATED = "invalidated"
    ARCHIVED = "archived"
    SUPERSEDED = "superseded"


_INCLUDED: Final = Value(
    lambda chosen, _: [value.value for value in chosen], given_as=list[_Included] | None
)


class FilterOptions(TypedDict, total=False):
    """Which records are asked for, as `Filters` names it."""

    tags: Annotated[list[str], opt("Only with this tag; repeated, with all of them.", "--tag")]
    subject: Annotated[str, opt("Only what is about this person.")]
    thread: Annotated[str, opt("Only what is a part of this, say a conversation.")]
    where: Annotated[
        Mapping[str, Any],
        opt('Conditions, as {"data.status": "open"}.', metavar="JSON"),
        JSON_OBJECT,
    ]
    tag_prefix: Annotated[str, opt("Only with a tag that begins so.")]
    id_prefix: Annotated[str, opt("Only with an id that begins so.")]
    created_after: Annotated[
        str, opt("Only what was made since: '2026-11-16', '2h ago'.", metavar="TIME")
    ]
    created_before: Annotated[str, opt("Only what was made until.", metavar="TIME")]
    updated_after: Annotated[str, opt("Only what changed since.", metavar="TIME")]
    updated_before: Annotated[str, opt("Only what changed until.", metavar="TIME")]


class TimeOptions(TypedDict, total=False):
    """As of when."""

    at: At
    valid_at: Annotated[str, opt("What held at this time.", metavar="TIME")]


class ReadOptions(TimeOptions, total=False):
    """What of it, and as of when."""

    include: Annotated[list[Include], opt("Also what is not current; may be repeated."), _INCLUDED]
    factual: Annotated[bool, opt("Only what may be used as a fact; refused in a break.")]


class ListingOptions(ReadOptions, FilterOptions, total=False):
    """What `list` takes."""


class RecallFlags(TimeOptions, FilterOptions, total=False):
    """How a recall selects."""

    min_confidence: Annotated[float, opt("Only what it is at least so sure of, from 0 to 1.")]
    verified_only: Annotated[bool, opt("Only what is verified, and not untrusted.")]
    token_budget: Annotated[int, opt("As much as fits into N tokens, estimated.")]
