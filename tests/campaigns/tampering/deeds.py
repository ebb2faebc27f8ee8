"""What is done to a database, and what whoever verifies it must then say.

A class of tampering is a function that does it, at a place that chance picks, and tells what is to
be named. `database` is what `verify_database` must name, `export` what `memoranda_verify` must name
in an export of the scope; and for each, what that takes: nothing but the database itself, one
checkpoint that was kept elsewhere, or that nobody can tell (`NOBODY`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from memoranda.ledger.anchor import SCOPE as DIRECTORY
from tests.campaigns.tampering.adversary import TamperedDatabase

Needs = Literal["nothing", "checkpoint", "nobody", "not in it"]
"""What it takes to find a class.

``nothing``: the database, or the export, alone. ``checkpoint``: one that was kept elsewhere, and
without it, it is missed. ``nobody``: it is missed whatever was kept. ``not in it``: it does not
show in an export, which holds the journal and nothing else.
"""

WHOLE: Final = None
"""Stands for the database as a whole, where damage is of no scope."""


class Named(NamedTuple):
    """A finding that must be among those of a verifier."""

    check: str
    seq: int | None = None
    part: str | None = WHOLE
    """The scope in which `verify_database` finds it; of an export it is that of the export."""
    about: str = ""
    """What must stand in its words."""


@dataclass(frozen=True)
class Deed:
    """What was done: where, and what must be named."""

    scope: str
    database: tuple[Named, ...] = ()
    export: tuple[Named, ...] = ()
    also: tuple[str, ...] = ()
    """Other scopes in which it may show."""
    how: str = ""
    restores: bool = False
    """Whether the backup is put into the place of the database."""
    goes_on: bool = False
    """Whether somebody writes on, in good faith, before anybody verifies."""


Does = Callable[[TamperedDatabase], Deed]


@dataclass(frozen=True)
class TamperingClass:
    """A way of tampering."""

    name: str
    group: str
    does: Does
    database: Needs
    export: Needs
    kept: Literal["scope", "directory", "older"]
    """Which checkpoint was kept: that of the scope, of the directory, or one of an older time."""
    exports_signed: Literal["", "pretended", "other"] = ""
    """Who signs the export of what was tampered with; the auditor asks for the known key."""

    @property
    def words(self) -> str:
        """The name as words."""
        return self.name.replace("_", " ")


CLASSES: dict[str, TamperingClass] = {}


def tampering(
    group: str,
    *,
    database: Needs = "nothing",
    export: Needs = "nothing",
    kept: Literal["scope", "directory", "older"] = "scope",
    exports_signed: Literal["", "pretended", "other"] = "",
) -> Callable[[Does], Does]:
    """Register a class of tampering."""

    def registered(does: Does) -> Does:
        name = does.__name__
        CLASSES[name] = TamperingClass(name, group, does, database, export, kept, exports_signed)
        return does

    return registered


def at(scope: str, check: str, *seqs: int, about: str = "") -> tuple[Named, ...]:
    """Findings of a check at these entries of a scope."""
    return tuple(Named(check, seq, scope, about) for seq in seqs)


def of(scope: str | None, *checks: str, about: str = "") -> tuple[Named, ...]:
    """Findings of these checks that are of no entry."""
    return tuple(Named(check, None, scope, about) for check in checks)


def both(scope: str, *named: Named, how: str = "") -> Deed:
    """A deed of which both verifiers say the same."""
    return Deed(scope, named, named, how=how)


__all__ = [
    "CLASSES",
    "DIRECTORY",
    "Deed",
    "Named",
    "TamperingClass",
    "at",
    "both",
    "of",
    "tampering",
]
