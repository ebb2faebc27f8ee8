"""Taking content out of a SQLite file, so that no byte of it is left.

Deleted cells are overwritten (`secure_delete`, set on every connection), the write-ahead log is
folded in and truncated, and what is left of moved cells is overwritten (`gaps`). What others still
read can't be taken from them: that is an error, in words, and `scrub` is called again later.
"""

from collections.abc import Callable
from threading import Lock
from typing import Any, Final

import apsw

from memoranda.kernel.errors import StoreUnavailable
from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.unit import Current
from memoranda.stores.sqlite.connection import plain_errors
from memoranda.stores.sqlite.erased_retries import forget_retries, retries_of_object
from memoranda.stores.sqlite.gaps import clean_gaps
from memoranda.stores.sqlite.places import SEQ_BITS
from memoranda.stores.sqlite.words import clear, forget_words

_FORGET_BODIES: Final = f"""
DELETE FROM bodies WHERE place IN (
  SELECT (journal << {SEQ_BITS} | seq) FROM versions WHERE journal = ? AND id = ?
)
"""  # noqa: S608 - ours
_FORGET_ROWS: Final = """
UPDATE versions SET
  is_newest = 0, since = seq, status = 'erased', created_at = 0, updated_at = 0,
  valid_from = NULL, valid_to = NULL, expires_at = NULL, subject = NULL
WHERE journal = ? AND id = ?
"""
_FORGET_DERIVATIONS: Final = "DELETE FROM derivations WHERE journal = ? AND output = ?"
_FORGET_TAGS: Final = "DELETE FROM tags WHERE journal = ? AND id = ?"

_TRIES: Final = 2
"""How often the log is folded in: somebody may write just then. Each waits for those who read."""

_one_at_a_time: Final = Lock()
"""Two that truncate one log at once take each other for readers."""


def erase_content(
    connection: apsw.Connection, journal: int, erased: Current, bodies: BodyCodec
) -> None:
    """Remove the content of every version of an object, inside a transaction.

    Where a body is not what was written, it does not lead to what was made of it: then all tags
    of the object go, and the index of words goes as a whole, to be made anew.
    """
    if erased.damaged:
        clear(connection, journal)
        connection.execute(_FORGET_TAGS, (journal, erased.id))
    else:
        forget_words(connection, journal, erased.id, bodies)
    forget_retries(connection, journal, retries_of_object(connection, journal, erased.id))
    for statement in (_FORGET_BODIES, _FORGET_ROWS, _FORGET_DERIVATIONS):
        connection.execute(statement, (journal, erased.id))


def scrub(connect: Callable[[], apsw.Connection], name: str, *, rewrite: bool) -> None:
    """Fold the write-ahead log in and truncate it, and overwrite what pages have beside cells.

    With `rewrite`, the whole file is written anew before.
    """
    with _one_at_a_time, plain_errors(name):
        connection = connect()
        try:
            if rewrite:
                connection.execute("VACUUM").fetchall()
            is_clean = any(_is_folded(connection) and clean_gaps(connection) for _ in range(_TRIES))
            connection.set_busy_timeout(0)
            _is_folded(connection)  # what was written since has nothing that was erased
        finally:
            connection.close()
    if not is_clean:
        why = (
            "what was erased is still in its write-ahead log, because another process or an open"
            " stream reads what was before; end that, then run `memoranda maintain scrub`"
        )
        raise StoreUnavailable(name, why)


def _is_folded(connection: apsw.Connection) -> bool:
    """Fold the log into the file; whether nothing is left in it."""
    outcome: Any = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return not (outcome and outcome[0][0])
