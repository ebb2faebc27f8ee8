"""How a user's `T` becomes JSON and comes back as `T` (D-MEM-1)."""

from typing import Any, Generic, Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from recollect.identity import canonical_bytes
from recollect.kernel.errors import InvalidRecord
from recollect.kernel.json import JsonValue
from recollect.kernel.wire import place_and_reason

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


class JsonCodec:
    """Data is any JSON value, as it is."""

    def encode(self, data: JsonValue) -> JsonValue:
        """The value itself; `canonical_bytes` refuses what is not JSON."""
        return data

    def encode_patch(self, patch: JsonValue) -> JsonValue:
        """The value itself."""
        return patch

    def decode(self, data: JsonValue) -> JsonValue:
        """The value itself."""
        return data


class ModelCodec(Generic[T]):
    """Data is a model of the user's: a pydantic model, or whatever pydantic can adapt."""

    def __init__(self, model: type[T]) -> None:
        self._model = model
        self._adapter = TypeAdapter(model)

    def encode(self, data: T) -> JsonValue:
        """The model as JSON; a mapping is validated first."""
        return self._dump(data if self._is_model(data) else self._validated(data))

    def encode_patch(self, patch: Any) -> JsonValue:
        """The fields that were set, if the patch is a model; else the JSON that was given."""
        return self._dump(patch, exclude_unset=True) if self._is_model(patch) else patch

    def decode(self, data: JsonValue) -> T:
        """The model again, by the rules for JSON (a time is a string there)."""
        return self._validated(data)

    def _is_model(self, data: object) -> bool:
        return isinstance(data, self._model) if isinstance(self._model, type) else False

    def _dump(self, data: T, *, exclude_unset: bool = False) -> JsonValue:
        return self._adapter.dump_python(
            data, mode="json", by_alias=True, round_trip=True, exclude_unset=exclude_unset
        )

    def _validated(self, data: JsonValue) -> T:
        try:
            return self._adapter.validate_json(canonical_bytes(data), by_alias=True, by_name=True)
        except ValidationError as refused:
            where, why = place_and_reason(refused)
            raise InvalidRecord("$.data" + where[1:], why) from None
