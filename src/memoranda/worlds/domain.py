"""A domain: a state, and the actions that may change it, written as plain functions.

::

    shop = Domain("shop", "1", state=Shop, initial={"orders": []})

    @shop.action(input=Order)
    async def order(ctx: ActionContext[Order]) -> list[Patch]:
        price = await ctx.effect("price", look_up, item=ctx.input.item)
        return [Set("orders", ctx.state["orders"] + [{"item": ctx.input.item, "price": price}])]
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar, get_args, overload

from pydantic import AliasChoices, AliasPath, BaseModel, RootModel, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError

from memoranda.identity import canonical_bytes, decode, sha256_hex
from memoranda.kernel.ambient import out_of_reach
from memoranda.kernel.errors import InvalidDomain, InvalidIntent, InvalidJson, InvalidWorld
from memoranda.kernel.json import JsonValue, storable
from memoranda.kernel.wire import place_and_reason
from memoranda.worlds.action import ActionContext, Patch
from memoranda.worlds.readonly import plain, read_only

# ------------------------------------------------------------------------------------------------
# What of a pydantic model is a domain's schema, and what is only how it is written.
#
# Counted: the names of members (as on the wire), their types and constraints, which are required,
# defaults, enumerated values, whether further members are allowed, the order of a union's choices.
# Not counted: titles, descriptions, examples and the like, the names of classes, the order of
# members and of enumerated values, and how a release of pydantic shares definitions among schemas.

RESERVED: Final = "$"
"""Names that begin so are the platform's (APP-INPUT-2)."""

Schema = dict[str, Any]

_COSMETIC: Final = frozenset(
    {"title", "description", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "$defs"}
)
_VALUES: Final = frozenset({"const", "default"})
_UNORDERED: Final = frozenset({"required", "enum", "type"})
_NAMED: Final = frozenset({"properties", "patternProperties", "dependentSchemas"})
_REFERENCE: Final = "#/$defs/"


class ModelSchema:
    """A user's pydantic model as a schema: strict, and closed unless it says otherwise.

    JSON is validated as JSON: a date is a text, a set is an array, and ``"1"`` is no number. A
    member that no model declares is refused, unless one of them says what becomes of extra ones.
    """

    def __init__(self, model: type[BaseModel]) -> None:
        """A ValueError where the model can't be part of a domain."""
        is_object = isinstance(model, type) and issubclass(model, BaseModel)
        if not is_object or issubclass(model, RootModel):
            raise ValueError("it is no pydantic model of an object")
        self.schema: Final[Schema] = reduced_schema(model)
        if (name := reserved_name(model, self.schema)) is not None:
            raise ValueError(f"the name {name!r} is reserved, as all that begin with {RESERVED}")
        self._model = model
        self._says_extra = any("extra" in part.model_config for part in models_of(model))

    def validated(self, canonical: bytes) -> BaseModel:
        """The value of canonical bytes as the model, or a ValueError with where and why."""
        try:
            return self._model.model_validate_json(
                canonical, strict=True, extra=None if self._says_extra else "forbid"
            )
        except ValidationError as refused:
            where, why = place_and_reason(refused)
            raise ValueError(f"{why}, at {where}") from None


def reduced_schema(model: type[BaseModel]) -> Schema:
    """What counts of a model, as a JSON value; a ValueError where it has no JSON form."""
    try:
        whole = model.model_json_schema(by_alias=True, mode="validation")
        schema: Schema = _reduced(whole, whole.get("$defs", {}), ())
        canonical_bytes(schema)
    except (PydanticInvalidForJsonSchema, PydanticUserError) as refused:
        raise ValueError(str(refused.message).split("\n", maxsplit=1)[0]) from None
    except InvalidJson as refused:
        raise ValueError(f"{refused.why}, at {refused.where}") from None
    return schema


def reserved_name(model: type[BaseModel], schema: Schema) -> str | None:
    """A member at any depth, or another name that it is read by, that is reserved; else None."""
    names = [
        *_property_names(schema),
        *(name for part in models_of(model) for name in _names(part)),
    ]
    return next((name for name in names if name.startswith(RESERVED)), None)


