"""Files of questions are read as they are described, and others are refused."""

from pathlib import Path

import pytest

from bench.evaluate.questions import read_locomo, read_pages, read_pairs
from memoranda.identity import canonical_bytes
from memoranda.kernel.clock import format_time
from memoranda.kernel.errors import InvalidJson
from tests.evaluate.conversations import CONVERSATION


def test_a_turn_is_a_text_with_its_speaker_and_its_caption() -> None:
    found = read_locomo(canonical_bytes([CONVERSATION])).collections[0]

    assert found.name == "made-up"
    assert [(one.id, one.text) for one in found.texts] == [
        ("D1:1", "Anna: Which instrument do you play?"),
        ("D1:2", "Boris: The cello, for ten years."),
        ("D1:3", "Anna: Look at this! [image: a photo of a harbour]"),
        ("D2:1", "Boris: I moved to Lisbon."),
        ("D2:2", "Anna: Good luck with the boxes."),
    ]
    assert format_time(found.texts[1].created_at) == "2023-05-08T13:56:01.000Z"
    assert format_time(found.texts[3].created_at) == "2023-06-01T00:05:00.000Z"


def test_questions_without_an_answer_are_left_out_and_those_without_evidence_counted() -> None:
    found = read_locomo(canonical_bytes([CONVERSATION]))

    assert found.skipped == 1
    assert [(one.category, set(one.evidence)) for one in found.collections[0].questions] == [
        ("single-hop", {"D1:2"}),
        ("temporal", {"D2:1"}),
        ("multi-hop", {"D1:3", "D2:2"}),
    ]


@pytest.mark.parametrize(
    "document", [b"{}", b"[1]", b'[{"qa": []}]', b"nothing", b'[{"conversation": {}, "qa": [{}]}]']
)
def test_another_file_is_refused_and_the_place_is_named(document: bytes) -> None:
    with pytest.raises(InvalidJson):
        read_locomo(document)


def test_equal_answers_are_one_text_and_equal_questions_one_question() -> None:
    found = read_pairs("\ufeffA,label,Q\nyes,0,one?\nyes,0,two?\nno,1,one?\n\n".encode())

    [pairs] = found.collections
    assert [(one.id, one.text, one.thread) for one in pairs.texts] == [
        ("0", "yes", None),
        ("1", "no", None),
    ]
    assert [(one.text, set(one.evidence)) for one in pairs.questions] == [
        ("one?", {"0", "1"}),
        ("two?", {"0"}),
    ]


def test_columns_of_other_names_are_the_first_two() -> None:
    [pairs] = read_pairs(b"x,y,z\n1?,one,0\n").collections

    assert [one.text for one in pairs.texts] == ["one"]


@pytest.mark.parametrize("document", [b"", b"Q\n", b"Q,A\nalone\n", b"\xff\xfe"])
def test_a_file_without_pairs_is_refused(document: bytes) -> None:
    with pytest.raises(InvalidJson):
        read_pairs(document)


def test_headings_ask_for_the_paragraphs_below_them(tmp_path: Path) -> None:
    long = "This paragraph is long enough to be asked for, and has a subject."
    page = (
        f"# A title\n\n{long} One.\n\n## How it is done here\n\n{long} Two.\n\n```\n{long}\n```\n"
    )
    (tmp_path / "page.md").write_text(page)

    [pages] = read_pages(tmp_path).collections

    assert [text.text for text in pages.texts] == [f"{long} One.", f"{long} Two."]
    assert [(one.text, set(one.evidence)) for one in pages.questions] == [
        ("How it is done here", {"1"})
    ]
