"""The hash of a plan: what a session is resumed with, or not (ING-HASH).

It covers the whole plan, topK with it, and the policy that the plan was made by. It is the SHA-256
of RFC 8785, and so the same in every process, on every machine, in whatever order keys were given.
"""

from recollect.identity import canonical_bytes, sha256_hex
from recollect.kernel.json import JsonValue
from recollect.plans.plan import ExecutionPlan


def plan_hash(plan: ExecutionPlan, policy_ref: JsonValue) -> str:
    """The hash of a plan with the reference to its policy, in hexadecimal digits."""
    return document_hash(plan.to_wire(), policy_ref)


def document_hash(execution_plan: JsonValue, policy_ref: JsonValue) -> str:
    """The same of documents, whether the plan is one of ours or not."""
    return sha256_hex(canonical_bytes({"executionPlan": execution_plan, "policyRef": policy_ref}))
