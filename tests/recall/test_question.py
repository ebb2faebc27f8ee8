"""What a question asks for."""

import pytest

from memoranda.recall.question import asked, names_in


def words(text: str) -> list[str]:
    return [word.text for word in asked(text).words]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where did Will move?", ["will", "move"]),
        ("What happens in May?", ["happens", "may"]),
        ("Who works in IT?", ["works", "it"]),
        ("Is the US office open?", ["us", "office", "open"]),
        ("Will it rain?", ["rain"]),
        ("WHERE IS IT? I CAN'T SEE IT", ["see"]),
        ("where did will go", ["go"]),
    ],
)
def test_a_word_of_grammar_that_is_written_like_a_name_is_one(
    question: str, expected: list[str]
) -> None:
    assert words(question) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("민수의 고향은 어디야?", ["민수의", "고향은"]),
        ("누가 금연에 성공했어?", ["금연에", "성공했어"]),
        ("휴가는 언제부터 있나요?", ["휴가는"]),
        ("왜곡된 자료", ["왜곡된", "자료"]),
        ("누구야?", ["누구야"]),
    ],
)
def test_korean_words_of_grammar_are_not_asked_for(question: str, expected: list[str]) -> None:
    assert words(question) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What does Ingrid do in Oslo?", {"ingrid", "oslo"}),
        ("Anna's car", set()),
        ("Where is Anna's car?", {"anna"}),
        ("How The West Was Won", set()),
        ("I said so. Then I left", set()),
    ],
)
def test_names_are_capitals_inside_a_text(text: str, expected: set[str]) -> None:
    assert names_in(text) == expected
