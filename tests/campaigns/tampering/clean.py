"""Clean databases to be tampered with: several scopes in which everything happens that can.

Each has a backup from an earlier moment, and the checkpoints that somebody kept elsewhere, of then
and of now. All of it follows from a seed.
"""

import asyncio
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

import psycopg

from memoranda import Memory, MemoryFilter
from memoranda.journeys.audit.checkpoints import Seal
from memoranda.kernel.errors import StoreUnavailable
from memoranda.ledger.consolidate import Refusal
from memoranda.ledger.policy import Policy
from memoranda.ledger.tree import BLOCK
from memoranda.outside.keys import Ed25519Signer, verifiers
from tests.campaigns.adversity.chance import CountedClock, Random, seeded_randomness
from tests.campaigns.tampering.tables import PostgresTables, SqliteTables, Tables
from tests.campaigns.tampering.worlds import work_in_worlds
from tests.handles import opened
from tests.verify.journals import Signer

SCOPES = ("support", "ops/한국", "a b")
KEY = Signer()
"""The key that signs the checkpoints; its public half is known to whoever verifies."""

SEAL = Seal(
    [Ed25519Signer(KEY.name, KEY.seed)],
    known=verifiers([Ed25519Signer(KEY.name, KEY.seed).key]),
)


# --------------------------------------------------------------------------- the work


async def work(
    memory: Memory[Any], chance: Random, turns: int, *, beside_readers: bool = False
) -> None:
    """What users do to a memory, one after the other, as chance has it.

    Beside a long reader, what is erased is gone at once, but may still be in the log of the file:
    that is an error in words, and no harm here.
    """

    async def erase(id: str) -> None:
        with suppress(StoreUnavailable) if beside_readers else nullcontext():
            await memory.erase(id, reason="asked for")

    active = [record.id for record in await memory.records.query(MemoryFilter(limit=10_000))]
    put_away: list[str] = []
    policies = (await memory.govern.status()).policies["source_hierarchy"].version
    for turn in range(turns):
        act = chance.random()
        about = f"{memory.scope} {turn} " + "가나 word " * chance.randrange(4)
        if act < 0.45 or len(active) < 8:
            made = await memory.remember(
                about if act < 0.2 else {"turn": turn, "text": about},
                source=f"doc/{chance.randrange(9)}",
                verdict="Inference",
                subject=chance.choice((None, None, "kim", "lee")),
                tags=chance.sample(("red", "green", "청색", "turn", "a"), chance.randrange(4)),
                valid_to=None if act < 0.3 else 1_900_000_000_000 + turn,
                reason=None if act < 0.3 else "it was said",
                idempotency_key=f"{memory.scope}-{turn}-{chance.random()}",
            )
            active.append(made.id)
        elif act < 0.5:
            many = await memory.remember_many(
                [f"{about} {n}" for n in range(chance.randrange(2, 12))],
                source="doc/many",
                tags=["many"],
            )
            active += [one.id for one in many]
        elif act < 0.7:
            id = chance.choice(active)
            record = await memory.records.get(id)
            is_text = record is not None and isinstance(record.data, str)
            patch = f"{about} anew" if is_text else {"turn": turn, "anew": about}
            await memory.update(id, patch, reason="corrected")
        elif act < 0.8:
            put_away.append(active.pop(chance.randrange(len(active))))
            verb = memory.forget if act < 0.76 else memory.govern.archive
            await verb(put_away[-1], reason="no longer so")
        elif act < 0.83 and put_away:
            active.append(put_away.pop(chance.randrange(len(put_away))))
            await memory.govern.reinstate(active[-1], reason="it is so after all")
        elif act < 0.86:
            _, new = await memory.govern.supersede(
                active.pop(chance.randrange(len(active))), about, reason="told anew", source="doc/s"
            )
            active.append(new.id)
        elif act < 0.92:
            inputs = chance.sample(active, 2)
            made_of = await memory.govern.consolidate(
                inputs, about, justification="one thing", on_conflict="record", tags=["sum"]
            )
            if not isinstance(made_of, Refusal):
                active.append(made_of.id)
        elif act < 0.95:
            await erase(active.pop(chance.randrange(len(active))))
            active = [id for id in active if await memory.get(id) is not None]
            put_away.clear()  # what was made from it went with it, wherever it was
        elif act < 0.98:
            policies += 1
            rules = {"order": [f"https://law.example/{turn}/"]}
            policy = Policy("source_hierarchy", policies, rules)
            await memory.govern.change_policy(policy, reason="new law")
        elif memory.actor.kind != "agent":  # they may not
            report = await memory.verify()
            await memory.govern.record_audit(f"audit/{turn}", report=report, reason="looked at")
    # However chance had it: something that was there before is erased, and is not the last entry.
    await erase(chance.choice(active))
    await memory.remember("the last word", source="doc/last", tags=["red"])


async def build(
    url: str, chance: Random, turns: Mapping[str, int], *, in_worlds: int | None = None
) -> None:
    """Work in some scopes of a database, each with its checkpoint at the end.

    With `in_worlds`, there is one more in which worlds are made, in so many turns.
    """
    clock, randomness = CountedClock(), seeded_randomness(chance)
    if in_worlds is not None:
        await work_in_worlds(url, chance, in_worlds, clock=clock, randomness=randomness, seal=SEAL)
    for scope, many in turns.items():
        async with opened(
            url,
            scope=scope,
            actor=chance.choice(("human:ada", "agent:support", 'agent:"q" \\ 조수')),
            clock=clock,
            randomness=randomness,
            seal=SEAL,
            models={"writer": "model/1"},
        ) as memory:
            await work(memory, chance, many)
            size = (await memory.govern.status()).size
            if scope == SCOPES[0] and size <= BLOCK:  # so that there is a node of the tree
                more = [f"one more {n}" for n in range(BLOCK + 5 - size)]
                await memory.remember_many(more, source="doc/more", tags=["many"])


