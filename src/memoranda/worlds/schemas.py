"""What of a pydantic model is a domain's schema, and what is only how it is written.

Counted: the names of members (as on the wire), their types and constraints, which are required,
defaults, enumerated values, whether further members are allowed, the order of a union's choices.
Not counted: titles, descriptions, examples and the like, the names of classes, the order of members
and of enumerated values, and how a release of pydantic shares definitions among schemas.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args

from pydantic import AliasChoices, AliasPath, BaseModel, RootModel, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError

from memoranda.identity import canonical_bytes
from memoranda.kernel.errors import InvalidJson
from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import place_and_reason

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
        self._says_extra = any("extra" in one.model_config for one in models_of(model))

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
    names = [*_property_names(schema), *(name for one in models_of(model) for name in _names(one))]
    return next((name for name in names if name.startswith(RESERVED)), None)


def models_of(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The model, and every model that its members are made of."""
    seen: set[type[BaseModel]] = set()
    waiting: list[Any] = [model]
    while waiting:
        one = waiting.pop()
        if isinstance(one, type) and issubclass(one, BaseModel):
            if one not in seen:
                seen.add(one)
                yield one
                waiting += [field.annotation for field in one.model_fields.values()]
        else:
            waiting += get_args(one)


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
