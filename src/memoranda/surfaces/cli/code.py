"""Code of the user's own on the command line: ``module:name`` becomes a domain, and what it needs.

A module is looked for where the command was started, then where Python looks.
"""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Final, Required, TypedDict

from memoranda.app.options import App
from memoranda.journeys.intent.runtime import Runtime
from memoranda.surfaces.cli.errors import wrong_use
from memoranda.surfaces.cli.help import opt
from memoranda.worlds.domain import Domain

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


@dataclass(frozen=True, slots=True)
class Code:
    """What a handle runs, who decides about it, and where its memory comes from."""

    domain: Domain | Runtime
    authority: Any = None
    provider: Any = None

    def as_app(self) -> App:
        """As `memoranda.open` takes it."""
        return App(domain=self.domain, authority=self.authority, provider=self.provider)


@contextmanager
def prints_aside() -> Iterator[None]:
    """What code of the user's prints goes to standard error: standard output is the result's."""
    with redirect_stdout(sys.stderr):
        try:
            yield
        finally:
            if sys.stderr is not None:
                sys.stderr.flush()  # before the result, where both go to one place


def code(domain: str, *, authority: str | None = None, provider: str | None = None) -> Code:
    """The code of these names; wrong use, in plain words, where there is none."""
    found = _found("--domain", domain)
    if not isinstance(found, Domain | Runtime):
        raise wrong_use(f"--domain: {domain} is {_kind(found)}, and no Domain.{_others(domain)}")
    return Code(
        found,
        None if authority is None else _with("--authority", authority, "judge", "a policy"),
        None if provider is None else _with("--provider", provider, "recall", "a MemoryProvider"),
    )


def _with(option: str, name: str, method: str, what: str) -> Any:
    found = _found(option, name)
    if not callable(getattr(found, method, None)):
        raise wrong_use(f"{option}: {name} is {_kind(found)}, and not {what}.")
    return found


def _found(option: str, name: str) -> Any:
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
    names = [key for key, value in members.items() if isinstance(value, Domain)]
    if not names:
        return ""
    return f" It has: {', '.join(f'{module_name}:{key}' for key in names)}."
