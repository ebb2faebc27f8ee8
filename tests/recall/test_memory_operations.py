"""Operations that may need approval, the policy that says so, and the maintenance of a store."""

from typing import Any

import pytest

from memoranda.kernel.errors import InvalidRecord
from memoranda.records.model import (
    MemoryAuthorityPolicy,
    MemoryMaintenanceConfig,
    MemoryOperation,
    MemoryRetentionPolicy,
    Risk,
    StoredMemoryRecord,
    risk_of,
)

RECORD: StoredMemoryRecord[Any] = StoredMemoryRecord("r-1", {"a": 1}, 1, 2, ("x",))


class DeletionsNeedApproval:
    def requires_authority(self, operation: MemoryOperation) -> bool:
        return operation.type == "delete"


class Careful(DeletionsNeedApproval):
    def assess_risk(self, operation: MemoryOperation) -> Risk:
        return "high" if operation.type == "delete" else "low"


@pytest.mark.rule("EXT-TYPES")
@pytest.mark.parametrize("act", ["create", "update", "delete", "promote", "demote"])
def test_an_operation_has_the_seeds_members(act: Any) -> None:
    bare = MemoryOperation(type=act, actor_id="ann")
    members: Any = {"record": RECORD, "before": RECORD, "after": RECORD}
    full = MemoryOperation(type=act, actor_id="ann", meta={"why": "old"}, **members)

    assert bare.to_wire() == {"type": act, "actorId": "ann"}
    assert full.to_wire() == {
        "type": act,
        "actorId": "ann",
        "record": RECORD.to_wire(),
        "before": RECORD.to_wire(),
        "after": RECORD.to_wire(),
        "meta": {"why": "old"},
    }


@pytest.mark.rule("EXT-TYPES")
@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "erase", "actorId": "ann"},
        {"type": "delete"},
        {"type": "delete", "actorId": ""},
        {"type": "delete", "actorId": "ann", "reason": "old"},
        {"type": "delete", "actorId": "ann", "record": {"id": "r-1"}},
    ],
)
def test_what_is_no_operation_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidRecord):
        MemoryOperation.model_validate(wrong)


@pytest.mark.rule("D-MEM-5", "MEM-AUTH-1", "MEM-AUTH-3")
def test_a_policy_says_which_operations_need_approval() -> None:
    policy: MemoryAuthorityPolicy = DeletionsNeedApproval()

    assert policy.requires_authority(MemoryOperation(type="delete", actor_id="ann"))
    assert not policy.requires_authority(MemoryOperation(type="create", actor_id="ann"))


@pytest.mark.rule("D-MEM-5")
def test_a_policy_may_assess_the_risk_and_need_not() -> None:
    deletion = MemoryOperation(type="delete", actor_id="ann")

    assert risk_of(Careful(), deletion) == "high"
    assert risk_of(DeletionsNeedApproval(), deletion) is None


@pytest.mark.rule("EXT-TYPES")
def test_a_maintenance_config_has_the_seeds_members() -> None:
    wire = {
        "enabled": True,
        "retention": {"maxAge": 5, "maxRecords": None, "ephemeralTags": ["scratch"]},
    }
    config = MemoryMaintenanceConfig.model_validate(wire)

    assert config.retention == MemoryRetentionPolicy(max_age=5, ephemeral_tags=["scratch"])
    assert config.model_dump(mode="json") == wire
    with pytest.raises(InvalidRecord):
        MemoryMaintenanceConfig.model_validate({"enabled": True})
    with pytest.raises(InvalidRecord):
        MemoryMaintenanceConfig.model_validate({**wire, "interval": 1})
