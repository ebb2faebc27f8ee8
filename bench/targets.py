"""The targets, as data, and how a run stands against them.

A ratio is always read from one run, in which both sides took turns. Where a target holds at
several sizes, the worst one counts.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from bench import canonical, growth
from bench.measure import Figures
from bench.names import (
    LANGGRAPH,
    LANGGRAPH_PG,
    LANGGRAPH_WAL,
    MEMORANDA,
    MEMORANDA_PG,
    RAW,
)
from bench.operations import CREATE, DELETE, GET, MANY, QUERY, TOGETHER, UPDATE

WRITES: Final = (CREATE, UPDATE, DELETE)
P99_MS: Final = 2.0


class Verdict(StrEnum):
    """How a target stands."""

    AIM_MET = "aim met"
    MET = "met"
    MISSED = "missed"
    BOUND = "bound by the disk"
    NOT_MEASURED = "not measured"


class Figure(StrEnum):
    """What is compared."""

    P50 = "p50"
    RATE = "records/s"


@dataclass(frozen=True, slots=True)
class Target:
    """One promise: a subject against another, and the ratio that is wanted.

    `at_most` reads a ratio of times (ours to theirs); otherwise it is how many times faster the
    subject is.
    """

    what: str
    operation: str
    subject: str
    other: str
    wanted: float
    aim: float | None = None
    at_most: bool = False
    figure: Figure = Figure.P50
    sizes: tuple[int, ...] | None = None
    bound: str = ""

    @property
    def shown(self) -> str:
        """The wanted ratio, in words."""
        sign = "≤" if self.at_most else "≥"
        aim = "" if self.aim is None else f" (aim {self.aim:g}x)"
        return f"{sign} {self.wanted:g}x{aim}"

    def ratio(self, subject: Figures, other: Figures) -> float:
        """The ratio of this target's figure between two systems."""
        if self.figure is Figure.RATE:
            return subject.per_second / other.per_second
        ratio = subject.p50_us / other.p50_us
        return ratio if self.at_most else 1 / ratio

    def is_kept(self, ratio: float, limit: float) -> bool:
        """Whether the ratio is on the right side of a limit."""
        return ratio <= limit if self.at_most else ratio >= limit


@dataclass(frozen=True, slots=True)
class Outcome:
    """A target and what a run found: the ratio at each size, and the verdict over all of them."""

    what: str
    wanted: str
    found: dict[int, str]
    verdict: Verdict
    bound: str = ""
    ratios: dict[int, float] = field(default_factory=dict)


def _singles(
    subject: str, other: str, operations: Iterable[str], wanted: float = 1.0
) -> list[Target]:
    bound = "fsync, for both"
    return [
        Target(f"{each}, against {other}", each, subject, other, wanted, bound=bound)
        for each in operations
    ]


TARGETS: Final[tuple[Target, ...]] = (
    Target(
        "one durable create, against raw apsw", CREATE, MEMORANDA, RAW, 1.75, at_most=True,
        bound="one fsync for both; a thread hop for us",
    ),
    Target(
        "64 creates at once, against raw one by one", TOGETHER, MEMORANDA, RAW, 5.0,
        figure=Figure.RATE, bound="Python and SQL time per row",
    ),
    Target(
        "create_many of 1,000, against raw apsw", MANY, MEMORANDA, RAW, 0.6, figure=Figure.RATE,
        bound="validation, encoding and hashing, which raw is spared",
    ),
    Target(
        "get, against raw apsw", GET, MEMORANDA, RAW, 1.4, at_most=True,
        bound="SELECT and JSON decode for both",
    ),
    Target(
        "query, against raw apsw", QUERY, MEMORANDA, RAW, 1.7, at_most=True,
        bound="ten digests are compared, which raw is spared",
    ),
    Target("get, against AsyncSqliteStore", GET, MEMORANDA, LANGGRAPH, 5.0, bound="their hops"),
    Target("get, against AsyncSqliteStore WAL", GET, MEMORANDA, LANGGRAPH_WAL, 5.0,
           bound="their hops"),
    Target(
        "query, against AsyncSqliteStore", QUERY, MEMORANDA, LANGGRAPH, 500.0, sizes=(100_000,),
        bound="an index against a scan",
    ),
    Target(
        "query, against AsyncSqliteStore WAL", QUERY, MEMORANDA, LANGGRAPH_WAL, 500.0,
        sizes=(100_000,), bound="an index against a scan",
    ),
    *(
        Target(f"query of few records, against {other}", QUERY, MEMORANDA, other, 1.0,
               sizes=(1_000, 10_000), bound="the smaller, the less a scan costs")
        for other in (LANGGRAPH, LANGGRAPH_WAL)
    ),
    *_singles(MEMORANDA, LANGGRAPH, WRITES),
    *_singles(MEMORANDA, LANGGRAPH_WAL, WRITES, 1.2),
    *(
        Target(
            f"{operation}, against {other}", operation, MEMORANDA, other, wanted,
            figure=Figure.RATE, bound="it keeps no index",
        )
        for operation, wanted in ((TOGETHER, 0.7), (MANY, 0.5))
        for other in (LANGGRAPH, LANGGRAPH_WAL)
    ),
    *_singles(MEMORANDA_PG, LANGGRAPH_PG, WRITES),
    *(
        Target(
            f"{operation}, against {LANGGRAPH_PG}", operation, MEMORANDA_PG, LANGGRAPH_PG, 0.6,
            figure=Figure.RATE, bound="client CPU for each record",
        )
        for operation in (TOGETHER, MANY)
    ),
    Target("get on PostgreSQL, against AsyncPostgresStore", GET, MEMORANDA_PG, LANGGRAPH_PG, 1.0,
           bound="round trips"),
    Target("query on PostgreSQL, against AsyncPostgresStore", QUERY, MEMORANDA_PG, LANGGRAPH_PG,
           50.0, sizes=(100_000,), bound="an index against a scan"),
)  # fmt: skip

