"""The plugin under test: each way in which a run must fail, and that a good one passes."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memoranda.kernel.rules import load_rules, parse_proofs
from tests.project.traceability.source import id_pattern

RULES = """
[family]
EXT = "External"

[[rule]]
id = "MEM-CRUD-1"
family = "EXT"
level = "MUST"
text = "works | everywhere"
source = "seed"
state = "proved"
backends = ["dict", "sqlite"]

[[rule]]
id = "MEM-CRUD-2"
aliases = ["D-MEM-2"]
family = "EXT"
level = "SHOULD"
text = "concerns no store"
source = "seed"
state = "proved"

[[rule]]
id = "C-2"
family = "EXT"
level = "MUST NOT"
text = "comes later"
source = "seed"
state = "planned"
missing = "the thing itself"
"""
SETTINGS = """
[pytest]
rules_file = rules.toml
rules_source = pack
rules_table = docs/rules.md
rules_proofs = pack/proofs.json
"""
CONTRACT = """
import pytest

@pytest.mark.rule("MEM-CRUD-1")
def test_it_works(): pass
"""
STORE = """
import pytest
from pack.testkit.contract import *

pytestmark = pytest.mark.backend("{backend}")
"""
PLAIN = """
import pytest

@pytest.mark.rule("D-MEM-2")
def test_it_holds(): pass
"""


PLUGINS = ("-p", "tests.project.traceability.plugin")
"""And none that is merely installed: each inner run would load it anew."""


class Project:
    """A small project whose rules are all proved, until a test breaks it."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self._pytester = pytester
        self.write("pytest.ini", SETTINGS)
        self.write("rules.toml", RULES)
        self.write("pack/__init__.py", "")
        self.write("pack/code.py", '"""Keeps MEM-CRUD-1 and D-MEM-2, in UTF-8, as RFC-1 says."""')
        self.write("pack/testkit/__init__.py", "")
        self.write("pack/testkit/contract.py", CONTRACT)
        self.write("test_dict.py", STORE.format(backend="dict"))
        self.write("test_sqlite.py", STORE.format(backend="sqlite"))
        self.write("test_plain.py", PLAIN)
        pytester.syspathinsert()

    def write(self, name: str, text: str) -> None:
        """Write a file, and the folders it needs."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def path(self, name: str) -> Path:
        """Where a file of the project is."""
        return self._pytester.path / name

    def read(self, name: str) -> str:
        """What a file of the project says."""
        return self.path(name).read_text(encoding="utf-8")

    def run(self, *arguments: str) -> pytest.RunResult:
        """Run the suite of this project, in this process."""
        return self._pytester.runpytest_inprocess(*PLUGINS, *arguments)

    def must_fail(self, *lines: str, arguments: tuple[str, ...] = ()) -> pytest.RunResult:
        """Run, see it fail, and see each of these lines in its section on the rules."""
        result = self.run(*arguments)
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        said = result.outlines
        section = said[next(i for i, line in enumerate(said) if line.strip("= ") == "rules") :]
        for line in lines:
            assert line in section
        return result


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    # A file that is rewritten within a second must not be answered from its compiled form.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    made = Project(pytester)
    result = made.run("--write-rules")
    assert result.ret == pytest.ExitCode.OK
    return made


# ------------------------------------------------------------------------------ good runs


def test_a_run_that_proves_every_rule_passes(project: Project) -> None:
    result = project.run()

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=3)
    result.stdout.no_fnmatch_line("=* rules =*")


def test_a_shared_test_is_listed_once_where_it_is_defined_with_all_its_backends(
    project: Project,
) -> None:
    proof = parse_proofs(project.read("pack/proofs.json"))["MEM-CRUD-1"]

    assert proof.tests == ("pack.testkit.contract::test_it_works",)
    assert proof.backends == ("dict", "sqlite")


def test_code_is_listed_under_the_id_of_an_alias_and_the_test_kit_is_no_code(
    project: Project,
) -> None:
    proofs = parse_proofs(project.read("pack/proofs.json"))

    assert proofs["MEM-CRUD-2"].code == ("pack.code",)
    assert proofs["MEM-CRUD-1"].code == ("pack.code",)


def test_the_page_shows_proofs_and_what_is_missing_and_keeps_its_columns(
    project: Project,
) -> None:
    page = project.read("docs/rules.md")

    assert (
        "| MEM-CRUD-1 | MUST | proved | works \\| everywhere | `pack.code` "
        "| `pack.testkit.contract`: `test_it_works` | dict<br>sqlite |"
    ) in page
    assert "| C-2 | MUST NOT | planned | comes later |  | missing: the thing itself |  |" in page
    assert "make rules" in page


def test_the_files_depend_neither_on_the_order_of_tests_nor_on_the_folder(
    project: Project,
) -> None:
    first = project.read("docs/rules.md") + project.read("pack/proofs.json")
    names = ("test_dict.py", "test_sqlite.py", "test_plain.py")
    texts = [project.read(name) for name in names]
    for name, text in zip(names, (texts[1], texts[2], texts[0]), strict=True):
        project.write(name, text)
    # The plain test has moved, and only its own module may change with it.
    project.run("--write-rules", "-p", "no:randomly")

    second = project.read("docs/rules.md") + project.read("pack/proofs.json")
    assert second == first.replace("test_plain", "test_sqlite")
    assert str(project.path("")) not in second


def test_a_skipped_test_without_a_backend_is_listed_all_the_same(project: Project) -> None:
    project.write(
        "test_vectors.py",
        'import pytest\n@pytest.mark.rule("MEM-CRUD-2")\ndef test_vectors(): pass\n',
    )
    project.run("--write-rules")
    with_folder = project.read("pack/proofs.json"), project.read("docs/rules.md")
    assert "test_vectors::test_vectors" in with_folder[0]
    project.write(
        "test_vectors.py",
        "import pytest\n"
        '@pytest.mark.rule("MEM-CRUD-2")\n'
        '@pytest.mark.skip("no ../shared")\n'
        "def test_vectors(): pass\n",
    )

    assert project.run().ret == pytest.ExitCode.OK
    assert (project.read("pack/proofs.json"), project.read("docs/rules.md")) == with_folder


# -------------------------------------------------------------------- ids that no rule has


def test_an_unknown_id_in_a_mark_fails_the_run(project: Project) -> None:
    project.write("test_plain.py", PLAIN.replace("D-MEM-2", "MEM-CRUD-9"))

    project.must_fail("test_plain::test_it_holds: no rule is called MEM-CRUD-9")


def test_a_mark_without_an_id_fails_the_run(project: Project) -> None:
    project.write("test_extra.py", PLAIN.replace('"D-MEM-2"', ""))

    project.must_fail("test_extra::test_it_holds: @pytest.mark.rule needs names")


def test_a_mark_that_is_no_string_fails_the_run(project: Project) -> None:
    project.write("test_extra.py", PLAIN.replace('"D-MEM-2"', "2"))

    project.must_fail("test_extra::test_it_holds: no rule is called 2")


def test_an_unknown_backend_fails_the_run(project: Project) -> None:
    project.write("test_sqlite.py", STORE.format(backend="sqlit"))

    project.must_fail("test_sqlite.py: no rule asks for the backend sqlit")


@pytest.mark.parametrize("token", ["MEM-CRUD-9", "MEM-CRUD-1..5", "MEM-CRUD-1a", "C-7", "D-MEM-X"])
def test_an_unknown_id_in_the_source_fails_the_run(project: Project, token: str) -> None:
    project.write("pack/more.py", f'X = 1\n"""Keeps ({token})."""\n')

    project.must_fail(f"pack/more.py:2: no rule is called {token}")


def test_an_unknown_id_in_the_shipped_tests_fails_the_run(project: Project) -> None:
    project.write("pack/testkit/more.py", "# MEM-CRUD-9\n")

    project.must_fail("pack/testkit/more.py:1: no rule is called MEM-CRUD-9")


def test_unknown_ids_fail_a_partial_run_too(project: Project) -> None:
    project.write("pack/more.py", "# MEM-CRUD-9\n")
    project.write("test_extra.py", PLAIN.replace("D-MEM-2", "MEM-CRUD-8"))

    project.must_fail(
        "pack/more.py:1: no rule is called MEM-CRUD-9",
        "test_extra::test_it_holds: no rule is called MEM-CRUD-8",
        arguments=("test_extra.py",),
    )


# ----------------------------------------------------------------------- what is not proved


def test_a_proved_rule_without_a_test_fails_the_run(project: Project) -> None:
    project.path("test_plain.py").unlink()

    project.must_fail("MEM-CRUD-2 (SHOULD) has no test")


def test_a_proved_rule_whose_only_test_is_skipped_fails_the_run(project: Project) -> None:
    project.write("test_plain.py", PLAIN.replace("pass", "pytest.skip('no folder')"))

    project.must_fail(
        "MEM-CRUD-2 (SHOULD) has no test that passed",
        "    test_plain::test_it_holds skipped: no folder",
    )


def test_a_proved_rule_whose_only_test_is_expected_to_fail_fails_the_run(
    project: Project,
) -> None:
    marked = PLAIN.replace("def ", "@pytest.mark.xfail(reason='later')\ndef ")
    project.write("test_plain.py", marked.replace("pass", "assert False"))

    project.must_fail(
        "MEM-CRUD-2 (SHOULD) has no test that passed",
        "    test_plain::test_it_holds skipped: later",
    )


def test_a_test_that_breaks_in_teardown_proves_nothing(project: Project) -> None:
    project.write(
        "test_plain.py",
        PLAIN.replace("test_it_holds()", "test_it_holds(broken)")
        + "\n@pytest.fixture\ndef broken():\n    yield\n    assert False\n",
    )

    project.must_fail("MEM-CRUD-2 (SHOULD) has no test that passed")


def test_a_backend_on_which_no_test_ran_is_named(project: Project) -> None:
    project.path("test_sqlite.py").unlink()

    project.must_fail("MEM-CRUD-1 (MUST) is not proved on sqlite: no test ran there")


def test_a_backend_on_which_the_test_was_skipped_is_named(project: Project) -> None:
    project.write(
        "test_sqlite.py",
        STORE.format(backend="sqlite")
        + "@pytest.fixture(autouse=True)\ndef server():\n    pytest.skip('no server')\n",
    )

    project.must_fail(
        "MEM-CRUD-1 (MUST) is not proved on sqlite",
        "    pack.testkit.contract::test_it_works skipped: no server",
    )


def test_one_skipped_test_on_a_backend_outweighs_another_that_passed_there(
    project: Project,
) -> None:
    project.write(
        "test_sqlite.py",
        STORE.format(backend="sqlite")
        + '@pytest.mark.skip("slow")\n@pytest.mark.rule("MEM-CRUD-1")\ndef test_more(): pass\n',
    )

    project.must_fail("MEM-CRUD-1 (MUST) is not proved on sqlite")


def test_of_many_tests_that_were_skipped_a_few_are_named_and_all_are_counted(
    project: Project,
) -> None:
    one = '@pytest.mark.skip("slow")\n@pytest.mark.rule("MEM-CRUD-1")\ndef test_{}(): pass\n'
    project.write(
        "test_sqlite.py",
        STORE.format(backend="sqlite") + "".join(one.format(number) for number in range(7)),
    )

    project.must_fail("    test_sqlite::test_0 skipped: slow", "    and 2 more")


def test_a_planned_rule_with_a_test_fails_the_run(project: Project) -> None:
    project.write("test_later.py", PLAIN.replace("D-MEM-2", "C-2"))

    project.must_fail(
        "test_later::test_it_holds: C-2 is marked planned and has this test; "
        "if it is proved now, say so in rules.toml"
    )


def test_a_module_that_claims_rules_and_skips_itself_fails_the_run(project: Project) -> None:
    project.write(
        "test_whole.py",
        "import pytest\npytest.skip('no folder', allow_module_level=True)\n" + PLAIN,
    )

    project.must_fail(
        "test_whole.py skips itself as a whole, so that its tests can't be listed: "
        "skip in a fixture or with a mark"
    )


# ------------------------------------------------------------------------ the written files


@pytest.mark.parametrize("name", ["docs/rules.md", "pack/proofs.json"])
def test_a_file_that_is_out_of_date_fails_the_run_and_is_left_alone(
    project: Project, name: str
) -> None:
    project.write(name, "old\n")

    project.must_fail(f"{name} is out of date: run make rules")
    assert project.read(name) == "old\n"


@pytest.mark.parametrize("name", ["docs/rules.md", "pack/proofs.json"])
def test_a_file_that_is_not_there_fails_the_run(project: Project, name: str) -> None:
    project.path(name).unlink()

    project.must_fail(f"{name} is out of date: run make rules")


def test_the_files_are_out_of_date_when_a_test_is_renamed(project: Project) -> None:
    project.write("test_plain.py", PLAIN.replace("test_it_holds", "test_it_still_holds"))

    project.must_fail(
        "docs/rules.md is out of date: run make rules",
        "pack/proofs.json is out of date: run make rules",
    )


def test_writing_does_not_hide_that_a_rule_is_not_proved(project: Project) -> None:
    project.path("test_plain.py").unlink()

    project.must_fail("MEM-CRUD-2 (SHOULD) has no test", arguments=("--write-rules",))
    assert "| MEM-CRUD-2<br>D-MEM-2 | SHOULD | **no test** |" in project.read("docs/rules.md")


def test_the_page_names_the_backend_that_is_missing(project: Project) -> None:
    project.path("test_sqlite.py").unlink()

    project.run("--write-rules")

    assert "| MEM-CRUD-1 | MUST | **not proved on sqlite** |" in project.read("docs/rules.md")


@pytest.mark.parametrize("teardown", ["pass", "pytest.skip('no more')"])
def test_nothing_is_written_when_a_test_of_a_rule_fails(project: Project, teardown: str) -> None:
    before = project.read("docs/rules.md")
    project.write(
        "test_sqlite.py",
        STORE.format(backend="sqlite")
        + f"@pytest.fixture\ndef db():\n    yield\n    {teardown}\n"
        + '@pytest.mark.rule("MEM-CRUD-1")\ndef test_more(db): assert False\n',
    )

    result = project.run("--write-rules")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert project.read("docs/rules.md") == before
    result.stdout.fnmatch_lines("*left alone, because test_sqlite::test_more failed")


# ------------------------------------------------------------------------------ partial runs


@pytest.mark.parametrize(
    "arguments",
    [
        ("test_dict.py",),
        ("-k", "works"),
        ("-m", "backend"),
        ("--deselect", "test_plain.py::test_it_holds"),
        ("--ignore", "test_plain.py"),
        ("--ignore-glob", "*plain*"),
        ("--collect-only",),
        ("--setup-plan",),
    ],
)
def test_a_partial_run_does_not_ask_for_the_whole(
    project: Project, arguments: tuple[str, ...]
) -> None:
    project.path("test_sqlite.py").unlink()
    project.write("docs/rules.md", "old\n")

    assert project.run(*arguments).ret == pytest.ExitCode.OK


def test_a_run_of_the_last_failures_does_not_ask_for_the_whole(
    project: Project,
) -> None:
    project.path("test_sqlite.py").unlink()
    project.write("test_plain.py", PLAIN.replace("pass", "assert False"))
    project.run()
    project.write("test_plain.py", PLAIN)

    result = project.run("--lf")

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=1)


def test_a_run_that_was_broken_off_does_not_ask_for_the_whole(project: Project) -> None:
    project.path("test_sqlite.py").unlink()
    project.write("test_broken.py", "def test_broken(): assert False\n")

    result = project.run("-x", "-p", "no:randomly")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.no_fnmatch_line("=* rules =*")


def test_a_module_that_can_not_be_collected_is_told_apart_from_a_missing_proof(
    project: Project,
) -> None:
    project.write("test_plain.py", "import nowhere\n")

    result = project.run()

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.no_fnmatch_line("*has no test*")


def test_a_run_that_goes_on_past_a_broken_module_does_not_ask_for_the_whole(
    project: Project,
) -> None:
    project.write("test_plain.py", "import nowhere\n")

    result = project.run("--continue-on-collection-errors")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.no_fnmatch_line("*has no test*")


def test_a_run_from_which_a_plugin_took_tests_away_does_not_ask_for_the_whole(
    project: Project,
) -> None:
    project.write(
        "conftest.py",
        "def pytest_collection_modifyitems(config, items):\n"
        "    config.hook.pytest_deselected(items=items[1:])\n"
        "    del items[1:]\n",
    )

    result = project.run()

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=1, deselected=2)


def test_writing_from_a_partial_run_is_refused(project: Project) -> None:
    before = project.read("docs/rules.md")

    project.must_fail(
        "--write-rules needs a full run, and this is none: tests are selected by path",
        arguments=("--write-rules", "test_dict.py"),
    )
    assert project.read("docs/rules.md") == before


def test_rules_that_can_not_be_read_stop_the_run(project: Project) -> None:
    project.write("rules.toml", RULES.replace("MUST NOT", "OUGHT"))

    result = project.run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines("*the rules can't be read: rules.toml*")


# --------------------------------------------------------------------- what looks like an id


@pytest.mark.parametrize(
    "text",
    ["UTF-8", "RFC-1", "RFC 8785", "C2SP", "X-M-1", "AM-1", "D-Bus", "M-x", "A-Z0-9", "mem-crud-1"],
)
def test_an_ordinary_word_is_no_rule_id(text: str) -> None:
    assert id_pattern(load_rules()).findall(f"see {text}, please") == []


@pytest.mark.parametrize(
    "text",
    [*(name for rule in load_rules() for name in rule.names), "MEM-*", "GOV-CONS-1..5", "M-2/3"],
)
def test_an_id_and_shorthand_for_ids_are_taken_in_whole(text: str) -> None:
    assert id_pattern(load_rules()).findall(f"kept ({text}): always") == [text]


# ----------------------------------------------------------------------- several processes

APART = ("-p", "xdist", "-n", "2")
ROOT = Path(__file__).parents[3]


@pytest.fixture
def apart(
    project: Project, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., pytest.RunResult]:
    """Runs the suite of the project in two processes."""
    monkeypatch.setenv("PYTHONPATH", f"{project.path('.')}{os.pathsep}{ROOT}")
    return lambda *arguments: pytester.runpytest_subprocess(*PLUGINS, *APART, *arguments)


def test_a_run_in_two_processes_writes_what_a_run_in_one_writes(
    project: Project, apart: Callable[..., pytest.RunResult]
) -> None:
    written = project.read("docs/rules.md"), project.read("pack/proofs.json")
    project.path("docs/rules.md").unlink()

    result = apart("--write-rules")

    assert result.ret == pytest.ExitCode.OK
    assert (project.read("docs/rules.md"), project.read("pack/proofs.json")) == written


def test_what_is_wrong_is_found_in_two_processes_too(
    project: Project, apart: Callable[..., pytest.RunResult]
) -> None:
    project.write("test_sqlite.py", "def test_nothing(): pass")
    project.write("test_more.py", "import pytest\n\n@pytest.mark.rule()\ndef test_it(): pass")

    result = apart()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    said = result.stdout.str()
    assert "MEM-CRUD-1" in said
    assert "@pytest.mark.rule needs names" in said


def test_a_run_in_two_processes_that_leaves_tests_out_writes_nothing(
    apart: Callable[..., pytest.RunResult],
) -> None:
    result = apart("--write-rules", "-k", "holds")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "needs a full run" in result.stdout.str()


def test_a_report_that_shows_a_lone_surrogate_crosses_over(
    project: Project, apart: Callable[..., pytest.RunResult]
) -> None:
    project.write(
        "test_shown.py",
        'import logging\n\ndef test_it(): logging.getLogger("x").warning("a \\ud800")\n'
        'def test_that(): assert "\\ud800" == ""',
    )

    result = apart()

    result.assert_outcomes(passed=4, failed=1)
