"""Where a checkpoint stands: its thread, its namespace and its id, as a config and as a path."""

from typing import NamedTuple

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import get_checkpoint_id

CHECKPOINT, WRITE = "checkpoint:", "write:"
"""How the ids of checkpoints begin, and of what is pending on them."""


class Place(NamedTuple):
    """Which checkpoint is meant."""

    thread: str
    namespace: str
    id: str

    @classmethod
    def of(cls, config: RunnableConfig) -> "Place":
        """The place that a config names; its id is empty where the newest is meant."""
        named = config["configurable"]
        return cls(
            str(named["thread_id"]), named.get("checkpoint_ns", ""), get_checkpoint_id(config) or ""
        )

    @classmethod
    def in_id(cls, id: str) -> "Place":
        thread, namespace, checkpoint = id.removeprefix(CHECKPOINT).split("/")
        return cls(plain(thread), plain(namespace), plain(checkpoint))

    @property
    def path(self) -> str:
        return "/".join(map(escaped, self))

    @property
    def config(self) -> RunnableConfig:
        return {
            "configurable": {
                "thread_id": self.thread,
                "checkpoint_ns": self.namespace,
                "checkpoint_id": self.id,
            }
        }


def escaped(part: str) -> str:
    """A part of a path: without a slash of its own."""
    return part.replace("%", "%25").replace("/", "%2F")


def plain(part: str) -> str:
    return part.replace("%2F", "/").replace("%25", "%")
