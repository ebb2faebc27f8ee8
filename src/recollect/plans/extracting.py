"""The summariser that needs no model: it takes the best sentences, or only words.

The same response gives the same summary, on every machine. It never keeps more than two thirds of
the words of a response, so that what it keeps is never the response:

=========================================  ====================================================
a response                                 what is kept of it
=========================================  ====================================================
of several sentences                       the best of them, in their order
of one, or with one that is most of it     its weightiest words, in their order, with commas
of a word or so                            the weightiest words of what was asked, and ``→ …``
                                           for the answer that is not kept
=========================================  ====================================================
"""

import re
from collections.abc import Callable, Sequence
from typing import Final
from unicodedata import normalize

from recollect.plans.keywords import Weighed, by_weight, weighed, words_of
from recollect.plans.raw import READ, Whole, amount
from recollect.plans.summary import Limits, Summary, distinct, holding, raw_texts
from recollect.text import words
from recollect.text.sentences import sentences

NOT_KEPT: Final = "→ …"
"""Stands for an answer that is too short to keep anything of."""

_SIGNS: Final = (NOT_KEPT, "(…)", "→ .", "(?)")  # for answers that are themselves such signs
_SHARE: Final = (2, 3)
_WORTH: Final = 2
_EVENING: Final = 6
_MORE: Final = "…"

_CODE: Final = re.compile(
    r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_LINK: Final = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_LINE_START: Final = re.compile(
    r"^[ \t]*(?:>[ \t]?|[-*+•][ \t]+|\d{1,3}[.)][ \t]+|\|[ \t]*)+", re.MULTILINE
)
_HEADING: Final = re.compile(r"^[ \t]*#{1,6}[ \t].*$", re.MULTILINE)
_MARKS: Final = re.compile(r"\*\*|__|~~|`")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


class ExtractiveSummariser:
    """Deterministic: sentences and words of the response, weighed on our tokens."""

    async def summarise(self, response: str, text: str | None, limits: Limits) -> Summary:
        """What is kept, as the module says."""
        return extract(response, text, limits)


def extract(response: str, text: str | None, limits: Limits) -> Summary:
    """A summary and keywords of a response, and of what the user had said.

    1. code, headings, links and marks of Markdown go, unless nothing else is there; so do
       sentences that are there once more
    2. words are weighed, those of the user among them
    3. the summary is sentences, else words, else a sign that an answer was there
    4. keywords are the heaviest words, as long as they don't hold what must not be kept
    """
    # 1.
    prose, asked = _prose(response), sentences(_prose(text or ""))
    found = list(dict.fromkeys(sentences(prose)))
    # 2.
    weights = weighed(found, asked)
    # 3.
    allowed = _allowed(prose, limits)
    summary = (
        _of_sentences(found, weights, allowed, limits)
        or _of_words([one for one in weights.values() if one.places], allowed)
        or _of_asking(asked, text, limits)
    )
    # 4.
    raw = raw_texts(response, text)
    if holding(summary, (), raw):
        summary = next(sign for sign in _SIGNS if not holding(sign, (), raw))
    return Summary(summary, _keywords(summary, weights, raw, limits))


# --------------------------------------------------------------------------- summary

Allowed = Callable[[str], bool]


def _allowed(prose: str, limits: Limits) -> Allowed:
    """Whether a summary is short enough: within the limit, and a share of what was said."""
    part, of = _SHARE
    most, whole = amount(prose) * part // of, Whole(prose)

    def allowed(summary: str) -> bool:
        return (
            len(summary) <= limits.max_length
            and amount(summary) <= most
            and not whole.is_in(summary)
        )

    return allowed


def _of_sentences(
    found: Sequence[str], weights: dict[str, Weighed], allowed: Allowed, limits: Limits
) -> str | None:
    """The best sentences that are allowed together, in their order; None if the best is not."""
    scores = [_score(sentence, weights) for sentence in found]
    ranked = sorted(range(len(found)), key=lambda number: (-scores[number], number))
    if len(found) < _WORTH or not scores[ranked[0]]:
        return None
    chosen: list[int] = []
    for number in ranked:
        if scores[number] * _WORTH < scores[ranked[0]]:
            break  # far behind the best: rather short than padded
        together = " ".join(found[one] for one in sorted([*chosen, number]))
        if allowed(together):
            chosen.append(number)
        elif not chosen:
            cut = _cut(found[number], limits.max_length)
            return cut if cut != found[number] and allowed(cut) else None
    return " ".join(found[one] for one in sorted(chosen))


def _score(sentence: str, weights: dict[str, Weighed]) -> int:
    """The weight of its different words; evened out, so that long sentences don't always win.

    A sentence about a single word, such as 'Sure thing!', counts half.
    """
    forms = dict.fromkeys(word.form for word in words_of(sentence))
    weight = sum(weights[form].weight for form in forms)
    return 100 * weight // (len(words(sentence)) + _EVENING) // (1 if len(forms) > 1 else 2)


def _cut(sentence: str, length: int) -> str:
    """A sentence that is too long, up to the last white space that fits."""
    if len(sentence) <= length:
        return sentence
    start = sentence[: length - len(_MORE)]
    return (start.rsplit(maxsplit=1)[0] if " " in start else start).rstrip(" ,;:") + _MORE


def _of_words(known: Sequence[Weighed], allowed: Allowed) -> str | None:
    """The heaviest words that are allowed together, in their order."""
    chosen: list[Weighed] = []
    for one in by_weight(known):
        together = sorted([*chosen, one], key=lambda word: word.place)
        if allowed(", ".join(word.spelled for word in together)):
            chosen = together
    return ", ".join(word.spelled for word in chosen) or None


def _of_asking(asked: Sequence[str], text: str | None, limits: Limits) -> str:
    """The heaviest words of what was asked, within the same share, and the sign."""
    allowed = _allowed(text or "", Limits(max(limits.max_length - len(NOT_KEPT) - 1, 0)))
    of_asking = _of_words(list(weighed(asked).values()), allowed)
    return f"{of_asking} {NOT_KEPT}" if of_asking else NOT_KEPT


# -------------------------------------------------------------------------- keywords


def _keywords(
    summary: str, weights: dict[str, Weighed], raw: Sequence[Whole], limits: Limits
) -> Sequence[str]:
    """The heaviest words, without those by which, however read, a raw text would be kept."""
    kept: tuple[str, ...] = ()
    for one in by_weight(weights.values()):
        if len(kept) == limits.max_keywords:
            break
        more = distinct((*kept, one.spelled))
        if not holding(summary, more, raw):
            kept = more
    return kept


# ------------------------------------------------------------------------------ prose


def _prose(text: str) -> str:
    """A text without the marks of Markdown, and without its code if there is anything else."""
    text = _CONTROL.sub(" ", normalize("NFC", text[:READ]))
    without_code = _CODE.sub("", text)
    plain = without_code if without_code.strip() else text
    without_headings = _HEADING.sub("", plain)
    plain = without_headings if without_headings.strip() else plain
    return _MARKS.sub("", _LINE_START.sub("", _LINK.sub(r"\1", plain)))
