"""The summariser that needs no model: it takes the best sentences, or only words.

The same response gives the same summary, on every machine. It never keeps more than two thirds of
the words of a response (of up to four words, all but one), so that what it keeps is never the
response:

=========================================  ====================================================
a response                                 what is kept of it
=========================================  ====================================================
of several sentences                       the best of them, in their order
of one, or with one that is most of it     its weightiest words, in their order, with commas
of a word or so                            nothing
=========================================  ====================================================

An answer that names nothing of what was asked stands behind it: ``wifi, password → hunter2``. And
keywords are words of the summary, and of nothing else: what is found by a word tells of it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from unicodedata import normalize

from memoranda.plans.keywords import Weighed, by_weight, weighed, words_of
from memoranda.plans.raw import READ, Whole, amount
from memoranda.plans.summary import Limits, Summary, distinct, holding, raw_texts
from memoranda.text import words
from memoranda.text.breaks import sentences

_ANSWERED: Final = " → "
_MOST_ASKED: Final = 3
_SHARE: Final = (2, 3)
_FEW: Final = 4
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

    async def summarise(self, response: str, text: str | None, limits: Limits) -> Summary | None:
        return extract(response, text, limits)


def extract(response: str, text: str | None, limits: Limits) -> Summary | None:
    """A summary and keywords of a response, and of what the user had said; None if it is too short.

    1. code, headings, links and marks of Markdown go, unless nothing else is there; so do
       sentences that are there once more
    2. words are weighed, those of the user among them
    3. the summary is sentences, else words; behind what was asked, if it names nothing of that
    4. keywords are the heaviest words of the summary, unless they hold what must not be kept
    """
    # 1.
    prose, asked = _prose(response), sentences(_prose(text or ""))
    found = list(dict.fromkeys(sentences(prose)))
    # 2.
    weights = weighed(found, asked)
    # 3.
    allowed = _allowed(prose, limits)
    kept = _of_sentences(found, weights, allowed, limits) or _of_words(
        [weight for weight in weights.values() if weight.places], allowed
    )
    raw = raw_texts(response, text)
    made = [] if kept is None else [_answering(asked, text, kept, weights, limits), kept]
    summary = next((text for text in made if not holding(text, (), raw)), None)
    if summary is None:
        return None
    # 4.
    return Summary(summary, _keywords(summary, raw, limits))


# --------------------------------------------------------------------------- summary

Allowed = Callable[[str], bool]


def _allowed(prose: str, limits: Limits) -> Allowed:
    """Whether a summary is short enough: within the limit, and a share of what was said."""
    part, of = _SHARE
    size, whole = amount(prose), Whole(prose)
    most = size - 1 if size <= _FEW else size * part // of

    def allowed(summary: str) -> bool:
        return (
            len(summary) <= limits.max_length
            and amount(summary) <= most
            and not whole.is_in(summary)
            and not whole.is_nearly_in((summary,))
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
        if not scores[number]:
            break  # it says nothing: rather short than padded
        together = " ".join(found[place] for place in sorted([*chosen, number]))
        if allowed(together):
            chosen.append(number)
        elif not chosen:
            cut = _cut(found[number], limits.max_length)
            return cut if cut != found[number] and allowed(cut) else None
    return " ".join(found[place] for place in sorted(chosen))


def _score(sentence: str, weights: dict[str, Weighed]) -> int:
    """The weight of its different words; evened out, so that long sentences don't always win.

    A sentence about a single word, such as 'Sure thing!', counts half.
    """
    forms = dict.fromkeys(word.form for word in words_of(sentence))
    weight = sum(weights[form].weight for form in forms)
    return 100 * weight // (len(words(sentence)) + _EVENING) // (1 if len(forms) > 1 else 2)


def _cut(sentence: str, length: int) -> str:
    if len(sentence) <= length:
        return sentence
    start = sentence[: length - len(_MORE)]
    return (start.rsplit(maxsplit=1)[0] if " " in start else start).rstrip(" ,;:") + _MORE


def _of_words(known: Sequence[Weighed], allowed: Allowed) -> str | None:
    chosen: list[Weighed] = []
    for keyword in by_weight(known):
        together = sorted([*chosen, keyword], key=lambda word: word.place)
        if allowed(", ".join(word.spelled for word in together)):
            chosen = together
    return ", ".join(word.spelled for word in chosen) or None


def _answering(
    asked: Sequence[str],
    text: str | None,
    kept: str,
    weights: Mapping[str, Weighed],
    limits: Limits,
) -> str:
    """What is kept, behind the heaviest words of what was asked if it has none of these.

    Not behind words that the response has elsewhere: what it says of them is not kept.
    """
    of_asking = weighed(asked)
    left = limits.max_length - len(kept) - len(_ANSWERED)
    if left <= 0 or of_asking.keys() & weighed(sentences(kept)).keys():
        return kept
    unnamed = [keyword for form, keyword in of_asking.items() if not weights[form].places]
    topic = _of_words(by_weight(unnamed)[:_MOST_ASKED], _allowed(text or "", Limits(left)))
    return f"{topic}{_ANSWERED}{kept}" if topic else kept


# -------------------------------------------------------------------------- keywords


def _keywords(summary: str, raw: Sequence[Whole], limits: Limits) -> Sequence[str]:
    """The heaviest words, without those by which, however read, a raw text would be kept."""
    kept: tuple[str, ...] = ()
    for keyword in by_weight(weighed(sentences(summary)).values()):
        if len(kept) == limits.max_keywords:
            break
        more = distinct((*kept, keyword.spelled))
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
