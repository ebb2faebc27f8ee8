"""What is made from the code and from what was measured is current."""

from pathlib import Path

import pytest

import memoranda
from memoranda.errors import __all__ as error_names
from tests.project.docs import errors, figures, names, signatures
from tests.project.docs.test_snippets import ROOT

MOST_LINES = 120


@pytest.mark.parametrize(
    ("path", "text"), figures.pages(), ids=lambda one: getattr(one, "name", "")
)
def test_the_figures_of_a_page_are_what_is_on_record(path: Path, text: str) -> None:
    assert path.read_text() == text, "write it anew: make readme"


def test_the_page_of_errors_is_current_and_has_all_of_them() -> None:
    page = errors.PAGE.read_text()

    assert page == errors.page(), "write it anew: make names"
    assert [name for name in error_names if f"`{name}(" not in page] == ["MemorandaError"]


def test_the_page_of_verbs_is_current_and_has_all_of_them() -> None:
    page = signatures.PAGE.read_text()

    assert page == signatures.page(), "write it anew: make names"
    verbs = [*names.verbs(memoranda.Memory, "memory"), *names.verbs(memoranda.Database, "database")]
    shown = [one.name.removesuffix("()") for one in verbs]
    missing = [name for name in shown if f"`{name}`\n" not in page]
    assert [name for name in missing if not signatures.ELSEWHERE & set(name.split("."))] == []


@pytest.mark.parametrize("name", ["README.md", "README.ko.md"])
def test_the_readme_is_short(name: str) -> None:
    assert len((ROOT / name).read_text().splitlines()) <= MOST_LINES


def test_a_figure_that_is_typed_by_hand_is_noticed() -> None:
    page = "<!-- cost: make readme -->\n| 7 ms |\n<!-- /cost -->\n"

    assert figures._filled(page, "cost", "| 8 ms |\n") == page.replace("7", "8")
