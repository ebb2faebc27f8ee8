"""Traces, small and valid, for tests to change."""

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from memoranda.recall.trace import MemoryTrace
from tests.worlds.making import T0, json_values

DATA = Path(__file__).parent / "data"


def vectors() -> Any:
    return json.loads((DATA / "memory-trace.json").read_bytes())["vectors"]


def selected(world: str = "world-100", **members: Any) -> dict[str, Any]:
    """What is selected, as it stands on the wire."""
    return {
        "ref": {"worldId": world},
        "reason": "유사 상황의 주문 기록",
        "confidence": 0.85,
        "verified": False,
        **members,
    }


def trace(*chosen: dict[str, Any], **members: Any) -> dict[str, Any]:
    """A trace, as it stands on the wire."""
    return {
        "selector": {"actorId": "finder", "kind": "agent"},
        "query": "이전 주문 패턴",
        "selectedAt": T0 - 1000,
        "atWorldId": "world-456",
        "selected": list(chosen) or [selected()],
        **members,
    }


def evidence(**members: Any) -> dict[str, Any]:
    return {
        "method": "hash",
        "proof": {"computedHash": "h"},
        "verifiedAt": T0 - 500,
        "verifiedBy": {"actorId": "finder", "kind": "agent"},
        **members,
    }


def read(wire: dict[str, Any]) -> MemoryTrace:
    return MemoryTrace.from_wire(wire)


odd_values = (
    json_values
    | st.sampled_from(
        [float("nan"), float("inf"), -1, 2, 10**400, True, "", "\ud800", "\x00", b"", ()]
    )
    | st.builds(lambda: {"actorId": "a", "kind": "agent"})
    | st.builds(evidence)
    | st.builds(selected)
    | st.lists(st.builds(selected), max_size=2)
)
