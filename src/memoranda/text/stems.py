"""English stems: *customers*, *customer's* and *customer* are one token."""

import re
from functools import cache, lru_cache
from typing import Final, Protocol, cast

_ENGLISH: Final = re.compile("[a-z]+(?:'[a-z]+)*")
_REMEMBERED: Final = 65_536


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the package's name


@lru_cache(maxsize=_REMEMBERED)
def stem(word: str) -> str:
    """The Snowball English stem of a folded word of the letters a to z; else the word without 's.

    Words of other languages in these letters get one too. It is the same in a document and in a
    query, so that each word still finds itself.
    """
    if not _ENGLISH.fullmatch(word):
        return word.removesuffix("'s")
    # A stemmer keeps the word that it is working on: one of its own for each call makes this
    # safe in threads. Making one is a hundredth of the work.
    return _english()().stemWord(word) or word


@cache
def _english() -> type[_Stemmer]:
    """The pure Python stemmer, imported when first needed: the package loads forty languages.

    Never `snowballstemmer.stemmer`: it takes PyStemmer where that is installed, whose version
    and stems may be others, and an index must not depend on what else is installed.
    """
    from snowballstemmer.english_stemmer import (  # type: ignore[import-untyped]  # noqa: PLC0415
        EnglishStemmer,
    )

    return cast("type[_Stemmer]", EnglishStemmer)
