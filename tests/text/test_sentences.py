"""Sentences end where they do in English and Korean, and where a line does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.text.breaks import sentences


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("It is v2.10, for $3.14. Good.", ["It is v2.10, for $3.14.", "Good."]),
        ("Dr. Kim and J. Lee met. Then e.g. Tom.", ["Dr. Kim and J. Lee met.", "Then e.g. Tom."]),
        ("고객입니다. 이메일은요? 네!", ["고객입니다.", "이메일은요?", "네!"]),
        ("1. 서버를 켭니다\n2. Wait", ["1. 서버를 켭니다", "2. Wait"]),
        ("한 줄\n\n  다른 줄  \n", ["한 줄", "다른 줄"]),
        ("彼は来た。私も行く。", ["彼は来た。", "私も行く。"]),
        ("ends with Dr.", ["ends with Dr."]),
        ("", []),
        (" \n\t\n", []),
    ],
)
def test_a_text_is_cut_into_its_sentences(text: str, found: list[str]) -> None:
    assert sentences(text) == found


@given(st.text(st.sampled_from("aB. !?\n1Dr한다。\u2028…\"')"), max_size=60))
def test_nothing_is_lost_but_white_space_and_nothing_is_empty(text: str) -> None:
    found = sentences(text)

    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() != "" for sentence in found)
