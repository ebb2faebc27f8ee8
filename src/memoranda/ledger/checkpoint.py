"""Checkpoints: a journal's size and root in a text that anyone can keep (C2SP tlog-checkpoint).

::

    memoranda/0193…/support                        the origin: which tree this is
    42                                             its size: how many entries
    CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=   its root
    ← a blank line, then the signatures, if any (`signed_note`)

We write no extension lines: no monitor can audit them, and the root already covers the entry hash
of the head. Those of others are kept as they are, and signed over.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self
from urllib.parse import quote, unquote

from memoranda.identity.merkle import EMPTY_ROOT, HASH_SIZE
from memoranda.kernel.actors import check_scope
from memoranda.kernel.errors import InvalidCheckpoint, InvalidScope
from memoranda.ledger.signed_note import (
    SignedNote,
    Signer,
    from_base64,
    parse_note,
    sign_note,
    to_base64,
)

MAX_SIZE: Final = 2**63 - 1
_OURS: Final = "memoranda"
_BODY_LINES: Final = 3
_ORIGIN_PARTS: Final = (2, 3)

# ------------------------------------------------------------------------- origins


class Origin(NamedTuple):
    """What one of our origins names: a scope's journal, or with no scope the directory of all."""

    database_id: str
    scope: str | None

    def __str__(self) -> str:
        """The origin line; a scope is percent-encoded, so that it holds no space and no plus."""
        if not self.database_id or quote(self.database_id, safe="") != self.database_id:
            raise InvalidCheckpoint("the origin", "a database id has letters, digits and -._~ only")
        start = f"{_OURS}/{self.database_id}"
        return start if self.scope is None else f"{start}/{quote(check_scope(self.scope), safe='')}"


def scope_origin(database_id: str, scope: str) -> str:
    """The origin of a scope's journal."""
    return str(Origin(database_id, scope))


def directory_origin(database_id: str) -> str:
    """The origin of the directory over all scopes of a database."""
    return str(Origin(database_id, None))


def parse_origin(origin: str) -> Origin:
    """What an origin names, or InvalidCheckpoint where we did not write it."""
    ours, *parts = origin.split("/")
    if ours != _OURS or len(parts) + 1 not in _ORIGIN_PARTS:
        raise InvalidCheckpoint("the origin", "it is not of a memoranda database")
    try:
        parsed = Origin(parts[0], unquote(parts[1], errors="strict") if len(parts) > 1 else None)
        written = str(parsed)
    except (InvalidScope, UnicodeError):
        raise InvalidCheckpoint("the origin", "it names no scope") from None
    if written != origin:
        raise InvalidCheckpoint("the origin", "it is not written as memoranda writes it")
    return parsed


# --------------------------------------------------------------------- checkpoints


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The size and root of one tree at one time."""

    origin: str
    size: int
    root: bytes
    extensions: tuple[str, ...] = ()
    """Lines that others add; we write none."""

    def __post_init__(self) -> None:
        _check_line(self.origin, "the origin")
        if not 0 <= self.size <= MAX_SIZE:
            raise InvalidCheckpoint("the size", f"it is not between 0 and {MAX_SIZE}")
        if len(self.root) != HASH_SIZE:
            raise InvalidCheckpoint("the root", f"it has not {HASH_SIZE} bytes")
        if not self.size and self.root != EMPTY_ROOT:
            raise InvalidCheckpoint("the root", "it is not that of the empty tree")
        for number, line in enumerate(self.extensions, _BODY_LINES + 1):
            _check_line(line, f"line {number}")

    @property
    def text(self) -> str:
        """The lines that are signed."""
        lines = (self.origin, str(self.size), to_base64(self.root), *self.extensions)
        return "\n".join(lines) + "\n"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The checkpoint of a note's text, or InvalidCheckpoint with where and why."""
        *lines, rest = text.split("\n")
        if rest:
            raise InvalidCheckpoint("the end of the text", "a line without its newline")
        if len(lines) < _BODY_LINES:
            raise InvalidCheckpoint("the text", "it has not the lines origin, size and root")
        origin, size, root, *extensions = lines
        return cls(origin, parse_size(size), _root(root), tuple(extensions))


class NotedCheckpoint(NamedTuple):
    """A checkpoint and the note that it was read from."""

    checkpoint: Checkpoint
    note: SignedNote


def parse_checkpoint(raw: str | bytes) -> NotedCheckpoint:
    """A checkpoint, signed or unsigned, or InvalidCheckpoint. Its signatures are not verified."""
    note = parse_note(raw)
    return NotedCheckpoint(Checkpoint.parse(note.text), note)


async def sign_checkpoint(checkpoint: Checkpoint, signers: Sequence[Signer] = ()) -> SignedNote:
    """The note of a checkpoint with a signature of each signer; unsigned when there is none."""
    return await sign_note(checkpoint.text, signers)


def _check_line(line: str, where: str) -> None:
    if not line:
        raise InvalidCheckpoint(where, "the line is empty")
    if "\n" in line:
        raise InvalidCheckpoint(where, "it is more than one line")


def parse_size(line: str) -> int:
    """The size that a line says, or InvalidCheckpoint."""
    if not (line.isascii() and line.isdigit()) or (line != "0" and line.startswith("0")):
        raise InvalidCheckpoint("the size", "it is not a decimal number without leading zeros")
    if len(line) > len(str(MAX_SIZE)):
        raise InvalidCheckpoint("the size", f"it is not between 0 and {MAX_SIZE}")
    return int(line)


def _root(line: str) -> bytes:
    root = from_base64(line)
    if root is None:
        raise InvalidCheckpoint("the root", "it is not base64")
    return root
