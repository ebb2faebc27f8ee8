"""What a run of the suite says about the rules: pure, so that the plugin only collects and prints.

A rule is proved when

1. at least one test that is marked with it passes
2. on each of its backends at least one does, and none of those that ran there was skipped

and no rule that is planned has a test. A test that may skip (say, for want of a folder) proves
nothing when it does, and is listed all the same: the tables must not depend on the machine.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memoranda.kernel.rules import Proof, Rule, find_rule
from tests.project.traceability.source import Citation

SHOWN = 5
"""How many of a rule's tests are named when they did not pass."""

Outcome = Literal["passed", "failed", "skipped", "not run"]


@dataclass(frozen=True)
class Trial:
    """One collected test item, with its marks as they are written."""

    node: str
    test: str
    """Where the function is defined, not where it was collected: ``module::name``."""
    rules: tuple[object, ...]
    backends: tuple[object, ...]
    outcome: Outcome = "not run"
    reason: str = ""


def misspelt(
    rules: Sequence[Rule], trials: Iterable[Trial], cited: Iterable[Citation]
) -> Iterator[str]:
    """Ids and backends that no rule has, in tests and in the source; tests of planned rules."""
    backends = {backend for rule in rules for backend in rule.backends}
    said = set()
    for trial in trials:
        for problem in _misspelt_marks(rules, backends, trial):
            if problem not in said:
                said.add(problem)
                yield problem
    for citation in cited:
        if find_rule(citation.token, rules) is None:
            yield f"{citation.place}: no rule is called {citation.token}"


def _misspelt_marks(rules: Sequence[Rule], backends: set[str], trial: Trial) -> Iterator[str]:
    for name in trial.rules:
        rule = find_rule(name, rules) if isinstance(name, str) else None
        if rule is None:
            yield f"{trial.test}: no rule is called {name}"
        elif rule.state == "planned":
            yield (
                f"{trial.test}: {rule.id} is marked planned and has this test; "
                "if it is proved now, say so in rules.toml"
            )
    for backend in trial.backends:
        if backend not in backends:
            yield f"{trial.node.partition('::')[0]}: no rule asks for the backend {backend}"


def unproved(rules: Sequence[Rule], trials: Sequence[Trial]) -> Iterator[str]:
    """Rules whose state is proved and that this run, which must be a full one, did not prove."""
    for rule in rules:
        if rule.state == "planned":
            continue
        own = _trials_of(rule, trials)
        if not own:
            yield f"{rule.id} ({rule.level}) has no test"
        elif not any(trial.outcome == "passed" for trial in own):
            yield f"{rule.id} ({rule.level}) has no test that passed{_not_passed(own)}"
        else:
            proved = _backends_proved(own)
            for backend in rule.backends:
                if backend not in proved:
                    there = [trial for trial in own if backend in trial.backends]
                    yield f"{rule.id} ({rule.level}) is not proved on {backend}{_not_passed(there)}"


def proofs(
    rules: Sequence[Rule], trials: Sequence[Trial], cited: Sequence[Citation]
) -> Mapping[str, Proof]:
    """Rule id → tests, backends, code; a rule with none of them is left out."""
    found = {}
    for rule in rules:
        own = _trials_of(rule, trials)
        proof = Proof(
            tests=tuple(sorted({trial.test for trial in own})),
            backends=tuple(sorted(_backends_proved(own))),
            code=tuple(
                sorted(
                    {
                        citation.module
                        for citation in cited
                        if citation.token in rule.names and not citation.is_in_tests
                    }
                )
            ),
        )
        if proof != Proof():
            found[rule.id] = proof
    return found


def _trials_of(rule: Rule, trials: Iterable[Trial]) -> list[Trial]:
    return [trial for trial in trials if any(name in rule.names for name in trial.rules)]


def _backends_proved(trials: Sequence[Trial]) -> set[str]:
    passed = {str(b) for trial in trials if trial.outcome == "passed" for b in trial.backends}
    not_passed = {str(b) for trial in trials if trial.outcome != "passed" for b in trial.backends}
    return passed - not_passed


def _not_passed(trials: Iterable[Trial]) -> str:
    """Why not, for people: the tests that did not pass, with how and why."""
    told = sorted(
        {
            f"\n    {trial.test} {trial.outcome}" + (f": {trial.reason}" if trial.reason else "")
            for trial in trials
            if trial.outcome != "passed"
        }
    )
    more = f"\n    and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
    return "".join(told[:SHOWN]) + more if told else ": no test ran there"
