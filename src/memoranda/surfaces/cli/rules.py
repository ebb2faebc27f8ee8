"""``memoranda rules`` and ``validate``: what must hold, and whether a document keeps to it."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, Literal

from rich.console import Group, RenderableType
from rich.text import Text

from memoranda.app.surfaces import Proof, Rule, find_rule, load_book, load_proofs, plain_json
from memoranda.formats import read_log, validate_object
from memoranda.surfaces.cli.command import command
from memoranda.surfaces.cli.groups import arg, group, opt, wrong_use
from memoranda.surfaces.cli.options import File
from memoranda.surfaces.cli.present import Output, blocks, counted, details, table
from memoranda.surfaces.errors import NOT_SOUND
from memoranda.types import Violation

_STYLES = {"proved": "green", "planned": "yellow"}


State = Literal["proved", "planned"]


@command()
def rules(
    rule_id: Annotated[str | None, arg("ID", "Show this rule in full.")] = None,
    state: Annotated[State | None, opt("Only rules in this state.")] = None,
    family: Annotated[str | None, opt("Only this family: EXT, REC, ING or GOV.")] = None,
) -> Output:
    """List the rules that memoranda must prove, and what proves them."""
    chosen = _chosen(rule_id, state, family)
    if rule_id is not None:
        words: RenderableType = blocks(map(_in_full, chosen))
    else:
        words = _planned(chosen) if state == "planned" else _overview(chosen)
    return Output([_plain(rule) for rule in chosen], words)


def _chosen(rule_id: str | None, state: State | None, family: str | None) -> Sequence[Rule]:
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
        if (state is None or rule.state == state)
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


def _overview(chosen: Sequence[Rule]) -> RenderableType:
    rows = [
        [rule.id, rule.level, _state(rule), str(len(_proof(rule).tests) or ""), rule.text]
        for rule in chosen
    ]
    proved = sum(rule.state == "proved" for rule in chosen)
    after = (
        f"\n{proved} of {len(chosen)} rules are proved, {len(chosen) - proved} are planned.\n"
        "One in full: memoranda rules ID\nWhat is missing: memoranda rules --state planned"
    )
    return Group(table("rule, level, state, tests#, what must hold…", rows), Text(after))


def _planned(chosen: Sequence[Rule]) -> RenderableType:
    rows = [[rule.id, rule.level, rule.missing or ""] for rule in chosen]
    return table("rule, level, what is missing+", rows)


def _by_module(tests: Sequence[str]) -> Iterable[str]:
    """Each module once, with the names of its tests below it."""
    shown = None
    for test in tests:
        module, _, name = test.rpartition("::")
        if module != shown:
            yield module
            shown = module
        yield f"  {name}"


def _in_full(rule: Rule) -> RenderableType:
    proof = _proof(rule)
    return details(
        [
            ("rule", rule.names),
            ("level", rule.level),
            ("state", _state(rule)),
            ("must hold", rule.text),
            ("source", rule.source),
            ("missing", rule.missing or None),
            ("code", Text("\n".join(proof.code) or "none yet")),
            ("tests", Text("\n".join(_by_module(proof.tests)) or "none yet")),
            ("stores", proof.backends or "none yet"),
        ]
    )


# -------------------------------------------------------------------------- documents


@command("object")
def validate_object_file(file: File) -> Output:
    """Validate a MemoryObject: every violation, with the rule it breaks. Exits with 5 for any."""
    return _validated(validate_object(file.read()))


@command("log")
def validate_log_file(
    file: File,
    lenient: Annotated[bool, opt("List what is wrong, and let it through.")] = False,
) -> Output:
    """Validate a MemoryLog as NDJSON: every violation, with the rule it breaks. Exits with 5.

    With --lenient, for logs of others, what is wrong is listed, and the exit code is 0.
    """
    reading = read_log(file.read(), lenient=True)
    return _validated(reading.let_through, len(reading.documents), lenient=lenient)


def _validated(
    violations: Sequence[Violation], events: int | None = None, *, lenient: bool = False
) -> Output:
    errors = sum(each.severity == "error" for each in violations)
    document = {
        "valid": not errors,
        **({} if events is None else {"events": events}),
        "violations": plain_json(violations),
    }
    what = "The object" if events is None else f"The log of {counted(events, 'event')}"
    warnings = len(violations) - errors
    also = f" and {counted(warnings, 'warning')}" if warnings else ""
    verdict = f"is not valid: {counted(errors, 'error')}{also}" if errors else "is valid"
    words: RenderableType = Text(f"{what} {verdict}.")
    if violations:
        columns, start = "line#, check, rule, severity, what is wrong+", 0
        if events is None:
            columns, start = columns.removeprefix("line#, "), 1
        words = Group(table(columns, (_cells(each)[start:] for each in violations)), Text(), words)
    return Output(document, words, NOT_SOUND if errors and not lenient else 0)


def _cells(each: Violation) -> list[Any]:
    line = "-" if each.line is None else each.line
    return [line, each.check, each.rule, each.severity, f"{each.where}: {each.why}"]


validate = group(
    "Validate a document of others, or of ours.", validate_object_file, validate_log_file
)
