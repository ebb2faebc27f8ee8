"""What the members of requests are called, and what they may be: one word, one meaning.

The names are those of the parameters of the API, in camelCase on the wire. A parameter that is not
here can't go over the wire, and is left out of every request.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from memoranda.app.audit import ExportKind
from memoranda.journeys.audit.survey import LatestOf
from memoranda.journeys.govern.about import Declared
from memoranda.journeys.govern.read import Include, Order
from memoranda.kernel.json import MAX_INTEGER, JsonValue
from memoranda.ledger.object import Cause, VerdictType
from memoranda.ledger.policy import OnConflict, PeriodicJob, PolicyKind
from memoranda.ledger.time import TemporalScope
from memoranda.recall.selectors import SHIPPED

MOST: Final = 200
"""The most that a page has, and that one request may name."""

Number = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
Moment = (
    Annotated[str, Field(max_length=64)] | Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)]
)
Text = Annotated[str, Field(max_length=1_000_000)]
Name = Annotated[str, Field(max_length=4096)]
Names = Annotated[list[Name], Field(max_length=MOST)]
Object = dict[str, Any]
SelectorName = Literal[tuple(sorted(SHIPPED))]  # type: ignore[valid-type]
SourceOf = Name | Object | Annotated[list[Name | Object], Field(max_length=MOST)]


Milliseconds = Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)]
Lines = Annotated[str, Field(max_length=16_000_000)]


def _many(kind: Any) -> Any:
    return Annotated[list[kind], Field(max_length=1_000)]


def _said(kind: Any, description: str, *examples: Any) -> Any:
    return Annotated[kind, Field(description=description, examples=list(examples) or None)]


_TIME: Final = "2026-11-16T10:22:31Z"

MEMBERS: Final[Mapping[str, Any]] = {
    # ------------------------------------------------------------------ what it is about
    "id": _said(Name, "Its id.", "visit-1"),
    "ids": _said(_many(Name) | None, "Their ids.", ["visit-1", "visit-2"]),
    "data": _said(
        JsonValue,
        "A text, or any JSON value; with a mediaType, bytes as base64.",
        "The customer prefers email",
    ),
    "patch": _said(JsonValue, "Members to merge, or what takes the place.", {"state": "done"}),
    "statement": _said(Text, "What it says.", "The customer prefers email, and never calls"),
    "text": _said(Text | None, "Words that it must say.", "email"),
    "query": _said(Text, "The question.", "how should I reach the customer?"),
    "messages": _said(
        Annotated[list[Object], Field(max_length=MOST)],
        "A conversation: objects with content, and role, speaker, at and id where known.",
        [{"role": "user", "speaker": "ann", "content": "My favourite colour is green."}],
    ),
    "created_at": _said(Milliseconds | None, "When it was made, in ms.", 1_763_000_000_000),
    "updated_at": _said(Milliseconds | None, "When it changed, in ms.", 1_763_000_000_000),
    "filter": _said(Object, "A MemoryFilter.", {"tags": ["contact"], "limit": 10}),
    "records": _said(_many(Object), "Records, each as in create.", [{"data": {"a": 1}}]),
    "updates": _said(
        _many(Object), "Objects with id, patch, expectedVersion.", [{"id": "a", "patch": {"b": 2}}]
    ),
    "memories": _said(
        _many(Object),
        "Objects with data, and an id and what is said of that one alone.",
        [{"data": "The customer prefers email", "tags": ["contact"]}],
    ),
    "writes": _said(
        _many(Object),
        "Objects with `do` (remember, put, update or forget) and the members of that operation.",
        [{"do": "put", "id": "visit-1", "data": {"state": "done"}}],
    ),
    "objects": _said(Lines, "MemoryObjects, as NDJSON."),
    "log": _said(Lines | None, "The MemoryLog of the same objects, as NDJSON."),
    # -------------------------------------------------------------------- what is said
    "tags": _said(Names | None, "Tags.", ["contact"]),
    "meta": _said(Object | None, "An object of your own, kept with it.", {"ticket": 812}),
    "subject": _said(Name | None, "The person it is about, for erasure.", "customer-7"),
    "about": _said(Name | None, "The person a question is about.", "customer-7"),
    "source": _said(SourceOf | None, "Where it is from.", "ticket/812"),
    "keep_sources": _said(bool, "Keep the sources for another statement."),
    "valid_from": _said(Moment | None, "From when it holds.", _TIME),
    "valid_to": _said(Moment | None, "Until when it holds.", _TIME),
    "expires": _said(Moment | None, "From when it is not to be returned.", _TIME),
    "thread": _said(Name | None, "What it is a part of, say a conversation.", "chat-1"),
    "speaker": _said(Name | None, "Who said it.", "ann"),
    "said_at": _said(Moment | None, "When it was said.", _TIME),
    "jurisdiction": _said(Name | None, "Where it applies.", "EU"),
    "verdict": _said(VerdictType | None, "What is known of its truth."),
    "statement_type": _said(Declared | None, "That a source states it, or that it is derived."),
    "applicability_scope": _said(Object | None, "Where it applies, as an object."),
    "temporal_scope": _said(TemporalScope | None, "What a missing bound of time means."),
    "media_type": _said(Name | None, "What kind of bytes the data are.", "image/png"),
    "indexed": _said(bool, "Whether it can be found by its words."),
    "embed": _said(
        Names | bool | None,
        "The paths of what is found by its meaning; false: nothing.",
        ["$.text"],
    ),
    # --------------------------------------------------------------------- how it is done
    "reason": _said(Text | None, "Why; it is kept in the journal.", "the customer said so"),
    "cause": _said(Cause, "What kind of reason it is."),
    "idempotency_key": _said(Name | None, "A name for this request: a retry of it lands once."),
    "expected_version": _said(Number | None, "Refuse it if it is at another version.", 1),
    "dry_run": _said(bool, "Only say what would be done."),
    "whole_scope": _said(bool, "All of the scope, for good."),
    "justification": _said(Text, "Why they may be summed up.", "both are of the same customer"),
    "derived_fragments": _said(Names, "Parts that no source covers."),
    "on_conflict": _said(OnConflict, "What to do if the inputs conflict."),
    "widening": _said(Text | None, "Why it may claim more than its inputs do."),
    "lenient": _said(bool, "Let in what can come in, and name the rest."),
    "audit_ref": _said(Name, "What the audit is called.", "audit-2026-11"),
    "accept": _said(
        Annotated[list[Number | Name], Field(max_length=MOST)],
        "The damage that is accepted: entries by number, or checks by name.",
    ),
    "policy": _said(PolicyKind, "Which policy.", "consolidation"),
    "version": _said(Number | None, "Which version; else the newest.", 1),
    "rules": _said(Object, "The rules of the policy's next version."),
    "enabled": _said(bool, "Whether the scope is maintained.", True),
    "retention": _said(
        Object, "What is kept: maxAge in ms, maxRecords, ephemeralTags.", {"maxRecords": 10_000}
    ),
    "intervals": _said(
        dict[PeriodicJob, Number] | None,
        "The jobs that run, each with the seconds between two runs; else all, as is usual.",
        {"retention": 3600},
    ),
    "jobs": _said(Names, "The names of jobs; else all.", ["retention"]),
    # ------------------------------------------------------------------------ what is asked
    "at": _said(Moment | None, "As it was known then: a time, or the number of an entry.", _TIME),
    "valid_at": _said(Moment | None, "What held then.", _TIME),
    "include": _said(list[Include], "Also what is not current."),
    "factual": _said(bool, "Only what may be used as a fact."),
    "every": _said(bool, "Whether it must say every word, or any of them."),
    "limit": _said(Annotated[int, Field(ge=1, le=MOST)], f"At most so many, up to {MOST}.", 20),
    "cursor": _said(Name | None, "The `next` of the page before."),
    "order_by": _said(Order, "By which time."),
    "order": _said(Literal["asc", "desc"], "Newest first, or oldest."),
    "where": _said(Object | None, "Conditions on data and meta.", {"data.state": "open"}),
    "tag_prefix": _said(Name | None, "Only with a tag that begins so.", "con"),
    "id_prefix": _said(Name | None, "Only with an id that begins so.", "visit-"),
    "prefix": _said(Name, "What they begin with.", "visit-"),
    "kinds": _said(Names, "Of which kinds of things, or of entries; else of all."),
    "created_after": _said(Moment | None, "Only what was made since.", "2h ago"),
    "created_before": _said(Moment | None, "Only what was made until."),
    "updated_after": _said(Moment | None, "Only what changed since."),
    "updated_before": _said(Moment | None, "Only what changed until."),
    "top_k": _said(Annotated[int, Field(ge=1, le=MOST)], "How many at most.", 5),
    "offset": _said(Number, "How many of the best to leave out.", 0),
    "selector": _said(SelectorName, "How memory is selected."),
    "min_confidence": _said(
        Annotated[float, Field(ge=0, le=1)], "Only what it is at least so sure of.", 0.2
    ),
    "verified_only": _said(bool, "Only what is verified, and not untrusted."),
    "token_budget": _said(Number | None, "As much as fits into so many tokens, estimated.", 500),
    "start": _said(Number, "The number of the first entry.", 0),
    "after": _said(Number | None, "The number of the last entry that is known.", 17),
    "seq": _said(Number, "The number of an entry.", 0),
    "before": _said(Number | None, "The `next` of the page before.", 400),
    "previous": _said(Name | None, "The `next` of the page before."),
    "what": _said(LatestOf, "What is listed.", "recall"),
    "since": _said(Moment, "From when.", "14d ago"),
    "until": _said(Moment | None, "Until when; else now."),
    "parts": _said(Number, "How many equal parts.", 14),
    "ref": _said(Name, "A worldId: of a world, or the address of a record version."),
    "kind": _said(ExportKind, "The journal itself, its MemoryLog, or its objects."),
    # ------------------------------------------------------------------------------ acting
    "action": _said(Name, "The name of an action of the domain.", "refund"),
    "input": _said(JsonValue, "What the action takes.", {"order": "A-1", "amount": 20}),
    "memory": _said(
        Names | None, "The ids of the traces that it rests on; an empty list for none.", []
    ),
    "reasoning_id": _said(
        Name | None,
        "A name of your own for a reasoning phase: recalls with it belong together, and a proposal"
        " with it rests on all of them, and closes it.",
        "reasoning-7",
    ),
    "branch": _said(Name, "Which branch.", "main"),
    "name": _said(Name, "The name of a branch.", "what-if"),
    "paths": _said(Names | None, "The parts of the state that it may change."),
    "hints": _said(Object | None, "For the provider of memory."),
    "wait": _said(
        Annotated[float, Field(ge=0, le=10)], "How many seconds to wait for a decision.", 0
    ),
    "proposal_id": _said(Name, "The id of a proposal."),
    "cycle_id": _said(Name | None, "The id of a cycle: a turn, and every attempt at it."),
    "message": _said(Text, "What the user says.", "I moved to Busan. Where is my parcel?"),
    "session": _said(Name, "The name of a session.", "default"),
    "fresh": _said(bool, "Put the session that is there aside, and begin anew."),
    "record": _said(bool, "Keep what was said and answered, so that it can be replayed."),
}
"""By the name of the parameter."""

NO_WIRE: Final = frozenset(
    {"progress", "count_tokens", "signers", "extractor", "summariser", "steps"}
)
"""Parameters that are code: they have a default, and no request has them."""
