"""A seeded campaign: every class, again and again, each time at another place."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.campaigns.adversity.chance import Random
from tests.campaigns.tampering import journal_deeds, row_deeds, whole_deeds, world_deeds
from tests.campaigns.tampering.clean import CleanDatabase, SqliteClean, postgres_clean
from tests.campaigns.tampering.deeds import CLASSES, TamperingClass
from tests.campaigns.tampering.judge import Run, Verdict, run
from tests.stores.postgres.server import running_server

__all__ = [
    "CLASSES",
    "Campaign",
    "journal_deeds",
    "row_deeds",
    "sqlite_clean",
    "whole_deeds",
    "world_deeds",
]

MakeClean = Callable[[Random], AbstractContextManager[CleanDatabase]]

KEPT_TEXTS = 3
"""How many wrong verdicts of a class are kept in words."""


@contextmanager
def sqlite_clean(chance: Random, folder: str | None = None) -> Iterator[CleanDatabase]:
    """A clean SQLite database of some size, for as long as it is needed."""
    with TemporaryDirectory(prefix="memoranda-tampering-", dir=folder) as made:
        yield SqliteClean(Path(made), chance, chance.choice((90, 90, 90, 150, 150, 250, 800)))


@contextmanager
def postgres_making(turns: int = 60) -> Iterator[MakeClean]:
    """Makes clean databases on a PostgreSQL of its own, for as long as it is needed."""
    with running_server() as server:

        @contextmanager
        def make(chance: Random) -> Iterator[CleanDatabase]:
            with postgres_clean(server.url(), chance, turns) as clean:
                yield clean

        yield make


@dataclass
class Campaign:
    """Runs, and what came of them, class by class."""

    seed: int
    make: MakeClean = sqlite_clean
    per_database: int = 200
    outcomes: dict[str, Counter[tuple[str, bool, str]]] = field(default_factory=dict)
    """For each class, how often which verifier, with a checkpoint or without, came to what."""
    checks: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    """For each class, the checks by which each verifier named it."""
    wrong: dict[str, list[str]] = field(default_factory=dict)
    runs: int = 0

    def go(
        self,
        runs: int,
        classes: dict[str, TamperingClass] | None = None,
        tell: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Make this many runs, all classes in turn."""
        names = sorted(classes or CLASSES)
        while runs > 0:
            chance = Random(f"{self.seed}/{self.runs}")
            with self.make(chance) as clean:
                for _ in range(min(runs, self.per_database)):
                    name = names[self.runs % len(names)]
                    place = Random(f"{self.seed}/{self.runs}/{name}")
                    self.add(asyncio.run(run(CLASSES[name], clean, place)))
                    tell(self.runs)
            runs -= self.per_database

    def add(self, one: Run) -> None:
        """Count a run."""
        counted = self.outcomes.setdefault(one.name, Counter())
        checks = self.checks.setdefault(one.name, {"database": set(), "export": set()})
        checks["database"] |= {named.check for named in one.deed.database}
        checks["export"] |= {named.check for named in one.deed.export}
        for verdict in one.verdicts:
            counted[verdict.verifier, verdict.with_checkpoint, verdict.outcome] += 1
            if not verdict.is_right:
                told = self.wrong.setdefault(one.name, [])
                if len(told) < KEPT_TEXTS:
                    told.append(_told(self.runs, one, verdict))
        self.runs += 1

    @property
    def is_right(self) -> bool:
        """Whether every verdict was what its class says."""
        return not self.wrong

    @property
    def table(self) -> list[dict[str, Any]]:
        """For each class, what was expected and how often it came so."""
        return [
            {
                "class": CLASSES[name].words,
                "group": CLASSES[name].group,
                "database": {"needs": CLASSES[name].database, **_counted(counted, "database")},
                "export": {"needs": CLASSES[name].export, **_counted(counted, "export")},
                "wrong": self.wrong.get(name, []),
            }
            for name, counted in sorted(
                self.outcomes.items(), key=lambda item: list(CLASSES).index(item[0])
            )
        ]


def _counted(counted: Counter[tuple[str, bool, str]], verifier: str) -> dict[str, Any]:
    arms: dict[str, Any] = {}
    for (which, with_checkpoint, outcome), count in sorted(counted.items()):
        if which == verifier:
            arm = "with a checkpoint" if with_checkpoint else "without"
            arms.setdefault(arm, {})[outcome] = count
    return arms


def _told(number: int, one: Run, verdict: Verdict) -> str:
    seen = "; ".join(f"{s.part!r} {s.check} {s.seq}: {s.why[:90]}" for s in verdict.seen[:6])
    wanted = one.deed.database if verdict.verifier == "database" else one.deed.export
    return (
        f"run {number} ({one.deed.how}): {verdict.verifier},"
        f" {'with' if verdict.with_checkpoint else 'without'} a checkpoint: {verdict.outcome},"
        f" not {verdict.expected}; wanted {[tuple(named) for named in wanted]}; "
        f"{verdict.why or seen}"
    )
