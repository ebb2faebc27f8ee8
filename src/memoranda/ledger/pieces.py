"""A text by what it is made of: pieces copied from other texts, and pieces that are new.

That is the diff of a consolidation: from its inputs and the pieces, the output comes out again.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Final

from memoranda.kernel.errors import InvalidProof
from memoranda.kernel.json import JsonValue

_WORD: Final = re.compile(r"\S+|\s+")
_STOP: Final = re.compile(r"[.;,!?\n]+(?:\s|$)")
_EDGES: Final = re.compile(r"^\W+|\W+$")
_JOINS: Final = frozenset({"", "and", "und", "그리고", "및"})
"""Words that join two statements and say nothing of their own."""
_RUN: Final = 5
"""How many words, and the spaces between them, make a copy; fewer than three are everybody's."""
_TRIED: Final = 8
"""How many places are tried for one run: a text of one word repeated must not take for ever."""


def pieces_of(text: str, sources: Mapping[str, str]) -> list[JsonValue]:
    """A text as pieces: ``{"of": id, "from": n, "to": m}`` in characters, or ``{"text": ...}``.

    Greedy from the left, by whole words; the longest copy wins, the first of the longest.
    """
    words = _WORD.findall(text)
    cut = {id: _WORD.findall(source) for id, source in sources.items()}
    offsets = {id: [0, *accumulate(map(len, source))] for id, source in cut.items()}
    places = _runs(cut)
    pieces: list[JsonValue] = []
    new: list[str] = []
    at = 0
    while at < len(words):
        id, start, length = _longest(words, at, cut, places)
        if length == 0:
            new.append(words[at])
            at += 1
            continue
        if new:
            pieces.append({"text": "".join(new)})
            new = []
        begin, end = offsets[id][start], offsets[id][start + length]
        pieces.append({"of": id, "from": begin, "to": end})
        at += length
    if new:
        pieces.append({"text": "".join(new)})
    return pieces


def parts_of_none(text: str, sources: Mapping[str, str]) -> list[str]:
    """The parts of a text that are copied from none of the sources, in their order.

    Only words count, not what stands between them, nor an 'and' that joins two copies. A statement
    that is too short to be told from anybody's words is copied where all of it stands between two
    stops.
    """
    known = {id: _words_of(source) for id, source in sources.items()}
    whole = set(known.values())
    sentences = (_words_of(sentence) for sentence in _STOP.split(text))
    return [
        piece["text"].strip()
        for sentence in sentences
        if sentence and sentence not in whole
        for piece in pieces_of(sentence, known)
        if piece.get("text", "").strip() not in _JOINS
    ]


def _words_of(text: str) -> str:
    return " ".join(filter(None, (_EDGES.sub("", word) for word in text.split())))


def text_of(pieces: Sequence[JsonValue], sources: Mapping[str, str]) -> str:
    """The text that some pieces make; InvalidProof where they don't fit the sources."""
    return "".join(_piece(piece, sources) for piece in pieces)


def _piece(piece: JsonValue, sources: Mapping[str, str]) -> str:
    match piece:
        case {"text": str(text)}:
            return text
        case {"of": str(id), "from": int(begin), "to": int(end)}:
            source = sources.get(id)
            if source is not None and 0 <= begin <= end <= len(source):
                return source[begin:end]
    raise InvalidProof("a piece of the statement is of none of the inputs")


Place = tuple[str, int]


def _runs(cut: Mapping[str, Sequence[str]]) -> Mapping[tuple[str, ...], list[Place]]:
    places: dict[tuple[str, ...], list[Place]] = defaultdict(list)
    for id, words in cut.items():
        for start in range(len(words) - _RUN + 1):
            found = places[tuple(words[start : start + _RUN])]
            if len(found) < _TRIED:
                found.append((id, start))
    return places


def _longest(
    words: Sequence[str],
    at: int,
    cut: Mapping[str, Sequence[str]],
    places: Mapping[tuple[str, ...], list[Place]],
) -> tuple[str, int, int]:
    best = ("", 0, 0)
    for id, start in places.get(tuple(words[at : at + _RUN]), ()):
        length = _common(words, at, cut[id], start)
        if length > best[2]:
            best = (id, start, length)
    return best


def _common(one: Sequence[str], at: int, other: Sequence[str], start: int) -> int:
    most = min(len(one) - at, len(other) - start)
    length = 0
    while length < most and one[at + length] == other[start + length]:
        length += 1
    return length
