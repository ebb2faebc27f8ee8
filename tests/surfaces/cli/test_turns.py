"""`memoranda turn`, `memoranda chat` and the replay of a cycle."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memoranda.identity import canonical_bytes
from tests.journeys.turn.talking import ANSWER, talk
from tests.patience import PATIENCE
from tests.surfaces.cli.command import Command


def as_json(value: Any) -> str:
    return canonical_bytes(value).decode()


@pytest.fixture
def plan(memoranda: Command) -> str:
    """A plan and a script, beside each other."""
    _ = memoranda
    Path("plan.json").write_text(as_json(talk()))
    Path("script.yaml").write_text(
        f"- {{when: fail, answer: ' '}}\n- {{when: '', answer: {as_json(ANSWER)}}}\n"
    )
    return "plan.json"


def turn(*words: str) -> list[str]:
    return ["turns", "take", *words, "--plan", "plan.json", "--script", "script.yaml"]


def test_a_turn_prints_the_answer(memoranda: Command, plan: str) -> None:
    _ = plan
    result = memoranda(*turn("Was the invoice paid?"))

    assert (result.exit_code, result.stdout) == (0, ANSWER + "\n")


def test_a_session_goes_on_from_command_to_command(memoranda: Command, plan: str) -> None:
    _ = plan
    first = memoranda.json(*turn("Was the invoice paid?", "--session", "s1"))
    second = memoranda.json(*turn("And the invoice?", "--session", "s1", "--cycle-id", "c-2"))

    assert not first["retried"]
    assert second["cycleId"] == "c-2"
    assert second["steps"]["retrieve"] != first["steps"]["retrieve"]


def test_a_retry_is_told_as_one(memoranda: Command, plan: str) -> None:
    _ = plan
    first = memoranda.json(*turn("Was it paid?", "--cycle-id", "c-1"))
    again = memoranda.json(*turn("Was it paid?", "--cycle-id", "c-1"))

    assert (again["retried"], again["response"], again["items"]) == (True, None, first["items"])


@pytest.mark.rule("ING-NO-FALLBACK")
def test_a_failed_cycle_exits_with_6(memoranda: Command, plan: str) -> None:
    _ = plan
    assert "call" in memoranda.refused(*turn("fail"), status=6)


@pytest.mark.rule("ING-FAILFAST")
def test_a_session_of_another_plan_exits_with_7(memoranda: Command, plan: str) -> None:
    memoranda(*turn("Was it paid?"))
    Path(plan).write_text(as_json(talk(top_k=4)))

    memoranda.refused(*turn("Was it paid?"), status=7)
    assert memoranda(*turn("Was it paid?", "--fresh")).exit_code == 0


def test_a_plan_that_is_wrong_exits_with_2(memoranda: Command, plan: str) -> None:
    Path(plan).write_text(as_json(talk(top_k=None)))

    memoranda.refused(*turn("Was it paid?"), status=2)


@pytest.mark.parametrize(
    "options",
    [[], ["--endpoint", "http://127.0.0.1:1/v1"], ["--script", "a", "--endpoint", "b"]],
)
def test_a_model_must_be_named(memoranda: Command, plan: str, options: list[str]) -> None:
    memoranda.refused("turns", "take", "x", "--plan", plan, *options, status=2)


def test_a_profile_is_a_folder(memoranda: Command, plan: str) -> None:
    _ = plan
    Path("house").mkdir()
    steps = ["ContextSelect", "LLMCall", "PersistSession"]
    listed = [f"      - type: {name}" for name in steps]
    listed.insert(1, "      - {type: PromptAssemble, payload: {template: '{context} {text}'}}")
    lines = ['version: "1"', "modes:", "  - id: default", "    plan:", *listed]
    Path("house/modes.yaml").write_text("\n".join(lines))

    result = memoranda(
        "turns", "take", "Was it paid?", "--plan", "house", "--script", "script.yaml"
    )
    assert (result.exit_code, result.stdout) == (0, ANSWER + "\n")


def test_a_chat_takes_a_turn_for_each_line(memoranda: Command, plan: str) -> None:
    said = "Was the invoice paid?\n\nfail\nAnd the invoice?\n"
    words = ["turns", "chat", "--plan", plan, "--script", "script.yaml"]
    result = memoranda(*words, said=said)

    assert result.exit_code == 0
    assert result.stdout.count("The invoice of Ada Lovelace") == 2
    assert result.stderr.strip().startswith("error: ")
    lines = memoranda(*words, "--json", said="fail\n")
    assert lines.exit_code == 6
    assert json.loads(lines.stdout)["error"]["step"] == "call"


def test_a_line_that_is_no_text_is_told_and_the_chat_goes_on(memoranda: Command, plan: str) -> None:
    _ = plan
    result = memoranda("turns", "chat", *turn()[2:], said="a\x00b\nWas the invoice paid?\n")

    assert (result.exit_code, result.stdout) == (0, ANSWER + "\n")
    assert result.stderr.startswith("\nerror: ")


def test_spaces_and_joined_emoji_are_shown_and_what_steers_a_terminal_is_not(
    memoranda: Command, plan: str
) -> None:
    _ = plan
    answer = "全角\u3000スペース, un\u00a0mot, 👨\u200d👩\u200d👧, \x1b[31m, \u202e. And more."
    Path("script.yaml").write_text(f"- {{when: '', answer: {as_json(answer)}}}\n")

    shown = memoranda(*turn("Was it paid?")).stdout

    assert shown == answer.replace("\x1b", "\ufffd").replace("\u202e", "\ufffd") + "\n"


def test_a_chat_without_standard_input_is_over(memoranda: Command, plan: str) -> None:
    _ = memoranda, plan
    command = [sys.executable, "-m", "memoranda", "turns", "chat", *turn()[2:]]

    with subprocess.Popen(  # noqa: S603 - our own command
        command,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: os.close(0),  # noqa: PLW1509 - only that
    ) as chat:
        _, told = chat.communicate(timeout=PATIENCE)

    assert (chat.returncode, told) == (0, b"")


def test_an_interrupt_ends_a_chat_that_waits_for_a_line(memoranda: Command, plan: str) -> None:
    _ = memoranda, plan
    command = [sys.executable, "-m", "memoranda", "turns", "chat", *turn()[2:]]

    with subprocess.Popen(  # noqa: S603 - our own command
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as chat:
        assert chat.stdin is not None
        assert chat.stdout is not None
        chat.stdin.write(b"Was the invoice paid?\n")
        chat.stdin.flush()
        assert chat.stdout.readline() == ANSWER.encode() + b"\n"

        chat.send_signal(signal.SIGINT)
        chat.wait(timeout=PATIENCE)  # nothing more is said, and nothing is closed

        assert chat.returncode not in (0, -signal.SIGKILL)
        assert chat.stderr is not None
        assert b"Traceback" not in chat.stderr.read()


def test_a_recorded_turn_can_be_replayed(memoranda: Command, plan: str) -> None:
    _ = plan
    memoranda(*turn("Was the invoice paid?", "--record", "--cycle-id", "c-1"))
    memoranda(*turn("Was the invoice paid?", "--cycle-id", "c-2"))

    assert memoranda.json("turns", "replay", "c-1")["verdict"] == "same"
    assert memoranda.text("turns", "replay", "c-1").startswith("same")
    memoranda.refused("turns", "replay", "c-2", status=3)
    memoranda.refused("turns", "replay", "c-3", status=3)
    memoranda.refused("worlds", "replay", "--report", status=2)


def test_before_more_than_one_cycle_is_erased_it_asks(memoranda: Command, plan: str) -> None:
    _ = plan
    memoranda(*turn("Was the invoice paid?", "--cycle-id", "c-1"))
    memoranda(*turn("And the invoice?", "--cycle-id", "c-2"))
    erasing = ("erase", "c-1", "--reason", "asked for")

    counted = " ".join(memoranda.text(*erasing, "--dry-run").split())
    assert "2 cycles, 2 items" in counted
    assert "0 objects" not in counted
    asked = memoranda(*erasing, said="n\n")
    assert "2 cycles, 2 items" in asked.stderr
    assert asked.exit_code == 1
    certificate = memoranda.json(*erasing, "--yes")

    assert (certificate["counts"]["cycles"], certificate["counts"]["items"]) == (2, 2)
    assert memoranda("verify").exit_code == 0


SCRIPT = """
- {when: how do i reach ada, given: prefers email, answer: By email. She said so. Be brief.}
- {when: where do i live, given: I live in Seoul, answer: You live in Seoul. So you said. Bye.}
- {when: 제 생일이 언제, given: 5월 3일, answer: 생일은 5월 3일입니다. 말씀하셨어요. 또 오세요.}
- {when: "", answer: I don't know that. Tell me more. I listen.}
"""
SAID = """How do I reach Ada? I live in Seoul.
Where do I live?
제 생일은 5월 3일이에요.
제 생일이 언제죠?
"""


def test_a_chat_without_a_plan_answers_from_what_is_remembered_and_learns(
    memoranda: Command,
) -> None:
    Path("script.yaml").write_text(SCRIPT)
    memoranda("remember", "Ada Lovelace prefers email")

    chat = memoranda("turns", "chat", "--script", "script.yaml", "--subject", "Min", said=SAID)

    assert (chat.exit_code, chat.stderr) == (0, "")
    assert [line.split(".")[0] for line in chat.stdout.splitlines()] == [
        "By email",
        "You live in Seoul",
        "I don't know that",
        "생일은 5월 3일입니다",
    ]
    listed = memoranda.listed("--subject", "Min")
    assert {record["data"] for record in listed} == {"I live in Seoul.", "제 생일은 5월 3일이에요."}
    found = memoranda.json("recall", "where does Min live?")
    assert found["items"][0]["data"] == "I live in Seoul."


def test_a_turn_as_json_says_what_was_recalled_and_learned(memoranda: Command) -> None:
    Path("script.yaml").write_text(SCRIPT)
    memoranda("remember", "Ada Lovelace prefers email")

    words = ["turns", "take", "How do I reach Ada? I live in Seoul.", "--script", "script.yaml"]
    taken = memoranda.json(*words)

    assert [memory["text"] for memory in taken["recalled"]] == ["Ada Lovelace prefers email"]
    (fact,) = taken["learned"]["learned"]
    assert (fact["text"], fact["subject"]) == ("I live in Seoul.", "user")
    assert fact["source"] == f"cycle:{taken['cycleId']}"
