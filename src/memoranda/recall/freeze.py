"""Freezing: what was recalled becomes part of the snapshot, by value (D-MEM-4, MEM-CONTEXT-1).

Its place is ``input["$app"]`` (MEM-CTX-3). Both memory members are always written there, over
inherited ones: ``memoryContext``, null where there is none, and ``memoryRecallFailed``. Other
members of ``$app`` stay. Replay reads only the snapshot (MEM-CONTEXT-2, EXT-FREEZE).
"""

from collections.abc import Mapping
from typing import Any, Final

from memoranda.identity import Frozen, canonical_bytes, decode, freeze
from memoranda.kernel.errors import InvalidWorld
from memoranda.kernel.json import JsonValue
from memoranda.worlds.snapshot import Snapshot

APP: Final = "$app"
MEMORY_CONTEXT: Final = "memoryContext"
MEMORY_RECALL_FAILED: Final = "memoryRecallFailed"


def freeze_memory_context(
    snapshot: Snapshot | Mapping[str, JsonValue],
    context: JsonValue | Frozen,
    failed: bool = False,
) -> Snapshot:
    """The snapshot with what was recalled in it, or InvalidJson where that is no JSON.

    A recall that failed leaves no context: null is written, whatever is given. Nothing of the
    snapshot that is given changes. A context that is frozen already is not written again.
    """
    base = snapshot if isinstance(snapshot, Snapshot) else Snapshot.from_wire(snapshot)
    given = _object(base.input, "$.input")
    inherited = _object(given.get(APP), f"$.input.{APP}")
    app = {**inherited, **app_namespace(context, failed=failed)}
    return base.model_copy(update={"input": {**given, APP: app}})


def app_namespace(context: JsonValue | Frozen, *, failed: bool = False) -> dict[str, JsonValue]:
    """The two memory members as they stand in ``$app``, by value (MEM-CTX-3)."""
    if failed:
        return {MEMORY_CONTEXT: None, MEMORY_RECALL_FAILED: True}
    frozen = context if isinstance(context, Frozen) else freeze(context)
    return {MEMORY_CONTEXT: frozen.thaw(), MEMORY_RECALL_FAILED: False}


def get_memory_context_for_replay(snapshot: Snapshot | Mapping[str, JsonValue]) -> JsonValue:
    """What was frozen, as a fresh value; None where nothing was (MEM-CONTEXT-2)."""
    return decode(canonical_bytes(_app(snapshot).get(MEMORY_CONTEXT)))


def get_memory_recall_failed_for_replay(snapshot: Snapshot | Mapping[str, JsonValue]) -> bool:
    """Whether the recall had failed; False where nothing is said of it (EXT-FREEZE)."""
    return _app(snapshot).get(MEMORY_RECALL_FAILED) is True


def _object(value: JsonValue, where: str) -> dict[str, Any]:
    """An object as it is; null and absent are an empty one."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidWorld(where, "only an object has room for what the app keeps there")
    return value


def _app(snapshot: Snapshot | Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    given = snapshot.input if isinstance(snapshot, Snapshot) else snapshot.get("input")
    app = given.get(APP) if isinstance(given, Mapping) else None
    return app if isinstance(app, Mapping) else {}
