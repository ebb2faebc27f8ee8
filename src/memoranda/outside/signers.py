"""Ed25519: signers and verifiers of signed notes (extra ``sign``).

A private key is one line in the text form of golang.org/x/mod/sumdb/note:
``PRIVATE+KEY+name+hex id+base64``. Where such lines are kept: `key_files`.
"""

from collections.abc import Iterable
from functools import cached_property
from types import ModuleType
from typing import Final

from memoranda.kernel.errors import DependencyMissing, InvalidKey
from memoranda.ledger.signed_note import ED25519, VerifierKey, check_key_name, key_parts, to_base64

_PRIVATE: Final = "PRIVATE+KEY+"
_SEED_SIZE: Final = 32


class Ed25519Signer:
    """Signs with a private key that is held in memory."""

    def __init__(self, name: str, seed: bytes) -> None:
        self._private = _ed25519().Ed25519PrivateKey.from_private_bytes(seed)
        self._seed = seed
        self.key = VerifierKey(name, self._private.public_key().public_bytes_raw())
        """The public key: it goes into the ring."""

    @property
    def name(self) -> str:
        """The key's name."""
        return self.key.name

    @property
    def key_id(self) -> bytes:
        """The 4 bytes that tell this key from others of its name."""
        return self.key.key_id

    async def sign(self, text: bytes, /) -> bytes:
        """The signature of a note's text."""
        return bytes(self._private.sign(text))

    def __repr__(self) -> str:
        """The public key; the private one is shown nowhere by accident."""
        return f"Ed25519Signer({self.key})"

    def secret_text(self) -> str:
        """The private key in its text form: whoever reads it can sign."""
        encoded = to_base64(ED25519 + self._seed)
        return f"{_PRIVATE}{self.name}+{self.key_id.hex()}+{encoded}"

    @classmethod
    def generate(cls, name: str) -> "Ed25519Signer":
        """A new key, from the system's own randomness."""
        check_key_name(name)
        return cls(name, _ed25519().Ed25519PrivateKey.generate().private_bytes_raw())

    @classmethod
    def parse(cls, text: str) -> "Ed25519Signer":
        """The signer of a private key's text form, or InvalidKey, which never shows the key."""
        if not text.startswith(_PRIVATE):
            raise InvalidKey("a private key", f"it does not begin with {_PRIVATE}")
        name, found_id, kind, seed = key_parts(text.removeprefix(_PRIVATE), "a private key")
        if kind != ED25519 or len(seed) != _SEED_SIZE:
            raise InvalidKey(name, "it is not an Ed25519 key")
        signer = cls(name, seed)
        if signer.key_id != found_id:
            raise InvalidKey(name, "its id is not the id of this name and key")
        return signer


class Ed25519Verifier:
    """Verifies the signatures of one public key."""

    def __init__(self, key: VerifierKey) -> None:
        self.key = key
        self._public = _ed25519().Ed25519PublicKey.from_public_bytes(key.public_key)

    @property
    def name(self) -> str:
        """The key's name."""
        return self.key.name

    @cached_property
    def key_id(self) -> bytes:
        """The 4 bytes that tell this key from others of its name."""
        return self.key.key_id

    def verify(self, text: bytes, signature: bytes, /) -> bool:
        """Whether this key made the signature."""
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra

        try:
            self._public.verify(signature, text)
        except InvalidSignature:
            return False
        return True


def verifiers(keys: Iterable[VerifierKey]) -> tuple[Ed25519Verifier, ...]:
    """What verifies with these keys; DependencyMissing without the extra."""
    return tuple(Ed25519Verifier(key) for key in keys)


def _ed25519() -> ModuleType:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "cryptography":
            raise
        raise DependencyMissing("cryptography", "sign") from missing
    return ed25519