def models_of(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The model, and every model that its members are made of."""
    seen: set[type[BaseModel]] = set()
    waiting: list[Any] = [model]
    while waiting:
        found = waiting.pop()
        if isinstance(found, type) and issubclass(found, BaseModel):
            if found not in seen:
                seen.add(found)
                yield found
                waiting += [field.annotation for field in found.model_fields.values()]
        else:
            waiting += get_args(found)


# ------------------------------------------------------------------------- reducing


def _reduced(schema: JsonValue, defs: Mapping[str, Any], within: tuple[str, ...]) -> JsonValue:
    """A schema without what is cosmetic.

    A reference is replaced by what it refers to; one to a schema that it lies in itself, by how
    many references up that is: so neither names nor sharing count.
    """
    if not isinstance(schema, dict):  # true and false are schemas too
        return schema
    kept: Schema = {}
    for keyword, value in schema.items():
        if keyword in _COSMETIC:
            continue
        if keyword == "$ref":
            kept |= _referred(value.removeprefix(_REFERENCE), defs, within)
        elif keyword == "allOf" and len(value) == 1:  # how older releases write a reference
            kept |= _reduced(value[0], defs, within)
        elif keyword in _VALUES:
            kept[keyword] = value
        elif keyword in _UNORDERED and isinstance(value, list):
            kept[keyword] = sorted(value, key=canonical_bytes)
        elif keyword in _NAMED:
            kept[keyword] = {name: _reduced(part, defs, within) for name, part in value.items()}
        elif keyword == "discriminator":
            kept[keyword] = value["propertyName"]
        elif isinstance(value, list):
            kept[keyword] = [_reduced(part, defs, within) for part in value]
        else:
            kept[keyword] = _reduced(value, defs, within)
    return kept


def _referred(name: str, defs: Mapping[str, Any], within: tuple[str, ...]) -> Schema:
    if name in within:
        return {"$up": len(within) - within.index(name)}
    schema: Schema = _reduced(defs[name], defs, (*within, name))
    return schema


# ---------------------------------------------------------------------------- names


def _property_names(schema: JsonValue) -> Iterator[str]:
    if isinstance(schema, dict):
        for keyword, value in schema.items():
            if keyword in _VALUES:
                continue
            if keyword == "properties":
                yield from value
            yield from _property_names(list(value.values()) if keyword in _NAMED else value)
    elif isinstance(schema, list):
        for part in schema:
            yield from _property_names(part)


def _names(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield name
        for alias in (field.alias, field.validation_alias, field.serialization_alias):
            yield from _alias_names(alias)


def _alias_names(alias: str | AliasPath | AliasChoices | None) -> Iterator[str]:
    match alias:
        case str():
            yield alias
        case AliasPath():
            yield from (step for step in alias.path if isinstance(step, str))
        case AliasChoices():
            for choice in alias.choices:
                yield from _alias_names(choice)


# ------------------------------------------------------------------------------------------------
# The domain itself.

SCHEMA_FORM: Final = "memoranda/domain/1"
SYSTEM: Final = "system"
"""Actions of this name, or that begin with it and a dot, are the platform's."""

Returned = Mapping[str, JsonValue] | BaseModel | Patch | Sequence[Patch] | None
ActionFunction = Callable[[ActionContext[Any]], Returned | Awaitable[Returned]]
ComputedFunction = Callable[[Mapping[str, JsonValue]], JsonValue]
_ActionT = TypeVar("_ActionT", bound=Callable[..., Any])
_ComputedT = TypeVar("_ComputedT", bound=ComputedFunction)


@dataclass(frozen=True, slots=True)
class Action:
    """A name, what it takes, and the function behind it."""

    name: str
    takes: ModelSchema | None
    function: ActionFunction


class Domain:
    """A state and its actions. Its schema hash covers what they are called and take, not code.

    Once the hash was read, nothing more can be defined: worlds are known by it.
    """

    def __init__(
        self,
        name: str,
        version: str,
        *,
        state: type[BaseModel] | None = None,
        initial: Mapping[str, JsonValue] | BaseModel | None = None,
    ) -> None:
        """InvalidDomain where a name is missing or reserved, or the initial state is none."""
        self.name: Final = name
        self.version: Final = version
        self._actions: dict[str, Action] = {}
        self._computed: dict[str, ComputedFunction] = {}
        self._hash: str | None = None
        self._check_name("the name", name)
        self._check_name("the version", version)
        self._state = None if state is None else self._model("the state", state)
        self._initial = self._first(state, initial)

    # ------------------------------------------------------------------ defining

    @overload
    def action(self, function: _ActionT, /) -> _ActionT: ...
    @overload
    def action(
        self, /, *, name: str | None = None, input: type[BaseModel] | None = None
    ) -> Callable[[_ActionT], _ActionT]: ...
    def action(
        self,
        function: _ActionT | None = None,
        /,
        *,
        name: str | None = None,
        input: type[BaseModel] | None = None,
    ) -> Any:
        """Define an action: a function, or a coroutine function, of an `ActionContext`.

        It returns the new state, or a patch, or patches, or None for no change. Without a model
        for its input it takes none. InvalidDomain for a name that is taken or reserved, and for an
        input with a member that begins with ``$`` (APP-INPUT-2).
        """

        def define(function: _ActionT) -> _ActionT:
            called = function.__name__ if name is None else name
            self._check_open(f"the action {called!r}")
            self._check_name("an action's name", called)
            if called == SYSTEM or called.startswith(f"{SYSTEM}."):
                raise InvalidDomain(self.name, f"the action {called!r} has a name of the platform")
            if called in self._actions:
                raise InvalidDomain(self.name, f"the action {called!r} is defined already")
            what = f"the input of the action {called!r}"
            takes = None if input is None else self._model(what, input)
            self._actions[called] = Action(called, takes, function)
            return function

        return define if function is None else define(function)

    def computed(self, *, name: str | None = None) -> Callable[[_ComputedT], _ComputedT]:
        """Define a value that follows from the state alone, and is computed anew after each run.

        It is no part of a world's identity, and so not of the schema hash.
        """

        def define(function: _ComputedT) -> _ComputedT:
            called = function.__name__ if name is None else name
            self._check_name("a computed value's name", called)
            if called in self._computed:
                raise InvalidDomain(self.name, f"the computed {called!r} is defined already")
            self._computed[called] = function
            return function

        return define

    # ------------------------------------------------------------------- reading

    @property
    def schema_hash(self) -> str:
        """What worlds of this domain are known by: name, version, state, actions and inputs."""
        if self._hash is None:
            schema = {
                "form": SCHEMA_FORM,
                "name": self.name,
                "version": self.version,
                "state": self._state and self._state.schema,
                "actions": {
                    name: action.takes and action.takes.schema
                    for name, action in self._actions.items()
                },
            }
            self._hash = sha256_hex(canonical_bytes(schema))
        return self._hash

    @property
    def actions(self) -> tuple[str, ...]:
        """What the actions are called, in the order of their names."""
        return tuple(sorted(self._actions))

    def initial_data(self) -> dict[str, JsonValue]:
        """The state to begin with, fresh each time."""
        data: dict[str, JsonValue] = decode(self._initial)
        return data

    def find_action(self, type: str) -> Action:  # noqa: A002 - an intent's type
        """The action that an intent asks for, or InvalidIntent."""
        if type not in self._actions:
            known = ", ".join(self.actions) or "none"
            raise InvalidIntent(
                type, f"the domain {self.name!r} has no such action (it has: {known})"
            )
        return self._actions[type]

    def check_intent(self, type: str, input: JsonValue = None) -> BaseModel | None:  # noqa: A002
        """The input as the action's model, None for an action that takes none; or InvalidIntent."""
        takes = self.find_action(type).takes
        if takes is None:
            if input is None or input == {}:
                return None
            raise InvalidIntent(type, "it takes no input")
        try:
            return takes.validated(canonical_bytes({} if input is None else plain(input)))
        except InvalidJson as refused:
            raise InvalidIntent(type, f"{refused.why}, at {refused.where}") from None
        except ValueError as refused:
            raise InvalidIntent(type, str(refused)) from None

    def check_state(self, data: JsonValue) -> None:
        """Refuse with InvalidWorld what can't be a state of this domain."""
        canonical = canonical_bytes(data)
        if not isinstance(data, dict):
            raise InvalidWorld("$.data", "a state is an object")
        if (name := next((name for name in data if name.startswith(RESERVED)), None)) is not None:
            raise InvalidWorld("$.data", f"the name {name!r} is reserved")
        if self._state is not None:
            try:
                self._state.validated(canonical)
            except ValueError as refused:
                raise InvalidWorld("$.data", str(refused)) from None

    def compute(self, data: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """What follows from a state; whatever a function raises comes through."""
        if not self._computed:
            return {}
        with out_of_reach("a computed value"):
            found = {
                name: plain(function(read_only(data))) for name, function in self._computed.items()
            }
        canonical_bytes(found)
        return found

    # ------------------------------------------------------------------ checking

    def _check_name(self, what: str, name: object) -> None:
        if not isinstance(name, str) or not name.strip():
            raise InvalidDomain(str(self.name), f"{what} is no text, or an empty one")
        if name.startswith(RESERVED) or not storable(name):
            raise InvalidDomain(str(self.name), f"{what} is reserved, or can't be stored: {name!r}")

    def _check_open(self, what: str) -> None:
        if self._hash is not None:
            raise InvalidDomain(self.name, f"{what} comes after its schema hash was read")

    def _model(self, what: str, model: type[BaseModel]) -> ModelSchema:
        try:
            return ModelSchema(model)
        except ValueError as refused:
            raise InvalidDomain(self.name, f"{what}: {refused}") from None

    def _first(
        self, state: type[BaseModel] | None, initial: Mapping[str, JsonValue] | BaseModel | None
    ) -> bytes:
        """The initial state; without one, the model's defaults."""
        try:
            given = initial if state is None or initial is not None else state()
            data = plain({} if given is None else given)
            self.check_state(data)
            return canonical_bytes(data)
        except (ValidationError, InvalidJson, InvalidWorld) as refused:
            why = place_and_reason(refused)[1] if isinstance(refused, ValidationError) else refused
            raise InvalidDomain(self.name, f"its initial state is not valid: {why}") from None
