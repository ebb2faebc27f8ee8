"""From options to a handle: which database, which scope, who acts."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from memoranda.app.database import DEFAULT_SCOPE, connect, default_url, open
from memoranda.app.memory import Memory
from memoranda.app.options import App
from memoranda.app.seal import seal_from_environment
from memoranda.app.url import file_of, parse_url
from memoranda.journeys.audit.checkpoints import Seal
from memoranda.recall.embedder import Embedder
from memoranda.surfaces.cli.code import Code, prints_aside
from memoranda.surfaces.cli.errors import wrong_use

R = TypeVar("R")
Act = Callable[[Memory[Any]], Awaitable[R]]

ACTOR: Final = "MEMORANDA_ACTOR"
SCOPE: Final = "MEMORANDA_SCOPE"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command works, and for whom, as its options and the environment say."""

    database: str | None = None
    scope: str | None = None
    actor: str | None = None
    scopes: Sequence[str] | None = None
    """Those that were named, where a command takes several."""

    @property
    def url(self) -> str:
        """The database's URL; one in memory is refused, because it ends with the command."""
        url = default_url(self.database)
        if parse_url(url).is_private:
            raise wrong_use("A database in memory ends with the command: name a file or a server.")
        return url

    @property
    def scope_name(self) -> str:
        """The scope."""
        return os.environ.get(SCOPE, DEFAULT_SCOPE) if self.scope is None else self.scope

    @property
    def actor_name(self) -> str:
        """Whoever acts. An entry can't be erased, so by default it names a number, no person."""
        if self.actor is not None:
            return self.actor
        return os.environ.get(ACTOR) or f"human:uid-{os.getuid()}"

    def seal(self) -> Seal:
        """Who signs and where checkpoints are kept, as the environment says."""
        return seal_from_environment(os.environ, file_of(self.url))

    def run(
        self,
        act: Act[R],
        *,
        makes: bool = False,
        reads: bool = False,
        code: Code | None = None,
        embedder: Embedder | None = None,
    ) -> R:
        """Open a handle, act on it, close it. Only what `makes` something makes a database.

        What only `reads` changes nothing, and does with a database that can't be written.
        With `code` it can run what is proposed, with `embedder` it finds by meaning.
        """

        async def session() -> R:
            with nullcontext() if code is None else prints_aside():
                async with open(
                    self.url,
                    scope=self.scope_name,
                    actor=self.actor_name,
                    create=makes,
                    read_only=reads,
                    seal=self.seal(),
                    embedder=embedder,
                    app=App() if code is None else code.as_app(),
                ) as memory:
                    return await act(memory)

        return asyncio.run(session())

    def run_each(self, act: Act[R], *, reads: bool = False) -> list[tuple[str, R]]:
        """Act on each scope that was named, or on all of them; what came of it, by scope."""

        async def session() -> list[tuple[str, R]]:
            seal = self.seal()
            async with connect(self.url, seal=seal, create=False, read_only=reads) as database:
                names = await database.scopes() if self.scopes is None else self.scopes
                handles = [database.scope(name, actor=self.actor_name) for name in names]
                return [(one.scope, await act(one)) for one in handles]

        return asyncio.run(session())
