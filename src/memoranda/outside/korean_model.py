"""The vectors of Korean morphemes in kiwipiepy (extra ``meaning-ko``).

Its language model knows how near two morphemes are to each other, and doesn't hand out its vectors.
They can be had all the same: what is known of a morpheme by how near it is to each of some others,
its anchors, is its vector in another basis. The root of the inverse of how near the anchors are to
each other makes that basis a right-angled one, so that the product of two vectors is about what the
model says of the two morphemes. What all morphemes have in common says nothing, and is taken away.
"""

import re
from functools import cached_property
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, Final

from memoranda.recall.arrays import NDArray, np
from memoranda.recall.question import is_grammar

Vectors = NDArray[Any]

PACKAGE: Final = "kiwipiepy"
MODEL: Final = "kiwipiepy_model"
ANCHORS: Final = 256
HANGUL: Final = re.compile("[\uac00-\ud7a3]")

_FIRST: Final = 300
"""The model numbers morphemes by how frequent they are; the first are no words of content."""
_LEAST: Final = 0.01
_REMEMBERED: Final = 16_384
_CONTENT_TAGS: Final = "NNG NNP VV VA XR MAG VV-I VA-I VV-R VA-R"
_CONTENT: Final = frozenset(_CONTENT_TAGS.split())
# Morphemes without content that the tagger takes for words: light verbs, nouns and adverbs.
_EMPTY_FORMS: Final = "하 되 있 없 것 거 수 때 날 일 사람 때문 어떻 얼마 언제 누구 어디 무엇 왜 좀"
_EMPTY: Final = frozenset(_EMPTY_FORMS.split())


def has_korean_model() -> bool:
    """Whether the package and its model are there."""
    return find_spec(PACKAGE) is not None and find_spec(MODEL) is not None


class KoreanModel:
    """Vectors of Korean texts."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Vectors | None] = {}

    @cached_property
    def identity(self) -> str:
        """Its version: 76 MB are not hashed for every process that opens a database."""
        return f"kiwi-{version(PACKAGE)}-{version(MODEL)}"

    def of_text(self, text: str) -> Vectors:
        """The sum of what its morphemes mean, each of length one."""
        found = np.zeros(ANCHORS)
        for token in self._kiwi.tokenize(text):
            if token.tag in _CONTENT and token.form not in _EMPTY and not is_grammar(token.form):
                vector = self._of_morpheme((token.form, token.tag))
                if vector is not None:
                    found += vector
        return found

    def _of_morpheme(self, morpheme: tuple[str, str]) -> Vectors | None:
        if morpheme not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[morpheme] = self._computed(morpheme)
        return self._known[morpheme]

    def _computed(self, morpheme: tuple[str, str]) -> Vectors | None:
        anchors, root, common = self._basis
        try:
            near = [self._kiwi.morpheme_similarity(morpheme, anchor) for anchor in anchors]
        except ValueError:  # it is none of the model's
            return None
        found: Vectors = np.array(near) @ root - common
        length = float(np.sqrt(np.square(found).sum()))
        return found / length if length else None

    @cached_property
    def _basis(self) -> tuple[list[int], Vectors, Vectors]:
        """The anchors, the root of the inverse of how near they are, and their mean vector."""
        anchors: list[int] = []
        number = _FIRST
        while len(anchors) < ANCHORS:
            if self._kiwi.morpheme(number).tag == "NNG":
                anchors.append(number)
            number += 1
        near = np.array([[self._kiwi.morpheme_similarity(a, b) for b in anchors] for a in anchors])
        values, axes = np.linalg.eigh(near)
        root = axes @ np.diag(1 / np.sqrt(np.maximum(values, _LEAST))) @ axes.T
        return anchors, root, (near @ root).mean(axis=0)

    @cached_property
    def _kiwi(self) -> Any:
        library: Any = import_module(PACKAGE)
        return library.Kiwi()
