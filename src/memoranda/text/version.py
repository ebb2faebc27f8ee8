"""The tokenizer's version: whatever could give the same text other tokens."""

import unicodedata
from importlib.metadata import version
from typing import Final

import apsw.unicode

VERSION: Final = 2
"""Ours: one higher with every change that gives some text other tokens."""

TOKENIZER: Final = (
    f"memoranda-text/{VERSION}"
    f" words=unicode-{apsw.unicode.unicode_version}"
    f" forms=unicode-{unicodedata.unidata_version}"
    f" stems=snowball-english-{version('snowballstemmer')}"
)
"""Part of the index and of the conformance fingerprint: another string, another index.

Word breaks come from apsw's Unicode, NFKC and case folding from Python's: the two differ.
"""
