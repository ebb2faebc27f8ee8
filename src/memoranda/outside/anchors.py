"""An anchor that is an append-only file elsewhere: one note after another.

Each note is followed by a line with the sha256 of its bytes, so that a note is whole or is seen not
to be::

    memoranda/0193…/support
    42
    CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

    — example.org/memory UwyQOkn8…
    = 1f0c6ab7…

A note that broke off is closed by whoever writes next, with the line ``= torn``. Nothing is ever
taken back or overwritten, so the file may be made append-only (``chattr +a``), or belong to a user
who lets the database's only append. The sha256 is against accidents: an attacker can make it anew.
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final

from memoranda.kernel.errors import AnchorFailed, InvalidCheckpoint
from memoranda.ledger.anchor import ConsistencyProofs, Kept, KeptDamage, KeptNote
from memoranda.ledger.checkpoint import parse_checkpoint
from memoranda.ledger.signed_note import MAX_BYTES, Signature
from memoranda.outside.files import is_in_folder_of, locked, sync_folder

_END: Final = re.compile(rb"= (?P<digest>[0-9a-f]{64}|torn)\n")
_TORN_LINE: Final = b"= torn\n"
_LONGEST_END: Final = 67
_LONGEST_READ: Final = 65_536
_AT_ONCE: Final = 256
_MODE: Final = 0o644


class FileAnchor:
    """Checkpoints in an append-only file; several processes may write it."""

    def __init__(self, path: str | Path, *, database: str | Path | None = None) -> None:
        """Name the file, and the database's own file where it has one: they lie apart."""
        self.path = Path(path)
        self._is_name_synced = False
        if database is not None and is_in_folder_of(self.path, Path(database)):
            raise AnchorFailed(
                str(self.path), f"it lies in the folder of the database {database}: name another"
            )

    @property
    def name(self) -> str:
        """What reports call it: its path."""
        return str(self.path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FileAnchor) and self.path == other.path

    def __hash__(self) -> int:
        return hash(self.path)

    async def publish(
        self, note: str, /, proofs: ConsistencyProofs | None = None
    ) -> tuple[Signature, ...]:
        """Append a checkpoint; when it returns, it is on the disk. The proofs are not asked for."""
        del proofs
        await self.publish_all([note])
        return ()

    async def publish_all(self, notes: Sequence[str], /) -> Sequence[tuple[Signature, ...]]:
        """Append checkpoints; when it returns, they are on the disk, which is waited for once."""
        await asyncio.to_thread(self._append, notes)
        return [()] * len(notes)

    async def read(self, origin: str | None = None, /) -> AsyncIterator[Kept]:
        """The notes as far as they were written when reading began, a few at a time."""
        with _plain_errors(self.name):
            file, end = await asyncio.to_thread(self._opened)
        try:
            records = self._records(file, end, origin)
            while batch := await asyncio.to_thread(self._next_of, records):
                for kept in batch:
                    yield kept
        finally:
            file.close()

    # ------------------------------------------------------------------- writing

    def _append(self, notes: Sequence[str]) -> None:
        records = b"".join(map(_as_record, notes))
        with _plain_errors(self.name):
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
            descriptor = os.open(self.path, flags, _MODE)
            try:
                with locked(descriptor):
                    size = os.fstat(descriptor).st_size
                    _write_all(descriptor, _closing(descriptor, size) + records)
                    os.fsync(descriptor)
                    if not self._is_name_synced:  # perhaps just made: its name must last too
                        sync_folder(self.path.parent)
                        self._is_name_synced = True
            finally:
                os.close(descriptor)

    # ------------------------------------------------------------------- reading

    def _opened(self) -> tuple[BinaryIO, int]:
        file = self.path.open("rb")
        try:
            with locked(file.fileno(), shared=True):  # between two notes, never inside one
                return file, os.fstat(file.fileno()).st_size
        except BaseException:
            file.close()
            raise

    def _next_of(self, records: Iterator[Kept]) -> list[Kept]:
        with _plain_errors(self.name):
            return list(islice(records, _AT_ONCE))

    def _records(self, file: BinaryIO, end: int, origin: str | None) -> Iterator[Kept]:
        """Every record up to ``end``: a note of this origin, or damage."""
        wanted = None if origin is None else origin.encode() + b"\n"
        start = position = 0
        pieces: list[bytes] = []
        is_line_start = True
        while position < end:
            piece = file.readline(min(_LONGEST_READ, end - position))
            if not piece:
                break
            position += len(piece)
            closing = _END.fullmatch(piece) if is_line_start else None
            is_line_start = piece.endswith(b"\n")
            if closing is None:
                if position - start <= MAX_BYTES + _LONGEST_READ:  # else it is damaged anyway
                    pieces.append(piece)
                continue
            kept = _record(f"{self.name}, byte {start}", b"".join(pieces), closing["digest"])
            if isinstance(kept, KeptDamage) or wanted is None or pieces[:1] == [wanted]:
                yield kept
            start, pieces = position, []
        if pieces:
            why = "the last note was not written whole"
            yield KeptDamage(f"{self.name}, byte {start}", "torn", why)


def _as_record(note: str) -> bytes:
    parse_checkpoint(note)
    raw = note.encode()
    if any(line.startswith(b"= ") for line in raw.split(b"\n")):
        raise InvalidCheckpoint("an extension line", "a line that begins with '= '")
    return raw + b"= " + sha256(raw).hexdigest().encode() + b"\n"


def _record(where: str, note: bytes, digest: bytes) -> Kept:
    if digest == b"torn":
        return KeptDamage(where, "torn", "a note was not written whole")
    if sha256(note).hexdigest().encode() != digest:
        return KeptDamage(where, "damaged", "a note is not what was written")
    try:
        return KeptNote(where, note.decode())
    except UnicodeDecodeError:
        return KeptDamage(where, "damaged", "a note is not UTF-8")


def _closing(descriptor: int, size: int) -> bytes:
    """What ends a note that broke off at the end of the file; nothing where none did."""
    tail = os.pread(descriptor, _LONGEST_END, max(0, size - _LONGEST_END))
    last_line = tail[tail.rfind(b"\n", 0, -1) + 1 :]
    if not tail or _END.fullmatch(last_line):
        return b""
    if _END.fullmatch(last_line + b"\n"):  # all but the last newline was written
        return b"\n"
    return (b"" if tail.endswith(b"\n") else b"\n") + _TORN_LINE


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


@contextmanager
def _plain_errors(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as failed:  # a TimeoutError too
        raise AnchorFailed(name, failed.strerror or str(failed)) from failed
