"""`python -m bench.items`: what searching the items of a session costs.

1. A session of 1,000 items among 100,000, against raw FTS5, asked the same queries in turns, in one
   process, on files. Once doing the same: how each keyword begins, in a full-text table with the
   session; all beginnings in the query joined by OR; what is found, matched and ranked in Python.
   Once doing less: whole words only, so that no particle and no part of a word matches. Then ours
   alone, one search after another; and once more right after somebody else committed something,
   when nothing is noted from searches before.
2. Sessions of one size, alone and among 1,000: what other sessions have must cost nothing.
3. One session that grows tenfold while what matches stays the same.

The keywords: five an item, drawn from 5,000 words of two to four syllables. In one run the word of
rank r is drawn in proportion to 1/r, so that the most frequent is in two items of five; in the
other all are drawn alike. A query is six small words and two of those.

A target that is missed is shown as missed; the exit code is 0 all the same.
"""

import argparse
import asyncio
import gc
import tempfile
from bisect import bisect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from heapq import nlargest
from itertools import accumulate
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

from bench.aims import Aim, show
from bench.workload import SEED, Numbers
from memoranda.kernel.clock import format_time
from memoranda.plans.items import GRAM, MemoryItem
from memoranda.plans.items import match as count
from memoranda.stores.items import asked, insert_item
from memoranda.stores.sqlite.connection import connect
from memoranda.stores.sqlite.database import SqliteDatabase
from memoranda.stores.sqlite.reader import run

TOP_K = 3
OF_A_SESSION = 1_000
QUERIES = 200
ROUNDS = 5
SUMMARY = "They went through what was said before, and settled how it is to be done from now on."
SMALL_WORDS = ("how", "should", "i", "the", "about", "what", "was", "it", "with", "we")

AIMS = (
    Aim("zipf", "search, times raw FTS5 doing the same, frequent keywords", "≤ 1.2",
        lambda f: f <= 1.2, "counting the postings that match"),
    Aim("even", "the same, all keywords alike", "≤ 1.2", lambda f: f <= 1.2,
        "a look-up for each gram of the query"),
    Aim("words_zipf", "search, times raw FTS5 on whole words only, frequent keywords", "",
        lambda _: True, ""),
    Aim("words_even", "the same, all keywords alike", "", lambda _: True, ""),
    Aim("zipf_us", "search, µs at the median, frequent keywords", "≤ 100", lambda f: f <= 100,
        "statements of SQLite, 2 µs each; the postings that match"),
    Aim("zipf_anew_us", "the same, right after a commit of somebody else", "", lambda _: True,
        ""),
    Aim("zipf_postings", "postings that match, at the median", "", lambda _: True, ""),
    Aim("even_us", "search, µs at the median, all keywords alike", "≤ 100", lambda f: f <= 100,
        "statements of SQLite, 2 µs each; Python"),
    Aim("even_anew_us", "the same, right after a commit of somebody else", "", lambda _: True,
        ""),
    Aim("even_postings", "postings that match, at the median", "", lambda _: True, ""),
    Aim("among", "a session of 100, among 1,000 sessions, times alone", "≤ 1.2",
        lambda f: f <= 1.2, "a tree that is two levels deeper"),
    Aim("grown", "a session of 1,000, times one of 100 with the same matches", "≤ 1.2",
        lambda f: f <= 1.2, "keywords that begin alike"),
    Aim("save_us", "saving an item inside a transaction, µs", "", lambda _: True, ""),
)  # fmt: skip

Search = Callable[[str], Awaitable[Any]]


