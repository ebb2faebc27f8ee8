"""An execution plan: the steps of a turn, and what holds for all of them.

A plan is a document: flat, frozen, hashed. Nothing that varies with a turn stands in it, for then
no session could be resumed with it; a step names its inputs, and so all wiring is in the plan
(ING-PASSING). Here is its form; what a plan may say is defined by a step contract (`validation`).
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, Protocol, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel

from memoranda.identity import Frozen, canonical_bytes, freeze, sha256_hex
from memoranda.kernel.errors import InvalidJson, InvalidPlan
from memoranda.kernel.json import MAX_INTEGER, JsonValue
from memoranda.kernel.wire import STORABLE, ClosedPart, WireModel, places_and_reasons, tuple_of

# ------------------------------------------------------------------------------------------------
# What a step type is: a name, a place in the order, a typed payload, and what it does.
#
# A step gets its payload and the values that the plan named as its inputs, and nothing else; what
# it needs beyond, such as a model or a store, is handed to it by whoever composes the steps. It
# returns its output: an object, which is frozen under the step's id (ING-PASSING).

TURN: Final = "$turn"
"""The source of what varies with each turn, and stands beside the plan: never in it."""

Fails = Literal["cycle", "fast"]
"""What a failure ends: this cycle, or the whole runtime (ING-FAILFAST)."""

Limit = Literal["llmMs", "ioMs"]
"""Which of the plan's time limits holds for a step."""

LIMITS: Final[tuple[Limit, ...]] = ("llmMs", "ioMs")


class StepType(Protocol):
    """One type of step; `run` may be called for many cycles."""

    @property
    def name(self) -> str:
        """What a plan calls it, such as ``LLMCall``."""
        ...

    @property
    def stage(self) -> str:
        """The stage that it may stand in (ING-STAGE)."""
        ...

    @property
    def payload(self) -> type[WireModel]:
        """The form of its payload; unknown members are refused."""
        ...

    @property
    def takes(self) -> Mapping[str, Sequence[str]]:
        """Its inputs by name: of which step types each may come, or `TURN`.

        It can do without those whose name ends with ``?``.
        """
        ...

    @property
    def gives(self) -> Sequence[str]:
        """The members of its output."""
        ...

    @property
    def fails(self) -> Fails:
        """What its failure ends."""
        ...

    @property
    def limit(self) -> Limit:
        """Which time limit holds for it."""
        ...

    async def run(self, payload: Any, inputs: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        """Do it: from its payload and its inputs to its output."""
        ...


_RESERVED: Final = "$"


def _not_null(given: object) -> object:
    if given is None:
        raise ValueError("it is null; leave it out")
    return given


def _not_reserved(name: str) -> str:
    if name.startswith(_RESERVED):
        raise ValueError(f"names that begin with {_RESERVED} are reserved")
    return name


def _frozen_object(given: object) -> object:
    if isinstance(given, Frozen):
        return given
    if not isinstance(given, dict):
        raise ValueError("it is not an object")  # noqa: TRY004 - pydantic asks for a ValueError
    try:
        return freeze(given)
    except InvalidJson as refused:
        raise ValueError(f"{refused.why}, at {refused.where}") from None


Name = Annotated[str, Field(min_length=1, max_length=512), STORABLE]
Id = Annotated[Name, AfterValidator(_not_reserved)]
Payload = Annotated[InstanceOf[Frozen], BeforeValidator(_frozen_object)]
NOT_NULL = BeforeValidator(_not_null)
"""Marks an optional member: where it is absent it is left out, and never null."""


class PlanPart(ClosedPart):
    """A part of a plan or a policy: closed, with camelCase names on the wire."""

    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True
    )


class StepInput(PlanPart):
    """Where an input comes from: a step before it, or ``$turn``, and which member of its output."""

    from_: Annotated[Name, Field(alias="from")]
    output: Name

    def to_wire(self) -> dict[str, JsonValue]:
        return {"from": self.from_, "output": self.output}


class Step(PlanPart):
    """One step: its id, its type, its stage, its payload, and its inputs by name."""

    id: Id
    type: Name
    stage: Name
    payload: Payload
    inputs: Annotated[Mapping[str, StepInput], AfterValidator(MappingProxyType)]

    def to_wire(self) -> dict[str, JsonValue]:
        return {
            "id": self.id,
            "type": self.type,
            "stage": self.stage,
            "payload": self.payload.thaw(),
            "inputs": {name: input_.to_wire() for name, input_ in self.inputs.items()},
        }


MODEL_SECONDS: Final = 120.0
"""How long a step that asks a model may take where the plan does not say."""


