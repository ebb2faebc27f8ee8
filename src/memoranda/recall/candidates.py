"""What a ranking is given, and what it gives back: values, whatever store they come from."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from memoranda.recall.reasons import Reason

_NOBODY: Final[frozenset[str]] = frozenset()


class Candidate(NamedTuple):
    """A record as a ranking sees it.

    `seq` is the number of the entry that led to this version of it: no two have the same, and the
    highest is the newest. `counts` holds how often it has each token that is asked for (others may
    be in it); `length` is the number of all its tokens. `thread` is the conversation or the source
    that it is a part of and `place` its place in time there, each place once; a record of no
    thread stands alone. `speaker` holds the tokens of whoever says it.
    """

    id: str
    seq: int
    created_at: int
    counts: Mapping[str, int]
    length: int
    place: int = 0
    thread: str | None = None
    speaker: frozenset[str] = _NOBODY


class Scored(NamedTuple):
    """A record that was found: how well, how sure, and why."""

    id: str
    seq: int
    created_at: int
    score: float
    confidence: float
    reason: Reason
