"""One call of every public verb: of the handle, its groups, and a database.

The tests that say something of all verbs go through these; one of them compares the names with
those that the classes have, so that a new verb is covered as soon as it is there.
"""

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final, NamedTuple

import memoranda
from memoranda import App, Clockwork, Memory, MemoryFilter, MemoryRecordInput, MemoryUpdate
from memoranda.app.groups import Govern, Inbox, TurnsOf, Worlds
from memoranda.app.journal import Journal
from memoranda.app.upkeep import Maintain
from memoranda.journeys.records.store import Records
from memoranda.ledger.policy import Policy
from memoranda.records.model import MemoryMaintenanceConfig, MemoryRetentionPolicy
from memoranda.testkit.strategies import CountedIds, FrozenClock
from memoranda.types import KnownAnswer
from memoranda.worlds.proposal import Projection, ProjectionEvent
from tests.journeys.intent.counter import counter
from tests.journeys.turn.talking import Answering, talk
from tests.plans.steps.standing_in import counted_randomness

CLASSES: Final[Mapping[str, type]] = {
    "": Memory,
    "records.": Records,
    "inbox.": Inbox,
    "worlds.": Worlds,
    "turns.": TurnsOf,
    "govern.": Govern,
    "journal.": Journal,
    "maintain.": Maintain,
}
LEFT_OUT: Final = {"close", "records.close"}
"""What is no verb, but the end of them all."""


def verbs() -> Iterator[str]:
    """The names of all verbs, as the classes have them."""
    for prefix, kind in CLASSES.items():
        for name, member in vars(kind).items():
            is_verb = name[0] != "_" and inspect.isfunction(member)
            if is_verb and prefix + name not in LEFT_OUT:
                yield prefix + name


class Known(dict[str, Any]):
    """What calls have come to, for those that come later."""


class Call(NamedTuple):
    """The arguments of one call, which may depend on what came before."""

    name: str
    given: Callable[[Known], tuple[Any, ...]]
    named: Callable[[Known], dict[str, Any]] = lambda _: {}


def call(name: str, *given: Any, **named: Any) -> Call:
    """One whose arguments are known; a function among them is asked for its value."""
    return Call(
        name,
        lambda known: tuple(_value(one, known) for one in given),
        lambda known: {key: _value(one, known) for key, one in named.items()},
    )


class Later(NamedTuple):
    """A value that an earlier call comes to."""

    found: Callable[[Known], Any]


def _value(one: Any, known: Known) -> Any:
    return one.found(known) if isinstance(one, Later) else one


def of(name: str, read: Callable[[Any], Any]) -> Later:
    """Something of what a call came to."""
    return Later(lambda known: read(known[name]) if name in known else "nothing-yet")


COUNTS: Final = Projection("counts", lambda *_: {"type": "add", "input": {"by": 2}})
HAPPENED: Final = ProjectionEvent(kind="ui", event_id="e1")
TIDY: Final = MemoryMaintenanceConfig(enabled=True, retention=MemoryRetentionPolicy())
ORDER: Final = Policy("source_hierarchy", 2, {"order": ["mail", "web"]})
_WORLD: Final = of("act", lambda run: run.world)
_PROPOSED: Final = of("worlds.propose", lambda one: one.proposal_id)

