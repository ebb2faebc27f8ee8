"""Embedders outside: an endpoint on the loopback, a model in a folder, or none."""

import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from memoranda.kernel.errors import DependencyMissing, ModelFailed
from memoranda.outside.embedders import (
    EmbeddingsEndpoint,
    LocalModel,
    embedder_from_environment,
)
from memoranda.recall.embedder import embedded, packed
from tests.journeys.embeddings.server import as_openai, serving
from tests.journeys.embeddings.toy import DIMENSIONS, ToyEmbedder

KEY = "sk-not-to-be-seen"


async def test_an_endpoint_is_asked_as_openai_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_EMBEDDER_KEY", KEY)
    toy = ToyEmbedder()
    async with serving() as server:
        endpoint = EmbeddingsEndpoint(
            server.url + "/", "toy", DIMENSIONS, version="3", key_env="TEST_EMBEDDER_KEY", longest=8
        )
        found = await embedded(endpoint, ["one", "two and a half"])

    assert found == [packed(toy.vector(text), toy) for text in ("one", "two and ")]
    ((line, headers, said),) = server.requests
    assert line == "POST /v1/embeddings HTTP/1.1"
    assert headers["authorization"] == f"bearer {KEY}"
    assert said == {"model": "toy", "input": ["one", "two and "], "encoding_format": "float"}
    assert endpoint.identity == "toy@3"
    assert KEY not in repr(endpoint)


async def test_without_a_key_none_is_sent() -> None:
    async with serving() as server:
        await embedded(EmbeddingsEndpoint(server.url, "toy", DIMENSIONS), ["one"])

    assert "authorization" not in server.requests[0][1]


@pytest.mark.parametrize("key", [None, "  ", "two\nlines"])
async def test_a_key_that_is_not_there_is_said_and_nothing_is_sent(
    monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    monkeypatch.delenv("TEST_EMBEDDER_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("TEST_EMBEDDER_KEY", key)
    async with serving() as server:
        endpoint = EmbeddingsEndpoint(server.url, "toy", DIMENSIONS, key_env="TEST_EMBEDDER_KEY")
        with pytest.raises(ModelFailed):
            await endpoint.embed(["one"])

    assert server.requests == []


def without_one(said: dict[str, Any]) -> tuple[int, bytes]:
    answer = orjson.loads(as_openai(said)[1])
    answer["data"].pop()
    return 200, orjson.dumps(answer)  # noqa: TID251 - an answer of others


@pytest.mark.parametrize(
    "answers",
    [
        lambda _: (500, b"{}"),
        lambda _: (401, KEY.encode()),
        lambda _: (307, b""),
        lambda _: (200, b"not json"),
        lambda _: (200, b"[]"),
        lambda _: (200, b'{"data":[{"index":0}]}'),
        lambda _: (200, b'{"data":[{"index":1,"embedding":[1.0]}]}'),
        lambda _: (200, b'{"data":[{"index":0,"embedding":"AAAA"}]}'),
        lambda _: (200, b'{"data":[{"index":0,"embedding":[NaN]}]}'),
        without_one,
    ],
)
async def test_an_answer_that_is_none_is_a_failure_without_the_key(
    answers: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("TEST_EMBEDDER_KEY", KEY)
    caplog.set_level("DEBUG")
    async with serving(answers) as server:
        endpoint = EmbeddingsEndpoint(server.url, "toy", DIMENSIONS, key_env="TEST_EMBEDDER_KEY")
        with pytest.raises(ModelFailed) as caught:
            await embedded(endpoint, ["one"])

    assert len(server.requests) == 1
    assert KEY not in str(caught.value)
    assert KEY not in caplog.text


async def test_a_server_that_is_not_there_is_a_failure_without_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEST_EMBEDDER_KEY", KEY)
    async with serving() as server:
        pass
    endpoint = EmbeddingsEndpoint(server.url, "toy", DIMENSIONS, key_env="TEST_EMBEDDER_KEY")

    with pytest.raises(ModelFailed) as caught:
        await embedded(endpoint, ["one"])

    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["", "example.org/v1", "ftp://example.org", "https://user:secret@example.org/v1"]
)
def test_an_address_is_one_of_the_web_without_a_secret_in_it(url: str) -> None:
    with pytest.raises(ModelFailed) as caught:
        EmbeddingsEndpoint(url, "toy", DIMENSIONS)

    assert "secret" not in str(caught.value)


def test_a_key_is_not_sent_unencrypted_to_another_machine() -> None:
    with pytest.raises(ModelFailed):
        EmbeddingsEndpoint("http://example.org/v1", "toy", DIMENSIONS, key_env="SOME_KEY")


def test_without_its_extra_an_endpoint_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)

    with pytest.raises(DependencyMissing) as caught:
        EmbeddingsEndpoint("https://example.org/v1", "toy", DIMENSIONS)

    assert caught.value.extra == "models"


def test_a_model_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelFailed) as caught:
        LocalModel(tmp_path / "potion-base-8M")

    assert caught.value.model == "potion-base-8M"


