"""What a validator found: one thing that is wrong, where, and which rule it breaks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from memoranda.kernel.json import JsonValue, path
from memoranda.kernel.results import Result

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, repr=False)
class Violation(Result):
    """One violation: the check that failed, the rule behind it, the place, the reason.

    `line` is the line of a log, counted from 1; None for an object.
    """

    check: str
    rule: str
    where: str
    why: str
    severity: Severity = "error"
    line: int | None = None

    def __str__(self) -> str:
        """One line for people."""
        line = "" if self.line is None else f"line {self.line}, "
        return f"{self.severity} {self.check} ({self.rule}): {line}{self.where}: {self.why}"


# ---------------------------------------------------------------------- JSON Schema
# The few words of JSON Schema that the two schemas of the seed use, so that none is needed at
# run time. A shape is what a member must be; its answer is what is wrong, or None.

TEXT: Final = "a non-empty text"
TEXT_OR_NULL: Final = "a text or null"


def misfit(value: JsonValue, shape: str | Sequence[str | None]) -> str | None:
    """What is wrong with a value of a shape: one of ours by name, or a list of the allowed."""
    match shape:
        case "a non-empty text":
            fits = isinstance(value, str) and value != ""
        case "a text or null":
            fits = value is None or isinstance(value, str)
        case "an object or null":
            fits = value is None or isinstance(value, dict)
        case str():
            raise ValueError(shape)
        case _:
            fits = value is None or isinstance(value, str)
            if fits and value in shape:
                return None
            return f"it is none of {', '.join('null' if one is None else one for one in shape)}"
    return None if fits else f"it is not {shape}"


def misfits(
    document: Mapping[str, JsonValue],
    shapes: Mapping[str, str | Sequence[str | None]],
    required: Sequence[str],
) -> dict[str, str]:
    """Per member that does not fit: what is wrong with it."""
    found = {name: "it is missing" for name in required if name not in document}
    for name, shape in shapes.items():
        if name in document and (why := misfit(document[name], shape)):
            found[name] = why
    return found


def place(*steps: str | int) -> str:
    """The path to a member: ``$.a[0]``."""
    where = "$"
    for step in steps:
        where = path(where, step)
    return where
