"""The names under which the facts of worlds are found in a journal (`ledger.fact`)."""

from typing import Final

from memoranda.ledger.beside import CYCLE

OPEN: Final = "open/"
RUNNING: Final = "running/"
BRANCHES: Final = "branches/"
TRACE: Final = "trace/"
REF: Final = "ref/"
LASTING: Final = ("proposal/", "execution/", "world/", BRANCHES, TRACE, CYCLE)
"""Names that say 'erased' when what stood under them was."""


def proposal(proposal_id: str) -> str:
    """A proposal, the votes on it and its decision."""
    return f"proposal/{proposal_id}"


def waiting(proposal_id: str) -> str:
    """A proposal that waits for its decision."""
    return OPEN + proposal_id


def running(execution_key: str) -> str:
    """An approval whose execution is not sealed yet."""
    return RUNNING + execution_key


def execution(execution_key: str) -> str:
    """An execution: how it began, its effects, how it ended."""
    return f"execution/{execution_key}"


def world(world_id: str) -> str:
    """A world, and the executions that reached it."""
    return f"world/{world_id}"


def based_on(world_id: str) -> str:
    """The executions that started from a world."""
    return f"from/{world_id}"


def branch(name: str) -> str:
    """What moved the head of a branch: the newest is the head."""
    return f"branch/{name}"


def branches(name: str) -> str:
    """The branch of this name, among all."""
    return BRANCHES + name


def trace(trace_id: str) -> str:
    """A selection of memory."""
    return TRACE + trace_id


def ref(world_id: str) -> str:
    """The selections that led to a record version, by its address."""
    return REF + world_id


def cycle(cycle_id: str) -> str:
    """A turn through a plan, and every attempt at it."""
    return CYCLE + cycle_id


def execution_key(proposal_id: str) -> str:
    """The key of a proposal's one execution; to a host it is opaque."""
    return f"{proposal_id}:1"
