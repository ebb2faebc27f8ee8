"""How many tokens a text takes, as an estimate.

No tokenizer is shipped: each model has its own. The estimate gives every character a weight by its
script, so that nothing but the text decides, and more text never takes less:

===============================  ======  =========================================================
characters                       tokens  why
===============================  ======  =========================================================
a small letter a to z            0.25    about four letters of an English word make a token
a capital A to Z                 0.4     names, acronyms and camelCase are cut more often
a digit                          0.5     one to three digits make a token; in hashes, fewer
a blank or a line end            0.15    most belong to the word that follows
other ASCII (code, punctuation)  0.6     brackets and operators often stand alone
Hangul                           1.0     a syllable takes between half a token and two
Han                              1.2     a character takes one or two
Kana                             0.9     frequent pairs are one token
Latin with marks, Greek, Cyril.  0.5     about two letters make a token
all other letters                0.9     scripts that tokenizers know less
all else: emoji, symbols         2.0     they are cut into bytes, two or three of them
===============================  ======  =========================================================

These are rules of thumb, meant to be rather too high than too low. Where it matters, hand in the
count of the model's own tokenizer.
"""

import re
from collections.abc import Callable
from typing import Final

Count = Callable[[str], int]
"""How many tokens a text takes: `estimate`, or the count of a model's own tokenizer."""

_PARTS: Final = 20
"""Weights are counted in twentieths of a token: whole numbers add up alike everywhere."""

_CLASSES: Final = re.compile(
    "(?P<small>[a-z]+)"
    "|(?P<capital>[A-Z]+)"
    "|(?P<digit>[0-9]+)"
    "|(?P<blank>[ \t\n\r]+)"
    "|(?P<ascii>[\x00-\x7f]+?)"
    "|(?P<hangul>[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]+)"
    "|(?P<han>[\u2e80-\u2fdf\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003fffd]+)"
    "|(?P<kana>[\u3000-\u3004\u3006\u3008-\u30ff\u31f0-\u31ff\uff00-\uffef]+)"
    "|(?P<european>[\u00a0-\u052f\u1e00-\u1fff\u2010-\u205f]+)"
    "|(?P<letter>[\u0530-\u10ff\u1200-\u1dff\ua000-\ua95f\ua980-\uabff]+|[^\\W_])"
    "|(?P<other>.)",
    re.DOTALL,
)
_WEIGHTS: Final = {
    "small": 5,
    "capital": 8,
    "digit": 10,
    "blank": 3,
    "ascii": 12,
    "hangul": 20,
    "han": 24,
    "kana": 18,
    "european": 10,
    "letter": 18,
    "other": 40,
}


def estimate(text: str) -> int:
    """About how many tokens a text takes, rounded up; a text in another never takes more."""
    parts = 0
    for run in _CLASSES.finditer(text):
        parts += _WEIGHTS[run.lastgroup or "other"] * (run.end() - run.start())
    return -(-parts // _PARTS)
