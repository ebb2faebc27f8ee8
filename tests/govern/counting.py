"""How many rows a scope has in each table, counted by SQL beside recollect."""

from dataclasses import dataclass
from typing import Any

import apsw
import psycopg

from recollect.app.url import file_of

_SQLITE = """
SELECT
  (SELECT count(*) FROM bodies WHERE place >= (j.number << 40) AND place < (j.number + 1 << 40)),
  (SELECT count(*) FROM tags WHERE journal = j.number),
  (SELECT coalesce(sum(length(body)), 0) / 4 FROM postings WHERE journal = j.number),
  (SELECT count(*) FROM retries WHERE journal = j.number),
  (SELECT count(*) FROM derivations WHERE journal = j.number)
FROM journals j WHERE j.scope = ?
"""
_POSTGRES = """
SELECT
  (SELECT count(*) FROM recollect.bodies WHERE journal = j.number),
  (SELECT count(*) FROM recollect.tags WHERE journal = j.number),
  (SELECT coalesce(sum(octet_length(body)), 0) / 4 FROM recollect.postings
   WHERE journal = j.number),
  (SELECT count(*) FROM recollect.retries WHERE journal = j.number),
  (SELECT count(*) FROM recollect.derivations WHERE journal = j.number)
FROM recollect.journals j WHERE j.scope = %s
"""
_ENTER = "SELECT recollect.enter(scope, number) FROM recollect.journals WHERE scope = %s"


@dataclass(frozen=True)
class Rows:
    """The rows of one scope."""

    bodies: int
    tags: int
    postings: int
    retries: int
    derivations: int

    @classmethod
    def of(cls, url: str, scope: str) -> "Rows":
        """Those that are there now."""
        path = file_of(url)
        found: Any
        if path is not None:
            found = apsw.Connection(path).execute(_SQLITE, (scope,)).fetchone()
        else:
            with psycopg.connect(url) as connection:
                connection.execute("SELECT set_config('recollect.scope', %s, true)", (scope,))
                connection.execute(_ENTER, (scope,))
                found = connection.execute(_POSTGRES, (scope,)).fetchone()
        return cls(*map(int, found))
