"""A JSON value that nothing can change: its canonical bytes, and their digest."""

from dataclasses import dataclass, field
from typing import Self

from memoranda.identity.canonical import canonical_bytes, decode
from memoranda.identity.digest import sha256_hex
from memoranda.kernel.errors import InvalidProof
from memoranda.kernel.json import JsonValue


@dataclass(frozen=True, slots=True)
class Frozen:
    """A value by its canonical bytes, made by `freeze` or `Frozen.stored`.

    Two are equal when their bytes are. The digest is always computed, never taken from someone.
    """

    canonical: bytes = field(repr=False)
    digest: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", sha256_hex(self.canonical))

    @classmethod
    def stored(cls, canonical: bytes, digest: str) -> Self:
        """What was frozen before, or InvalidProof where the bytes are not those of the digest."""
        frozen = cls(bytes(canonical))  # a driver may hand out a buffer that it fills again
        if frozen.digest != digest:
            raise InvalidProof(f"the bytes hash to {frozen.digest}, the digest says {digest}")
        return frozen

    def thaw(self) -> JsonValue:
        """A fresh value each time: what is done to it reaches nobody else."""
        return decode(self.canonical)


def freeze(value: JsonValue) -> Frozen:
    """Freeze a value as it is now, or refuse with InvalidJson; the original stays the caller's."""
    return Frozen(canonical_bytes(value))
