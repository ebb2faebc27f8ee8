"""Operations on memory that may need approval, and who says which do (D-MEM-5).

How such an operation becomes a proposal is told in `journeys.govern`.
"""

from typing import Annotated, Any, Literal, Protocol, runtime_checkable

from pydantic import Field, InstanceOf

from recollect.kernel.json import JsonValue
from recollect.kernel.wire import STORABLE, WireModel
from recollect.records.model import StoredMemoryRecord

OperationType = Literal["create", "update", "delete", "promote", "demote"]
Risk = Literal["low", "medium", "high"]


class MemoryOperation(WireModel):
    """Who wants to do what, to which record (EXT-TYPES)."""

    type: OperationType
    record: InstanceOf[StoredMemoryRecord[Any]] | None = None
    actor_id: Annotated[str, Field(min_length=1, max_length=256), STORABLE]
    meta: dict[str, Any] | None = None

    def to_wire(self) -> dict[str, JsonValue]:
        """The operation under the seed's names; what is absent is left out."""
        wire: dict[str, JsonValue] = {"type": self.type, "actorId": self.actor_id}
        if self.record is not None:
            wire["record"] = self.record.to_wire()
        if self.meta is not None:
            wire["meta"] = dict(self.meta)
        return wire


class MemoryAuthorityPolicy(Protocol):
    """Says which operations need approval; optional, as is the risk (MEM-AUTH-1, MEM-AUTH-3)."""

    def requires_authority(self, operation: MemoryOperation, /) -> bool:
        """Whether somebody has to approve it; one that needs none makes no World (MEM-AUTH-4)."""
        ...


@runtime_checkable
class AssessesRisk(Protocol):
    """A policy that also says how risky an operation is."""

    def assess_risk(self, operation: MemoryOperation, /) -> Risk:
        """Low, medium or high."""
        ...


def risk_of(policy: MemoryAuthorityPolicy, operation: MemoryOperation) -> Risk | None:
    """How risky a policy calls an operation; None where it assesses no risks."""
    return policy.assess_risk(operation) if isinstance(policy, AssessesRisk) else None
