"""Hybrid is measured where there is an embedder, beside both of its halves, and else not run."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.evaluate.__main__ import main
from bench.evaluate.measure import WithEmbedder, measure, with_embedder
from bench.evaluate.questions import read_locomo
from memoranda.identity import canonical_bytes
from memoranda.kernel.errors import ModelFailed
from tests.evaluate.conversations import CONVERSATION
from tests.journeys.embeddings.server import Server, as_openai
from tests.journeys.embeddings.toy import DIMENSIONS, FailingEmbedder, ToyEmbedder

QUESTIONS = read_locomo(canonical_bytes([CONVERSATION]))


async def test_hybrid_is_measured_with_both_of_its_halves() -> None:
    embedder = ToyEmbedder()

    found = await measure(QUESTIONS, with_embedder(embedder))

    names = [one.selector for one in found.measured]
    assert names == ["keyword", "full-text", "context", "meaning", "hybrid"]
    assert found.not_run == []
    assert isinstance(found.document["selectors"]["hybrid"], dict)
    assert found == await measure(QUESTIONS, with_embedder(ToyEmbedder()))
    texts = [text for asked in embedder.asked for text in asked]
    assert [texts.count(one.text) for one in QUESTIONS.collections[0].texts] == [1] * 5


async def test_the_order_of_hybrid_is_that_of_both_lists() -> None:
    (collection,) = QUESTIONS.collections
    finder = WithEmbedder(collection, ToyEmbedder())
    question = collection.questions[0]

    context = await finder.find("context", question, 20)
    meaning = await finder.find("meaning", question, 20)
    hybrid = await finder.find("hybrid", question, 20)

    assert set(hybrid) == {*context, *meaning}
    assert len(meaning) == 5
    assert hybrid[0] == context[0] == "D1:2"
    assert len(await finder.find("hybrid", question, 2)) == 2


async def test_an_embedder_that_fails_ends_the_evaluation() -> None:
    with pytest.raises(ModelFailed):
        await measure(QUESTIONS, with_embedder(FailingEmbedder(OSError())))


@pytest.fixture
def server() -> Iterator[Server]:
    """A server in a thread of its own: the command has a loop of its own."""
    found = Server(as_openai)
    loop = asyncio.new_event_loop()

    async def start() -> asyncio.Server:
        return await asyncio.start_server(found.serve, "127.0.0.1", 0)

    listening = loop.run_until_complete(start())
    found.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield found
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    listening.close()
    loop.run_until_complete(listening.wait_closed())
    loop.close()


def test_the_command_takes_the_embedder_of_the_environment(
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "conversation.json"
    path.write_bytes(canonical_bytes([CONVERSATION]))
    monkeypatch.setenv("MEMORANDA_EMBEDDER_URL", server.url)
    monkeypatch.setenv("MEMORANDA_EMBEDDER_MODEL", "toy")
    monkeypatch.setenv("MEMORANDA_EMBEDDER_DIMENSIONS", str(DIMENSIONS))

    main(["locomo", str(path)])
    shown = capsys.readouterr().out
    main(["locomo", str(path), "--json"])
    said = json.loads(capsys.readouterr().out)

    assert max(map(len, shown.splitlines())) <= 80
    assert "not run" not in shown
    assert said["selectors"]["hybrid"]["overall"]["@20"] == 1.0
    assert len(server.requests) > 3
    monkeypatch.delenv("MEMORANDA_EMBEDDER_MODEL")
    with pytest.raises(ModelFailed):
        main(["locomo", str(path)])
