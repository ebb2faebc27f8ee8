"""Where signing keys live: a private file or an environment variable, and a public ring.

A key file, and MEMORANDA_SIGNING_KEY, hold one private key, or several, a line each: the first one
is the key in use. The others are those before it; they sign too as long as they are there, which
ties the new key to the old one, until they are retired.

The order of writes keeps every crash harmless. A public key is in the ring before its private key
is in a file, so nothing is ever signed that the ring can't verify; a private key is gone from the
file before the ring calls it retired.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple

from memoranda.kernel.clock import Clock, SystemClock
from memoranda.kernel.errors import DependencyMissing, InvalidKey
from memoranda.ledger.keyring import Keyring
from memoranda.ledger.signed_note import (
    COSIGNATURE,
    ED25519,
    VerifierKey,
    check_key_name,
    key_parts,
    to_base64,
)
from memoranda.ledger.witness import cosignature, cosigned_text, split_cosignature
from memoranda.outside.files import is_in_folder_of, locked, write_whole

# ------------------------------------------------------------------------------------------------
# Ed25519: signers and verifiers of signed notes (extra ``sign``).
#
# A private key is one line in the text form of golang.org/x/mod/sumdb/note: ``PRIVATE+KEY+name+hex
# id+base64``.

_PRIVATE: Final = "PRIVATE+KEY+"
_SEED_SIZE: Final = 32


class Ed25519Signer:
    """Signs with a private key that is held in memory."""

    def __init__(self, name: str, seed: bytes, kind: bytes = ED25519) -> None:
        self._private = _ed25519().Ed25519PrivateKey.from_private_bytes(seed)
        self._seed = seed
        self.key = VerifierKey(name, self._private.public_key().public_bytes_raw(), kind)
        """The public key: it goes into the ring."""

    @property
    def name(self) -> str:
        return self.key.name

    @property
    def key_id(self) -> bytes:
        return self.key.key_id

    async def sign(self, text: bytes, /) -> bytes:
        return bytes(self._private.sign(text))

    def __repr__(self) -> str:
        """The public key; the private one is shown nowhere by accident."""
        return f"Ed25519Signer({self.key})"

    def secret_text(self) -> str:
        """The private key in its text form: whoever reads it can sign."""
        encoded = to_base64(self.key.kind + self._seed)
        return f"{_PRIVATE}{self.name}+{self.key_id.hex()}+{encoded}"

    @classmethod
    def generate(cls, name: str, kind: bytes = ED25519) -> "Ed25519Signer":
        """A new key, from the system's own randomness."""
        check_key_name(name)
        return cls(name, _ed25519().Ed25519PrivateKey.generate().private_bytes_raw(), kind)

    @classmethod
    def parse(cls, text: str) -> "Ed25519Signer":
        """The signer of a private key's text form, or InvalidKey, which never shows the key."""
        if not text.startswith(_PRIVATE):
            raise InvalidKey("a private key", f"it does not begin with {_PRIVATE}")
        name, found_id, kind, seed = key_parts(text.removeprefix(_PRIVATE), "a private key")
        if kind not in (ED25519, COSIGNATURE) or len(seed) != _SEED_SIZE:
            raise InvalidKey(name, "it is not an Ed25519 key")
        signer = cls(name, seed, kind)
        if signer.key_id != found_id:
            raise InvalidKey(name, "its id is not the id of this name and key")
        return signer


class Cosigner:
    """Signs checkpoints as a witness does: each signature says when it was made."""

    def __init__(self, signer: Ed25519Signer, clock: Clock | None = None) -> None:
        if signer.key.kind != COSIGNATURE:
            raise InvalidKey(signer.name, "it signs checkpoints of its own, and is no witness's")
        self._signer = signer
        self._clock = clock or SystemClock()

    @property
    def name(self) -> str:
        return self._signer.name

    @property
    def key_id(self) -> bytes:
        return self._signer.key_id

    async def sign(self, text: bytes, /) -> bytes:
        at = self._clock.now_ms() // 1000
        return cosignature(at, await self._signer.sign(cosigned_text(text, at)))


class Ed25519Verifier:
    """Verifies the signatures of one public key, a witness's included."""

    def __init__(self, key: VerifierKey) -> None:
        self.key = key
        self._public = _ed25519().Ed25519PublicKey.from_public_bytes(key.public_key)

    @property
    def name(self) -> str:
        return self.key.name

    @cached_property
    def key_id(self) -> bytes:
        return self.key.key_id

    def verify(self, text: bytes, signature: bytes, /) -> bool:
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra

        if self.key.kind == COSIGNATURE:
            found = split_cosignature(signature)
            if found is None:
                return False
            at, signature = found
            text = cosigned_text(text, at)
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


