"""The pytest plugin that holds tests, source and rules together.

Every run fails on an id that no rule has, in a test's mark or in the source, and on a test of a
planned rule. A full run (nothing selected, nothing left out, everything collected) fails as well
on a rule that is not proved, and on a table that is out of date; ``--write-rules`` writes them.

With several processes (pytest-xdist) each collects and runs, and tells the one that judges: its
tests come with their reports, what was wrong with the collection when it is done.

Where it looks and writes is configured, so that it can be tested itself: ``rules_file``,
``rules_source``, ``rules_table`` and ``rules_proofs``, relative to the root of the project.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from memoranda.kernel.rules import Proof, parse_rules
from tests.project.traceability.findings import Outcome, Trial, misspelt, proofs, unproved
from tests.project.traceability.render import proofs_file, rules_page
from tests.project.traceability.source import citations, id_pattern

TOLD: Final = "memoranda-traceability"
"""Under which name one process tells another."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """One option for people, four settings for the self-tests."""
    group = parser.getgroup("rules")
    group.addoption(
        "--write-rules",
        action="store_true",
        help="write docs/rules.md and the proofs from this run, which must be a full one",
    )
    parser.addini("rules_file", "the rules (TOML)", default="src/memoranda/kernel/rules.toml")
    parser.addini("rules_source", "the package that cites rules", default="src/memoranda")
    parser.addini("rules_table", "the page to write", default="docs/rules.md")
    parser.addini("rules_proofs", "the proofs to write", default="src/memoranda/kernel/proofs.json")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks, and read the rules before anything runs."""
    config.addinivalue_line("markers", "rule(*ids): the rules that this test proves")
    config.addinivalue_line("markers", "backend(name): the store that these tests run against")
    config.pluginmanager.register(Traceability(config), "memoranda-traceability")


