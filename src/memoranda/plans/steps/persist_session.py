"""PersistSession: the session goes on from this turn, once the cycle has succeeded."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import WireModel
from memoranda.plans.items import check_session_ref
from memoranda.plans.step import TURN, Fails, Limit
from memoranda.plans.steps.inputs import optional_text_input, text_input
from memoranda.plans.steps.staging import Staging

NAME: Final = "PersistSession"


class PersistSessionPayload(WireModel):
    """Nothing: what a session stores is fixed."""


class PersistSessionOutput(WireModel):
    """That it is staged: whether it was written is known only after the cycle."""

    status: Literal["staged"] = "staged"


class PersistSession:
    """Stages the session, and writes nothing (ING-PERSIST)."""

    name: Final = NAME
    stage: Final = "Persist"
    payload: Final = PersistSessionPayload
    takes: Final[Mapping[str, Sequence[str]]] = {"sessionRef": (TURN,), "repo?": ("RepoScan",)}
    gives: Final = ("status",)
    fails: Final[Fails] = "fast"
    limit: Final[Limit] = "ioMs"

    def __init__(self, staging: Staging) -> None:
        self._staging = staging

    async def run(
        self, payload: PersistSessionPayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        """Stage the session, with the version of a folder where one was scanned."""
        del payload
        session_ref = check_session_ref(text_input(NAME, inputs, "sessionRef"))
        self._staging.stage_session(session_ref, optional_text_input(NAME, inputs, "repo"))
        return PersistSessionOutput().model_dump()