def files(folder: Path) -> Path:
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (folder / name).write_bytes(b"{}")
    return folder


def test_without_its_extra_a_local_model_says_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "model2vec", None)

    with pytest.raises(DependencyMissing) as caught:
        LocalModel(files(tmp_path))

    assert caught.value.extra == "embeddings"


def test_files_that_are_no_model_are_a_failure(tmp_path: Path) -> None:
    pytest.importorskip("model2vec")

    with pytest.raises(ModelFailed):
        LocalModel(files(tmp_path))


async def test_a_local_model_is_known_by_its_files(tmp_path: Path) -> None:
    numpy: Any = pytest.importorskip("numpy")
    model2vec: Any = pytest.importorskip("model2vec")
    tokenizers: Any = pytest.importorskip("tokenizers")
    identities = []
    for name, size in (("one", 1.0), ("two", 2.0)):
        words = tokenizers.models.WordLevel({"[UNK]": 0, "refund": 1, "cat": 2}, unk_token="[UNK]")  # noqa: S106
        tokenizer = tokenizers.Tokenizer(words)
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
        rows = numpy.array([[1.0, 1, 1], [size, 0, 0], [0, 1, 0]], dtype="float32")
        model2vec.StaticModel(rows, tokenizer).save_pretrained(tmp_path / name / "toy")
        model = LocalModel(tmp_path / name / "toy")
        identities.append(model.identity)
        refund, cat = await embedded(model, ["refund", "cat"])
        assert model.dimensions == 3
        assert (refund, cat) == (packed([1, 0, 0], model), packed([0, 1, 0], model))

    assert identities[0] != identities[1]
    assert {one.split("@")[0] for one in identities} == {"model2vec/toy"}


def test_the_environment_names_an_embedder_or_none() -> None:
    url, model, dimensions, key, version = (
        f"MEMORANDA_EMBEDDER_{name}"
        for name in ("URL", "MODEL", "DIMENSIONS", "KEY_ENV", "VERSION")
    )
    some = {url: "https://example.org/v1", model: "toy", dimensions: "64"}

    assert embedder_from_environment({}) is None
    found = embedder_from_environment({**some, key: "MY_KEY", version: "2024-01"})
    assert isinstance(found, EmbeddingsEndpoint)
    assert (found.identity, found.dimensions) == ("toy@2024-01", 64)
    for half in (model, dimensions):
        with pytest.raises(ModelFailed):
            embedder_from_environment({name: some[name] for name in some if name != half})
    with pytest.raises(ModelFailed):
        embedder_from_environment({**some, dimensions: "many"})
    with pytest.raises(ModelFailed):
        embedder_from_environment({"MEMORANDA_EMBEDDER_FOLDER": "/nowhere/at-all"})
