"""Signed notes: a text, and lines that say who signed it (C2SP signed-note, Ed25519).

::

    the text, every line of it ended by a newline
    ← a blank line; the last one in the note
    — <key name> <base64 of: 4 bytes key id, then the signature of the text>

A note without signature lines ends after its blank line. It is outside of the C2SP form, which
wants at least one, and is how we keep what nobody has signed: signing it only appends.

What is refused is what golang.org/x/mod/sumdb/note refuses, and base64 that is not the one way to
write its bytes.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol, Self

from memoranda.identity.canonical import sha256
from memoranda.kernel.errors import InvalidCheckpoint, InvalidKey, InvalidSignature

MAX_BYTES: Final = 1_000_000
MAX_SIGNATURES: Final = 100
KEY_ID_SIZE: Final = 4
PUBLIC_KEY_SIZE: Final = 32
ED25519: Final = b"\x01"
"""The signature type: it is hashed into the key id, so that one key can't pass for another kind."""
COSIGNATURE: Final = b"\x04"
"""The type of a witness's keys, which sign with a time (`ledger.witness`)."""

_LINE_START: Final = "— "
_KEY_ID_DIGITS: Final = 2 * KEY_ID_SIZE
_REFUSED: Final = re.compile("[\x00-\x09\x0b-\x1f\ud800-\udfff]")

Standing = Literal["signed", "unsigned", "foreign", "failed"]
"""What a note's signatures are worth to whoever holds some keys.

``signed``: a known key signed it, and no known key's signature fails; ``unsigned``: there is no
signature line; ``foreign``: only keys that are not known signed it; ``failed``: the signature of a
known key does not hold.
"""

# --------------------------------------------------------------------------- ports


class NamedKey(Protocol):
    """A key that is known by a name and an id."""

    @property
    def name(self) -> str:
        """The key's name."""
        ...

    @property
    def key_id(self) -> bytes:
        """The 4 bytes that tell this key from others of its name."""
        ...


class Signer(NamedKey, Protocol):
    """Signs texts with one key; a key service may be behind it."""

    async def sign(self, text: bytes, /) -> bytes:
        """The signature of a note's text."""
        ...


class Verifier(NamedKey, Protocol):
    """Verifies the signatures of one key, whatever its kind."""

    def verify(self, text: bytes, signature: bytes, /) -> bool:
        """Whether this key made the signature of a note's text. Never raises for a bad one."""
        ...


# ---------------------------------------------------------------------------- keys


def check_key_name(name: str) -> str:
    """The name itself, if it can stand in a signature line; InvalidKey otherwise."""
    if not name or "+" in name or any(map(str.isspace, name)) or _REFUSED.search(name):
        raise InvalidKey(repr(name[:64]), "a key's name is not empty and holds no space and no +")
    return name


def key_id(name: str, public_key: bytes, kind: bytes = ED25519) -> bytes:
    """The id of an Ed25519 key under a name (C2SP signed-note, 'Ed25519 signatures')."""
    return sha256(name.encode() + b"\n" + kind + public_key)[:KEY_ID_SIZE]


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A public key with its name: what a verifier has to be given, and the only thing to trust."""

    name: str
    public_key: bytes
    kind: bytes = ED25519

    def __post_init__(self) -> None:
        check_key_name(self.name)
        if self.kind not in (ED25519, COSIGNATURE):
            known = "only 01 (Ed25519) and 04 (a witness's) are known here"
            raise InvalidKey(self.name, f"signature type {self.kind.hex()}; {known}")
        if len(self.public_key) != PUBLIC_KEY_SIZE:
            raise InvalidKey(self.name, f"an Ed25519 key has {PUBLIC_KEY_SIZE} bytes")

    @property
    def key_id(self) -> bytes:
        return key_id(self.name, self.public_key, self.kind)

    def __str__(self) -> str:
        """The text form: ``name+hex id+base64 of type and key``."""
        return f"{self.name}+{self.key_id.hex()}+{to_base64(self.kind + self.public_key)}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The key of a text form, or InvalidKey with the reason."""
        name, found_id, kind, key = key_parts(text, "a public key")
        parsed = cls(name, key, kind)
        if parsed.key_id != found_id:
            raise InvalidKey(name, "its id is not the id of this name and key")
        return parsed


def key_parts(text: str, what: str) -> tuple[str, bytes, bytes, bytes]:
    """Name, id, type and key of ``name+hex id+base64``. No reason shows any of the key itself."""
    name, separator, rest = text.partition("+")
    digits, second, encoded = rest.partition("+")
    if not (separator and second):
        raise InvalidKey(what, "it has not the form name+id+key")
    check_key_name(name)
    if len(digits) != _KEY_ID_DIGITS or digits.strip("0123456789abcdef"):
        raise InvalidKey(name, "its id is not 8 lower-case hexadecimal digits")
    material = from_base64(encoded)
    if material is None:
        raise InvalidKey(name, "its key is not base64")
    return name, bytes.fromhex(digits), material[:1], material[1:]


