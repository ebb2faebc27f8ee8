"""The inputs of a step, read strictly: what is of another kind than it must be fails the cycle."""

from collections.abc import Mapping

from memoranda.kernel.errors import CycleFailed
from memoranda.kernel.json import JsonValue


def text_input(step: str, inputs: Mapping[str, JsonValue], name: str) -> str:
    """An input that is a text; CycleFailed if there is none, or it is something else."""
    if name not in inputs:
        raise CycleFailed(step, f"its input {name} is missing")
    if not isinstance(inputs[name], str):
        raise CycleFailed(step, f"its input {name} is not a text")
    return str(inputs[name])


def optional_text_input(step: str, inputs: Mapping[str, JsonValue], name: str) -> str | None:
    """The same, for an input that may be absent; null is something else too."""
    return text_input(step, inputs, name) if name in inputs else None
