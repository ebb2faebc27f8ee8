"""From options to a handle: which database, which scope, who acts."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from memoranda.app.memory import DEFAULT_SCOPE, Memory, default_url, open
from memoranda.app.seal import seal_from_environment
from memoranda.app.url import file_of, parse_url
from memoranda.journeys.audit.checkpoints import Seal
from memoranda.recall.embedder import Embedder
from memoranda.surfaces.cli.code import Code, prints_aside
from memoranda.surfaces.cli.errors import wrong_use

R = TypeVar("R")

ACTOR: Final = "MEMORANDA_ACTOR"
SCOPE: Final = "MEMORANDA_SCOPE"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command works, and for whom, as its options and the environment say."""

    database: str | None = None
    scope: str | None = None
    actor: str | None = None

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
        act: Callable[[Memory[Any]], Awaitable[R]],
        *,
        makes: bool = False,
        reads: bool = False,
        seal: Seal | None = None,
        code: Code | None = None,
        embedder: Embedder | None = None,
    ) -> R:
        """Open a handle, act on it, close it. Only what `makes` something makes a database.

        What only `reads` changes nothing, and does with a database that can't be written.
        With `code` it can run what is proposed, with `embedder` it finds by meaning.
        """
        own = {} if code is None else code.as_options()

        async def session() -> R:
            with prints_aside() if own else nullcontext():
                async with open(
                    self.url,
                    scope=self.scope_name,
                    actor=self.actor_name,
                    create=makes,
                    read_only=reads,
                    seal=self.seal() if seal is None else seal,
                    embedder=embedder,
                    **own,
                ) as memory:
                    return await act(memory)

        return asyncio.run(session())
