"""How a patch changes data: shallowly when data is an object (MEM-PATCH-1)."""

from memoranda.kernel.errors import InvalidPatch
from memoranda.kernel.json import JsonValue


def merged(id: str, data: JsonValue, patch: JsonValue) -> JsonValue:
    """The data after the patch.

    An object takes the patch's members over its own, one level deep; null is a value like any
    other and sets null. Data that is no object is replaced. A patch that is no object can't be
    merged into one, and replacing it whole would lose members in silence: it is refused.
    """
    if not isinstance(data, dict):
        return patch
    if not isinstance(patch, dict):
        kind = type(patch).__name__
        raise InvalidPatch(id, f"its data is an object, and the patch is of type {kind}")
    return {**data, **patch}
