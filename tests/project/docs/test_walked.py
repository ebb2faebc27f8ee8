"""The pages that a reader follows from top to bottom do what they say."""

from pathlib import Path

import pytest

from tests.project.docs.test_snippets import DOCUMENTS, ROOT
from tests.project.docs.walking import BLOCK, rewritten, walked

PAGES = [one for one in DOCUMENTS if ' title="' in one.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_that_is_followed_prints_what_it_says(page: Path, tmp_path: Path) -> None:
    done = list(walked(page.read_text(), tmp_path))

    assert done
    for typed in done:
        assert typed.is_as_said(), f"$ {typed.step.line}\n{typed.printed}"


def test_there_is_a_tutorial_with_files_and_commands() -> None:
    blocks = list(BLOCK.finditer((ROOT / "docs" / "tutorial.md").read_text()))

    assert {block["file"] for block in blocks} == {"remember.py", "shop.py", "agent.py", None}


def test_a_page_is_rewritten_with_what_its_commands_print() -> None:
    page = "# A\n\n```console\n$ echo one\ntwo\n$ false  # exits with 1\n```\n\nMore.\n"

    assert rewritten(page) == page.replace("two\n", "one\n")


def test_what_a_page_says_wrongly_is_noticed(tmp_path: Path) -> None:
    page = "```console\n$ echo one\ntwo\n$ false\n```\n"

    assert [typed.is_as_said() for typed in walked(page, tmp_path)] == [False, False]
