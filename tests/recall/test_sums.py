"""The words of an index are summed up: whatever differs from those of a text is found."""

import numpy as np
import pytest

from memoranda.ledger.damage import Damages
from memoranda.ledger.snapshot import Index, StoredWords
from memoranda.recall.sums import WordSums
from memoranda.text import terms
from memoranda.text.tokens import kind_of

TEXT = "again and again"
ONCE, TWICE = kind_of(1, 3), kind_of(2, 3)
Posting = tuple[str, int, int]
SOUND: list[Posting] = [("again", 0, TWICE), ("and", 0, ONCE)]


def _sums(words: list[Posting], damages: Damages | None = None) -> WordSums:
    sums = WordSums(1, Index(1, "", documents=1, length=3), key=b"of one test")
    tokens, seqs, kinds = zip(*words, strict=True)
    sizes = np.array([seq is not None for seq in seqs], np.int64)
    found = [np.array([one for one in many if one is not None]) for many in (seqs, kinds)]
    sums.feed([StoredWords(tokens, sizes, *found)], damages or Damages())
    return sums


def test_the_words_of_a_text_are_its_words() -> None:
    damages = Damages()
    sums = _sums(SOUND)

    assert sums.is_as(0, TEXT, is_counted=True) == (True, 3)
    sums.finish(damages)
    assert not damages


@pytest.mark.parametrize(
    "words",
    [
        SOUND[:1],
        [
            *SOUND,
            (
                "or",
                0,
                ONCE,
            ),
        ],
        [
            *SOUND,
            (
                "or",
                0,
                kind_of(0, 3),
            ),
        ],
        [
            (
                "again",
                0,
                ONCE,
            ),
            SOUND[1],
        ],
        [
            (
                "again",
                0,
                kind_of(2, 4),
            ),
            SOUND[1],
        ],
        [
            (
                "again",
                0,
                ONCE,
            ),
            (
                "again",
                0,
                ONCE,
            ),
            SOUND[1],
        ],
    ],
    ids=["missing", "another", "counted 0 times", "count", "length", "split in two"],
)
def test_other_words_are_not_those_of_a_text(words: list[Posting]) -> None:
    assert _sums(words).is_as(0, TEXT, is_counted=True) == (False, 3)


def test_a_token_counts_up_to_what_a_posting_can_hold() -> None:
    text = "again " * 300
    length = terms(text).length

    sums = _sums(
        [
            (
                "again",
                0,
                kind_of(300, length),
            )
        ]
    )
    assert sums.is_as(0, text, is_counted=True) == (True, length)
