"""Scopes that are maintained: how they are configured, and what their journals say of it."""

from collections.abc import Mapping
from typing import Any

import pytest

from memoranda import Memory
from memoranda.records.model import MemoryMaintenanceConfig, MemoryRetentionPolicy
from tests.journeys.govern.conftest import tampers

__all__ = ["tampers"]  # a fixture


@pytest.fixture
def handle_options() -> Mapping[str, Any]:
    """Whose handles these are."""
    return {"actor": "agent:maintained"}


def keeping(*, enabled: bool = True, **retention: Any) -> MemoryMaintenanceConfig:
    """A config that keeps no more than this."""
    return MemoryMaintenanceConfig(
        enabled=enabled, retention=MemoryRetentionPolicy.model_validate(retention)
    )


async def said(memory: Memory[Any], kind: str) -> list[dict[str, Any]]:
    """The bodies of all entries of a kind."""
    entries = await memory.journal.entries()
    return [dict(entry.body or {}) for entry in entries if entry.kind == kind]


async def counted(memory: Memory[Any], job: str, *, dry_run: bool = False) -> dict[str, int]:
    """What a job did, or would do."""
    (run,) = await memory.maintain.run(job, dry_run=dry_run)
    assert run.error is None
    assert run.outcome == ("dry" if dry_run else "done")
    return {name: count for name, count in run.counts.items() if count}