# --------------------------------------------------------------------------- notes


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature line: whose, and the signature itself."""

    name: str
    key_id: bytes
    signature: bytes

    def __post_init__(self) -> None:
        check_key_name(self.name)
        if len(self.key_id) != KEY_ID_SIZE or not self.signature:
            raise InvalidKey(self.name, "a signature has a key id of 4 bytes, and is not empty")

    def __str__(self) -> str:
        """Name and id, as reports show them: ``name+hex id``."""
        return f"{self.name}+{self.key_id.hex()}"

    @property
    def line(self) -> str:
        return f"{_LINE_START}{self.name} {to_base64(self.key_id + self.signature)}\n"


@dataclass(frozen=True, slots=True)
class SignedNote:
    """A text and its signatures, verified or not; with none it is unsigned."""

    text: str
    """With its last newline: exactly what is signed."""
    signatures: tuple[Signature, ...] = ()

    def __post_init__(self) -> None:
        if not self.text.endswith("\n"):
            raise InvalidCheckpoint("the end of the text", "a line without its newline")
        _check_characters(self.text)
        if len(self.signatures) > MAX_SIGNATURES:
            raise InvalidCheckpoint("the signatures", f"more than {MAX_SIGNATURES} of them")

    def __str__(self) -> str:
        return self.text + "\n" + "".join(signature.line for signature in self.signatures)

    def with_signatures(self, added: Iterable[Signature]) -> Self:
        """The note with more signatures; a key that signs again replaces what it signed."""
        kept = {
            (signature.name, signature.key_id): signature
            for signature in (*self.signatures, *added)
        }
        return replace(self, signatures=tuple(kept.values()))


def parse_note(raw: str | bytes) -> SignedNote:
    """The note of these bytes, or InvalidCheckpoint with where and why.

    1. it is UTF-8 with no control character but the newline, and not too long
    2. the last blank line ends its text
    3. every line after that is a signature line
    """
    # 1.
    text = _decoded(raw)
    _check_characters(text)
    # 2.
    end = text.rfind("\n\n")
    if end < 0:
        raise InvalidCheckpoint("the end of the text", "no blank line ends the text")
    # 3.
    *lines, rest = text[end + 2 :].split("\n")
    if rest:
        raise InvalidCheckpoint("the last line", "a line without its newline")
    signatures = tuple(_signature(line, number) for number, line in enumerate(lines, 1))
    return SignedNote(text[: end + 1], signatures)


async def sign_note(text: str, signers: Sequence[Signer]) -> SignedNote:
    """The text with a signature of each signer; with no signer it is an unsigned note."""
    note = SignedNote(text)
    raw = text.encode()
    return note.with_signatures(
        [Signature(signer.name, signer.key_id, await signer.sign(raw)) for signer in signers]
    )


def _signature(line: str, number: int) -> Signature:
    where = f"signature {number}"
    name, separator, encoded = line.removeprefix(_LINE_START).partition(" ")
    if not line.startswith(_LINE_START) or not separator:
        raise InvalidCheckpoint(where, "the line has not the form '— name signature'")
    raw = from_base64(encoded)
    if raw is None:
        raise InvalidCheckpoint(where, "it is not base64")
    try:
        return Signature(name, raw[:KEY_ID_SIZE], raw[KEY_ID_SIZE:])
    except InvalidKey as refused:
        raise InvalidCheckpoint(where, refused.why) from None


def _decoded(raw: str | bytes) -> str:
    try:
        encoded = raw.encode() if isinstance(raw, str) else raw
        if len(encoded) > MAX_BYTES:
            raise InvalidCheckpoint(f"byte {MAX_BYTES}", f"it is longer than {MAX_BYTES:,} bytes")
        return encoded.decode()
    except UnicodeError as refused:
        start = getattr(refused, "start", 0)
        raise InvalidCheckpoint(f"byte {start}", "it is not UTF-8") from None


def _check_characters(text: str) -> None:
    found = _REFUSED.search(text)
    if found:
        raise InvalidCheckpoint(
            f"character {found.start()}", "a control character, or a lone surrogate"
        )


# ----------------------------------------------------------------------- verifying


@dataclass(frozen=True, slots=True)
class SignatureReport:
    """Which keys signed a note, as far as whoever asks knows them."""

    signed: tuple[Signature, ...]
    unknown: tuple[Signature, ...]
    failed: tuple[Signature, ...]

    @property
    def standing(self) -> Standing:
        if self.failed:
            return "failed"
        if self.signed:
            return "signed"
        return "foreign" if self.unknown else "unsigned"


def check_signatures(note: SignedNote, known: Iterable[Verifier]) -> SignatureReport:
    """Every signature of a note judged: reported, not raised, as an auditor wants it.

    1. a signature is of a known key if name and id are both the key's
    2. those of unknown keys are not looked at: they may be of a witness, or of a key to come
    3. every signature of a known key is verified, repeated ones too
    """
    keys: dict[tuple[str, bytes], Verifier] = {}
    for verifier in known:
        if keys.setdefault((verifier.name, verifier.key_id), verifier) is not verifier:
            raise InvalidKey(verifier.name, "two of the known keys have this name and id")
    text = note.text.encode()
    signed, unknown, failed = [], [], []
    for signature in note.signatures:
        # 1.
        key = keys.get((signature.name, signature.key_id))
        # 2.
        if key is None:
            unknown.append(signature)
        # 3.
        elif key.verify(text, signature.signature):
            signed.append(signature)
        else:
            failed.append(signature)
    return SignatureReport(tuple(signed), tuple(unknown), tuple(failed))


def verify_note(note: SignedNote, known: Iterable[Verifier]) -> SignatureReport:
    """Prove that a known key signed a note, or InvalidSignature: a verifier that returns has."""
    report = check_signatures(note, known)
    match report.standing:
        case "failed":
            raise InvalidSignature(str(report.failed[0]), "it is not of this text")
        case "foreign":
            raise InvalidSignature(str(report.unknown[0]), "the key is not a known one")
        case "unsigned":
            raise InvalidSignature("anybody", "the text is unsigned")
        case "signed":
            return report


# -------------------------------------------------------------------------- base64


def to_base64(raw: bytes) -> str:
    """Standard base64 (RFC 4648 section 4), padded."""
    return base64.b64encode(raw).decode()


def from_base64(text: str) -> bytes | None:
    """The bytes, or None for any text but the one that `to_base64` writes for them."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if to_base64(raw) == text else None