class Words:
    """Keywords by how frequent they are."""

    def __init__(self, numbers: Numbers, *, is_even: bool, count: int = 5_000) -> None:
        self._numbers = numbers
        self.all = [_word(numbers) for _ in range(count)]
        weights = [1_000_000 // (1 if is_even else rank) for rank in range(1, count + 1)]
        self._sums = list(accumulate(weights))

    def some(self, count: int) -> list[str]:
        """So many of them; a frequent one may come twice."""
        return [self.all[bisect(self._sums, self._below())] for _ in range(count)]

    def query(self) -> str:
        """What somebody asks."""
        small = [SMALL_WORDS[self._numbers.below(len(SMALL_WORDS))] for _ in range(6)]
        return " ".join(small + self.some(2))

    def _below(self) -> int:
        return self._numbers.below(self._sums[-1])


def _word(numbers: Numbers) -> str:
    consonants, vowels = "bcdfghjklmnpqrstvwz", "aeiou"
    syllables = (
        consonants[numbers.below(len(consonants))] + vowels[numbers.below(len(vowels))]
        for _ in range(2 + numbers.below(3))
    )
    return "".join(syllables) + consonants[numbers.below(len(consonants))]


def _item(numbers: Numbers, session: str, n: int, keywords: Sequence[str]) -> MemoryItem:
    digits = f"{numbers.below(2**60):015x}{n:016x}"
    id = f"{digits[:8]}-{digits[8:12]}-4{digits[12:15]}-8{digits[15:18]}-{digits[18:30]}"
    return MemoryItem(
        id=id,
        session_ref=session,
        timestamp=format_time(1_790_000_000_000 + n * 60_000),
        summary=SUMMARY,
        keywords=tuple(dict.fromkeys(keywords)),
    )


# ------------------------------------------------------------------------------- contenders


async def _opened(folder: Path, name: str) -> SqliteDatabase:
    database = await SqliteDatabase.open(str(folder / f"{name}.db"), 0, create=True)
    await database.ledger("bench", f"bench/{name}", 0)
    return database


def _fill(database: SqliteDatabase, items: Sequence[MemoryItem]) -> float:
    """Save items in a few transactions; how many seconds each of them took."""
    connection = database.connect()
    start = perf_counter()
    for first in range(0, len(items), 5_000):
        with connection:
            for item in items[first : first + 5_000]:
                run(connection, 1, insert_item(item, database.bodies))
    taken = perf_counter() - start
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    return taken / len(items)


async def _searching(database: SqliteDatabase, session: str) -> Search:
    items = await database.items("bench", session)
    return lambda query: items.search(query, TOP_K)


_FTS5: Final = (
    "CREATE TABLE items (number INTEGER PRIMARY KEY, id, at, summary, keywords)",
    "CREATE VIRTUAL TABLE found USING fts5 (session, words, content = '')",
)
_BY_WORDS: Final = """
SELECT i.id, i.summary, i.at FROM found JOIN items i ON i.number = found.rowid
WHERE found MATCH ? ORDER BY rank, i.at DESC, i.id LIMIT ?
"""
_BY_BEGINNINGS: Final = """
SELECT i.keywords, i.at, i.id, i.summary FROM found JOIN items i ON i.number = found.rowid
WHERE found MATCH ?
"""


class RawFts5:
    """Raw FTS5 over the same items, on the same disk, with our settings."""

    def __init__(
        self, path: Path, items: Sequence[MemoryItem], words: Callable[[str], str]
    ) -> None:
        connection = connect(str(path))
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        with connection:
            for statement in _FTS5:
                connection.execute(statement)
            for number, item in enumerate(items):
                row = (number, item.id, item.timestamp, item.summary, "\n".join(item.keywords))
                connection.execute("INSERT INTO items VALUES (?, ?, ?, ?, ?)", row)
                found_by = (number, item.session_ref, " ".join(map(words, item.keywords)))
                connection.execute("INSERT INTO found (rowid, session, words) VALUES (?, ?, ?)",
                                   found_by)  # fmt: skip
            connection.execute("INSERT INTO found (found) VALUES ('optimize')")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self._cursor = connection.cursor()

    async def by_words(self, query: str) -> Any:
        """The best three that have a word of the query, by FTS5's own rank."""
        match = _matching("s0", query.split())
        return self._cursor.execute(_BY_WORDS, (match, TOP_K)).fetchall()

    async def by_beginnings(self, query: str) -> Any:
        """The best three that have a keyword which occurs in the query, in our order."""
        folded = query.lower()
        starts = {folded[n : n + GRAM] for n in range(len(folded) - GRAM + 1)}
        match = _matching("s0", [start for start in starts if " " not in start])
        found = []
        rows: Any = self._cursor.execute(_BY_BEGINNINGS, (match,)).fetchall()
        for keywords, at, id, summary in rows:
            at_boundaries, in_all = count(keywords.split("\n"), query)
            if in_all:
                found.append((at_boundaries, in_all, at, id, summary))
        return nlargest(TOP_K, found)


def _matching(session: str, words: Iterable[str]) -> str:
    return f"session:{session} AND words:({' OR '.join(set(words))})"


# --------------------------------------------------------------------------------- figures


async def _in_turns(queries: Sequence[str], searches: Sequence[Search]) -> list[float]:
    """The median of each contender, in µs: every query by all of them, one after the other."""
    times: list[list[float]] = [[] for _ in searches]
    gc.disable()
    for turn in range(ROUNDS):
        for query in queries:
            for number in range(len(searches)):
                which = (number + turn) % len(searches)
                start = perf_counter()
                await searches[which](query)
                times[which].append(perf_counter() - start)
    gc.enable()
    return [median(each) * 1e6 for each in times]


async def _anew(database: SqliteDatabase, queries: Sequence[str], search: Search) -> float:
    """The median of a search, in µs, when the database was changed right before."""
    other = database.connect()
    other.execute("PRAGMA synchronous = OFF; CREATE TABLE changed (times)").fetchall()
    times = []
    gc.disable()
    for query in queries:
        other.execute("INSERT INTO changed VALUES (1)")
        start = perf_counter()
        await search(query)
        times.append(perf_counter() - start)
    gc.enable()
    other.close()
    return median(times) * 1e6


async def against_fts5(folder: Path, name: str, count: int) -> dict[str, float]:
    """A session of 1,000 items among many."""
    numbers = Numbers(SEED)
    words = Words(numbers, is_even=name == "even")
    sessions = max(count // OF_A_SESSION, 1)
    items = [_item(numbers, f"s{n % sessions}", n, words.some(5)) for n in range(count)]
    database = await _opened(folder, name)
    figures = {"save_us": _fill(database, items) * 1e6}
    same = RawFts5(folder / f"same-{name}.db", items, lambda keyword: keyword[:GRAM])
    less = RawFts5(folder / f"less-{name}.db", items, str)
    queries = [words.query() for _ in range(QUERIES)]
    searches = [await _searching(database, "s0"), same.by_beginnings, less.by_words]
    ours, by_same, by_less = await _in_turns(queries, searches)
    (alone,) = await _in_turns(queries, searches[:1])
    anew = await _anew(database, queries, searches[0])
    postings = [
        sum(word in query for item in items[::sessions] for word in item.keywords)
        for query in (asked(query).folded for query in queries)
    ]
    await database.close()
    return figures | {
        name: ours / by_same,
        f"words_{name}": ours / by_less,
        f"{name}_us": alone,
        f"{name}_anew_us": anew,
        f"{name}_postings": median(postings),
    }


async def among_others(folder: Path, sessions: int) -> dict[str, float]:
    """A session of 100 items in a database of its own, and the same among many."""
    numbers = Numbers(SEED)
    words = Words(numbers, is_even=True)
    mine = [_item(numbers, "mine", n, words.some(5)) for n in range(100)]
    others = [
        _item(numbers, f"s{n % (sessions - 1)}", n, words.some(5))
        for n in range(100 * (sessions - 1))
    ]
    alone, among = await _opened(folder, "alone"), await _opened(folder, "among")
    _fill(alone, mine)
    _fill(among, others[: len(others) // 2] + mine + others[len(others) // 2 :])
    own = [word for item in mine for word in item.keywords]
    queries = [f"{words.query()} {own[numbers.below(len(own))]}" for _ in range(QUERIES)]
    searches = [await _searching(alone, "mine"), await _searching(among, "mine")]
    by_itself, with_others = await _in_turns(queries, searches)
    await alone.close()
    await among.close()
    return {"among": with_others / by_itself}


async def grown(folder: Path) -> dict[str, float]:
    """A session of 100 items, and one of 1,000 in which the same ones match."""
    numbers = Numbers(SEED)
    words = Words(numbers, is_even=True)
    asked_for = ["메모리", "세션", "c++", "journal", "checkpoint"]
    small, large = [], []
    for n in range(1_000):
        keywords = [*words.some(4), asked_for[n % 5]] if n < 100 else words.some(5)
        large.append(_item(numbers, "large", n, keywords))
        if n < 100:
            small.append(_item(numbers, "small", n, keywords))
    database = await _opened(folder, "grown")
    _fill(database, small + large)
    queries = [f"{asked_for[n % 5]}를 {asked_for[n // 5 % 5]}?" for n in range(QUERIES)]
    searches = [await _searching(database, "small"), await _searching(database, "large")]
    before, after = await _in_turns(queries, searches)
    await database.close()
    return {"grown": after / before}


async def measured(folder: Path, count: int, sessions: int) -> dict[str, float]:
    """All figures."""
    figures = await against_fts5(folder, "even", count)
    figures |= await against_fts5(folder, "zipf", count)
    figures |= await among_others(folder, sessions)
    return figures | await grown(folder)


def main() -> None:
    """Measure, show and write."""
    parser = argparse.ArgumentParser(prog="python -m bench.items", description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--sessions", type=int, default=1_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        figures = asyncio.run(measured(Path(folder), given.items, given.sessions))
    show(f"{given.items:,} items", AIMS, figures, f"items-{given.items}")


if __name__ == "__main__":
    main()