class Traceability:
    """One run: what was collected, how it came out, what is wrong with it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._root = config.rootpath
        self._write = bool(config.getoption("write_rules"))
        try:
            self._book = parse_rules(self._path("rules_file").read_text(encoding="utf-8"))
        except (OSError, ValueError) as refused:
            message = f"the rules can't be read: {config.getini('rules_file')}: {refused}"
            raise pytest.UsageError(message) from None
        self._is_worker = hasattr(config, "workerinput")
        self._trials: dict[str, Trial] = {}
        self._left_out: list[str] = []
        self._problems: list[str] = []
        self._notes: list[str] = []

    # ------------------------------------------------------------- what was collected

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A module that breaks, or that skips itself, hides its tests."""
        if report.failed:
            self._left_out.append(f"{report.nodeid} can't be collected")
        elif report.skipped and self._claims_rules(report.nodeid):
            self._problems.append(
                f"{report.nodeid} skips itself as a whole, so that its tests can't be listed: "
                "skip in a fixture or with a mark"
            )

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Whatever deselects, the run is not full."""
        if items:
            self._left_out.append("tests are deselected")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Remember the tests with their marks."""
        for item in items:
            marks = {
                name: tuple(arg for mark in item.iter_markers(name) for arg in mark.args)
                for name in ("rule", "backend")
            }
            for name in marks:
                if any(not mark.args or mark.kwargs for mark in item.iter_markers(name)):
                    self._problems.append(f"{_test_name(item)}: @pytest.mark.{name} needs names")
            trial = Trial(item.nodeid, _test_name(item), marks["rule"], marks["backend"])
            self._trials[item.nodeid] = trial

    # ----------------------------------------------------------------- several processes

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Iterator[None]:
        """Let a test's marks come along with its report, for who has not collected it."""
        made = yield
        if self._is_worker:
            trial = self._trials[item.nodeid]
            told = [trial.test, list(trial.rules), list(trial.backends)]
            made.get_result().user_properties.append((TOLD, told))  # type: ignore[attr-defined]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_report_to_serializable(self) -> Iterator[None]:
        """Let a report cross over whatever it shows: a lone surrogate can't be sent as it is."""
        made = yield
        made.force_result(_sendable(made.get_result()))  # type: ignore[attr-defined]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        """Take over what another process found while it collected."""
        told = getattr(node, "workeroutput", {}).get(TOLD)
        if told is None:
            self._left_out.append("a process of the run was lost")
            return
        self._problems += told["problems"]
        self._left_out += told["left_out"]

    # ------------------------------------------------------------------ how it came out

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """The worst of setup, call and teardown counts; only a call can pass."""
        trial = self._trials.get(report.nodeid) or _told(report)
        if trial is None or trial.outcome == "failed":
            return
        outcome: Outcome | None = None
        if report.failed:
            outcome = "failed"
        elif report.skipped:
            outcome = "skipped"
        elif report.when == "call":
            outcome = "passed"
        if outcome is not None:
            self._trials[report.nodeid] = replace(trial, outcome=outcome, reason=_reason(report))

    # --------------------------------------------------------------------- what is wrong

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Judge the run; what is wrong with the rules makes it fail."""
        if self._is_worker:
            found = {"problems": self._problems, "left_out": self._left_out}
            self._config.workeroutput[TOLD] = found  # type: ignore[attr-defined]
            return
        rules, trials = self._book.rule, list(self._trials.values())
        source = self._path("rules_source")
        cited = list(citations(source.rglob("*.py"), id_pattern(rules), self._root))
        self._problems += misspelt(rules, trials, cited)

        partial = next(self._why_partial(session), None)
        if partial is None:
            self._problems += unproved(rules, trials)
            self._problems += self._tables(trials, proofs(rules, trials, cited))
        elif self._write:
            self._problems.append(f"--write-rules needs a full run, and this is none: {partial}")

        if self._problems and session.exitstatus in {
            pytest.ExitCode.OK,
            pytest.ExitCode.NO_TESTS_COLLECTED,
        }:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say it at the end, where it is read."""
        if self._problems and not self._is_worker:
            terminalreporter.write_sep("=", "rules", red=True)
            for problem in dict.fromkeys(self._problems):
                terminalreporter.write_line(problem, red=True)
        for note in self._notes:
            terminalreporter.write_line(f"rules: {note}")

    def _tables(self, trials: Sequence[Trial], found: Mapping[str, Proof]) -> Iterator[str]:
        """Write the two files, or compare them with what this run says."""
        if failed := [trial.test for trial in trials if trial.rules and trial.outcome == "failed"]:
            self._notes.append(f"the tables were left alone, because {failed[0]} failed")
            return
        texts = {
            "rules_table": rules_page(self._book, found),
            "rules_proofs": proofs_file(found),
        }
        for setting, text in texts.items():
            path, new = self._path(setting), text.encode()
            if path.exists() and path.read_bytes() == new:
                continue
            if self._write:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(new)
                self._notes.append(f"wrote {self._config.getini(setting)}")
            else:
                yield f"{self._config.getini(setting)} is out of date: run make rules"

    def _why_partial(self, session: pytest.Session) -> Iterator[str]:
        """Every reason why this run can't speak for the whole suite."""
        config = self._config
        whole = {pytest.Config.ArgsSource.TESTPATHS, pytest.Config.ArgsSource.INVOCATION_DIR}
        if config.args_source not in whole or config.invocation_params.dir != self._root:
            yield "tests are selected by path"
        for option in ("keyword", "markexpr", "lf", "deselect", "ignore", "ignore_glob"):
            if config.getoption(option, default=None):
                yield f"tests are selected by --{option.replace('_', '-')}"
        for option in ("collectonly", "setuponly", "setupplan"):
            if config.getoption(option, default=None):
                yield "no test ran"
        yield from self._left_out
        if stopped := session.shouldstop or session.shouldfail:
            yield f"it was broken off: {stopped}"
        if session.exitstatus not in {
            pytest.ExitCode.OK,
            pytest.ExitCode.TESTS_FAILED,
            pytest.ExitCode.NO_TESTS_COLLECTED,
        }:
            yield "it was broken off"

    def _path(self, setting: str) -> Path:
        return self._root / str(self._config.getini(setting))

    def _claims_rules(self, nodeid: str) -> bool:
        file = self._root / nodeid.partition("::")[0]
        return file.is_file() and "mark.rule(" in file.read_text(encoding="utf-8")


def _sendable(value: object) -> object:
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {key: _sendable(member) for key, member in value.items()}
        case list() | tuple():
            return [_sendable(member) for member in value]
        case _:
            return value


def _told(report: pytest.TestReport) -> Trial | None:
    """The test of a report that another process made."""
    for name, told in report.user_properties:
        if name == TOLD and isinstance(told, list):
            test, rules, backends = told
            return Trial(report.nodeid, test, tuple(rules), tuple(backends))
    return None


def _test_name(item: pytest.Item) -> str:
    """Where the test is defined, and its name without parameters."""
    if not isinstance(item, pytest.Function):
        return item.nodeid
    within = f"{item.cls.__qualname__.replace('.', '::')}::" if item.cls else ""
    return f"{item.function.__module__}::{within}{item.originalname}"


def _reason(report: pytest.TestReport) -> str:
    """Why it was skipped, in one line; a failure explains itself elsewhere."""
    if not report.skipped:
        return ""
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    return str(getattr(report, "wasxfail", ""))
