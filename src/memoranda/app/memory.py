"""`Memory`: a handle on one scope, for one actor. Every verb of memoranda is here or in a group.

A handle is a value: making one reads nothing and costs microseconds. It works as long as the
database that it came from is open.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from typing import Any, Final, Generic, Literal

from typing_extensions import TypeVar, Unpack

from memoranda.app.groups import ActOptions, Govern, Inbox, TurnsOf, Worlds
from memoranda.app.handle import Handle, Verbs, verb
from memoranda.app.journal import Journal
from memoranda.app.upkeep import Maintain
from memoranda.journeys.audit.verify import Progress, nobody
from memoranda.journeys.audit.whole import Audit
from memoranda.journeys.audit.why import Why
from memoranda.journeys.govern.about import NOTHING_SAID, About, Memo, said_of_new
from memoranda.journeys.govern.batch import Batch
from memoranda.journeys.govern.certificate import ErasureCertificate
from memoranda.journeys.govern.find import Filters
from memoranda.journeys.govern.objects import Event, Receipt, Remembered
from memoranda.journeys.govern.read import Include, Order
from memoranda.journeys.govern.times import At, Moment
from memoranda.journeys.govern.writes import Write
from memoranda.journeys.intent.requests import ABSENT, Run, Trace, Used
from memoranda.journeys.recall.reasoning import Reasoning
from memoranda.journeys.recall.recalled import Recalled
from memoranda.journeys.records.contents import check_text
from memoranda.journeys.records.store import Records
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.given import check_callable
from memoranda.kernel.json import JsonValue
from memoranda.kernel.results import Rows
from memoranda.ledger.object import Cause
from memoranda.plans.facts import Learned
from memoranda.plans.spoken import AnyExtractor
from memoranda.recall.selector import Count, Selector
from memoranda.recall.selectors import USUAL
from memoranda.records.filter import Page
from memoranda.worlds.world import MAIN

T = TypeVar("T", default=Any)

VERBS: Final = (
    "remember", "remember_many", "put", "update", "recall", "learn", "get", "list", "history",
    "forget", "erase", "why", "verify", "act", "batch", "reasoning",
)  # fmt: skip
GROUPS: Final = ("records", "inbox", "worlds", "turns", "govern", "journal", "maintain")


class ListOptions(Filters, total=False):
    """What `list` can be asked besides what it is narrowed to."""

    at: At | None
    valid_at: Moment | None
    include: Collection[Include]
    factual: bool


class RecallOptions(Filters, total=False):
    """How a recall selects besides what it is narrowed to."""

    at: At | None
    """What was known then: a time, or the number of an entry."""
    valid_at: Moment | None
    """What held then."""
    min_confidence: float
    verified_only: bool
    token_budget: int | None
    """At most so many tokens of text, by an estimate or by `count_tokens`."""
    count_tokens: Count
    reasoning_id: str | None
    """A name for the reasoning phase that it belongs to, whatever process goes on with it."""


class Memory(Verbs[T], Generic[T]):
    """What one actor can do with one scope."""

    def __init__(self, scope: str, actor: ActorRef, handle: Handle[T]) -> None:
        super().__init__(handle)
        self.scope: Final = scope
        self.actor: Final = actor

    def __repr__(self) -> str:
        return f"<Memory scope={self.scope!r} actor={str(self.actor)!r}>"

    def __dir__(self) -> list[str]:
        return [*VERBS, *GROUPS, "actor", "scope"]

    # ------------------------------------------------------------------------- groups

    @property
    def records(self) -> Records[T]:
        """The store of plain records: create, get, update, delete, query, and more."""
        return self._handle.records

    @cached_property
    def inbox(self) -> Inbox:
        """What waits for a decision, and the answers to it."""
        return Inbox(self._handle)

    @cached_property
    def worlds(self) -> Worlds:
        """Proposals, runs, snapshots, branches and replay."""
        return Worlds(self._handle)

    @cached_property
    def turns(self) -> TurnsOf:
        """Turns of an agent through an execution plan."""
        return TurnsOf(self._handle)

    @cached_property
    def govern(self) -> Govern[T]:
        """Archive, reinstate, supersede, revise, consolidate, approve; policies, audits, status."""
        return Govern(self._handle)

    @cached_property
    def journal(self) -> Journal[T]:
        """The journal itself: entries, proofs, originals, exports and imports."""
        return Journal(self._handle)

    @cached_property
    def maintain(self) -> Maintain:
        """Jobs by policy: retention, indexes, vectors, checkpoints; bytes of what was erased."""
        return Maintain(self._handle)

    # ------------------------------------------------------------------------- writing

    @verb
    async def remember(
        self,
        data: T | bytes,
        *,
        id: str | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
        **about: Unpack[About],
    ) -> Receipt:
        """Remember a text, or any data, with what is known about it (docs/writing.md).

        What is not said is written as unknown. Bytes need a `media_type`; they are kept, and not
        searched. `valid_to` is until when it holds, `expires` from when it is not to be returned.
        `thread`, `speaker` and `said_at` say where it was said, by whom and when. That something is
        Factual is for another actor to say, with `govern.approve` or `govern.revise`.
        """
        parts = self._handle.parts
        said = said_of_new(about) if about else NOTHING_SAID
        write = parts.writer.remember(data, id, said, reason)
        return await parts.writer.one(write, idempotency_key)

    @verb
    async def remember_many(
        self,
        data: Sequence[T | Memo[T] | bytes],
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
        **about: Unpack[About],
    ) -> Sequence[Receipt]:
        """Remember all of these, or none: data, or a `Memo` with what is said of it alone.

        What is said here is said of each, but for what a memo says otherwise.
        """
        parts = self._handle.parts
        return await parts.writer.remember_many(data, about, reason, idempotency_key)

    @verb
    async def put(
        self,
        id: str,
        data: T | bytes,
        *,
        expected_version: int | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
        **about: Unpack[About],
    ) -> Receipt:
        """Create something under an id, or replace it whole: what is not said of it is not there.

        The receipt says which (`created`). With an `expected_version` of 0, nothing may have been
        there, ever: VersionConflict. What was derived stays marked as derived.
        """
        parts = self._handle.parts
        write = parts.writer.put(id, data, about, expected_version, reason)
        return await parts.writer.one(write, idempotency_key)

    @verb
    async def update(
        self,
        id: str,
        patch: Any,
        *,
        expected_version: int | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
        **about: Unpack[About],
    ) -> Receipt:
        """Make the next version: an object's members are merged, other data is replaced.

        What is not named passes on; None says that there is none. Another statement has only the
        sources that are given with it, and is neither judged nor approved: `keep_sources`, with a
        reason, keeps the old ones. The receipt says how many were dropped.
        """
        parts = self._handle.parts
        write = parts.writer.update(id, patch, about, expected_version, reason)
        return await parts.writer.one(write, idempotency_key)

    def batch(self, *, reason: str | None = None, idempotency_key: str | None = None) -> Batch[T]:
        """Many writes in one transaction: all of them land when the block ends, or none.

        ::

            async with memory.batch(reason="the visit is over") as batch:
                batch.put("visit", {"state": "done"})
                batch.forget("reminder")
            batch.receipts
        """
        if reason is not None:
            check_text("reason", reason)
        return Batch(self._handle.parts.writer, self._run_batch, reason, idempotency_key)

    @verb
    async def _run_batch(
        self, writes: Sequence[Write], key: str | None
    ) -> Sequence[Receipt | None]:
        requests = tuple(write.request for write in writes)
        return await self._handle.parts.writer.run(writes, key, "batch", requests)

    @verb
    async def learn(
        self,
        messages: Sequence[Mapping[str, object]],
        *,
        extractor: AnyExtractor | None = None,
        thread: str | None = None,
        subject: str | None = None,
        tags: Sequence[str] | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Learned:
        """Learn facts out of a conversation: all of them in one commit, and each message once.

        A message is an object: `content`, and where they are known `role`, `speaker` (or `name`),
        `at` and `id`. Without an `extractor`, rules find what people say of themselves, in English
        and Korean; a model of `memoranda.models` is asked for facts, and nothing is stored where it
        answers something else. `subject` is whom the facts are about, else whoever said them;
        `thread` names the conversation. Each fact gets the `tags` and the `meta`; with tags, it is
        compared with those records alone that have them, too.

        What is known already is noted as seen again. What denies something known is proposed, and
        waits in the inbox: nothing that is known changes here (docs/learning.md).
        """
        return await self._handle.parts.learner.learn(
            messages, extractor=extractor, thread=thread, subject=subject, tags=tags, meta=meta
        )

    @verb
    async def forget(
        self,
        id: str,
        *,
        reason: str,
        cause: Cause = "user_request",
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt | None:
        """Say that it is not to be used any more; history keeps it (GOV-FORGET).

        None where nothing was there.
        """
        parts = self._handle.parts
        write = parts.writer.forget(id, cause, expected_version, reason)
        (receipt,) = await parts.writer.run([write], idempotency_key)
        return receipt

    @verb
    async def erase(
        self,
        id: str | None = None,
        *,
        subject: str | None = None,
        whole_scope: bool = False,
        reason: str,
        cause: Cause = "user_request",
        dry_run: bool = False,
    ) -> ErasureCertificate:
        """Remove content for good: of one object, of a data subject, or of the whole scope.

        Name exactly one of the three. An id is that of a record, a trace, a proposal, an execution
        or a cycle; whatever was made from it goes too. `dry_run` counts what would go, and changes
        nothing. The journal still verifies afterwards.
        """
        return await self._handle.parts.eraser.erase(
            id,
            subject,
            whole_scope=whole_scope,
            reason=reason,
            cause=cause,
            dry_run=dry_run,
        )

    # ------------------------------------------------------------------------- reading

    @verb
    async def get(
        self,
        id: str,
        *,
        at: At | None = None,
        valid_at: Moment | None = None,
        include: Collection[Include] = (),
        factual: bool = False,
    ) -> Remembered[T] | None:
        """What is remembered under this id, if it is current; None if nothing is.

        `at` asks what we knew then: give a time, or the number of an entry to see everything up to
        and with that entry. `valid_at` asks for what held then. `include` widens it to what is
        expired, judged false, invalidated, archived or superseded. `factual` asks for what may be
        used as a fact: judged Factual, and refused with ConformanceBroken while a break stands.
        """
        return await self._handle.parts.reading.get(
            id, at=at, valid_at=valid_at, include=include, factual=factual
        )

    @verb
    async def list(
        self,
        *,
        text: str | None = None,
        every: bool = True,
        limit: int | None = None,
        cursor: str | None = None,
        order_by: Order = "created",
        order: Literal["asc", "desc"] = "desc",
        **asked: Unpack[ListOptions],
    ) -> Page[Remembered[T]]:
        """What is current and fits the filters, newest first; without a limit, all of it.

        With `text`, what says every word of it, or any of them if not `every`. It is a look-up, not
        a recall: nothing is ranked, and nothing is traced. A page that is not the last has a cursor
        in its `next`: hand it back with the same question to get the next page, whatever was
        written meanwhile. `order_by` is ``created``, ``updated`` or ``entry``, the order of the
        journal. UnknownFilterKey for a filter that does not exist (docs/filters.md).
        """
        return await self._handle.parts.reading.list(
            text=text,
            every=every,
            limit=limit,
            cursor=cursor,
            order_by=order_by,
            order=order,
            **asked,
        )

    @verb
    async def history(self, id: str) -> Rows[Event[T]]:
        """Everything that happened to it, the first step first; RecordNotFound if nothing did."""
        return await self._handle.parts.reading.history(id)

    @verb
    async def recall(
        self,
        query: str,
        *,
        top_k: int,
        offset: int = 0,
        selector: str | Selector = USUAL,
        about: str | None = None,
        branch: str = MAIN,
        **asked: Unpack[RecallOptions],
    ) -> Recalled[T]:
        """Select memory for a question; the selection is on record before it is handed out.

        `top_k` has no default; `offset` leaves out that many of the best, for a next page.
        `selector` is ``context``, ``full-text``, ``keyword``, ``recent``, ``worlds``, or one of
        your own. The filters are those of `list`: only what fits them is looked at. With
        `subject`, only that person's records are, and the question is erased with them. `about`
        names the person a question is about where the answer may come from anybody's records.
        `branch` is the one that the work is for: the trace names its head.

        The outcome is found, empty, degraded or failed; a failed recall has no items to ask for.
        Hand the result to `act` as `memory=`. Or give all recalls that belong together the same
        `reasoning_id`, a name of your own: the proposal with that name rests on them, and after it
        the phase is closed (ReasoningClosed).
        """
        return await self._handle.parts.recalling.recall(
            query,
            top_k=top_k,
            offset=offset,
            selector=selector,
            about=about,
            branch=branch,
            **asked,
        )

    @verb
    async def why(self, id: str) -> Why:
        """What led to a recall, a world, an execution, a proposal or a record, as a tree."""
        return await self._handle.parts.explainer.why(id)

    @verb
    async def verify(self, *, progress: Progress = nobody) -> Audit:
        """Walk everything that is stored, and report all that is wrong.

        It is compared with every checkpoint within reach: the database's own, and those of the
        anchors. Damage is logged once, as a conformance break; the audit says whether it could be.
        """
        check_callable("progress", progress)
        return await self._handle.parts.scoped.conformance.audit(progress=progress)

    # -------------------------------------------------------------------------- acting

    @verb
    async def act(
        self,
        action: str,
        input: JsonValue = ABSENT,
        *,
        memory: Used | None = None,
        reason: Trace | None = None,
        wait: float = 0.0,
        **options: Unpack[ActOptions],
    ) -> Run:
        """Propose an action, and run it once it is approved.

        `memory` names what it rests on: a recall, the id of a trace, several of these, or ``()``
        for none. Without it, what was recalled here since the last proposal is attached. `reason`
        says why. Where somebody has to decide, it waits for up to `wait` seconds, and then is
        pending: `worlds.run` runs it later. BranchMoved if another run moved the head first.
        """
        return await self._handle.parts.intents.act(
            action, input, memory=memory, reason=reason, wait=wait, **options
        )

    @asynccontextmanager
    async def reasoning(self, *, branch: str = MAIN) -> AsyncIterator[Reasoning[T]]:
        """A phase in which memory is selected; its proposal closes it and carries all its traces.

        `branch` is the one that it is for: traces name its head, and the proposal is made on it.
        """
        parts = await self._handle.ready()
        with parts.recalling.reasoning(branch, parts.intents, self.journal.original) as phase:
            yield phase

    async def close(self) -> None:
        """Close the database that this handle was opened with; see `memoranda.open`.

        A handle that `Database.scope` made has nothing to close.
        """
        await self._handle.close()
