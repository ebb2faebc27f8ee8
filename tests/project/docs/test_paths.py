"""Every file, module and command that a document names is there."""

import re
from pathlib import Path
from pkgutil import resolve_name

import pytest

import memoranda
from tests.project.docs import names
from tests.project.docs.test_snippets import DOCUMENTS, ROOT

HOUSE = Path(memoranda.__file__).parent
ROOMS = sorted(one.name for one in HOUSE.iterdir() if (one / "__init__.py").is_file())
FOLDERS = ("src", "tests", "tools", "bench", "examples", "docs", "requirements")
WRITTEN = {"bench/results/latest.json"}
"""Files that a command writes."""
CURRENT = [one for one in DOCUMENTS if one.name != "rules.md"]
"""Without the table of rules: it is made from a whole run of the suite."""
VERBS = {one.name.removesuffix("()") for one in names.verbs(memoranda.Memory, "memory")}

PATH = re.compile(
    rf"(?<![\w./:@<>-])((?:{'|'.join(FOLDERS)})/[\w./-]*\w"
    rf"|(?:memoranda|{'|'.join(ROOMS)})/[\w/-]+\.(?:py|toml|json|sql))"
)
MODULE = re.compile(rf"`((?:{'|'.join(ROOMS)})(?:\.\w+)+)`")
TARGET = re.compile(r"(?:^|`)make (?:[A-Z]+=\S+ )*([a-z]+)(?=[`\s]|$)", re.MULTILINE)
PROGRAM = re.compile(r"python -m ([\w.]+)")


def is_there(path: str) -> bool:
    places = (ROOT, ROOT / "src", HOUSE)
    return path in WRITTEN or any((place / path).exists() for place in places)


def leads_somewhere(module: str) -> bool:
    """Whether a dotted name is one of the house, or a verb of a group of the handle."""
    try:
        return f"memory.{module}" in VERBS or resolve_name(f"memoranda.{module}") is not None
    except (ImportError, AttributeError):
        return False


def test_every_module_in_a_docstring_or_comment_is_there() -> None:
    named = [
        (str(source.relative_to(HOUSE)), module)
        for source in sorted(HOUSE.rglob("*.py"))
        for module in MODULE.findall(source.read_text())
    ]

    assert [where for where in named if not leads_somewhere(where[1])] == []


@pytest.fixture(params=CURRENT, ids=lambda path: str(path.relative_to(ROOT)))
def text(request: pytest.FixtureRequest) -> str:
    document: Path = request.param
    return document.read_text()


def test_every_path_in_a_document_is_there(text: str) -> None:
    assert [path for path in PATH.findall(text) if not is_there(path)] == []


def test_every_module_in_a_document_is_there(text: str) -> None:
    assert [module for module in MODULE.findall(text) if not leads_somewhere(module)] == []


def test_every_target_of_make_in_a_document_is_there(text: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

    assert [target for target in TARGET.findall(text) if target not in targets] == []


def test_every_program_in_a_document_is_there(text: str) -> None:
    files = {one: ROOT.joinpath(*one.split(".")) for one in PROGRAM.findall(text)}
    programs = [one for one, file in files.items() if file.with_suffix(".py").is_file()]
    programs += [one for one, file in files.items() if (file / "__main__.py").is_file()]

    assert set(files) - set(programs) == set()


@pytest.mark.parametrize("path", ["tests/gone/test_x.py", "src/gone.py", "ledger/gone.py"])
def test_a_path_that_leads_nowhere_is_noticed(path: str) -> None:
    assert PATH.findall(f"see `{path}`.") == [path]
    assert not is_there(path)


@pytest.mark.parametrize("module", ["ledger.gone", "ledger.unit.gone", "gone.unit"])
def test_a_module_that_leads_nowhere_is_noticed(module: str) -> None:
    assert not leads_somewhere(module)
