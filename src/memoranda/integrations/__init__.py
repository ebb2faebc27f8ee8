"""Adapters for other frameworks, each loaded when it is used; and moving in from elsewhere."""

from typing import TYPE_CHECKING, Any, Final

from memoranda.kernel.errors import DependencyMissing
from memoranda.kernel.lazy import lazy_names

if TYPE_CHECKING:
    from memoranda.app.moving_in import move_in
    from memoranda.integrations.anthropic_memory import BlockingMemoryTool, MemorandaMemoryTool
    from memoranda.integrations.langgraph.checkpoints import MemorandaSaver
    from memoranda.integrations.langgraph.store import MemorandaStore, RecalledItem
    from memoranda.integrations.mem0 import AsyncMem0Memory, Mem0Memory
    from memoranda.integrations.memory_files import MemoryFiles
    from memoranda.integrations.openai_agents import MemorandaSession

__all__ = [
    "AsyncMem0Memory",
    "BlockingMemoryTool",
    "Mem0Memory",
    "MemorandaMemoryTool",
    "MemorandaSaver",
    "MemorandaSession",
    "MemorandaStore",
    "MemoryFiles",
    "RecalledItem",
    "move_in",
]

_EXTRAS: Final = {"anthropic": "anthropic", "langgraph": "langgraph"}

_find, __dir__ = lazy_names(__name__)


def __getattr__(name: str) -> Any:
    """A name, with its framework; DependencyMissing where that is not installed."""
    try:
        return _find(name)
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        if package not in _EXTRAS:
            raise
        raise DependencyMissing(package, _EXTRAS[package]) from missing
