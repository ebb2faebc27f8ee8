"""How many rows a scope has in each table, counted by SQL beside memoranda."""

from dataclasses import dataclass
from typing import Any

import apsw
import psycopg

from memoranda.app.databases import file_of
from memoranda.stores.postgres.database import journal_number

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
  (SELECT count(*) FROM memoranda.entries WHERE journal = j.journal AND body IS NOT NULL),
  (SELECT count(*) FROM memoranda.tags WHERE journal = j.journal),
  (SELECT coalesce(sum(octet_length(body)), 0) / 4 FROM memoranda.postings
   WHERE journal = j.journal),
  (SELECT count(*) FROM memoranda.retries WHERE journal = j.journal),
  (SELECT count(*) FROM memoranda.derivations WHERE journal = j.journal)
FROM memoranda.journals j WHERE j.scope = %s
"""
_ENTER = "SELECT memoranda.enter(%s, NULL)"


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
                connection.execute(_ENTER, (journal_number(scope),))
                found = connection.execute(_POSTGRES, (scope,)).fetchone()
        return cls(*map(int, found))
