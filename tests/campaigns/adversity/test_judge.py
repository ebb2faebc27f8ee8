"""The judge of the campaigns finds what it is there to find: else they would show nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

import memoranda
from tests.campaigns.adversity.chance import Random
from tests.campaigns.adversity.client import Client
from tests.campaigns.adversity.counts import Counts
from tests.campaigns.adversity.history import Answer, Call, History, recorded
from tests.campaigns.adversity.judge import SCOPE, judge
from tests.campaigns.adversity.vfs import files_in

Lie = Callable[[History], None]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/judge.db"


@pytest.fixture
async def history(url: str) -> History:
    history = History()
    async with memoranda.open(url, scope=SCOPE) as memory:
        await Client("j", memory, Random(3), history).run(30)
    return history


def lost(history: History) -> None:
    history.asks(Call("never", "remember"))
    history.told("never", [Answer("id", 1, 5, "00" * 32)])


def altered(history: History) -> None:
    mark = next(mark for mark, answers in history.answers.items() if answers[0].entry_hash)
    first, *rest = history.answers[mark]
    history.answers[mark] = [first._replace(entry_hash="00" * 32), *rest]


def partial(history: History) -> None:
    mark, call = next(item for item in history.calls.items() if item[1].entries > 1)
    history.calls[mark] = call._replace(entries=call.entries + 1)


def duplicated(history: History) -> None:
    mark, call = next(item for item in history.calls.items() if item[1].entries > 1)
    history.calls[mark] = call._replace(entries=1)


def surprising(history: History) -> None:
    mark, _ = history.answers.popitem()
    history.refused(mark, "store.unavailable")


def strange(history: History) -> None:
    mark, _ = history.answers.popitem()
    del history.calls[mark]


@pytest.mark.parametrize("lie", [lost, altered, partial, duplicated, surprising, strange])
async def test_a_history_that_does_not_fit_is_found(url: str, history: History, lie: Lie) -> None:
    lie(history)
    counts = Counts()
    await judge(url, history, counts)

    assert counts.broken[lie.__name__] == 1


async def test_a_true_history_fits(url: str, history: History) -> None:
    counts = Counts()
    await judge(url, history, counts)

    assert counts.broken == {}


async def test_a_file_that_was_overwritten_is_damaged(
    url: str, history: History, tmp_path: Path
) -> None:
    (path,) = [Path(name) for name in files_in(tmp_path) if name.endswith(".db")]
    content = bytearray(path.read_bytes())
    content[8192 : 8192 + 512] = bytes(512)
    path.write_bytes(content)

    counts = Counts()
    await judge(url, history, counts)

    assert counts["damaged"]


def test_a_history_is_read_back_up_to_the_last_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "history"
    with path.open("wb") as file:
        history = History(file.fileno())
        history.asks(Call("one", "remember"))
        history.told("one", [Answer("id", 1, 0, "ff")])
        history.asks(Call("two", "forget", "id"))
    path.write_bytes(path.read_bytes() + b'["told",["two"')

    found = recorded(path)

    assert found.answers == history.answers
    assert found.unknown == [Call("two", "forget", "id")]
