"""What a database and its scopes run with: values that a user makes, or the environment names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypedDict

from typing_extensions import TypeVar

from memoranda.journeys.audit.checkpoints import Seal
from memoranda.journeys.intent.branches import Runtime
from memoranda.journeys.intent.execution import RECALL_LIMIT_S
from memoranda.journeys.records.foreign import check_limit
from memoranda.kernel.clock import Clock, IdSource, Randomness, SystemClock, TimeOrderedIds
from memoranda.kernel.errors import InvalidOption
from memoranda.kernel.given import check_has, check_kind
from memoranda.ledger.codec import BodyCodec
from memoranda.outside.anchors import FileAnchor
from memoranda.outside.keys import (
    VARIABLE,
    read_ring,
    signers_from_environment,
    signers_from_file,
    verifiers,
)
from memoranda.recall.embedder import Embedder
from memoranda.recall.provider import MemoryProvider
from memoranda.records.model import MemoryAuthorityPolicy
from memoranda.records.store import MemoryHooks, MemoryStore, check_store
from memoranda.worlds.authority import AuthorityPolicy
from memoranda.worlds.domain import Domain

if TYPE_CHECKING:
    from memoranda.app.memory import Memory
    from memoranda.journeys.turn.sessions import Plan
    from memoranda.ledger.anchor import Anchor
    from memoranda.outside.witnesses import WitnessAnchor
    from memoranda.plans.models import Model


# ------------------------------------------------------------------------------------------------
# What a database and its scopes run with, as values that a user makes once.

T = TypeVar("T", default=Any)

Provider = MemoryProvider[Any] | Callable[["Memory[Any]"], MemoryProvider[Any]]
"""A provider, or a function (or class) that makes one from the handle it recalls through."""


@dataclass(frozen=True)  # with slots, App[T](...) fails on Python 3.11
class App(Generic[T]):
    """What the actions of a scope run with.

    ``domain`` holds the actions that `act` runs, or is any other host (`hosted_by`). ``provider``
    is asked for memory before each run, for at most ``recall_limit`` seconds; without one, a run
    gets what was recalled for its proposal. ``authority`` decides what may run; without one,
    everything may. ``memory_policy`` says which changes of memory itself need approval. ``store``
    is a MemoryStore of your own, which the app exposes as `memory.records` (D-MEM-2); without it,
    that is the scope's own (docs/own-store.md). ``hooks`` are called after each change. ``model``
    answers turns, which go through ``plan``, else through the chat that memoranda brings along. A
    run that takes longer than ``run_limit`` seconds has failed.
    """

    domain: Domain | Runtime | None = None
    provider: Provider | None = None
    authority: AuthorityPolicy | None = None
    memory_policy: MemoryAuthorityPolicy | None = None
    store: MemoryStore[T] | None = None
    hooks: MemoryHooks[T] | None = None
    model: "Model | None" = None
    plan: "Plan | None" = None
    recall_limit: float = RECALL_LIMIT_S
    run_limit: float | None = None

    def __post_init__(self) -> None:
        if self.domain is not None:
            check_kind("domain", self.domain, (Domain, Runtime), "a Domain, or `hosted_by`")
        check_has("authority", self.authority, "authority", "judge")
        check_has("memory_policy", self.memory_policy, "requires_authority")
        check_has("model", self.model, "complete", "stream")
        check_limit("recall_limit", self.recall_limit)
        if self.run_limit is not None:
            check_limit("run_limit", self.run_limit)
        if self.hooks is not None:
            check_kind("hooks", self.hooks, MemoryHooks, "a MemoryHooks")
            check_limit("the time_limit of hooks", self.hooks.time_limit)
        if self.store is not None:
            check_store(self.store)


@dataclass(frozen=True, slots=True)
class Clockwork:
    """Where times, ids and random bytes come from; a test hands in its own."""

    clock: Clock = field(default_factory=SystemClock)
    ids: IdSource | None = None
    randomness: Randomness = field(default_factory=Randomness)

    @property
    def id_source(self) -> IdSource:
        """The ids that were given, or ids in the order of time."""
        return self.ids or TimeOrderedIds(self.clock, self.randomness)


class ConnectOptions(TypedDict, total=False):
    """What `connect` takes besides the URL; `open` takes the same."""

    seal: Seal | None
    embedder: Embedder | Literal["default"] | None
    codec: BodyCodec
    models: Mapping[str, str] | None
    create: bool
    read_only: bool
    clockwork: Clockwork | None
    maintain: bool
    key: str | None


# ------------------------------------------------------------------------------------------------
# Who signs checkpoints and where they are kept, as the environment says. MEMORANDA_SIGNING_KEY is
# the private key itself, or several.

KEY_FILE: Final = "MEMORANDA_SIGNING_KEY_FILE"
"""The file that has the private key."""
KEYRING: Final = "MEMORANDA_KEYRING"
"""The file of public keys whose signatures are known."""
ANCHOR_FILE: Final = "MEMORANDA_ANCHOR_FILE"
"""The append-only file, elsewhere, that keeps checkpoints."""
WITNESSES: Final = "MEMORANDA_WITNESSES"
"""Witnesses that cosign checkpoints: URL#KEY for each, with spaces between."""
QUORUM: Final = "MEMORANDA_QUORUM"
"""How many of them must; else all."""


def seal_from_environment(environ: Mapping[str, str], database: str | None = None) -> Seal:
    """The seal that the environment asks for; an empty one when it says nothing.

    `database` is the database's own file, where it has one: key and anchor lie apart from it.
    """
    names = (VARIABLE, KEY_FILE, KEYRING, ANCHOR_FILE, WITNESSES)
    if not any(environ.get(name) for name in names):
        return Seal()
    signers = signers_from_environment(environ)
    if not signers and environ.get(KEY_FILE):
        signers = signers_from_file(environ[KEY_FILE], database=database)
    anchor, ring = environ.get(ANCHOR_FILE), environ.get(KEYRING)
    anchors: list[Anchor] = [FileAnchor(anchor, database=database)] if anchor else []
    witnesses = _witnesses(environ.get(WITNESSES, ""))
    keys = [*(read_ring(ring).known() if ring else ()), *(w.key for w in witnesses if w.key)]
    return Seal(
        signers,
        [*anchors, *witnesses],
        verifiers(dict.fromkeys(keys)),
        quorum=_quorum(environ.get(QUORUM, ""), len(witnesses)),
    )


def _witnesses(text: str) -> "Sequence[WitnessAnchor]":
    if not text:
        return ()
    from memoranda.outside.witnesses import WitnessAnchor  # noqa: PLC0415 - it loads ssl

    return [WitnessAnchor.parse(word) for word in text.split()]


def _quorum(text: str, witnesses: int) -> int:
    if not text:
        return witnesses
    if not (text.isascii() and text.isdigit()) or int(text) > witnesses:
        raise InvalidOption(QUORUM, f"{text!r} is no number up to that of the witnesses")
    return int(text)
