"""``memoranda learn``: a conversation in a file, by rules or by a model."""

from pathlib import Path

import pytest

from tests.surfaces.cli.command import Command

SAID = (
    '{"role": "user", "content": "Hi! I live in Seoul.", "name": "Min", "at": 1000}\n\n'
    '{"role": "user", "content": "I moved to Busan.", "name": "Min"}\n'
    '{"role": "user", "content": "I live in Seoul.", "name": "Min"}\n'
)


def test_a_conversation_is_learned_from_once(memoranda: Command) -> None:
    shown = memoranda.text("learn", "-", "--thread", "t", said=SAID).splitlines()

    assert shown[0] == "+ I live in Seoul."
    assert shown[1] == "= I live in Seoul. (said again: 1)"
    assert shown[2].startswith("? I moved to Busan. (waits: prop-")
    assert shown[-1] == "learned 1 fact, 1 seen again, 1 proposed, 0 messages skipped"
    again = memoranda.json("learn", "-", "--thread", "t", said=SAID)
    assert (again["learned"], len(again["skipped"])) == ([], 3)
    (found,) = memoranda.listed()
    assert (found["subject"], found["saidAt"], found["thread"]) == ("Min", 1000, "t")
    assert "said again  1 time, last learned" in memoranda.text("get", found["id"])
    assert len(memoranda.json("inbox")) == 1


def test_a_model_is_asked_where_one_is_named(memoranda: Command) -> None:
    answer = '{\\"facts\\": [{\\"text\\": \\"Min rows\\", \\"message\\": 0}]}'
    Path("script.json").write_text(f'[{{"when": "", "answer": "{answer}"}}]')
    said = '{"content": "Rowing it is!"}'

    learned = memoranda.json("learn", "-", "--script", "script.json", said=said)

    assert [fact["text"] for fact in learned["learned"]] == ["Min rows"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("no json", "Line 1 is not JSON"),
        ('{"role": "user"}', "Line 1 is not an object with a member"),
        ('{"content": "x", "by": "y"}', "messages[0].by"),
    ],
)
def test_what_is_no_message_is_refused(memoranda: Command, line: str, why: str) -> None:
    memoranda.json("remember", "before")

    assert why in memoranda.refused("learn", "-", status=2, said=line)
    assert len(memoranda.listed()) == 1


@pytest.mark.parametrize(
    "options",
    [
        ("--model", "m"),
        ("--key-variable", "K"),
        ("--endpoint", "http://127.0.0.1:1/v1"),
        ("--endpoint", "http://127.0.0.1:1/v1", "--model", "m", "--script", "s.json"),
    ],
)
def test_half_a_model_is_wrong_use(memoranda: Command, options: tuple[str, ...]) -> None:
    assert memoranda.refused("learn", "-", *options, status=2, said="{}")