VARIABLE: Final = "MEMORANDA_SIGNING_KEY"
_PRIVATE_MODE: Final = 0o600
_PUBLIC_MODE: Final = 0o644
_OTHERS: Final = 0o077
_OTHERS_WRITE: Final = 0o022
_LONGEST_FILE: Final = 1_000_000

# ------------------------------------------------------------------------- reading


def signers_from_file(
    path: str | Path, *, database: str | Path | None = None
) -> tuple[Ed25519Signer, ...]:
    """The signers of a key file, the one in use first; InvalidKey where it can't be trusted.

    1. it does not lie in the database's folder
    2. it is a plain file of ours that nobody else can read
    3. every line of it is a private key, and none is a witness's
    """
    held = _held(path, database)
    _check_kind(held, str(path))
    return held


def cosigners_from_file(path: str | Path, clock: Clock | None = None) -> tuple[Cosigner, ...]:
    """The keys of a witness, the one in use first; InvalidKey as above."""
    return tuple(Cosigner(signer, clock) for signer in _held(path, None))


def _held(path: str | Path, database: str | Path | None) -> tuple[Ed25519Signer, ...]:
    path = Path(path)
    # 1.
    check_place(path, database)
    # 2.
    with _plain_errors(path):
        text = _read_private(path)
    # 3.
    return _signers(text, str(path))


def signers_from_environment(environ: Mapping[str, str]) -> tuple[Ed25519Signer, ...]:
    """The signers of MEMORANDA_SIGNING_KEY, the one in use first; none where it is not set."""
    text = environ.get(VARIABLE, "")
    held = _signers(text, VARIABLE) if text.strip() else ()
    _check_kind(held, VARIABLE)
    return held


def _check_kind(signers: Iterable[Ed25519Signer], where: str) -> None:
    if any(signer.key.kind != ED25519 for signer in signers):
        raise InvalidKey(where, "it holds a witness's key, which signs what others made")


def read_ring(path: str | Path) -> Keyring:
    """The ring of a file, or InvalidKey; also where others could have put keys of theirs in it."""
    path = Path(path)
    with _plain_errors(path), path.open("rb") as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        if mode & _OTHERS_WRITE:
            raise InvalidKey(str(path), f"others can write it (mode {mode:04o}); run: chmod 644")
        return Keyring.parse(file.read().decode())


def check_place(key_file: str | Path, database: str | Path | None) -> None:
    """Refuse a key in the database's folder: whoever copies the data would copy the key.

    ``database`` is the database's file, None where it has none (PostgreSQL, memory).
    """
    if database is not None and is_in_folder_of(Path(key_file), Path(database)):
        folder = Path(database).resolve().parent
        raise InvalidKey(str(key_file), f"it lies in the database's folder {folder}: move it out")


# ------------------------------------------------------------------------- writing


class Rotation(NamedTuple):
    """A key that came into use, and the one that it followed."""

    new: VerifierKey
    old: VerifierKey


def create_key(
    key_file: str | Path,
    ring_file: str | Path,
    *,
    name: str,
    clock: Clock | None = None,
    database: str | Path | None = None,
    cosigns: bool = False,
) -> VerifierKey:
    """Make a key: its public half into the ring, its private half into a new file (mode 0600).

    The ring may be there already: after a key was lost, a new one joins those before it. With
    `cosigns` it is a witness's.
    """
    key_file, ring_file = Path(key_file), Path(ring_file)
    check_place(key_file, database)
    if not name.isprintable():
        raise InvalidKey(repr(name), "the name holds a character that can't be printed")
    signer = Ed25519Signer.generate(name, COSIGNATURE if cosigns else ED25519)
    with _changing(ring_file) as ring, _plain_errors(key_file):
        # Looked at first, so that the ring stays as it is.
        if not key_file.parent.is_dir():
            raise FileNotFoundError
        if key_file.exists() or key_file.resolve() == ring_file.resolve():
            raise FileExistsError
        _write_ring(ring_file, ring.with_key(signer.key, _now(clock)))
        write_whole(key_file, f"{signer.secret_text()}\n", _PRIVATE_MODE, replace=False)
    return signer.key


