"""The hash of a plan: what a session is resumed with, or not (ING-HASH).

It covers the whole plan, topK with it, and the policy that the plan was made by. It is the SHA-256
of RFC 8785, and so the same in every process, on every machine, in whatever order keys were given.
"""

from collections.abc import Mapping

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.kernel.json import JsonValue
from memoranda.plans.plan import ExecutionPlan


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


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the members that are not the same in both, or not in both, in order.

    That the list of steps differs is said only where no single step does: then it is their order.
    """
    names = {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}
    if any(name.startswith(f"{STEPS}.") for name in names):
        names.discard(STEPS)
    return tuple(sorted(names))
