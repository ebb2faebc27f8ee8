"""Policies are documents with a version and a digest; they change only in the open (GOV-BREAK).

Each kind has rules of one form (`RULES`), and they are obeyed: a member that nobody would read is
refused. A change is a `policy_change` event with the hashes before and after; one that leaves the
version as it is looks like tampering, and is refused. The first version of each is built
in, so that the first change has a state before it.

=================  ============================================================================
kind               what its rules say
=================  ============================================================================
consolidation      `gates` that are applied, who may consolidate (`by`), what a caller may ask
                   for where inputs conflict (`on_conflict`), how conflicts are found
forgetting         the `causes` that count, who may forget (`by`) and erase (`erase_by`)
source_hierarchy   the `order` of sources: how the best uris begin, the highest first
models             per role, such as `embedder`, the identities that may be used
oversight          whether a maker may judge what they made, whether agents may record audits
maintenance        whether jobs run by themselves (`enabled`), how long records stay
                   (`retention`), and how many seconds lie between two runs of each job (`every`)
=================  ============================================================================
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal, TypeVar, get_args

from pydantic import AfterValidator, Field, ValidationError

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.kernel.actors import ActorKind
from memoranda.kernel.errors import InvalidJson, InvalidPolicy
from memoranda.kernel.given import is_blank
from memoranda.kernel.json import MAX_INTEGER, JsonValue
from memoranda.kernel.results import Result
from memoranda.kernel.wire import STORABLE, ClosedPart, place_and_reason, tuple_of
from memoranda.ledger.gates import Gate
from memoranda.ledger.object import CAUSES, Cause, hash_name

PolicyKind = Literal[
    "consolidation", "forgetting", "source_hierarchy", "models", "oversight", "maintenance"
]
"""What a policy is about."""
POLICY_KINDS: Final[tuple[PolicyKind, ...]] = get_args(PolicyKind)

R = TypeVar("R", bound="Rules")

OnConflict = Literal["refuse", "record"]

Name = Annotated[str, Field(min_length=1, max_length=256), STORABLE]


def _each_once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(values)) < len(values):
        raise ValueError("it has the same value twice")
    return values


def _needed(gates: tuple[Gate, ...]) -> tuple[Gate, ...]:
    missing = [gate for gate in ("A", "B", "C", "E") if gate not in gates]
    if missing:
        raise ValueError(f"the gate {missing[0]} is not in it; only D, conflicts, can be left out")
    return gates


_ONCE: Final = AfterValidator(_each_once)
_Kinds = Annotated[Sequence[ActorKind], tuple_of(ActorKind), _ONCE]
"""The kinds of actors who may do something; nobody may where there are none."""


class ConsolidationRules(ClosedPart):
    """How memory is consolidated."""

    gates: Annotated[Sequence[Gate], tuple_of(Gate), _ONCE, AfterValidator(_needed)]
    on_conflict: Annotated[Sequence[OnConflict], tuple_of(OnConflict), _ONCE, Field(min_length=1)]
    conflicts: Literal["default/1"]
    by: _Kinds


class ForgettingRules(ClosedPart):
    """How memory is forgotten."""

    causes: Annotated[Sequence[Cause], tuple_of(Cause), _ONCE]
    reason: Literal["required"]
    by: _Kinds
    erase_by: _Kinds


class SourceRules(ClosedPart):
    """Which sources rank above which: beginnings of uris, the highest first."""

    order: Annotated[Sequence[str], tuple_of(Name), _ONCE]


class ModelRules(ClosedPart):
    """Which models memory may rest on."""

    roles: Mapping[Name, Annotated[Sequence[str], tuple_of(Name), _ONCE, Field(min_length=1)]]


class OversightRules(ClosedPart):
    """Who may vouch for what."""

    maker_may_judge: bool
    agents_may_audit: bool


PeriodicJob = Literal[
    "expiry", "consolidate", "retention", "index", "embed", "checkpoint", "snapshots", "own_store"
]
"""What maintenance does again and again."""

_Limit = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
_Seconds = Annotated[int, Field(ge=1, le=MAX_INTEGER // 1_000)]


class RetentionRules(ClosedPart):
    """How long records stay, under the names of seed 000: milliseconds, a number, tags."""

    max_age: _Limit | None = Field(default=None, alias="maxAge")
    max_records: _Limit | None = Field(default=None, alias="maxRecords")
    ephemeral_tags: Annotated[Sequence[str], tuple_of(Name), _ONCE] = Field(
        default=(), alias="ephemeralTags"
    )


class MaintenanceRules(ClosedPart):
    """Whether and how often a scope is maintained, and what it keeps."""

    enabled: bool
    retention: RetentionRules
    every: Mapping[PeriodicJob, _Seconds]
    """A job that is not named does not run by itself."""


Rules = (
    ConsolidationRules
    | ForgettingRules
    | SourceRules
    | ModelRules
    | OversightRules
    | MaintenanceRules
)

RULES: Final[Mapping[PolicyKind, type[Rules]]] = {
    "consolidation": ConsolidationRules,
    "forgetting": ForgettingRules,
    "source_hierarchy": SourceRules,
    "models": ModelRules,
    "oversight": OversightRules,
    "maintenance": MaintenanceRules,
}
"""The form of each kind's rules; every member must be there, and no other may be."""