class Timeouts(PlanPart):
    """Time limits of steps in milliseconds; without one there is none but `MODEL_SECONDS`."""

    llm_ms: Annotated[int | None, NOT_NULL, Field(ge=1, le=MAX_INTEGER)] = None
    io_ms: Annotated[int | None, NOT_NULL, Field(ge=1, le=MAX_INTEGER)] = None


class Budgets(PlanPart):
    """How much may be used up."""

    prompt_tokens: Annotated[int | None, NOT_NULL, Field(ge=1, le=MAX_INTEGER)] = None


class PlanMetadata(PlanPart):
    """What holds for the whole plan. topK has no default, here or anywhere (ING-TOPK)."""

    policy_profile: Name
    mode: Name
    top_k: Annotated[int | None, NOT_NULL, Field(ge=0, le=MAX_INTEGER)] = None
    timeouts: Annotated[Timeouts | None, NOT_NULL] = None
    budgets: Annotated[Budgets | None, NOT_NULL] = None

    def to_wire(self) -> dict[str, JsonValue]:
        """As it stands in a plan; what is absent is left out."""
        return self.model_dump(by_alias=True, exclude_none=True)


class ExecutionPlan(PlanPart):
    """A plan that has the form of one; InvalidPlan names all that is not so."""

    step_contract_version: Annotated[Name, Field(alias="step_contract_version")]
    extensions: Annotated[Sequence[Any], tuple_of(Any), Field(max_length=0)]
    metadata: PlanMetadata
    steps: Annotated[Sequence[Step], tuple_of(Step), Field(min_length=1)]

    @model_validator(mode="wrap")
    @classmethod
    def _all_that_is_wrong(cls, given: object, validate: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return validate(given)
        except ValidationError as refused:
            wrong = places_and_reasons(refused)
            raise InvalidPlan(tuple(f"{where}: {why}" for where, why in wrong)) from None

    @classmethod
    def from_wire(cls, document: JsonValue) -> Self:
        """The plan of a document, or InvalidPlan with everything that is wrong in its form."""
        return cls.model_validate(document, by_alias=True, by_name=False)

    def to_wire(self) -> dict[str, JsonValue]:
        """The document of the plan, fresh: what is done to it does not reach the plan."""
        return {
            "step_contract_version": self.step_contract_version,
            "extensions": [],
            "metadata": self.metadata.to_wire(),
            "steps": [step.to_wire() for step in self.steps],
        }

    def limit(self, kind: Limit) -> float | None:
        """A time limit in seconds; None where the plan sets none and no model is asked."""
        limits = self.metadata.timeouts or Timeouts()
        set_ms = limits.llm_ms if kind == "llmMs" else limits.io_ms
        if set_ms is None:
            return MODEL_SECONDS if kind == "llmMs" else None
        return set_ms / 1000


# ------------------------------------------------------------------------------------------------
# The hash of a plan: what a session is resumed with, or not (ING-HASH).
#
# It covers the whole plan, topK with it, and the policy that the plan was made by. It is the
# SHA-256 of RFC 8785, and so the same in every process, on every machine, in whatever order keys
# were given.


def plan_hash(plan: ExecutionPlan, policy_ref: JsonValue) -> str:
    """The hash of a plan with the reference to its policy, in hexadecimal digits."""
    return document_hash(plan.to_wire(), policy_ref)


def document_hash(execution_plan: JsonValue, policy_ref: JsonValue) -> str:
    """The same of documents, whether the plan is one of ours or not."""
    return sha256_hex(canonical_bytes({"executionPlan": execution_plan, "policyRef": policy_ref}))


STEPS = "steps"


def member_digests(plan: ExecutionPlan, policy_ref: JsonValue) -> dict[str, str]:
    """The digest of each member of what is hashed, by its name: so a difference can be named."""
    members: dict[str, JsonValue] = {
        "policyRef": policy_ref,
        "step_contract_version": plan.step_contract_version,
        STEPS: [step.id for step in plan.steps],
    }
    members |= {f"metadata.{name}": value for name, value in plan.metadata.to_wire().items()}
    members |= {f"{STEPS}.{step.id}": step.to_wire() for step in plan.steps}
    return {name: sha256_hex(canonical_bytes(value)) for name, value in members.items()}


def differing(document: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the members that are not the same in both, or not in both, in order.

    That the list of steps differs is said only where no single step does: then it is their order.
    """
    names = {
        name for name in document.keys() | other.keys() if document.get(name) != other.get(name)
    }
    if any(name.startswith(f"{STEPS}.") for name in names):
        names.discard(STEPS)
    return tuple(sorted(names))
