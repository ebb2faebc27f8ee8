"""The rules that memoranda must prove, as data, and what proves them.

``rules.toml`` holds the rules; people edit it. ``proofs.json`` holds the tests, the code and the
stores behind each rule; a full run of the test suite writes it (``make rules``) and every later
one compares. Both ship with the package, so that a promise can be looked up wherever it is used.
"""

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, TypeAdapter, model_validator

from memoranda.kernel.json import parse
from memoranda.kernel.wire import ClosedPart

Level = Literal["MUST", "MUST NOT", "SHOULD", "MAY"]
State = Literal["proved", "planned"]

_Words = Annotated[str, StringConstraints(pattern=r"\S")]
_Id = Annotated[str, StringConstraints(pattern=r"^[A-Z]+(-[A-Z0-9]+)+$")]
_List = Field(strict=False)  # TOML and JSON write a list; here it is a tuple


class Rule(ClosedPart):
    """One rule of the seed documents; a planned one says what is missing, a proved one must not."""

    id: _Id
    aliases: Annotated[tuple[_Id, ...], _List] = ()
    family: _Words
    level: Level
    text: _Words
    source: _Words
    state: State
    missing: _Words | None = None
    backends: Annotated[tuple[_Words, ...], _List] = ()
    """The stores on which a proved rule must be shown to hold; none when it concerns no store."""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.id, *self.aliases)

    @model_validator(mode="after")
    def _missing_fits_the_state(self) -> Self:
        if self.state == "planned" and self.missing is None:
            raise ValueError(f"{self.id} is planned and does not say what is missing")
        if self.state == "proved" and self.missing is not None:
            raise ValueError(f"{self.id} is proved and says that something is missing")
        return self


class Proof(ClosedPart):
    """What stands behind a rule: its tests, the stores on which they pass, the code that cites it.

    Tests are ``module::name``, code is a module; both lists are sorted.
    """

    tests: Annotated[tuple[_Words, ...], _List] = ()
    backends: Annotated[tuple[_Words, ...], _List] = ()
    code: Annotated[tuple[_Words, ...], _List] = ()


class RuleBook(ClosedPart):
    """Every rule, in order, and the titles of their families."""

    family: dict[str, _Words]
    rule: Annotated[tuple[Rule, ...], _List]

    @model_validator(mode="after")
    def _names_are_unique_and_families_known(self) -> Self:
        names = Counter(name for rule in self.rule for name in rule.names)
        if twice := sorted(name for name, times in names.items() if times > 1):
            raise ValueError(f"more than one rule is called {', '.join(twice)}")
        if strangers := sorted({rule.family for rule in self.rule} - self.family.keys()):
            raise ValueError(f"no family is called {', '.join(strangers)}")
        return self


def parse_rules(document: str) -> RuleBook:
    """The rules of a TOML text; ValueError when a key, a name or a state is not as it must be."""
    return RuleBook.model_validate(tomllib.loads(document))


def parse_proofs(document: str | bytes) -> Mapping[str, Proof]:
    """The proofs of a JSON text, by rule id; ValueError or InvalidJson when it is damaged."""
    return _PROOFS.validate_python(parse(document))


def find_rule(name: str, rules: Iterable[Rule]) -> Rule | None:
    """The rule with this id or alias, or None."""
    return next((rule for rule in rules if name in rule.names), None)


def load_rules() -> tuple[Rule, ...]:
    """Every rule that memoranda must prove, in the order of the seed documents."""
    return load_book().rule


@cache
def load_book() -> RuleBook:
    """The rules with their families, as they ship with this package."""
    return parse_rules(_packaged("rules.toml").decode())


@cache
def load_proofs() -> Mapping[str, Proof]:
    """What proves the rules, by rule id, as it ships with this package."""
    return parse_proofs(_packaged("proofs.json"))


_PROOFS: TypeAdapter[dict[str, Proof]] = TypeAdapter(dict[str, Proof])


def _packaged(name: str) -> bytes:
    return files("memoranda.kernel").joinpath(name).read_bytes()
