"""What a command works on: a database, a scope, an actor, and code of the user's own.

``MODULE:NAME`` is looked for where the command was started, then where Python looks.
"""

import asyncio
import importlib
import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Required, TypedDict, TypeVar

import memoranda
from memoranda.app import surfaces
from memoranda.surfaces.cli.groups import opt, wrong_use

if TYPE_CHECKING:
    from memoranda import App, Domain, Memory
    from memoranda.app.surfaces import Runtime
    from memoranda.models import Embedder
    from memoranda.types import Seal

R = TypeVar("R")
Default = Literal["default"]
Act = Callable[["Memory[Any]"], Awaitable[R]]

ACTOR: Final = "MEMORANDA_ACTOR"
SCOPE: Final = "MEMORANDA_SCOPE"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a command works, and for whom, as its options and the environment say."""

    database: str | None = None
    scope: str | None = None
    actor: str | None = None
    scopes: Sequence[str] | None = None
    """Those that were named, where a command takes several."""

    @property
    def url(self) -> str:
        """The database's URL; one in memory is refused, because it ends with the command."""
        url = surfaces.default_url(self.database)
        if surfaces.parse_url(url).is_private:
            raise wrong_use("A database in memory ends with the command: name a file or a server.")
        return url

    @property
    def scope_name(self) -> str:
        """The scope."""
        return os.environ.get(SCOPE, surfaces.DEFAULT_SCOPE) if self.scope is None else self.scope

    @property
    def actor_name(self) -> str:
        """Whoever acts. An entry can't be erased, so by default it names a number, no person."""
        if self.actor is not None:
            return self.actor
        number = os.getuid() if hasattr(os, "getuid") else 0  # Windows has no such numbers
        return os.environ.get(ACTOR) or f"human:uid-{number}"

    def seal(self) -> "Seal":
        """Who signs and where checkpoints are kept, as the environment says."""
        return surfaces.seal_from_environment(os.environ, surfaces.file_of(self.url))

    def run(
        self,
        act: "Act[R]",
        *,
        create: bool = False,
        read_only: bool = False,
        app: "App | None" = None,
        embedder: "Embedder | Default | None" = "default",
    ) -> R:
        """Open a handle, act on it, close it. Only with `create` a database is made.

        With `read_only` nothing is changed, and the database need not be writable.
        With `app` it can run what is proposed, with `embedder` it finds by meaning.
        """

        async def session() -> R:
            with nullcontext() if app is None else prints_aside():
                if surfaces.is_server(self.url):  # what is not said is the key's
                    opening = memoranda.open(
                        self.url,
                        scope=self.scope,
                        actor=self.actor or os.environ.get(ACTOR) or surfaces.DEFAULT_ACTOR,
                        read_only=read_only,
                        app=app,
                    )
                else:
                    opening = memoranda.open(
                        self.url,
                        scope=self.scope_name,
                        actor=self.actor_name,
                        create=create,
                        read_only=read_only,
                        seal=self.seal(),
                        embedder=embedder,
                        app=app,
                    )
                async with opening as memory:
                    return await act(memory)

        return asyncio.run(session())

    def run_each(self, act: "Act[R]", *, read_only: bool = False) -> list[tuple[str, R]]:
        """Act on each scope that was named, or on all of them; what came of it, by scope."""
        if surfaces.is_server(self.url):  # a key opens one scope

            async def named(memory: "Memory[Any]") -> tuple[str, R]:
                return memory.scope, await act(memory)

            return [self.run(named, read_only=read_only)]

        async def session() -> list[tuple[str, R]]:
            seal = self.seal()
            async with memoranda.connect(
                self.url, seal=seal, create=False, read_only=read_only
            ) as database:
                names = await database.scopes() if self.scopes is None else self.scopes
                handles = [database.scope(name, actor=self.actor_name) for name in names]
                return [(handle.scope, await act(handle)) for handle in handles]

        return asyncio.run(session())


# ------------------------------------------------------------------- code of the user's

_WRITTEN: Final = "MODULE:NAME"


class CodeOptions(TypedDict, total=False):
    """Code of the user's own that a command runs."""

    domain: Required[
        Annotated[str, opt("The Domain whose actions run, such as shop:refunds.", metavar=_WRITTEN)]
    ]


class RunOptions(CodeOptions, total=False):
    """What runs what was approved."""

    provider: Annotated[
        str,
        opt(
            "The MemoryProvider that is asked before a run, or a class that takes a handle.",
            metavar=_WRITTEN,
        ),
    ]


class ActingOptions(RunOptions, total=False):
    """What proposes, decides and runs."""

    authority: Annotated[
        str,
        opt("The policy that decides what may run; without one, everything may.", metavar=_WRITTEN),
    ]


@contextmanager
def prints_aside() -> Iterator[None]:
    """What code of the user's prints goes to standard error: standard output is the result's."""
    with redirect_stdout(sys.stderr):
        try:
            yield
        finally:
            if sys.stderr is not None:
                sys.stderr.flush()  # before the result, where both go to one place


def app_of(domain: str, *, authority: str | None = None, provider: str | None = None) -> "App":
    """What runs the user's own code; wrong use, in plain words, where there is none."""
    return memoranda.App(
        domain=domain_of(domain),
        authority=None if authority is None else _with("--authority", authority, "judge"),
        provider=None if provider is None else _with("--provider", provider, "recall"),
    )


def domain_of(name: str) -> "Domain | Runtime":
    """The domain of this name."""
    found = found_by("--domain", name)
    if not isinstance(found, memoranda.Domain | surfaces.Runtime):
        raise wrong_use(f"--domain: {name} is {_kind(found)}, and no Domain.{_others(name)}")
    return found


def _with(option: str, name: str, method: str) -> Any:
    found = found_by(option, name)
    if not callable(getattr(found, method, None)):
        what = "a policy" if option == "--authority" else "a MemoryProvider"
        raise wrong_use(f"{option}: {name} is {_kind(found)}, and not {what}.")
    return found


def found_by(option: str, name: str) -> Any:
    """What a module of the user's has under a name; wrong use, in plain words, where not."""
    module_name, colon, attribute = name.partition(":")
    if not (module_name and colon and attribute):
        raise wrong_use(f"{option}: {name!r} is not written as {_WRITTEN}, such as shop:refunds.")
    module = _imported(option, module_name)
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise wrong_use(
                f"{option}: the module {module_name!r} has no {attribute!r}.{_others(name)}"
            )
        found = getattr(found, part)
    return found


def _imported(option: str, name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        with prints_aside():
            return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name is not None and (
            name == missing.name or name.startswith(f"{missing.name}.")
        ):
            raise wrong_use(
                f"{option}: there is no module {name!r}, neither in {here} nor where Python looks."
            ) from None
        raise wrong_use(f"{option}: {name!r} needs a module that is missing: {missing}.") from None
    except Exception as error:  # noqa: BLE001 - whatever a module of the user's does
        why = f"{type(error).__name__}: {error}"
        raise wrong_use(f"{option}: the module {name!r} can't be imported: {why}.") from None


def _kind(found: object) -> str:
    return f"a {type(found).__name__}"


def _others(name: str) -> str:
    """The domains that the module does have, to be named instead."""
    module_name = name.partition(":")[0]
    members = vars(sys.modules[module_name])
    names = [key for key, value in members.items() if isinstance(value, memoranda.Domain)]
    if not names:
        return ""
    return f" It has: {', '.join(f'{module_name}:{key}' for key in names)}."
