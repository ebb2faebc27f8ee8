"""An operation: a verb of the API as doors offer it.

What it takes follows from the verb's own signature, in the words of `vocabulary`; what it answers
from its return type.
"""

import inspect
from base64 import b64decode
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, Required, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic.alias_generators import to_camel, to_pascal

from memoranda.app.memory import Memory
from memoranda.app.service.vocabulary import MEMBERS, NO_WIRE
from memoranda.kernel.access import Right
from memoranda.kernel.errors import InvalidRecord
from memoranda.kernel.wire import place_and_reason

Verb = Callable[..., Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]]
Effect = Literal["reads", "adds", "changes", "destroys"]
"""What it does to memory: nothing, apart from the trace of a recall; something new, which takes
nothing away; a change that history keeps; or something that can't be taken back."""
Stream = Literal["lines", "results", "events"]
"""What a stream consists of: lines of bytes, results that end, or events that go on."""


class OperationRequest(BaseModel):
    """What a request may say: members in camelCase, and no others."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_alias=True,
        validate_by_name=False,
    )


@dataclass(frozen=True)
class Operation:
    """One thing that a door can be asked to do."""

    name: str
    right: Right
    verb: Verb
    """Called with the handle, and the members of the request by their names."""
    effect: Effect
    route: str
    """Method and path over HTTP, below /v1."""
    is_repeatable: bool = False
    """Whether twice is the same as once although neither effect nor method says so."""
    stream: Stream | None = None
    finds: bool = False
    """Whether an answer of None means that there is no such thing."""

    @property
    def method(self) -> str:
        """The method over HTTP."""
        return self.route.partition(" ")[0]

    @property
    def path(self) -> str:
        """The path over HTTP, with the members that stand in it in braces."""
        return self.route.partition(" ")[2]

    @property
    def reads_only(self) -> bool:
        """Whether it changes nothing that is remembered."""
        return self.effect == "reads"

    @property
    def is_idempotent(self) -> bool:
        """Whether doing it twice is the same as once, even without an idempotency key."""
        return self.reads_only or self.is_repeatable or self.method in ("PUT", "DELETE")

    @property
    def summary(self) -> str:
        """What it does, in a sentence."""
        return (inspect.getdoc(self.verb) or "").partition("\n")[0]

    async def call(self, memory: Memory[Any], arguments: Mapping[str, Any]) -> Any:
        """What it comes to: a value, or a stream that is not begun yet."""
        made = self.bound(memory)(**arguments)
        return made if self.stream else await made  # type: ignore[misc]

    @cached_property
    def _is_method(self) -> bool:
        return next(iter(inspect.signature(self.verb).parameters)) == "self"

    def bound(self, memory: Memory[Any]) -> Verb:
        """The verb of a handle, or of the group of it that the name begins with."""
        if not self._is_method:
            return partial(self.verb, memory)
        group, _, _ = self.name.rpartition(".")
        owner = getattr(memory, group) if group else memory
        found: Verb = getattr(owner, self.verb.__name__)
        return found

    @cached_property
    def request(self) -> type[OperationRequest]:
        """What it takes."""
        return request_of(self.name, self.verb)

    @cached_property
    def answers(self) -> Any:
        """The type of what it answers; of a stream, that of each item."""
        found = get_type_hints(self.verb)["return"]
        return get_args(found)[0] if self.stream else found

    def read(self, given: object) -> dict[str, Any]:
        """The arguments of a request, as the verb takes them; InvalidRecord for what it is not."""
        return arguments_of(self.request, given)


def arguments_of(kind: type[OperationRequest], given: object, at: str = "$") -> dict[str, Any]:
    """What a request says, by the names of the parameters; what it does not say is not there."""
    try:
        request = kind.model_validate(given)
    except ValidationError as refused:
        where, why = place_and_reason(refused)
        raise InvalidRecord(at + where.removeprefix("$"), why) from None
    arguments = {name: getattr(request, name) for name in request.model_fields_set}
    if arguments.get("media_type") is not None and "data" in arguments:
        arguments["data"] = _bytes(arguments["data"], at)
    return arguments


def request_of(name: str, verb: Callable[..., Any]) -> type[OperationRequest]:
    """The request of a verb: a member for each parameter that can go over the wire."""
    fields: dict[str, Any] = {}
    hints = get_type_hints(inspect.unwrap(verb), include_extras=True)
    for parameter in list(inspect.signature(verb).parameters.values())[1:]:
        if parameter.kind is parameter.VAR_KEYWORD:
            options = get_args(hints[parameter.name])[0]
            for option, kind in get_type_hints(options, include_extras=True).items():
                if option not in NO_WIRE:
                    is_required = get_origin(kind) is Required
                    fields[option] = (MEMBERS[option], ... if is_required else None)
        elif parameter.name not in NO_WIRE:
            is_required = parameter.default is parameter.empty
            fields[parameter.name] = (MEMBERS[parameter.name], ... if is_required else None)
    title = to_pascal(name.replace(".", "_"))
    return create_model(f"{title}Request", __base__=OperationRequest, **fields)


def _bytes(given: object, at: str) -> bytes:
    try:
        return b64decode(given, validate=True)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InvalidRecord(
            f"{at}.data", "with a mediaType it is bytes, as a base64 text"
        ) from None