SAMPLE: Final = (
    call("remember", "Ada likes tea", id="tea", subject="user/ada", tags=["likes"]),
    call("remember_many", ["Ada likes rain", memoranda.Memo("Ada likes fog", id="fog")]),
    call("put", "visit", {"state": "open"}, source="mail/1"),
    call("update", "visit", {"state": "done"}, reason="it is over"),
    call("govern.revise", "fog", reason="it was heard", source="mail/2"),
    call("govern.supersede", "fog", "Ada likes mist", reason="better said"),
    call("govern.archive", "visit", reason="it is over"),
    call("govern.reinstate", "visit", reason="it is not"),
    call("govern.approve", "visit", reason="checked"),
    call("govern.consolidate", ["visit", "tea"], "Ada was here", justification="the same"),
    call("records.create", MemoryRecordInput(id="r1", data={"n": 1}, tags=["a/b"])),
    call("records.create_many", [MemoryRecordInput(id="r2", data=2)]),
    call("records.update", "r1", {"n": 2}),
    call("records.update_many", [MemoryUpdate("r1", {"m": 1})]),
    call("records.annotate", "r1", tags=["a/c"]),
    call("records.get", "r1"),
    call("records.version", "r1"),
    call("records.query", MemoryFilter(tags=["a/c"])),
    call("records.page", MemoryFilter(limit=1)),
    call("records.ids", MemoryFilter()),
    call("records.count", MemoryFilter()),
    call("records.tags", "a/"),
    call("records.stream", MemoryFilter()),
    call("records.delete", "r2"),
    call("records.delete_many", ["r2", "r3"]),
    call("records.forget_where", MemoryFilter(tags=["a/c"]), reason="tidy"),
    call("get", "tea"),
    call("list", tags=["likes"], text="tea"),
    call("history", "visit"),
    call("learn", [{"content": "I live in Seoul.", "name": "Ada", "at": 1_000}], thread="t"),
    call("recall", "what does Ada like?", top_k=3),
    call("act", "add", {"by": 3}),
    call("why", _WORLD),
    call("worlds.propose", "add", {"by": 1}),
    call("inbox.list"),
    call("inbox.approve", _PROPOSED, reason="fine"),
    call("inbox.reject", _PROPOSED, reason="too late"),
    call("inbox.abstain", _PROPOSED, reason="who knows"),
    call("worlds.run", _PROPOSED),
    call("worlds.project", COUNTS, HAPPENED),
    call("worlds.resume"),
    call("worlds.standing", _PROPOSED),
    call("worlds.restore", _WORLD),
    call("worlds.branch", "side", at=_WORLD),
    call("worlds.branches"),
    call("worlds.replay", _WORLD),
    call("worlds.replay_branch"),
    call("turns.open", talk(), model=Answering(), record=True),
    call("journal.checkpoints"),
    call("turns.take", "Was the invoice paid?"),
    call("turns.sessions"),
    call("turns.replay", "no-cycle"),
    call("turns.account", "no-cycle"),
    call("worlds.lineage", limit=3),
    call("govern.change_policy", ORDER, reason="sources were ranked"),
    call("forget", "tea", reason="asked"),
    call("erase", "tea", reason="asked"),
    call("journal.head"),
    call("journal.entries", limit=5),
    call("journal.tail", 0),
    call("journal.proof", 0),
    call("journal.original", _WORLD),
    call("journal.object", "visit"),
    call("journal.export"),
    call("journal.import_objects", b""),
    call("journal.ids", "te"),
    call("journal.backwards", limit=5),
    call("journal.latest", "recall"),
    call("journal.activity", since=0),
    call("journal.subjects"),
    call("verify"),
    call("govern.record_audit", "audit/1", report=of("verify", lambda it: it), reason="looked"),
    call("govern.status"),
    call("maintain.reindex"),
    call("maintain.embed"),
    call("maintain.evaluate", [KnownAnswer("who likes tea?", ["tea"])]),
    call("maintain.scrub"),
    call("maintain.configure", TIDY, reason="tidy"),
    call("maintain.run", dry_run=True),
    call("maintain.status"),
    call("records.consolidate"),
    call("records.clear"),
    call("batch", reason="all at once"),
    call("reasoning"),
)


def bound(memory: Any, name: str) -> Callable[..., Any]:
    """The method of a handle by its name, with its group."""
    for part in name.split("."):
        memory = getattr(memory, part)
    return memory  # type: ignore[no-any-return]


async def come_to(made: Any) -> Any:
    """What an async call comes to: its value, what it streams, or what its block is given."""
    if isinstance(made, Coroutine):
        return await made
    if isinstance(made, AsyncGenerator):
        first = await anext(made, None)
        await made.aclose()
        return first
    if isinstance(made, AbstractAsyncContextManager):
        async with made as inner:
            if hasattr(inner, "put"):
                inner.put("batched", 1)
            return type(inner).__name__
    return made


@asynccontextmanager
async def opened(url: str, scope: str = "s") -> AsyncIterator[Memory[Any]]:
    """A handle that all calls can be made through, the same each time."""
    async with memoranda.open(url, scope=scope, **options()) as memory:
        yield memory


def options() -> dict[str, Any]:
    """What such a handle is opened with: it makes the same journal each time."""
    clockwork = Clockwork(FrozenClock(), CountedIds(), counted_randomness())
    return {
        "actor": "human:ada",
        "app": App(domain=counter()),
        "clockwork": clockwork,
    }
