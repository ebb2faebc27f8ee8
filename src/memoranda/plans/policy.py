"""The policy interpreter: from a profile and the text at the start of a session to a plan.

All that is conditional is decided here, outside the engine, which never reads a policy
(ING-NEUTRAL). A profile has modes, each with the steps of a plan; triggers, which choose the mode
by the text that a session starts with; and bundles, the documents that belong to a mode. The mode
of a session is fixed when it starts: it is found again by the hash of its plan, and no trigger
changes it (ING-HASH).
"""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple
from unicodedata import normalize

from pydantic import AfterValidator, Field, ValidationError

from memoranda.kernel.errors import InvalidPlan
from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import STORABLE, places_and_reasons, tuple_of
from memoranda.plans.plan import TURN, ExecutionPlan, PlanPart, member_digests, plan_hash
from memoranda.plans.validation import Forms, StepContract, violations

DEFAULT_MODE: Final = "default"
"""The mode of a session that no trigger speaks of; every profile has it."""

_PATTERN: Final = "re:"


def _readable(condition: str) -> str:
    if condition.startswith(_PATTERN):
        try:
            re.compile(condition.removeprefix(_PATTERN))
        except (re.error, OverflowError, RecursionError) as refused:  # say a{99999999999}
            raise ValueError(f"it is not a regular expression ({refused})") from None
    return condition


Name = Annotated[str, Field(min_length=1, max_length=512), STORABLE]
Condition = Annotated[Name, AfterValidator(_readable)]


class PlannedStep(PlanPart):
    """A step of a mode. What it leaves out is filled in from the contract: id, stage, inputs."""

    type: Name
    id: Name | None = None
    payload: Mapping[str, Any] = Field(default_factory=dict)
    inputs: Mapping[str, Any] | None = None


class Mode(PlanPart):
    """A way to work: the steps, and the metadata of the plan; topK stands here or nowhere."""

    id: Name
    metadata: Mapping[str, Any] = Field(default_factory=dict)
    plan: Annotated[Sequence[PlannedStep], tuple_of(PlannedStep), Field(min_length=1)]


class Trigger(PlanPart):
    """Which mode a session starts in: when the text contains this, or ``re:`` and a pattern."""

    condition: Condition
    target_mode: Name

    def speaks_of(self, text: str) -> bool:
        """Whether the text meets the condition; letters count whatever their case."""
        if self.condition.startswith(_PATTERN):
            return re.search(self.condition.removeprefix(_PATTERN), text) is not None
        return _folded(self.condition) in _folded(text)


class Bundle(PlanPart):
    """The documents that belong to a mode; the reference to the policy names them."""

    mode_id: Name
    files: Annotated[Sequence[Name], tuple_of(Name)]


class Profile(PlanPart):
    """What a policy says, as values; `outside.profiles` reads one from files."""

    id: Name
    modes: Annotated[Sequence[Mode], tuple_of(Mode), Field(min_length=1)]
    triggers: Annotated[Sequence[Trigger], tuple_of(Trigger)] = ()
    bundles: Annotated[Sequence[Bundle], tuple_of(Bundle)] = ()

    @classmethod
    def from_wire(cls, document: JsonValue) -> "Profile":
        """The profile of a document, or InvalidPlan with all that is wrong in it."""
        try:
            profile = cls.model_validate(document, by_alias=True, by_name=False)
        except ValidationError as refused:
            wrong = places_and_reasons(refused)
            raise InvalidPlan(tuple(f"{where}: {why}" for where, why in wrong)) from None
        if found := _contradictions(profile):
            raise InvalidPlan(tuple(found))
        return profile


class Interpreted(NamedTuple):
    """A plan, and the reference to the policy that it was made by: both are hashed."""

    plan: ExecutionPlan
    policy_ref: Mapping[str, JsonValue]

    @property
    def hash(self) -> str:
        """The hash of both (ING-HASH)."""
        return plan_hash(self.plan, self.policy_ref)

    @property
    def members(self) -> Mapping[str, str]:
        """The digests of what is hashed, member by member."""
        return member_digests(self.plan, dict(self.policy_ref))


