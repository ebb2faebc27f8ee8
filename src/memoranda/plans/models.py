"""What a plan asks of a language model: a port of two methods, and the values that it takes.

The instructions of whoever wrote the plan and what a user said are kept apart all the way to the
model, as chat models want them: memory is quoted beside what the user said, and never stands
among the instructions (`steps.prompt_assemble`).
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.kernel.json import JsonValue
from memoranda.text.frame import TAG_DIGITS, Quoted, encodable, in_frame


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked: what the user's side says, and the instructions, if there are any."""

    user: str
    system: str | None = None

    def to_wire(self) -> dict[str, JsonValue]:
        """As a step's output; what is absent is left out."""
        return {"user": self.user} | ({} if self.system is None else {"system": self.system})


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model is to answer; what is None is left to the model."""

    model: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None


class Model(Protocol):
    """A language model. ModelFailed, with its name and why, when it does not answer as it must."""

    async def complete(self, prompt: Prompt, settings: Settings) -> str:
        """The whole answer."""
        ...

    def stream(self, prompt: Prompt, settings: Settings) -> AsyncGenerator[str]:
        """The same answer in pieces, as they come; it ends where the answer ends, or raises.

        An answer that breaks off is a failure: pieces without an end are never an answer. Who
        stops listening closes it, and nothing stays open behind it.
        """
        ...


@runtime_checkable
class Identified(Protocol):
    """A model that says which one it is, with its version: another identity, another model."""

    @property
    def identity(self) -> str:
        """A name that changes whenever the model does."""
        ...


def identity_of(model: Model, settings: Settings) -> str:
    """Which model answers: the one that the settings name, or what the model says of itself.

    Of one that says nothing, the name of its class is all that is known.
    """
    if settings.model is not None:
        return settings.model
    return model.identity if isinstance(model, Identified) else type(model).__qualname__


def prompt_of(value: JsonValue) -> Prompt | None:
    """The prompt that a step's output holds; None if it holds none."""
    if not isinstance(value, dict) or not value.keys() <= {"user", "system"}:
        return None
    user, system = value.get("user"), value.get("system")
    if not isinstance(user, str) or not ("system" not in value or isinstance(system, str)):
        return None
    return Prompt(user, system)


# ------------------------------------------------------------------------------------------------
# Data that a plan shows to a model: in a frame, under a tag that is a hash of all of it.


def framed(shown: Sequence[Quoted]) -> str:
    """The frame with its tag (`text.frame`); the same data have the same."""
    whole = [
        [encodable(text) for text in (quoted.text, quoted.origin or "", *quoted.said)]
        for quoted in shown
    ]
    return in_frame(shown, sha256_hex(canonical_bytes(whole))[:TAG_DIGITS])
