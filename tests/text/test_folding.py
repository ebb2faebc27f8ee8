"""Texts that people read as the same have one form."""

import sys
from typing import Any
from unicodedata import category, combining, is_normalized, normalize

import pytest
from hypothesis import given

from memoranda.text import breaks as folding
from memoranda.text import fold, terms
from memoranda.text.breaks import MAX_MARKS
from tests.text.finding import finds, mixed_texts

UNASSIGNED = ("Cn", "Co", "Cs")
CHARACTERS = [c for c in map(chr, range(sys.maxunicode + 1)) if category(c) not in UNASSIGNED]


def test_folding_any_character_again_changes_nothing() -> None:
    assert [c for c in CHARACTERS if fold(fold(c)) != fold(c)] == []


def test_any_character_folds_as_its_other_forms_do() -> None:
    assert [c for c in CHARACTERS if fold(normalize("NFD", c)) != fold(c)] == []
    assert [c for c in CHARACTERS if fold(c.casefold()) != fold(c)] == []


def test_any_folded_character_is_composed() -> None:
    assert [c for c in CHARACTERS if not is_normalized("NFC", fold(c))] == []


@given(mixed_texts())
def test_folding_is_final(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(mixed_texts())
def test_composed_and_decomposed_texts_have_the_same_tokens(text: str) -> None:
    assert terms(normalize("NFD", text)) == terms(text) == terms(normalize("NFC", text))


@given(mixed_texts().map(lambda text: text.replace("\u0345", "")))
def test_case_makes_no_difference(text: str) -> None:
    assert terms(text.casefold()) == terms(text)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("STRASSE", "straße"),
        ("straße", "STRASSE"),
        ("\uff35\uff33\uff22\uff11", "usb1"),  # full width
        ("file", "ﬁle"),
        ("kg", "5 ㎏"),
        ("ガイド", "ｶﾞｲﾄﾞ"),
        ("ΟΔΟΣ", "οδος"),
        (normalize("NFD", "이메일"), "이메일을"),
        ("café", normalize("NFD", "Café")),
        ("customer", "cus\u00adtom\u200der"),
        ("don't", "don\u2019t"),
        ("❤", "❤\ufe0f"),
        ("👍", "👍🏽"),
        ("ㅋㅋ", "ﾻﾻ"),
    ],
)
def test_another_form_is_found(asked: str, text: str) -> None:
    assert finds(asked, text)


def test_accents_make_a_difference() -> None:
    assert not finds("resume", "résumé")


def test_korean_letters_that_stand_alone_make_no_syllable() -> None:
    assert fold("ㅋㅠ") == "ㅋㅠ"
    assert not finds("큐", "ㅋㅠ")


def test_a_space_of_no_width_ends_a_word() -> None:
    assert finds("left right", "left\u200bright")


def test_a_flood_of_marks_is_cut_before_it_is_normalized_and_keeps_the_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flood = "Z" + "\u0315\u0300" * 100_000 + " customers"
    normalized: list[int] = []

    def counted(form: Any, text: str) -> str:
        normalized.append(marks_in(text))
        assert normalized[-1] <= MAX_MARKS  # or it takes the square of their number: minutes
        return normalize(form, text)

    monkeypatch.setattr(folding, "normalize", counted)

    assert marks_in(fold(flood)) == MAX_MARKS
    assert normalized
    assert finds("customer", flood)


def marks_in(text: str) -> int:
    return sum(map(bool, map(combining, text)))
