"""Policies that ask for approval, and people who give it."""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from memoranda.errors import ApprovalPending
from memoranda.policies import HumanInTheLoop, MemoryOperation

HUMAN = "human:chief"
ASKS = HumanInTheLoop(HUMAN)


@dataclass
class Needs:
    """Asks for approval of some operations, and remembers what it was asked."""

    types: Sequence[str]
    asked: list[MemoryOperation] = field(default_factory=list)

    def requires_authority(self, operation: MemoryOperation, /) -> bool:
        self.asked.append(operation)
        return operation.type in self.types

    def assess_risk(self, operation: MemoryOperation, /) -> Any:
        return "high" if operation.type == "delete" else "low"


async def pending(operation: Awaitable[object]) -> str:
    """The id of the proposal that an operation became."""
    with pytest.raises(ApprovalPending) as caught:
        await operation
    return caught.value.proposal