# ---------------------------------------------------------------------- the databases


@dataclass(frozen=True)
class Kept:
    """What somebody kept elsewhere: for each scope, the newest checkpoint of a moment."""

    notes: Mapping[str, str]
    sizes: Mapping[str, int]


class CleanDatabase(Protocol):
    """A database that nobody tampered with, its backup, and copies of it to be tampered with."""

    now: Kept
    then: Kept

    def copied(self) -> str:
        """The URL of a fresh copy; the one before it is gone."""
        ...

    def restored(self) -> str:
        """The URL of the copy after the backup was put into its place."""
        ...

    def tables(self, url: str) -> Tables:
        """The tables of a copy."""
        ...

    def backup(self) -> Tables:
        """The tables of the backup."""
        ...


def kept_in(tables: Tables) -> Kept:
    """The newest checkpoints that are in a database."""
    notes, sizes = {}, {}
    with tables:
        for journal in tables.rows("journals"):
            rows = tables.rows("checkpoints", journal=journal["number"])
            notes[journal["scope"]] = rows[-1]["note"]
            sizes[journal["scope"]] = rows[-1]["size"]
    return Kept(notes, sizes)


class SqliteClean:
    """Clean databases in SQLite files."""

    def __init__(self, folder: Path, chance: Random, turns: int) -> None:
        self._clean, self._then = folder / "clean.db", folder / "backup.db"
        self._copy = folder / "copy.db"
        url = f"sqlite:///{self._clean}"
        asyncio.run(build(url, chance, shares(turns), in_worlds=turns // 3))
        self.then = kept_in(SqliteTables(str(self._clean)))
        shutil.copyfile(self._clean, self._then)
        later = dict.fromkeys(SCOPES, max(30, turns // 12))
        asyncio.run(build(url, chance, later, in_worlds=10))
        self.now = kept_in(SqliteTables(str(self._clean)))

    def copied(self) -> str:
        """The URL of a fresh copy; the one before it is gone."""
        return self._put(self._clean)

    def restored(self) -> str:
        """The URL of the copy after the backup was put into its place."""
        return self._put(self._then)

    def tables(self, url: str) -> Tables:
        """The tables of a copy."""
        return SqliteTables(url.removeprefix("sqlite:///"))

    def backup(self) -> Tables:
        """The tables of the backup."""
        return SqliteTables(str(self._then))

    def _put(self, source: Path) -> str:
        for suffix in ("-wal", "-shm"):
            self._copy.with_name(self._copy.name + suffix).unlink(missing_ok=True)
        shutil.copyfile(source, self._copy)
        return f"sqlite:///{self._copy}"


class PostgresClean:
    """Clean databases in PostgreSQL; copies are made from templates."""

    _numbers = count()

    def __init__(self, server_url: str, chance: Random, turns: int) -> None:
        """`server_url` is a superuser's, on any database of the server."""
        self._server = server_url
        number = f"{next(self._numbers)}_{chance.randrange(2**32)}"
        self._clean, self._then, self._copy = (
            f"tampering_{what}_{number}" for what in ("clean", "backup", "copy")
        )
        self._execute(f"CREATE DATABASE {self._clean}")
        url = self._url(self._clean)
        asyncio.run(build(url, chance, shares(turns), in_worlds=turns // 3))
        self.then = kept_in(PostgresTables(url))
        self._execute(f"CREATE DATABASE {self._then} TEMPLATE {self._clean}")
        later = dict.fromkeys(SCOPES, max(30, turns // 12))
        asyncio.run(build(url, chance, later, in_worlds=10))
        self.now = kept_in(PostgresTables(url))

    def copied(self) -> str:
        """The URL of a fresh copy; the one before it is gone."""
        return self._put(self._clean)

    def restored(self) -> str:
        """The URL of the copy after the backup was put into its place."""
        return self._put(self._then)

    def tables(self, url: str) -> Tables:
        """The tables of a copy."""
        return PostgresTables(url)

    def backup(self) -> Tables:
        """The tables of the backup."""
        return PostgresTables(self._url(self._then))

    def drop(self) -> None:
        """Leave nothing on the server."""
        for name in (self._clean, self._then, self._copy):
            self._execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def _put(self, source: str) -> str:
        self._execute(f"DROP DATABASE IF EXISTS {self._copy} WITH (FORCE)")
        self._execute(f"CREATE DATABASE {self._copy} TEMPLATE {source}")
        return self._url(self._copy)

    def _url(self, database: str) -> str:
        parts = urlsplit(self._server)
        return urlunsplit(parts._replace(path=f"/{database}"))

    def _execute(self, statement: str) -> None:
        with psycopg.connect(self._server, autocommit=True) as connection:
            connection.execute(statement.encode())


def shares(turns: int) -> dict[str, int]:
    """How much happens in which scope: one is larger than the others."""
    return {SCOPES[0]: turns, SCOPES[1]: turns // 3, SCOPES[2]: turns // 4}


@contextmanager
def postgres_clean(server_url: str, chance: Random, turns: int) -> Iterator[PostgresClean]:
    """A clean database in PostgreSQL, for as long as it is needed."""
    clean = PostgresClean(server_url, chance, turns)
    try:
        yield clean
    finally:
        clean.drop()