class Interpreter:
    """Makes the plans of a profile, all of them at once: a mode that can't be run is found now."""

    def __init__(self, profile: Profile, contract: StepContract, forms: Forms) -> None:
        """InvalidPlan names every violation in every mode."""
        self._profile = profile
        made = {mode.id: _document(profile, mode, contract) for mode in profile.modes}
        found = [
            f"mode {mode}: {violation}"
            for mode, document in made.items()
            for violation in violations(document, contract, forms)
        ]
        if found:
            raise InvalidPlan(tuple(found))
        self._modes = {
            mode: Interpreted(ExecutionPlan.from_wire(document), _policy_ref(profile, mode))
            for mode, document in made.items()
        }

    @property
    def modes(self) -> Mapping[str, Interpreted]:
        return dict(self._modes)

    def begin(self, text: str) -> Interpreted:
        """The plan of a session that starts with this text: of the first trigger that it meets."""
        met = (trigger.target_mode for trigger in self._profile.triggers if trigger.speaks_of(text))
        return self._modes[next(met, DEFAULT_MODE)]

    def resume(self, last_hash: str) -> Interpreted | None:
        """The plan that a session was left with, whatever is said now; None if it is of none."""
        return next((mode for mode in self._modes.values() if mode.hash == last_hash), None)


def policy_ref(policy_id: str, mode: str, documents: Sequence[str] = ()) -> dict[str, JsonValue]:
    """The reference to a policy, as it is hashed with a plan."""
    return {"policyId": policy_id, "modeLabel": mode, "docBundleRefs": list(documents)}


def policy_ref_of(plan: ExecutionPlan) -> dict[str, JsonValue]:
    """The same for a plan that no profile made: by what its metadata says of itself."""
    return policy_ref(plan.metadata.policy_profile, plan.metadata.mode)


def _policy_ref(profile: Profile, mode: str) -> dict[str, JsonValue]:
    files = next((bundle.files for bundle in profile.bundles if bundle.mode_id == mode), ())
    return policy_ref(profile.id, mode, files)


def _document(profile: Profile, mode: Mode, contract: StepContract) -> dict[str, JsonValue]:
    named = [(_id(place, step), step) for place, step in enumerate(mode.plan)]
    ids = {step.type: id for id, step in named}
    return {
        "step_contract_version": contract.version,
        "extensions": [],
        "metadata": {**mode.metadata, "policyProfile": profile.id, "mode": mode.id},
        "steps": [_step(id, step, ids, contract) for id, step in named],
    }


def _id(place: int, step: PlannedStep) -> str:
    return f"step-{place + 1}" if step.id is None else step.id


def _step(
    id: str, step: PlannedStep, ids: Mapping[str, str], contract: StepContract
) -> dict[str, JsonValue]:
    """A step with all that it says; of a type that is unknown nothing can be filled in."""
    rule = contract.by_type.get(step.type)
    wired = {}
    if step.inputs is not None:
        wired = dict(step.inputs)
    elif rule is not None:
        sources = {TURN: TURN, **ids}
        wired = {
            name: {"from": sources[source.type], "output": source.output}
            for name, source in rule.inputs.items()
            if source.type in sources
        }
    return {
        "id": id,
        "type": step.type,
        "stage": step.type if rule is None else rule.stage,
        "payload": dict(step.payload),
        "inputs": wired,
    }


def _contradictions(profile: Profile) -> list[str]:
    modes = [mode.id for mode in profile.modes]
    bundled = [bundle.mode_id for bundle in profile.bundles]
    found = [f"$.modes: {mode!r} is there twice" for mode in _twice(modes)]
    found += [f"$.bundles: {mode!r} is there twice" for mode in _twice(bundled)]
    if DEFAULT_MODE not in modes:
        found.append(f"$.modes: there is no mode {DEFAULT_MODE!r}")
    for place, trigger in enumerate(profile.triggers):
        if trigger.target_mode not in modes:
            found.append(f"$.triggers[{place}].targetMode: it is no mode of the profile")
    for place, mode in enumerate(bundled):
        if mode not in modes:
            found.append(f"$.bundles[{place}].modeId: it is no mode of the profile")
    for place, planned in enumerate(profile.modes):
        for name in ("policyProfile", "mode"):
            if name in planned.metadata:
                found.append(f"$.modes[{place}].metadata.{name}: the profile says it already")
    return found


def _twice(names: Sequence[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})


def _folded(text: str) -> str:
    return normalize("NFC", normalize("NFC", text).casefold())
