"""Korean words are found with and without particles."""

import pytest

from memoranda.text import matches, query, terms, words
from memoranda.text.stems import is_ending, noun
from tests.text.finding import finds

FORMS = [
    "고객",
    "고객은",
    "고객이",
    "고객을",
    "고객의",
    "고객에게",
    "고객과",
    "고객도",
    "고객만",
    "고객으로",
    "고객으로부터",
    "고객에게서",
    "고객들",
    "고객들이",
    "고객들에게는",
    "고객까지",
    "고객보다",
    "고객이나",
    "고객입니다",
    "고객이에요",
]


@pytest.mark.parametrize("asked", FORMS)
def test_a_noun_with_any_particle_finds_it_with_any_other(asked: str) -> None:
    assert [text for text in FORMS if not finds(asked, text)] == []


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("이메일을", "이메일"),
        ("이메일", "이메일로"),
        ("나라는", "나라"),
        ("사과와", "사과를"),
        ("회의에서", "회의"),
        ("아이가", "아이"),
        ("USB케이블을", "USB 케이블"),
        ("케이블", "USB케이블을"),
        ("usb", "USB는"),
        ("USB는", "usb"),
        ("고객", "고객(VIP)은"),
        ("선호하는", "이메일을 선호합니다"),
        ("예약했어요", "예약되었습니다"),
        ("중요한", "중요"),
        ("고객센터", "고객 센터"),
        ("고객센터는", "고객의 센터"),
        ("고객 센터", "고객센터로"),
        ("고객센터", "고객센터입니다"),
    ],
)
def test_a_word_is_found(asked: str, text: str) -> None:
    assert finds(asked, text)


@pytest.mark.parametrize(
    "text",
    ["물", "물은", "물이", "물을", "물에", "물도", "물만", "물로", "물과", "물에서", "물까지는"],
)
def test_a_noun_of_one_syllable_is_found(text: str) -> None:
    assert finds("물", text)


@pytest.mark.parametrize("asked", ["물은", "물이", "물을", "물에", "물에는", "물에서"])
def test_a_noun_of_one_syllable_with_a_clear_particle_finds_it(asked: str) -> None:
    assert finds(asked, "물")


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("물", "건물"),
        ("물", "선물을"),
        ("마을", "마"),  # 을 stands behind consonants only
        ("국가", "국"),  # 가 behind vowels only
        ("온도", "온"),
        ("회의", "회를"),
        ("이메일", "이메진"),
        ("고객센터", "센터"),
    ],
)
def test_another_word_is_not_found(asked: str, text: str) -> None:
    assert not finds(asked, text)


def test_an_ending_is_known_when_it_stands_alone() -> None:
    assert all(
        map(is_ending, ["은", "는", "이", "가", "을", "를", "에서는", "으로", "입니다", "했습니다"])
    )
    assert not any(map(is_ending, ["고객", "물", "케이블을"]))


def test_every_sentence_is_found_by_itself_and_by_each_of_its_words(sentences: list[str]) -> None:
    lost = [
        (word, text)
        for text in sentences
        for word in (text, *words(text))
        if words(text) and not finds(word, text)
    ]

    assert sentences
    assert lost == []


def test_nouns_of_the_pairs_are_found_with_and_without_particles(sentences: list[str]) -> None:
    """Each word with an ending finds every sentence in which its noun stands bare."""
    having: dict[str, list[int]] = {}
    tokens = [terms(text).counts for text in sentences]
    for number, text in enumerate(sentences):
        for word in words(text):
            having.setdefault(word, []).append(number)
    inflected = [word for word in having if noun(word) != word and noun(word) in having]

    lost = [
        (word, sentences[number])
        for word in inflected
        for number in having[noun(word)]
        if not matches(query(word), tokens[number])
    ]

    assert len(inflected) > 500
    assert lost == []
