"""An entry of the journal: what is chained and hashed, byte for byte (`docs/format.md`).

An entry names the digest of its body, never the body: content can be erased, and the chain and
the tree still verify. Its hash is the SHA-256 of its bytes; its leaf in the tree is the same
bytes under RFC 6962's prefix.
"""

import re
from binascii import hexlify
from functools import lru_cache
from typing import Final, Literal, NamedTuple, get_args

from memoranda.identity import canonical_bytes, decode, sha256, sha256_hex
from memoranda.kernel.errors import InvalidJson, InvalidProof

SALT_BYTES: Final = 16

MemoryLogKind = Literal[
    "create", "consolidate", "invalidate", "archive", "policy_change", "conformance_break"
]
"""The six events of a MemoryLog; there are never more (GOV-LOG)."""

FactKind = Literal[
    "proposal",
    "decision",
    "world",
    "execution",
    "effect",
    "erasure",
    "trace",
    "cycle",
    "learning",
    "job",
]
"""What is not about an object but has a name of its own (`fact`)."""

Kind = MemoryLogKind | FactKind | Literal["checkpoint", "maintenance"]
"""What an entry is about."""

MEMORY_LOG_KINDS: Final[frozenset[str]] = frozenset(get_args(MemoryLogKind))
FACT_KINDS: Final[frozenset[str]] = frozenset(get_args(FactKind))
KINDS: Final = MEMORY_LOG_KINDS | FACT_KINDS | {"checkpoint", "maintenance"}

NOTICES: Final = frozenset({"policy_change", "conformance_break", "maintenance"})
"""Entries about the memory as a whole, which whoever opens it reads."""

_GENESIS: Final = b"memoranda/journal/1\n"
FORM: Final = (
    b'{"actor":%b,"at":%d,"body_digest":"%b","kind":"%b","previous_entry_hash":"%b","seq":%d,"v":1}'
)
"""The members in canonical order. Each is plain ASCII but the actor, which comes `quoted`."""

ENCODED: Final = {kind: kind.encode() for kind in KINDS}
_HASH: Final = re.compile("[0-9a-f]{64}")
PLAIN: Final = re.compile(
    rb'\{"actor":"([ !#-\[\]-~]+)","at":(0|-?[1-9][0-9]{0,14}),"body_digest":"([0-9a-f]{64})",'
    rb'"kind":"(' + "|".join(sorted(KINDS)).encode() + rb')",'
    rb'"previous_entry_hash":"([0-9a-f]{64})","seq":(0|[1-9][0-9]{0,14}),"v":1\}'
)
"""An entry whose actor needs no escape, and whose numbers have at most fifteen digits."""


class Entry(NamedTuple):
    """The fields of an entry, without its format version."""

    seq: int
    kind: str
    at: int
    actor: str
    body_digest: str
    previous_entry_hash: str


def genesis(origin: str) -> str:
    """What the first entry of a journal names as the hash before it: no journal fits another."""
    return sha256_hex(_GENESIS + origin.encode())


def body_digest(salt: bytes, body: bytes) -> str:
    """The digest of a body. The salt goes when the body goes: what is left can't be guessed.

    A proof that somebody kept still has the salt of an object, and the object's hash. What keeps
    that from being guessed is the nonce inside the object, which went with the body.
    """
    return salted(salt, sha256(body)).hex()


def salted(salt: bytes, body_hash: bytes) -> bytes:
    """The digest of the body with this SHA-256: a proof opens it without the body."""
    return sha256(salt + body_hash)


def entry_bytes(entry: Entry) -> bytes:
    """The bytes of an entry: RFC 8785 of its fields and the format version.

    Written piece by piece, because every write waits for it; every member but the actor is
    plain ASCII without anything to escape, and the members stand in canonical order.
    """
    seq, kind, at, actor, digest, previous = entry
    return FORM % (quoted(actor), at, digest.encode(), kind.encode(), previous.encode(), seq)


def chained_bytes(
    seq: int, kind: str, at: int, actor: str, digest: bytes, previous: bytes
) -> bytes:
    return FORM % (quoted(actor), at, hexlify(digest), ENCODED[kind], hexlify(previous), seq)


def entry_hash(raw: bytes) -> bytes:
    return sha256(raw)


def read_entry(raw: bytes) -> Entry:
    """The entry of these bytes; InvalidProof, in words, if they are not the bytes of one.

    Nearly all entries are plain, and are read by their shape. What is left is read as JSON,
    written again and compared: an entry has one form.
    """
    plain = PLAIN.fullmatch(raw)
    if plain is not None:
        actor, at, digest, kind, previous, seq = plain.groups()
        return _checked(
            Entry(
                int(seq), kind.decode(), int(at), actor.decode(), digest.decode(), previous.decode()
            )
        )
    try:
        fields = decode(raw)
        entry = Entry(
            fields["seq"],
            fields["kind"],
            fields["at"],
            fields["actor"],
            fields["body_digest"],
            fields["previous_entry_hash"],
        )
        is_canonical = entry_bytes(entry) == raw
    except (InvalidJson, KeyError, TypeError, AttributeError, ValueError):
        raise InvalidProof("an entry has not the members of one") from None
    if type(entry.seq) is not int or type(entry.at) is not int or entry.seq < 0:
        raise InvalidProof("an entry's seq or time is not a whole number")
    if type(entry.actor) is not str:
        raise InvalidProof("an entry's actor is not a text")
    if entry.kind not in KINDS:
        raise InvalidProof(f"an entry is of the kind {entry.kind!r}, which there is not")
    if not (_is_hash(entry.body_digest) and _is_hash(entry.previous_entry_hash)):
        raise InvalidProof("a hash in an entry is not 64 hexadecimal digits")
    if not is_canonical:
        raise InvalidProof("an entry is not in canonical form")
    return _checked(entry)


def entry_digest(raw: bytes) -> bytes | None:
    """The body digest in the bytes of an entry; None if they are not the bytes of one."""
    try:
        return bytes.fromhex(read_entry(raw).body_digest)
    except InvalidProof:
        return None


def _checked(entry: Entry) -> Entry:
    """An entry of the right shape, if its members also say something."""
    if entry.at < 0:
        raise InvalidProof("an entry's time is before 1970")
    if not _is_actor(entry.actor):
        raise InvalidProof("an entry's actor is not kind:id")
    return entry


@lru_cache(maxsize=1024)
def _is_actor(actor: str) -> bool:
    kind, _, id = actor.partition(":")
    return bool(kind and id)


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


@lru_cache(maxsize=1024)
def quoted(actor: str) -> bytes:
    """An actor as it stands in an entry."""
    return canonical_bytes(actor)
