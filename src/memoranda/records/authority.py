"""Operations on memory that may need approval, and who says which do (D-MEM-5).

How such an operation becomes a proposal is described in `journeys.govern`.
"""

from typing import Annotated, Any, Final, Literal, Protocol, get_args, runtime_checkable

from pydantic import Field, InstanceOf

from memoranda.kernel.errors import InvalidOption
from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import STORABLE, WireModel
from memoranda.records.model import StoredMemoryRecord

OperationType = Literal["create", "update", "delete", "promote", "demote"]
Risk = Literal["low", "medium", "high"]
RISKS: Final[tuple[Risk, ...]] = get_args(Risk)
"""From the least to the greatest."""


class MemoryOperation(WireModel):
    """Who wants to do what, to which record (EXT-TYPES).

    ``record`` is what would be there: the record as it becomes, or, where it is deleted or put
    away, as it is now.
    """

    type: OperationType
    record: InstanceOf[StoredMemoryRecord[Any]] | None = None
    before: InstanceOf[StoredMemoryRecord[Any]] | None = None
    """The version that is there now; None for a create, also under the id of a deleted record."""
    after: InstanceOf[StoredMemoryRecord[Any]] | None = None
    """The version that would follow; None where the record is deleted or put away."""
    actor_id: Annotated[str, Field(min_length=1, max_length=256), STORABLE]
    meta: dict[str, Any] | None = None

    def to_wire(self) -> dict[str, JsonValue]:
        """The operation under the seed's names; what is absent is left out."""
        wire: dict[str, JsonValue] = {"type": self.type, "actorId": self.actor_id}
        for name in ("record", "before", "after"):
            if (record := getattr(self, name)) is not None:
                wire[name] = record.to_wire()
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
    """How risky a policy calls an operation; None where it assesses no risks.

    InvalidOption where what it says is no risk: nobody could judge by it.
    """
    if not isinstance(policy, AssessesRisk):
        return None
    risk = policy.assess_risk(operation)
    if risk not in RISKS:
        known = ", ".join(RISKS)
        raise InvalidOption("memory_policy", f"it assesses a risk as {risk!r}; say one of {known}")
    return risk
