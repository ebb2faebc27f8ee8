"""The words of the console: English stands in the templates, other languages in tables beside.

A text that a table does not have is shown in English; a test finds such.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

LANGUAGES: Final[Mapping[str, str]] = {"en": "English", "ko": "한국어"}


class Phrases:
    """Texts in one language: `words("Memories")`, with {names} filled in."""

    def __init__(self, language: str, table: Mapping[str, str]) -> None:
        self.language = language
        self._table = table

    def __call__(self, text: str, **values: object) -> str:
        """The text in this language."""
        found = self._table.get(text, text)
        return found.format(**values) if values else found


@cache
def words_of(language: str) -> Phrases:
    """The words of a language."""
    return Phrases(language, table_of(language))


def table_of(language: str) -> Mapping[str, str]:
    """From English to a language; empty for English itself."""
    if language == "en":
        return {}
    path = files("memoranda.surfaces.console") / f"words_{language}.toml"
    return tomllib.loads(path.read_text("utf-8"))
