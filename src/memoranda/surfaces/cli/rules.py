"""``memoranda rules``: what memoranda promises, and what proves it."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from memoranda.kernel.rules import Proof, Rule, find_rule, load_book, load_proofs
from memoranda.surfaces.cli.errors import wrong_use
from memoranda.surfaces.cli.present import console, print_json

_STYLES = {"proved": "green", "planned": "yellow"}


class StateChoice(StrEnum):
    """The two states, as the option takes them."""

    PROVED = "proved"
    PLANNED = "planned"


def rules(
    rule_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="Show this rule in full.")
    ] = None,
    state: Annotated[StateChoice | None, typer.Option(help="Only rules in this state.")] = None,
    family: Annotated[
        str | None, typer.Option(help="Only this family: EXT, REC, ING or GOV.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the rules that memoranda must prove, and what proves them."""
    chosen = _chosen(rule_id, state, family)
    if json:
        print_json([_plain(rule) for rule in chosen])
    elif rule_id is not None:
        for rule in chosen:
            _print_in_full(rule)
    elif state is StateChoice.PLANNED:
        console().print(_planned(chosen))
    else:
        _print_overview(chosen)


def _chosen(rule_id: str | None, state: StateChoice | None, family: str | None) -> Sequence[Rule]:
    book = load_book()
    if family is not None and family.upper() not in book.family:
        families = ", ".join(book.family)
        raise wrong_use(f"No family of rules is called {family}. There are {families}.")
    if rule_id is None:
        candidates: Iterable[Rule] = book.rule
    else:
        candidates = [_named(rule_id, book.rule)]
    return [
        rule
        for rule in candidates
        if (state is None or rule.state == state.value)
        and (family is None or rule.family == family.upper())
    ]


def _named(name: str, all_rules: Sequence[Rule]) -> Rule:
    wanted = name.upper()
    if (rule := find_rule(wanted, all_rules)) is not None:
        return rule
    near = get_close_matches(wanted, [known for rule in all_rules for known in rule.names], n=3)
    hint = f"Near it are {', '.join(near)}." if near else "'memoranda rules' lists them all."
    raise wrong_use(f"No rule is called {name}. {hint}")


def _proof(rule: Rule) -> Proof:
    return load_proofs().get(rule.id, Proof())


def _plain(rule: Rule) -> dict[str, Any]:
    proof = _proof(rule)
    return {
        "id": rule.id,
        "level": rule.level,
        "text": rule.text,
        "source": rule.source,
        "aliases": list(rule.aliases),
        "state": rule.state,
        "tests": list(proof.tests),
        "backends": list(proof.backends),
        "missing": rule.missing,
    }


def _state(rule: Rule) -> Text:
    return Text(rule.state, style=_STYLES[rule.state])


def _table() -> Table:
    table = Table(box=None, expand=True, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("rule", no_wrap=True)
    table.add_column("level", no_wrap=True)
    return table


def _print_overview(chosen: Sequence[Rule]) -> None:
    table = _table()
    table.add_column("state", no_wrap=True)
    table.add_column("tests", no_wrap=True, justify="right")
    table.add_column("what must hold", no_wrap=True, overflow="ellipsis", ratio=1)
    for rule in chosen:
        tests = str(len(_proof(rule).tests) or "")
        table.add_row(rule.id, rule.level, _state(rule), tests, Text(rule.text))
    proved = sum(rule.state == "proved" for rule in chosen)
    out = console()
    out.print(table)
    out.print(f"\n{proved} of {len(chosen)} rules are proved, {len(chosen) - proved} are planned.")
    out.print("One in full: memoranda rules ID")
    out.print("What is missing: memoranda rules --state planned")


def _planned(chosen: Sequence[Rule]) -> Table:
    table = _table()
    table.add_column("what is missing", ratio=1)
    for rule in chosen:
        table.add_row(rule.id, rule.level, Text(rule.missing or ""))
    return table


def _by_module(tests: Sequence[str]) -> Iterable[str]:
    """Each module once, with the names of its tests below it."""
    shown = None
    for test in tests:
        module, _, name = test.rpartition("::")
        if module != shown:
            yield module
            shown = module
        yield f"  {name}"


def _print_in_full(rule: Rule) -> None:
    proof = _proof(rule)
    table = Table(box=None, expand=True, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    table.add_row("rule", Text(", ".join(rule.names)))
    table.add_row("level", Text(rule.level))
    table.add_row("state", _state(rule))
    table.add_row("must hold", Text(rule.text))
    table.add_row("source", Text(rule.source))
    if rule.missing:
        table.add_row("missing", Text(rule.missing))
    table.add_row("code", Text("\n".join(proof.code) or "none yet"))
    table.add_row("tests", Text("\n".join(_by_module(proof.tests)) or "none yet"))
    table.add_row("stores", Text(", ".join(proof.backends) or "none yet"))
    console().print(table)
