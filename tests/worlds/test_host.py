"""The host's port: closed options, results, and which outcome counts."""

from typing import Any

import pytest

from memoranda.kernel.errors import InvalidWorld
from memoranda.worlds.host import (
    Host,
    HostExecutionOptions,
    HostExecutionResult,
    Isolated,
    RecordedSurroundings,
    Surrounded,
    Surroundings,
    derive_outcome,
)
from memoranda.worlds.local_host import LocalHost
from memoranda.worlds.snapshot import Snapshot
from tests.worlds.running import NOW, SEED, Performed, a_shop, base_of

ERROR = {
    "code": "action.raised",
    "message": "x",
    "source": {"actionId": "a", "nodePath": "action"},
    "timestamp": NOW,
}
REQUIREMENT = {
    "id": "r-1",
    "type": "t",
    "params": {},
    "actionId": "a",
    "flowPosition": {"nodePath": "", "snapshotVersion": 0},
    "createdAt": NOW,
}


class Event:
    def is_set(self) -> bool:
        return False


def snapshot_with(**system: Any) -> Snapshot:
    wire = base_of(a_shop()).to_wire()
    return Snapshot.from_wire(wire | {"system": wire["system"] | system})


@pytest.mark.rule("MEM-CTX-2")
@pytest.mark.parametrize(
    "more",
    [
        {"memoryContext": {"a": 1}},
        {"memory": 1},
        {"$app": {"memoryContext": 1}},
        {"input": {}},
        {"context": {}},
        {"signal": {"memoryContext": 1}},
        {"approvedScope": {"memoryContext": 1}},
        {"timeoutMs": {"memoryContext": 1}},
    ],
)
def test_memory_can_not_be_put_into_the_options(more: dict[str, Any]) -> None:
    with pytest.raises(InvalidWorld) as caught:
        HostExecutionOptions.from_wire(more)

    assert caught.value.code == "input.world"


@pytest.mark.rule("MEM-CTX-2")
def test_the_options_are_the_closed_set_of_the_world_protocol() -> None:
    assert [field.alias for field in HostExecutionOptions.model_fields.values()] == [
        "approvedScope",
        "timeoutMs",
        "signal",
    ]


def test_a_signal_is_no_part_of_the_options_value() -> None:
    options = HostExecutionOptions.from_wire({"timeoutMs": 5, "signal": Event()})

    assert options.to_wire() == {"timeoutMs": 5}
    assert options == HostExecutionOptions(timeout_ms=5)
    assert options.signal is not None


@pytest.mark.parametrize("timeout", [0, -1, 1.5, "5", True])
def test_a_time_limit_is_a_positive_integer(timeout: Any) -> None:
    with pytest.raises(InvalidWorld):
        HostExecutionOptions.from_wire({"timeoutMs": timeout})


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ({}, "completed"),
        ({"status": "error"}, "completed"),
        ({"errors": [ERROR]}, "completed"),
        ({"lastError": ERROR}, "failed"),
        ({"pendingRequirements": [REQUIREMENT]}, "failed"),
    ],
)
def test_the_outcome_follows_from_the_last_error_and_what_is_pending(
    system: dict[str, Any], expected: str
) -> None:
    assert derive_outcome(snapshot_with(**system)) == expected


def test_a_result_has_the_protocols_members() -> None:
    snapshot = base_of(a_shop())
    result = HostExecutionResult(
        outcome="completed", terminal_snapshot=snapshot, trace_ref=None, error=None
    )

    assert result.to_wire() == {"outcome": "completed", "terminalSnapshot": snapshot.to_wire()}
    with pytest.raises(InvalidWorld):
        HostExecutionResult.from_wire(result.to_wire() | {"outcome": "rejected"})


def test_what_is_shipped_fits_the_ports() -> None:
    host: Host = LocalHost(a_shop())
    surrounded: Surrounded = LocalHost(a_shop())
    surroundings: list[Surroundings] = [
        Isolated(now=NOW, random_seed=SEED),
        Performed(now=NOW, random_seed=SEED),
        RecordedSurroundings(now=NOW, random_seed=SEED, effects=()),
    ]

    assert isinstance(host, Surrounded)
    assert all(surrounded.within(one) is not None for one in surroundings)
