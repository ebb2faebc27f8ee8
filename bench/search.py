"""`python -m bench.search`: the ten best of many records, against raw FTS5 in the same run.

Raw FTS5 is a table of one scope with the same tokens, merged into one segment, asked by MATCH and
ordered by bm25() on the thread that asks; it gives ten numbers. memoranda gives ten records with
reasons, from a file that other scopes could share, on a reader's thread, with what was written a
moment ago. Both are asked the same three words, turn by turn; what is shown is the ratio of the
medians. A target that is missed is shown as missed; the exit code is 0 all the same.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any, Final

import apsw
from rich.progress import Progress

import memoranda
from bench.aims import Aim, show
from bench.systems.memoranda import SCOPE, memoranda_on_sqlite
from bench.workload import SEED, VOCABULARY, Numbers, chunks, items, vocabulary
from memoranda.ledger.unit import Current
from memoranda.recall.bm25 import Scored
from memoranda.recall.question import ParsedQuestion, asked
from memoranda.recall.ranking import RankingMode
from memoranda.stores.merge import clear
from memoranda.stores.sqlite.connection import connect
from memoranda.stores.words import words_in
from memoranda.text import terms_of

BATCH: Final = 1_000
QUESTIONS: Final = 100
WORDS: Final = 3
TOP: Final = 10
RANKS: Final = {"rare": (5_000, VOCABULARY), "mixed": (20, 20_000), "common": (2, 60)}
"""From which rank to which the words are: half of all records have one of the most frequent ten."""

_FTS5: Final = r"""
CREATE VIRTUAL TABLE raw USING fts5 (
  tokens, content = '', tokenize = "ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
)
"""
_ASK: Final = "SELECT rowid FROM raw WHERE raw MATCH ? ORDER BY bm25(raw) LIMIT ?"
_SIZE: Final = "SELECT sum(pgsize) FROM dbstat WHERE name IN (SELECT value FROM json_each(?))"
OURS: Final = '["postings", "segments"]'
RAW: Final = '["raw_data", "raw_idx", "raw_docsize"]'

_BOUNDS: Final = {
    "rare": "a hop to a reader's thread; ten records read and explained",
    "mixed": "the postings of the most frequent word",
    "common": "adding up in Python, 60 ns a posting",
}


def _shown(figure: str, what: str, bound: str = "") -> Aim:
    return Aim(figure, what, "", lambda _: True, bound)


AIMS: Final = (
    *(Aim(f"{kind}_ratio", f"top 10 of three {kind} words, raw FTS5 = 1", "≤ 1",
          lambda f: f <= 1, _BOUNDS[kind]) for kind in RANKS if kind != "rare"),
    Aim("rare_ms", "rare words, ms", "≤ 0.8", lambda f: f <= 0.8, _BOUNDS["rare"]),
    *(_shown(f"{kind}_ms", f"{kind} words, ms") for kind in RANKS if kind != "rare"),
    *(_shown(f"{kind}_raw_ms", f"{kind} words, raw FTS5, ms") for kind in RANKS),
    _shown("keyword_ms", "mixed words, by keyword, ms"),
    _shown("context_ms", "mixed words, in context, ms", "64 seeds are read"),
    Aim("index_bytes", "bytes of index for each record", "≤ 200 at 100,000", lambda f: f <= 200,
        "four for each different token; a row for each token of a segment"),
    _shown("raw_bytes", "bytes of raw FTS5 for each record"),
    _shown("merge_us", "merging a record, µs", "finding its words, the journal included"),
    _shown("words_us", "of these, finding its words, µs", "Python"),
    _shown("step_ms", "the longest transaction of it, ms", "256 records"),
)  # fmt: skip


async def filled(path: Path, records: int) -> None:
    """Fill a file, and leave its words alone."""
    with Progress() as progress:
        task = progress.add_task(f"filling {records:,}", total=records)
        async with memoranda_on_sqlite(path) as system:
            for chunk in chunks(records, BATCH):
                await system.create_many(chunk)
                progress.advance(task, len(chunk))


async def merged(path: Path, records: int) -> dict[str, float]:
    """Make the index anew from nothing; what a record costs, and the longest that writers wait."""
    bodies = [one.body for one in items(records, 1_000)]
    start = process_time()
    for body in bodies:
        words_in(body)
    words = (process_time() - start) / len(bodies)
    async with memoranda.open(f"sqlite:///{path}", scope=SCOPE) as memory:
        ledger: Any = memory._handle.parts.ledger
        ledger = await ledger.begun()
        write, longest = ledger._database.write, 0.0

        async def timed(work: Callable[[apsw.Connection], Any]) -> Any:
            def measured(connection: apsw.Connection) -> Any:
                nonlocal longest
                start = perf_counter()
                try:
                    return work(connection)
                finally:
                    longest = max(longest, perf_counter() - start)

            return await write(measured)

        await ledger._reads.write(clear)
        ledger._database.write = timed
        start = process_time()
        while await ledger.words.merge():
            await ledger.words.merge_segments()
        while await ledger.words.merge_segments():
            pass
        elapsed = process_time() - start
    return {
        "merge_us": elapsed / records * 1e6,
        "words_us": words * 1e6,
        "step_ms": longest * 1e3,
    }


def raw(path: Path, records: int) -> apsw.Connection:
    """The same tokens in FTS5, one scope, one segment."""
    connection = connect(str(path))
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("BEGIN")
    connection.execute(_FTS5)
    number = 0
    for chunk in chunks(records, BATCH):
        for one in chunk:
            counts = terms_of(one.data).counts
            tokens = " ".join(token for token, count in counts.items() for _ in range(count))
            connection.execute("INSERT INTO raw (rowid, tokens) VALUES (?, ?)", (number, tokens))
            number += 1
    connection.execute("INSERT INTO raw (raw) VALUES ('optimize')")
    connection.execute("COMMIT")
    return connection


def questions(kind: str) -> list[ParsedQuestion]:
    """Questions of three words from some ranks, the same in every run."""
    first, last = RANKS[kind]
    numbers, words = Numbers(SEED + len(kind)), vocabulary()
    picked = [words[first + numbers.below(last - first)] for _ in range(WORDS * QUESTIONS)]
    return [
        asked(" ".join(picked[start : start + WORDS])) for start in range(0, len(picked), WORDS)
    ]


async def measured(path: Path, beside: apsw.Connection, records: int) -> dict[str, float]:
    """Both of them, turn by turn."""
    figures: dict[str, float] = {}
    async with memoranda.open(f"sqlite:///{path}", scope=SCOPE) as memory:
        ledger: Any = memory._handle.parts.ledger

        async def ours(question: ParsedQuestion, mode: RankingMode = RankingMode.FULL_TEXT) -> int:
            return len((await ledger.rank(mode, question, _made, limit=TOP)).made)

        async def theirs(question: ParsedQuestion) -> int:
            match = " OR ".join('"' + token.replace('"', '""') + '"' for token in question.tokens)
            return len(beside.execute(_ASK, (match, TOP)).fetchall())

        for kind in RANKS:
            times = await _in_turn(questions(kind), [ours, theirs])
            one, other = (median(each) * 1e3 for each in times)
            figures |= {f"{kind}_ms": one, f"{kind}_raw_ms": other, f"{kind}_ratio": one / other}
        for mode in (RankingMode.KEYWORD, RankingMode.CONTEXT):
            (own_times,) = await _in_turn(questions("mixed"), [partial(ours, mode=mode)])
            figures[f"{mode}_ms"] = median(own_times) * 1e3
    own = connect(str(path))
    for name, connection, tables in (("index", own, OURS), ("raw", beside, RAW)):
        sizes: Any = connection.execute(_SIZE, (tables,)).fetchall()
        figures[f"{name}_bytes"] = sizes[0][0] / records
    own.close()
    return figures


async def _in_turn(
    asked_for: Sequence[ParsedQuestion], systems: Sequence[Callable[..., Awaitable[int]]]
) -> list[list[float]]:
    times: list[list[float]] = [[] for _ in systems]
    for is_warm in (False, True):
        for question in asked_for:
            for each, ask in zip(times, systems, strict=True):
                start = perf_counter()
                await ask(question)
                if is_warm:
                    each.append(perf_counter() - start)
    return times


def _made(current: Current, scored: Scored) -> tuple[str, Scored]:
    return current.id, scored


def main() -> None:
    """Fill, merge, ask; show and write the figures of each size."""
    parser = argparse.ArgumentParser(prog="python -m bench.search", description=__doc__)
    parser.add_argument("--sizes", default="10000,100000", help="records, e.g. 1000000")
    given = parser.parse_args()
    for records in map(int, given.sizes.split(",")):
        with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
            path = Path(folder) / "search.db"
            asyncio.run(filled(path, records))
            figures = asyncio.run(merged(path, records))
            beside = raw(Path(folder) / "raw.db", records)
            figures |= asyncio.run(measured(path, beside, records))
            beside.close()
        show(f"Search among {records:,} records", AIMS, figures, f"search-{records}")


if __name__ == "__main__":
    main()
