"""The hash of a plan: the same everywhere, and another for another plan."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.plans.plan import ExecutionPlan, document_hash, plan_hash
from tests.patience import PATIENCE
from tests.plans.documents import plan_document

VECTORS = json.loads((Path(__file__).parent / "plan_hashes.json").read_text())
POLICY = {"policyId": "default", "modeLabel": "default", "docBundleRefs": []}


@pytest.mark.rule("ING-HASH")
@pytest.mark.parametrize("vector", VECTORS, ids=[one["name"] for one in VECTORS])
def test_a_plan_hashes_as_the_vectors_say(vector: dict[str, Any]) -> None:
    assert document_hash(vector["executionPlan"], vector["policyRef"]) == vector["hash"]


@pytest.mark.rule("ING-HASH")
@pytest.mark.parametrize("vector", [one for one in VECTORS if one["valid"]])
def test_a_plan_hashes_as_its_document(vector: dict[str, Any]) -> None:
    plan = ExecutionPlan.from_wire(vector["executionPlan"])

    assert plan_hash(plan, vector["policyRef"]) == vector["hash"]


def shuffled(value: Any, draw: st.DrawFn) -> Any:
    if isinstance(value, dict):
        keys = draw(st.permutations(list(value)))
        return {key: shuffled(value[key], draw) for key in keys}
    return [shuffled(item, draw) for item in value] if isinstance(value, list) else value


@pytest.mark.rule("ING-HASH")
@given(st.data())
def test_the_order_of_keys_does_not_matter(data: st.DataObject) -> None:
    document = plan_document()
    other = st.composite(lambda draw: shuffled(document, draw))()
    plan = ExecutionPlan.from_wire(data.draw(other))

    assert plan_hash(plan, POLICY) == document_hash(document, POLICY)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every scalar of a document."""
    if isinstance(value, dict):
        return [way for key, member in value.items() for way in places(member, (*at, key))]
    if isinstance(value, list):
        return [way for place, item in enumerate(value) for way in places(item, (*at, place))]
    return [at]


@pytest.mark.rule("ING-HASH")
@pytest.mark.rule("ING-TOPK")
def test_every_value_of_a_plan_counts() -> None:
    seen = {document_hash(plan_document(), POLICY)}
    ways = places(plan_document())
    for way in ways:
        changed = plan_document()
        at: Any = changed
        for part in way[:-1]:
            at = at[part]
        at[way[-1]] = at[way[-1]] + (1 if isinstance(at[way[-1]], int) else "!")
        seen.add(document_hash(changed, POLICY))

    assert ("metadata", "topK") in ways
    assert len(seen) == len(ways) + 1


@pytest.mark.rule("ING-HASH")
def test_the_policy_counts() -> None:
    plan = ExecutionPlan.from_wire(plan_document())

    assert plan_hash(plan, POLICY) != plan_hash(plan, {**POLICY, "modeLabel": "other"})


@pytest.mark.rule("ING-HASH")
def test_another_process_finds_the_same_hash() -> None:
    code = (
        "from tests.plans.documents import plan_document\n"
        "from memoranda.plans.plan import document_hash\n"
        f"print(document_hash(plan_document(), {POLICY!r}))"
    )
    printed = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        text=True,
        env={"PYTHONHASHSEED": "7"},
        cwd=Path(__file__).parents[2],
        timeout=PATIENCE,
    )

    assert printed.stdout.strip() == document_hash(plan_document(), POLICY)
