"""Migrations: numbered SQL files with checksums, applied in order, never edited afterwards."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from memoranda.identity import sha256_hex
from memoranda.kernel.errors import SchemaDamaged, SchemaTooNew

_FILE = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of a schema."""

    number: int
    name: str
    sql: str
    checksum: str

    def __str__(self) -> str:
        return f"{self.number:04}_{self.name}"


def done(applied: Sequence[Migration]) -> str:
    """A line for the log: which migrations a database has had just now."""
    return f"its schema was brought up to date ({', '.join(map(str, applied))})"


OPENED_TO_READ: Final = (
    "it was opened with read_only; open it without to write."
    " A recall writes too: it leaves a trace, where a search leaves none"
)
"""Why a write is refused through a handle that only reads."""


@cache
def known_migrations(package: str) -> tuple[Migration, ...]:
    found = []
    for file in files(package).iterdir():
        named = _FILE.fullmatch(file.name)
        if named:
            sql = file.read_text(encoding="utf-8")
            found.append(Migration(int(named[1]), named[2], sql, sha256_hex(sql.encode())))
    return tuple(sorted(found, key=lambda migration: migration.number))


def pending(
    known: Sequence[Migration], applied: Sequence[tuple[int, str]], database: str
) -> Sequence[Migration]:
    """What is still to be applied to a database that has had these numbers and checksums.

    Refuses a database that a newer memoranda has written, and one whose history is not ours.
    """
    newest = max((number for number, _ in applied), default=0)
    if newest > known[-1].number:
        raise SchemaTooNew(database, newest, known[-1].number)
    for migration, (number, checksum) in zip(known, applied, strict=False):
        if (migration.number, migration.checksum) != (number, checksum):
            why = f"its migration {number} is not the one that this memoranda knows"
            raise SchemaDamaged(database, why)
    return known[len(applied) :]