CANONICAL_WANTED: Final = 5.0
GROWTH_WANTED: Final = 2.0


def judged(figures: Sequence[Figures], sizes: Sequence[int]) -> list[Outcome]:
    """Every target against the figures of one run."""
    known = {(figure.system, figure.operation, figure.size): figure for figure in figures}
    outcomes = [_judged(target, known, sizes) for target in TARGETS]
    outcomes.insert(1, _p99(known, sizes))
    return [*outcomes, _growth(known), *_canonical(figures)]


Known = dict[tuple[str, str, int], Figures]


def _judged(target: Target, known: Known, sizes: Sequence[int]) -> Outcome:
    ratios: dict[int, float] = {}
    for size in target.sizes or sizes:
        subject = known.get((target.subject, target.operation, size))
        other = known.get((target.other, target.operation, size))
        if subject and other:
            ratios[size] = target.ratio(subject, other)
    verdict = Verdict.NOT_MEASURED
    if ratios:
        verdict = _verdict(ratios.values(), target.wanted, target.aim, target.is_kept)
    found = {size: _times(ratio) for size, ratio in ratios.items()}
    return Outcome(target.what, target.shown, found, verdict, target.bound, ratios)


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}x" if ratio >= 1_000 else f"{ratio:.3g}x"


def _verdict(
    ratios: Iterable[float],
    wanted: float,
    aim: float | None,
    is_kept: Callable[[float, float], bool],
) -> Verdict:
    every = list(ratios)
    if not all(is_kept(ratio, wanted) for ratio in every):
        return Verdict.MISSED
    if aim is not None and all(is_kept(ratio, aim) for ratio in every):
        return Verdict.AIM_MET
    return Verdict.MET


def _p99(known: Known, sizes: Sequence[int]) -> Outcome:
    """An absolute figure, so the floor's own stands beside it: fsync may not allow it."""
    found: dict[int, str] = {}
    verdicts: list[Verdict] = []
    for size in sizes:
        ours, raw = known.get((MEMORANDA, CREATE, size)), known.get((RAW, CREATE, size))
        if ours and raw:
            found[size] = f"{ours.p99_us / 1_000:.2f} ms (raw {raw.p99_us / 1_000:.2f})"
            if ours.p99_us < P99_MS * 1_000:
                verdicts.append(Verdict.MET)
            else:
                is_bound = raw.p99_us >= P99_MS * 1_000
                verdicts.append(Verdict.BOUND if is_bound else Verdict.MISSED)
    worst = (Verdict.MISSED, Verdict.BOUND, Verdict.MET)
    verdict = next((each for each in worst if each in verdicts), Verdict.NOT_MEASURED)
    return Outcome(
        "p99 of one durable create", f"< {P99_MS:g} ms", found, verdict, "fsync, WAL checkpoint"
    )


def _growth(known: Known) -> Outcome:
    small, large = min(growth.SIZES), max(growth.SIZES)
    figures = [known.get((growth.SYSTEM, QUERY, size)) for size in growth.SIZES]
    what, wanted = "query, from 10k to 1M records", f"≤ {GROWTH_WANTED:g}x"
    first, last = figures[0], figures[-1]
    if first is None or last is None:
        return Outcome(what, wanted, {}, Verdict.NOT_MEASURED, "run with --million")
    ratio = last.p50_us / first.p50_us
    found = {
        figure.size: f"{figure.p50_us / first.p50_us:.3g}x" for figure in figures if figure
    } | {small: f"{first.p50_us:.0f} µs"}
    verdict = Verdict.MET if ratio <= GROWTH_WANTED else Verdict.MISSED
    return Outcome(what, wanted, found, verdict, "the depth of the tree", {large: ratio})


def _canonical(figures: Sequence[Figures]) -> list[Outcome]:
    outcomes = []
    ours = [figure for figure in figures if figure.system == canonical.OURS]
    theirs = {f.operation: f for f in figures if f.system == canonical.THEIRS}
    for figure in ours:
        other = theirs.get(figure.operation)
        if other:
            ratio = other.p50_us / figure.p50_us
            outcomes.append(
                Outcome(
                    f"{figure.operation}, against rfc8785",
                    f"≥ {CANONICAL_WANTED:g}x",
                    {0: f"{ratio:.3g}x"},
                    Verdict.MET if ratio >= CANONICAL_WANTED else Verdict.MISSED,
                    "a walk over the types, in Python",
                    {0: ratio},
                )
            )
    return outcomes
