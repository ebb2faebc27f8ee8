"""Composing a witness of its files: its logs, its key and its memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memoranda.journeys.audit.witness import Witness
from memoranda.kernel.clock import Clock
from memoranda.kernel.errors import InvalidKey
from memoranda.ledger.witness import KnownLogs
from memoranda.outside.keys import cosigners_from_file, verifiers
from memoranda.stores.sqlite.witnessed import WitnessedFile


@contextmanager
def opened_witness(
    *, logs: str | Path, key_file: str | Path, memory: str | Path, clock: Clock | None = None
) -> Iterator[Witness]:
    """A witness of the logs that a file names, which cosigns with a key and remembers in a file."""
    known = _logs(Path(logs))
    cosigners = cosigners_from_file(key_file, clock)
    file = WitnessedFile(memory)
    try:
        yield Witness(lambda origin: verifiers(known.keys(origin)), file, cosigners)
    finally:
        file.close()


def _logs(path: Path) -> KnownLogs:
    try:
        return KnownLogs.parse(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeError) as failed:
        why = getattr(failed, "strerror", None) or "it is not text"
        raise InvalidKey(str(path), why) from failed
