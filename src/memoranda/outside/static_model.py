"""The vectors of words that the package wordllama brings along (extra ``meaning``).

A static model is a table: each piece of a word has a vector, whatever stands around it. The vector
of a word is the mean of those of its pieces; the vector of a text is the sum of those of its words
that tell something, each of length one. No network, no torch, 16 MB of weights. They are derived
from the token table of Llama 2; the package is MIT.

Its own loader looks for its files on the network, so they are read here: a safetensors file is a
JSON header and numbers, which stay on the disk until they are asked for. The identity has the
sha256 of the weights and of the tokenizer: other numbers are another model.

For Korean the extra ``meaning-ko`` brings kiwipiepy: `korean_model` says how. Its morphemes have
vectors of as many components, which have nothing to do with those of other scripts: they are added
to the same sum.

A table knows words, not sentences: `sentence_model` is what recall asks, and this is a part of it.
"""

import json
import re
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from memoranda.kernel.errors import DependencyMissing, ModelFailed
from memoranda.outside.korean_model import HANGUL, KoreanModel, has_korean_model
from memoranda.recall.arrays import NDArray, np
from memoranda.recall.question import is_grammar
from memoranda.text import fold
from memoranda.text.stems import stem

Vectors = NDArray[Any]

PACKAGE: Final = "wordllama"
WEIGHTS: Final = "weights/l2_supercat_256.safetensors"
TOKENIZER: Final = "tokenizers/l2_supercat_tokenizer_config.json"
TABLE: Final = "embedding.weight"
DIMENSIONS: Final = 256

LONGEST: Final = 8_000
"""Characters of a text that count."""

_REMEMBERED: Final = 16_384
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+")
_START: Final = "\u2581"
_PLAIN: Final = re.compile(f"{_START}([A-Za-z]{{2,}})")
_HEADER_BYTES: Final = 8
_DIGITS: Final = 16


def has_static_model() -> bool:
    """Whether the package is there, with its weights."""
    place = _place()
    return place is not None and (place / WEIGHTS).is_file() and (place / TOKENIZER).is_file()


class StaticModel:
    """Vectors of texts and of words, from files of an installed package."""

    def __init__(self) -> None:
        place = _place()
        if place is None:
            raise DependencyMissing(PACKAGE, "meaning")
        if not has_static_model():
            raise ModelFailed(PACKAGE, "the package that is installed has no weights in it")
        self._place = place
        self._korean = KoreanModel() if has_korean_model() else None
        self._words: dict[str, Vectors] = {}

    def __repr__(self) -> str:
        return f"StaticModel({self.identity!r})"

    @cached_property
    def identity(self) -> str:
        digest = sha256()
        for file in (WEIGHTS, TOKENIZER):
            digest.update(sha256((self._place / file).read_bytes()).digest())
        korean = "" if self._korean is None else f"+{self._korean.identity}"
        return f"{PACKAGE}-{DIMENSIONS}@{digest.hexdigest()[:_DIGITS]}{korean}"

    def of_text(self, text: str) -> Vectors:
        """The sum of what a text's telling words and morphemes mean; zero where it has none."""
        found = np.zeros(DIMENSIONS)
        folded = fold(text[:LONGEST])
        words = [word for word in _WORD.findall(folded) if not HANGUL.search(word)]
        telling = [word for word in words if len(word) > 1 and not is_grammar(word)]
        for word in telling or words:
            found += self.of_word(word)
        if self._korean is not None and HANGUL.search(folded):
            found += self._korean.of_text(folded)
        return found

    def of_word(self, word: str) -> Vectors:
        """The vector of a folded word, of length one; zero where it has none."""
        known = self._words.get(word)
        if known is None:
            if len(self._words) >= _REMEMBERED:
                self._words.clear()
            known = self._words[word] = self._mean(
                self._tokenizer.encode(word, add_special_tokens=False).ids
            )
        return known

    def of_tokens(self, tokens: Sequence[str]) -> Vectors:
        """The vectors of tokens of the index, which are stems: of the words that have that stem.

        Where the model has none of them as a whole, of the stem's own pieces.
        """
        pieces = [self._by_stem.get(token) for token in tokens]
        unknown = [token for token, known in zip(tokens, pieces, strict=True) if known is None]
        cut = iter(self._tokenizer.encode_batch(unknown, add_special_tokens=False))
        numbers = [next(cut).ids if known is None else known for known in pieces]
        if not numbers:
            return np.zeros((0, DIMENSIONS))
        starts = np.cumsum([0, *(max(len(one), 1) for one in numbers)])[:-1]
        flat = np.concatenate([np.array(one or [0], np.int64) for one in numbers])
        found = np.add.reduceat(self._table[flat].astype(np.float64), starts, axis=0)
        found[[not one for one in numbers]] = 0.0
        lengths = np.sqrt(np.square(found).sum(axis=1, keepdims=True))
        made: Vectors = found / np.where(lengths == 0, 1.0, lengths)
        return made

    def _mean(self, numbers: Sequence[int]) -> Vectors:
        if not numbers:
            return np.zeros(DIMENSIONS)
        found: Vectors = self._table[list(numbers)].astype(np.float64).sum(axis=0)
        length = float(np.sqrt(np.square(found).sum()))
        return found / length if length else found

    @cached_property
    def _tokenizer(self) -> Any:
        library: Any = import_module("tokenizers")
        return library.Tokenizer.from_file(str(self._place / TOKENIZER))

    @cached_property
    def _by_stem(self) -> dict[str, list[int]]:
        """The pieces that are whole English words in small letters, by their stems."""
        found: dict[str, list[int]] = {}
        for piece, number in sorted(self._tokenizer.get_vocab().items()):
            if (word := _PLAIN.fullmatch(piece)) and word[1].islower():
                found.setdefault(stem(word[1]), []).append(number)
        return found

    @cached_property
    def _table(self) -> Vectors:
        """The numbers of the file, not read before they are used."""
        path = self._place / WEIGHTS
        try:
            with path.open("rb") as file:
                size = int.from_bytes(file.read(_HEADER_BYTES), "little")
                about = json.loads(file.read(size))[TABLE]
            rows, columns = about["shape"]
            start = _HEADER_BYTES + size + about["data_offsets"][0]
            if about["dtype"] != "F16" or columns != DIMENSIONS:
                raise ValueError(f"{about['dtype']} of {columns} columns")  # noqa: TRY301
            return np.memmap(path, np.dtype("<f2"), "r", start, (rows, columns))
        except (ValueError, KeyError, OSError) as wrong:
            raise ModelFailed(PACKAGE, f"its weights can't be read ({wrong})") from wrong


def _place() -> Path | None:
    """The folder of the package; it is not imported."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))