@dataclass(frozen=True, slots=True, repr=False)
class Policy(Result):
    """One version of a policy; InvalidPolicy where its rules have not the form of its kind."""

    kind: PolicyKind
    version: int
    rules: Mapping[str, JsonValue] = field(hash=False)
    _obeyed: Rules = field(init=False, compare=False)
    """The rules, read once: every deletion asks for some."""

    def __post_init__(self) -> None:
        if self.kind not in POLICY_KINDS:
            raise InvalidPolicy(str(self.kind), f"there are only {', '.join(POLICY_KINDS)}")
        if type(self.version) is not int or not 1 <= self.version <= MAX_INTEGER:
            raise InvalidPolicy(self.kind, "its version is not a whole number from 1 on")
        try:
            canonical_bytes(self.document)
        except InvalidJson as refused:
            raise InvalidPolicy(self.kind, f"{refused.why}, at {refused.where}") from None
        try:
            obeyed = RULES[self.kind].model_validate(dict(self.rules))
        except ValidationError as refused:
            where, why = place_and_reason(refused)
            raise InvalidPolicy(self.kind, f"{why}, at rules{where[1:]}") from None
        object.__setattr__(self, "_obeyed", obeyed)

    @property
    def id(self) -> str:
        """What the log calls the policy, whatever its version: its history is one chain."""
        return f"policy/{self.kind}"

    @property
    def document(self) -> dict[str, JsonValue]:
        """The policy as it is stored and hashed."""
        return {"kind": self.kind, "version": self.version, "rules": dict(self.rules)}

    def wire_members(self) -> Mapping[str, object]:
        """The policy as it is stored."""
        return self.document

    @property
    def digest(self) -> str:
        """SHA-256 of its canonical bytes, in hexadecimal."""
        return sha256_hex(canonical_bytes(self.document))

    def read(self, form: type[R]) -> R:
        """Its rules, to be obeyed, in the form of its kind."""
        if not isinstance(self._obeyed, form):
            raise TypeError(f"a {self.kind} policy has no {form.__name__}")
        return self._obeyed


_ANYBODY: Final = list(get_args(ActorKind))

EVERY: Final[Mapping[PeriodicJob, int]] = {
    "expiry": 3_600,
    "consolidate": 86_400,
    "retention": 3_600,
    "index": 900,
    "embed": 300,
    "checkpoint": 300,
    "snapshots": 86_400,
    "own_store": 3_600,
}
"""How often each job runs unless a policy says otherwise, in seconds."""

DEFAULTS: Final[Mapping[PolicyKind, Policy]] = {
    "consolidation": Policy(
        "consolidation",
        1,
        {
            "gates": list(get_args(Gate)),
            "on_conflict": list(get_args(OnConflict)),
            "conflicts": "default/1",
            "by": _ANYBODY,
        },
    ),
    "forgetting": Policy(
        "forgetting",
        1,
        {"causes": list(CAUSES), "reason": "required", "by": _ANYBODY, "erase_by": _ANYBODY},
    ),
    "source_hierarchy": Policy("source_hierarchy", 1, {"order": []}),
    "models": Policy("models", 1, {"roles": {}}),
    "oversight": Policy("oversight", 1, {"maker_may_judge": False, "agents_may_audit": False}),
    "maintenance": Policy(
        "maintenance", 1, {"enabled": False, "retention": {}, "every": dict(EVERY)}
    ),
}
"""What holds until it is changed."""


def declared(models: Policy, roles: Mapping[str, Sequence[str]]) -> Policy:
    """The next version of the policy of models, with these identities for these roles."""
    before = models.read(ModelRules).roles
    wanted = {name: list(known) for name, known in {**before, **roles}.items()}
    return Policy("models", models.version + 1, {"roles": wanted})


def policy_of(document: JsonValue) -> Policy:
    """A policy that was stored, or InvalidPolicy."""
    match document:
        case {"kind": kind, "version": version, "rules": dict(rules), **other} if not other:
            return Policy(kind, version, rules)
    raise InvalidPolicy("stored", "it is not a kind, a version and rules")


def change_policy(before: Policy, after: Policy, *, reason: str) -> dict[str, JsonValue]:
    """The members of the `policy_change` event that leads from one version to the next.

    InvalidPolicy for one of another kind, for a version that does not rise, without a reason.
    """
    if after.kind != before.kind:
        raise InvalidPolicy(before.kind, f"a {after.kind} policy can't take its place")
    if after.version <= before.version:
        why = f"version {after.version} does not follow version {before.version}"
        raise InvalidPolicy(before.kind, why)
    if not isinstance(reason, str) or is_blank(reason):
        raise InvalidPolicy(before.kind, "a change needs a reason")
    return {
        "memory_object_id": after.id,
        "reason": reason,
        "prev_hash": hash_name(before.digest),
        "new_hash": hash_name(after.digest),
    }
