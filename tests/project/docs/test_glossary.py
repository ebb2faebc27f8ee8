"""The glossary is short, in order, and about words that the documents use."""

import re

import pytest

from tests.project.docs.test_snippets import DOCUMENTS, ROOT

GLOSSARY = ROOT / "docs" / "glossary.md"
WORDS = re.findall(r"^\| \*\*([^*]+)\*\* \|", GLOSSARY.read_text(), re.MULTILINE)
MOST_WORDS = 60
OTHERS = "\n".join(one.read_text() for one in DOCUMENTS if one != GLOSSARY).lower()


def test_it_has_few_words_each_once_and_in_order() -> None:
    assert 0 < len(WORDS) <= MOST_WORDS
    assert sorted(set(WORDS)) == WORDS


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_used_in_another_document(word: str) -> None:
    assert re.search(rf"\b{word}", OTHERS)