def rotate_key(
    key_file: str | Path,
    ring_file: str | Path,
    *,
    clock: Clock | None = None,
    database: str | Path | None = None,
) -> Rotation:
    """Make the next key of the same name. The old one stays in the file and signs as well.

    When a checkpoint with both signatures is out, call `retire_keys`.
    """
    key_file, ring_file = Path(key_file), Path(ring_file)
    with _changing(ring_file) as ring:
        held = _held(key_file, database)
        signer = Ed25519Signer.generate(held[0].name, held[0].key.kind)
        if held[0].key not in ring.known():
            raise InvalidKey(str(ring_file), "it does not hold the key in use: is it another ring?")
        _write_ring(ring_file, ring.with_key(signer.key, _now(clock)))
        _write_private(key_file, (signer, *held))
    return Rotation(new=signer.key, old=held[0].key)


def retire_keys(
    key_file: str | Path,
    ring_file: str | Path,
    *,
    clock: Clock | None = None,
    database: str | Path | None = None,
) -> tuple[VerifierKey, ...]:
    """Forget the private keys that are no longer in use; their public halves stay in the ring.

    Returns the keys that the ring now calls retired. A call that a crash cut short may be repeated.
    """
    key_file, ring_file = Path(key_file), Path(ring_file)
    with _changing(ring_file) as ring:
        current, *others = _held(key_file, database)
        if others:
            _write_private(key_file, (current,))
        after = ring.retired(current.name, frozenset({current.key}), _now(clock))
        _write_ring(ring_file, after)
    before = {entry.key for entry in ring.entries if entry.until is None}
    return tuple(
        entry.key for entry in after.entries if entry.key in before and entry.until is not None
    )


def enrol_key(ring_file: str | Path, key: VerifierKey, *, clock: Clock | None = None) -> None:
    """Put a public key into the ring whose private half is elsewhere, such as in a key service."""
    ring_file = Path(ring_file)
    with _changing(ring_file) as ring:
        _write_ring(ring_file, ring.with_key(key, _now(clock)))


# --------------------------------------------------------------------------- files


@contextmanager
def _changing(ring_file: Path) -> Iterator[Keyring]:
    """The ring as it is, empty where there is none yet, while nobody else changes it."""
    with _plain_errors(ring_file):
        folder = os.open(ring_file.parent, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        with _plain_errors(ring_file), locked(folder):
            yield read_ring(ring_file) if ring_file.exists() else Keyring()
    finally:
        os.close(folder)


def _write_ring(path: Path, ring: Keyring) -> None:
    with _plain_errors(path):
        write_whole(path, str(ring), _PUBLIC_MODE, replace=True)


def _write_private(path: Path, signers: tuple[Ed25519Signer, ...]) -> None:
    with _plain_errors(path):
        text = "".join(f"{signer.secret_text()}\n" for signer in signers)
        write_whole(path, text, _PRIVATE_MODE, replace=True)


def _read_private(path: Path) -> str:
    with path.open("rb") as file:
        # Of the open file, not of its name: another file can't take its place in between.
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise InvalidKey(str(path), "it is not a plain file")
        if found.st_mode & _OTHERS:
            mode = stat.S_IMODE(found.st_mode)
            raise InvalidKey(str(path), f"others can read it (mode {mode:04o}); run: chmod 600")
        if hasattr(os, "geteuid") and found.st_uid not in {0, os.geteuid()}:
            raise InvalidKey(str(path), "it belongs to another user")
        return file.read(_LONGEST_FILE).decode()


def _signers(text: str, where: str) -> tuple[Ed25519Signer, ...]:
    try:
        signers = tuple(Ed25519Signer.parse(word) for word in text.split())
    except InvalidKey as refused:
        raise InvalidKey(where, refused.why) from None
    if not signers:
        raise InvalidKey(where, "it holds no key")
    if len({signer.name for signer in signers}) > 1:
        raise InvalidKey(where, "its keys have several names")
    return signers


def _now(clock: Clock | None) -> int:
    return (clock or SystemClock()).now_ms()


@contextmanager
def _plain_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise InvalidKey(str(path), "a key is already there: rotate it, or name another") from None
    except FileNotFoundError:
        raise InvalidKey(str(path), "there is no such file or folder") from None
    except UnicodeError:
        raise InvalidKey(str(path), "it is not text") from None
    except OSError as failed:
        raise InvalidKey(str(path), failed.strerror or str(failed)) from failed
