"""What crosses an edge: frozen, strict, closed.

Python attributes are snake_case. So are the wire's names in seed 003 (`ClosedModel`); the other
seeds have camelCase (`WireModel`).
"""

from collections.abc import Callable
from typing import Annotated, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetPydanticSchema,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel

from memoranda.kernel.errors import InvalidInput, InvalidRecord
from memoranda.kernel.json import storable

Refusal = Callable[[str, str], InvalidInput]
"""Makes the error of where and why."""


class ClosedPart(BaseModel):
    """A part of a value of the wire; the whole refuses one that does not fit, with its place."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class ClosedModel(ClosedPart):
    """A value of the wire. One that does not fit is refused in our words: where, and why."""

    refusal: ClassVar[Refusal] = InvalidRecord

    @model_validator(mode="wrap")
    @classmethod
    def _refuse_in_our_words(cls, given: object, validate: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return validate(given)
        except ValidationError as refused:
            raise cls.refusal(*place_and_reason(refused)) from None


class WireModel(ClosedModel):
    """The same, with camelCase names on the wire."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )


def places_and_reasons(refused: ValidationError) -> list[tuple[str, str]]:
    """Where and why pydantic refused a value, for everything that it found wrong."""
    found = []
    for error in refused.errors(include_url=False, include_input=False):
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in error["loc"])
        reason = error["msg"].removeprefix("Value error, ").replace("tuple", "list")
        found.append(("$" + "".join(steps), reason[0].lower() + reason[1:]))
    return found


def place_and_reason(refused: ValidationError) -> tuple[str, str]:
    """The same, for the first thing that it found wrong."""
    return places_and_reasons(refused)[0]


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _storable_text(text: str) -> str:
    if not storable(text):
        raise ValueError("it holds U+0000 or a lone surrogate")
    return text


STORABLE = AfterValidator(_storable_text)
"""Marks a text that every database must be able to hold."""


def tuple_of(item: object) -> GetPydanticSchema:
    """Marks a sequence that is given as a list or a tuple and kept as a tuple.

    What is frozen holds nothing that could be changed. The schema is that of a tuple, which
    pydantic checks in Rust; a Sequence it would check in Python.
    """
    kept = Annotated[tuple[item, ...], BeforeValidator(_tuple)]  # type: ignore[valid-type]
    return GetPydanticSchema(lambda _source, handler: handler(kept))
