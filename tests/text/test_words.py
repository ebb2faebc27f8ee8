"""Where words are."""

import re

import apsw.unicode
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.text import MAX_WORD, words
from memoranda.text.breaks import PUNCTUATION
from tests.text.finding import mixed_texts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The customer's e-mail: kim@example.com!", "the customer's e mail kim example.com"),
        ("USB케이블을 샀다", "usb 케이블을 샀다"),
        ("USB는 AI가 2024년의", "usb ai 2024 년의"),
        ("고객(VIP)은 '고객'은 3.5%가 update했습니다", "고객 vip 고객 3.5 update"),
        ("은 가격이 '은'", "은 가격이 은"),
        ("東京タワーに行く", "東京 タワー に 行 く"),
        ("らーめん", "らーめん"),
        ("สวัสดี ครับ", "สวัสดี ครับ"),
        ("good 👍🏽 🇰🇷!", "good 👍 🇰🇷"),
        ("대박ㅋㅋㅋ", "대박 ㅋㅋㅋ"),
        ("_ __ -- …", ""),
    ],
)
def test_a_text_has_these_words(text: str, expected: str) -> None:
    assert words(text) == expected.split()


@given(mixed_texts())
def test_words_are_short_and_hold_no_white_space(text: str) -> None:
    assert all(word and not re.search(r"[\s\0]", word) for word in words(text))


@given(mixed_texts(), st.sampled_from([" ", "\n", "\t", "\u3000", "\u2028", "\x1f"]), mixed_texts())
def test_white_space_ends_every_word(left: str, space: str, right: str) -> None:
    assert words(left + space + right) == words(left) + words(right)


@given(st.text(st.sampled_from("abzXY019_.,:;'\"-/@# \t\n"), max_size=30))
def test_words_of_ascii_are_those_of_uax29(text: str) -> None:
    assert words(text) == list(apsw.unicode.word_iter(text.lower()))


@given(st.text(st.sampled_from("aéñжΩ019_.,:;'\u00b7\u2014\u201c\u05d0\u0627 "), max_size=30))
def test_words_of_other_alphabets_are_those_of_uax29(text: str) -> None:
    assert words(text) == list(apsw.unicode.word_iter(text.casefold()))


def test_what_is_taken_for_punctuation_is_no_word() -> None:
    marks = [chr(n) for n in range(0x10000) if PUNCTUATION.fullmatch(chr(n))]

    assert marks
    assert list(apsw.unicode.word_iter(" ".join(marks), emoji=True)) == []


@pytest.mark.parametrize("letter", ["a", "é", "ж", "a_"])
def test_a_long_word_is_cut(letter: str) -> None:
    assert words(letter * 1000) == [(letter * MAX_WORD)[:MAX_WORD]]
