"""New rows in few statements.

Each statement gives other threads a turn, and waiting to have one's own back costs more than an
insert. So the units that share a commit share their statements too, and a batch of a thousand
rows takes some fifty of them.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final, TypeVar

import apsw

V = TypeVar("V")

_BLOCKS: Final = (64, 8, 1)
"""Rows to a statement: as many of the largest as fit, then of the next."""


class Inserts:
    """An INSERT of any number of rows into one table."""

    def __init__(self, table: str, *columns: str) -> None:
        row = f"({', '.join('?' * len(columns))})"
        into = f"INSERT INTO {table} ({', '.join(columns)}) VALUES "  # noqa: S608 - both are ours
        self._statements = {size: into + ", ".join([row] * size) for size in _BLOCKS}

    def run(self, connection: apsw.Connection, rows: Sequence[tuple[object, ...]]) -> None:
        """Insert the rows; ConstraintError if a key is in use, and some of them may be in then."""
        for block in _blocks(rows):
            connection.execute(self._statements[len(block)], tuple(chain.from_iterable(block)))


def _blocks(rows: Sequence[V]) -> Iterator[Sequence[V]]:
    start = 0
    for size in _BLOCKS:
        while len(rows) - start >= size:
            yield rows[start : start + size]
            start += size
