"""The names under which the facts of worlds are found in a journal (`ledger.fact`)."""

from typing import Final

from memoranda.kernel.errors import InvalidWorld
from memoranda.ledger.attachments import CYCLE

OPEN: Final = "open/"
RUNNING: Final = "running/"
BRANCHES: Final = "branches/"
TRACE: Final = "trace/"
REF: Final = "ref/"
LEARNED: Final = "learned/"
LASTING: Final = ("proposal/", "execution/", "world/", BRANCHES, TRACE, CYCLE, LEARNED)
"""Names that say 'erased' when what stood under them was."""


def proposal(proposal_id: str) -> str:
    """A proposal, the votes on it and its decision."""
    return "proposal/" + _text(proposal_id)


def waiting(proposal_id: str) -> str:
    return OPEN + _text(proposal_id)


def running(execution_key: str) -> str:
    """An approval whose execution is not sealed yet."""
    return RUNNING + _text(execution_key)


def execution(execution_key: str) -> str:
    """An execution: how it began, its effects, how it ended."""
    return "execution/" + _text(execution_key)


def world(world_id: str) -> str:
    return "world/" + _text(world_id)


def based_on(world_id: str) -> str:
    return "from/" + _text(world_id)


def branch(name: str) -> str:
    """What moved the head of a branch: the newest is the head."""
    return "branch/" + _text(name)


def branches(name: str) -> str:
    return BRANCHES + _text(name)


def trace(trace_id: str) -> str:
    return TRACE + _text(trace_id)


def ref(world_id: str) -> str:
    """The selections that led to a record version, by its address."""
    return REF + _text(world_id)


def reasoning(reasoning_id: str) -> str:
    """The selections of a reasoning phase."""
    return "reasoning/" + _text(reasoning_id)


def concluded(reasoning_id: str) -> str:
    """The proposal that closed a reasoning phase which it named."""
    return "concluded/" + _text(reasoning_id)


def cycle(cycle_id: str) -> str:
    """A turn through a plan, and every attempt at it."""
    return CYCLE + _text(cycle_id)


def learned(learned_id: str) -> str:
    """One thing that was learned, or seen again, or proposed, of one message."""
    return LEARNED + learned_id


def message(digest: str) -> str:
    """What was learned of a message; it is gone when that is erased."""
    return "message/" + digest


def seen(record_id: str) -> str:
    """The messages in which something that was known was said again."""
    return "seen/" + record_id


def denied(record_id: str) -> str:
    """The messages that say otherwise than something that was known."""
    return "denied/" + record_id


def execution_key(proposal_id: str) -> str:
    """The key of a proposal's one execution; to a host it is opaque."""
    return _text(proposal_id) + ":1"


def _text(name: str) -> str:
    """The name, if it is one: whoever asks for a world may hand in anything."""
    if not isinstance(name, str):
        raise InvalidWorld("$", f"it is named by a text, not by a {type(name).__name__}")
    return name
