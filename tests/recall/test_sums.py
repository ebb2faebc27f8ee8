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
SOUND: list[StoredWords] = [("again", (0,), (TWICE,)), ("and", (0,), (ONCE,))]


def _sums(words: list[StoredWords]) -> WordSums:
    sums = WordSums(1, Index(1, "", documents=1, length=3), key=b"of one test")
    arrays = [
        (token, np.array(seqs, np.int64), np.array(kinds, np.uint16))
        for token, seqs, kinds in words
    ]
    sums.feed(arrays, Damages())
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
        [*SOUND, ("or", (0,), (ONCE,))],
        [*SOUND, ("or", (0,), (kind_of(0, 3),))],
        [("again", (0,), (ONCE,)), SOUND[1]],
        [("again", (0,), (kind_of(2, 4),)), SOUND[1]],
        [("again", (0,), (ONCE,)), ("again", (0,), (ONCE,)), SOUND[1]],
    ],
    ids=["missing", "another", "counted 0 times", "count", "length", "split in two"],
)
def test_other_words_are_not_those_of_a_text(words: list[StoredWords]) -> None:
    assert _sums(words).is_as(0, TEXT, is_counted=True) == (False, 3)


def test_a_token_counts_up_to_what_a_posting_can_hold() -> None:
    text = "again " * 300
    length = terms(text).length

    sums = _sums([("again", (0,), (kind_of(300, length),))])
    assert sums.is_as(0, text, is_counted=True) == (True, length)
