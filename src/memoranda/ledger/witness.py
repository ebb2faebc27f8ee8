"""What a witness signs, and when: C2SP tlog-witness and tlog-cosignature, without network or file.

A witness is somebody else, who remembers of each log the newest checkpoint that it signed, and
signs another one only if that provably begins with it. So nobody can show two histories, whoever
holds the log's keys. What is sent to it::

    old 20                                         the size that it knows
    PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=   the consistency proof from there, RFC 6962
    ← a blank line, then the checkpoint, a signed note

A cosignature is 8 bytes with the time in seconds, then the Ed25519 signature of that time and of
the checkpoint's text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from memoranda.identity.merkle import HASH_SIZE, verify_consistency
from memoranda.kernel.errors import (
    CheckpointConflict,
    InvalidCheckpoint,
    InvalidKey,
    InvalidProof,
    LogUnknown,
)
from memoranda.ledger.checkpoint import NotedCheckpoint, parse_checkpoint, parse_size
from memoranda.ledger.signed_note import ED25519, VerifierKey, from_base64, to_base64

MOST_HASHES: Final = 63
_TIME_BYTES: Final = 8
_SIGNATURE_BYTES: Final = 64
_LATEST_TIME: Final = 2**63 - 1

# -------------------------------------------------------------------- cosignatures


def cosigned_text(text: bytes, at: int) -> bytes:
    """What a witness signs: the time in seconds, and the text of a checkpoint."""
    return b"cosignature/v1\ntime %d\n" % at + text


def cosignature(at: int, signature: bytes) -> bytes:
    """What stands in a signature line of a witness."""
    return at.to_bytes(_TIME_BYTES) + signature


def split_cosignature(raw: bytes) -> tuple[int, bytes] | None:
    """The time and the signature; None where it is no cosignature."""
    at = int.from_bytes(raw[:_TIME_BYTES])
    if len(raw) != _TIME_BYTES + _SIGNATURE_BYTES or at > _LATEST_TIME:
        return None
    return at, raw[_TIME_BYTES:]


# ----------------------------------------------------------------- what is sent to it


class CosignRequest(NamedTuple):
    """A checkpoint that is to be cosigned, and the proof that it grew from what is known."""

    old_size: int
    proof: Sequence[bytes]
    noted: NotedCheckpoint


def request_text(old_size: int, proof: Sequence[bytes], note: str) -> str:
    """The body of a request."""
    return "\n".join([f"old {old_size}", *map(to_base64, proof), "", note])


def parse_request(raw: bytes) -> CosignRequest:
    """What a body asks for, or InvalidCheckpoint with where and why."""
    head, blank, note = raw.partition(b"\n\n")
    if not blank:
        raise InvalidCheckpoint("the request", "no blank line stands before the checkpoint")
    try:
        first, *hashes = head.decode("ascii").split("\n")
    except UnicodeDecodeError:
        raise InvalidCheckpoint("the request", "its first lines are not ASCII") from None
    if not first.startswith("old "):
        raise InvalidCheckpoint("line 1", "it has not the form 'old size'")
    if len(hashes) > MOST_HASHES:
        raise InvalidCheckpoint("the proof", f"it has more than {MOST_HASHES} hashes")
    proof = [_hash(line, number) for number, line in enumerate(hashes, 2)]
    return CosignRequest(parse_size(first.removeprefix("old ")), proof, parse_checkpoint(note))


def _hash(line: str, number: int) -> bytes:
    found = from_base64(line)
    if found is None or len(found) != HASH_SIZE:
        raise InvalidCheckpoint(f"line {number}", "it is not the base64 of a hash")
    return found


# ------------------------------------------------------------------ what it agrees to


class Cosigned(NamedTuple):
    """The newest checkpoint of a log that a witness has signed, and its note."""

    size: int
    root: bytes
    note: str


def check_extends(request: CosignRequest, known: Cosigned | None) -> None:
    """Prove that a checkpoint grew from the one that was cosigned last, or raise.

    1. the old size is not larger than the new one               InvalidCheckpoint
    2. it is the size that is known, 0 where nothing is           CheckpointConflict
    3. two checkpoints of one size have one root                  CheckpointConflict
    4. the proof leads from the known root to the new one         InvalidProof
    """
    old_size, proof, (new, _) = request
    # 1.
    if old_size > new.size:
        raise InvalidCheckpoint("line 1", "the old size is larger than the checkpoint's")
    # 2.
    known_size = 0 if known is None else known.size
    if old_size != known_size:
        raise CheckpointConflict(new.origin, known_size)
    # 3.
    if known is not None and new.size == known.size and new.root != known.root:
        raise CheckpointConflict(new.origin, known_size)
    # 4.
    if known is not None and known.size:
        verify_consistency(
            old_size=known.size,
            new_size=new.size,
            proof=proof,
            old_root=known.root,
            new_root=new.root,
        )
    elif proof:
        raise InvalidProof("nothing comes before the first checkpoint")


# ------------------------------------------------------------------- whose logs it knows


@dataclass(frozen=True, slots=True)
class KnownLogs:
    """Whose checkpoints a witness signs: an origin, or the beginning of many, and a public key.

    In its text a line has an origin and a key. An origin that ends with ``/`` stands for all that
    begin so; empty lines and lines that begin with ``#`` are left out.
    """

    lines: tuple[tuple[str, VerifierKey], ...]

    def keys(self, origin: str) -> tuple[VerifierKey, ...]:
        """The keys that may sign checkpoints of this log; LogUnknown if there is none."""
        found = dict.fromkeys(key for line, key in self.lines if _covers(line, origin))
        if not found:
            raise LogUnknown(origin)
        return tuple(found)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The logs of a file's text, or InvalidKey with the line and the reason."""
        lines = enumerate(map(str.strip, text.splitlines()), 1)
        return cls(tuple(_log(line, n) for n, line in lines if line and not line.startswith("#")))


def _covers(line: str, origin: str) -> bool:
    return origin.startswith(line) if line.endswith("/") else origin == line


def _log(line: str, number: int) -> tuple[str, VerifierKey]:
    where = f"line {number} of the logs"
    origin, _, key = line.rpartition(" ")
    if not origin.strip():
        raise InvalidKey(where, "it is not: an origin, a space, a public key")
    try:
        parsed = VerifierKey.parse(key)
    except InvalidKey as refused:
        raise InvalidKey(where, refused.why) from None
    if parsed.kind != ED25519:
        raise InvalidKey(where, "the key is a witness's, and no log's")
    return origin.strip(), parsed
