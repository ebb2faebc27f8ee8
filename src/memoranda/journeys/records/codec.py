"""How a user's `T` becomes JSON and comes back as `T` (D-MEM-1)."""

from contextlib import suppress
from typing import Any, Generic, Protocol, TypeGuard, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from memoranda.identity import canonical_bytes
from memoranda.kernel.errors import InvalidJson, InvalidOption, InvalidRecord
from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import place_and_reason

T = TypeVar("T")


class DataCodec(Protocol[T]):
    """Turns a user's data into JSON and back."""

    def encode(self, data: T) -> JsonValue:
        """The data as JSON; InvalidRecord if it is no `T`."""
        ...

    def encode_patch(self, patch: Any) -> JsonValue:
        """A patch as JSON: the members that it names."""
        ...

    def decode(self, data: JsonValue) -> T:
        """The data as `T`; InvalidRecord if it no longer is one."""
        ...


def read(codec: DataCodec[T], data: JsonValue | bytes) -> T:
    """Stored data as a handle has it; bytes are bytes for every handle, whatever its model."""
    return data if isinstance(data, bytes) else codec.decode(data)  # type: ignore[return-value]


class JsonCodec:
    """Data is any JSON value, as it is."""

    def encode(self, data: JsonValue) -> JsonValue:
        """The value itself; `canonical_bytes` refuses what is not JSON."""
        return data

    def encode_patch(self, patch: JsonValue) -> JsonValue:
        return patch

    def decode(self, data: JsonValue) -> JsonValue:
        return data


class ModelCodec(Generic[T]):
    """Data is a type of the user's: a pydantic model, or whatever pydantic can adapt.

    What goes in must come out again: data that would lose something on the way is refused.
    """

    def __init__(self, model: type[T]) -> None:
        self._model = model
        if isinstance(model, str):
            raise InvalidOption("model", "it is a type, and not the name of one")
        try:
            self._adapter = TypeAdapter(model)
        except Exception as refused:  # each type has its own ways to be none
            why = f"pydantic can't read data as this type ({type(refused).__name__})"
            raise InvalidOption("model", why) from refused
        self._fields = model.model_fields if _is_pydantic(model) else {}

    def encode(self, data: T) -> JsonValue:
        """The data as JSON; what is not a `T` yet, such as a mapping, is validated first."""
        encoded = self._dump(data if self._is_own(data) else self._accepted(data))
        self.decode(encoded)
        return encoded

    def encode_patch(self, patch: Any) -> JsonValue:
        """The fields that were set, if the patch is a model; else the JSON that was given.

        A field may be named as in Python or as in JSON; the JSON name is the one that is stored.
        """
        if self._is_own(patch):
            return self._dump(patch, exclude_unset=True)
        if not isinstance(patch, dict):
            return patch
        return {self._stored_name(name): value for name, value in patch.items()}

    def decode(self, data: JsonValue) -> T:
        """The data as `T` again, by the rules for JSON (a time is a string there)."""
        try:
            raw = canonical_bytes(data)
            return self._adapter.validate_json(raw, by_alias=True, by_name=True)
        except InvalidJson as refused:
            raise InvalidJson("$.data" + refused.where[1:], refused.why) from None
        except ValidationError as refused:
            where, why = place_and_reason(refused)
            raise InvalidRecord("$.data" + where[1:], why) from None

    def _accepted(self, data: object) -> T:
        """Data that pydantic accepts as `T`: as JSON if it is JSON, else as Python values."""
        try:
            return self.decode(data)
        except InvalidJson:
            with suppress(ValidationError):  # the place where it is not JSON says more
                return self._adapter.validate_python(data, by_alias=True, by_name=True)
            raise

    def _is_own(self, data: object) -> bool:
        if not _is_pydantic(self._model) or not isinstance(data, self._model):
            return False
        lost = type(data).model_fields.keys() - self._fields.keys()
        if lost:
            kind = f"a {type(data).__name__}, and a {self._model.__name__} is stored"
            raise InvalidRecord("$.data", f"it is {kind}: {', '.join(sorted(lost))} would be lost")
        return True

    def _stored_name(self, name: str) -> str:
        field = self._fields.get(name)
        return name if field is None else field.serialization_alias or name

    def _dump(self, data: T, *, exclude_unset: bool = False) -> JsonValue:
        return self._adapter.dump_python(
            data, mode="json", by_alias=True, round_trip=True, exclude_unset=exclude_unset
        )


def _is_pydantic(model: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(model, type) and issubclass(model, BaseModel)
