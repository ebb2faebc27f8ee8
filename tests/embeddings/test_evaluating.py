"""Hybrid is measured where there is an embedder, beside both of its halves, and else not run."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memoranda.identity import canonical_bytes
from memoranda.journeys.evaluate.embedded import WithEmbedder, with_embedder
from memoranda.journeys.evaluate.locomo import read_locomo
from memoranda.journeys.evaluate.measure import measure
from memoranda.kernel.errors import ModelFailed
from memoranda.kernel.json import parse
from memoranda.surfaces.cli.main import app
from memoranda.surfaces.errors import exit_code
from tests.embeddings.server import Server, as_openai
from tests.embeddings.toy import DIMENSIONS, FailingEmbedder, ToyEmbedder
from tests.evaluate.conversations import CONVERSATION

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
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "conversation.json"
    path.write_bytes(canonical_bytes([CONVERSATION]))
    monkeypatch.setenv("MEMORANDA_EMBEDDER_URL", server.url)
    monkeypatch.setenv("MEMORANDA_EMBEDDER_MODEL", "toy")
    monkeypatch.setenv("MEMORANDA_EMBEDDER_DIMENSIONS", str(DIMENSIONS))

    shown = CliRunner().invoke(app, ["eval", "locomo", str(path)])
    said = CliRunner().invoke(app, ["eval", "locomo", str(path), "--json"])

    assert shown.exit_code == said.exit_code == 0
    assert max(map(len, shown.stdout.splitlines())) <= 80
    assert "not run" not in shown.stdout
    assert parse(said.stdout.encode())["selectors"]["hybrid"]["overall"]["@20"] == 1.0
    assert len(server.requests) > 3
    monkeypatch.delenv("MEMORANDA_EMBEDDER_MODEL")
    refused = CliRunner().invoke(app, ["eval", "locomo", str(path)])
    assert refused.exit_code == exit_code(ModelFailed("", ""))
