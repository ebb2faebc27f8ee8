"""What a walk along a journal looks at in facts: their form, their marks, and what was erased.

1. a fact is of a type of its kind; marks and inputs are names, each once; what it takes away is
   of an entry before it
2. an erasure has a reason and a cause, and names facts before it, each with its digest, that have
   no body
3. a fact whose body is gone is named by one erasure after it; that of an erasure is never gone
4. the index of marks has the marks of all facts, without those that were taken away
5. so has the list of what was made from what

The index comes in another order and need not fit into memory, so it is compared by sums
(`rows.TagSums`).
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from memoranda.kernel.errors import InvalidProof
from memoranda.ledger.damage import Damages
from memoranda.ledger.entry import Entry
from memoranda.ledger.fact import TYPES, derivations_of, erased_by, marks_of, unmarks_of
from memoranda.ledger.rows import TagSums, derivation
from memoranda.ledger.unit import Mark, StoredTag

_DIGEST: Final = re.compile("[0-9a-f]{64}")


class FactWalk:
    """Feed it the facts in their order, then `finish`."""

    def __init__(self, damages: Damages, key: bytes) -> None:
        self.marks = TagSums(key)
        self.derivations = TagSums(key)
        self._damages = damages
        self._gone: dict[int, str] = {}
        """Those that no erasure has named yet, with their digests."""
        self._bodyless: set[int] = set()

    def gone(self, entry: Entry) -> None:
        """A fact whose body is not there."""
        self._bodyless.add(entry.seq)
        if entry.kind == "erasure":
            self._damages.add("body", entry.seq, "it is gone, and that of an erasure never goes")
        else:
            self._gone[entry.seq] = entry.body_digest

    def feed(self, entry: Entry, document: Mapping[str, Any]) -> None:
        """A fact, read from its body."""
        seq = entry.seq
        # 1.
        try:
            check_form(entry.kind, document, seq)
        except InvalidProof as refused:
            self._damages.add("object", seq, refused.why)
            return
        for mark in marks_of(document, seq):
            self.marks.add(mark_row(mark))
        for mark in unmarks_of(document):
            if mark.seq not in self._bodyless:  # else it was not added
                self.marks.take(mark_row(mark))
        for source, output in derivations_of(document):
            self.derivations.add(derivation(source, output))
        # 2.
        if entry.kind == "erasure":
            self._erase(seq, document)

    def finish(self) -> None:
        """The last fact was fed."""
        # 3.
        for seq in sorted(self._gone):
            self._damages.add("body", seq, "it is gone, and no erasure says why")

    def _erase(self, seq: int, document: Mapping[str, Any]) -> None:
        for gone, digest in erased_by(document):
            if self._gone.pop(gone, None) != digest:
                why = f"it says that entry {gone} was erased, and that is not so"
                self._damages.add("object", seq, why)


def mark_row(mark: Mark) -> StoredTag:
    """A mark, as a row that is summed up like those of tags."""
    return StoredTag(mark.name, mark.seq, "")


def check_form(kind: str, document: Mapping[str, Any], seq: int) -> None:
    """Refuse with InvalidProof what can't be a fact of this kind (1, and what 2 says of form)."""
    if document["type"] not in TYPES[kind]:
        raise InvalidProof(f"its type is none of those of a fact of the kind {kind}")
    if not _are_names(document.get("marks", [])):
        raise InvalidProof("its marks are not names, each once")
    if not _are_names(document.get("inputs", [])):
        raise InvalidProof("its inputs are not names, each once")
    has_inputs = "inputs" in document and document["inputs"] != []
    if has_inputs != ("output" in document) or not _is_name(document.get("output", "none")):
        raise InvalidProof("it has inputs without an output, or an output without inputs")
    unmarks = document.get("unmarks", [])
    if not (_are_pairs(unmarks) and all(_is_mark_before(pair, seq) for pair in unmarks)):
        raise InvalidProof("its unmarks are not marks of entries before it, each once")
    if kind == "erasure":
        _check_erasure(document, seq)


def _check_erasure(document: Mapping[str, Any], seq: int) -> None:
    reason = document.get("reason")
    if not (isinstance(reason, str) and reason.strip()) or not _is_name(document.get("cause")):
        raise InvalidProof("it is an erasure without a reason or a cause")
    erased = document.get("erased")
    if not (erased and _are_pairs(erased) and all(_is_digest_before(one, seq) for one in erased)):
        raise InvalidProof("what it erased are not entries before it, with their digests")


def _is_name(name: object) -> bool:
    return isinstance(name, str) and name != ""


def _are_names(names: object) -> bool:
    return isinstance(names, list) and all(map(_is_name, names)) and len(set(names)) == len(names)


def _are_pairs(pairs: object) -> bool:
    """Whether it is an array of pairs of scalars, each once."""
    if not isinstance(pairs, list):
        return False
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):  # noqa: PLR2004 - a pair
        return False
    return len({repr(pair) for pair in pairs}) == len(pairs)


def _is_mark_before(pair: Sequence[object], seq: int) -> bool:
    name, number = pair
    return _is_name(name) and _is_before(number, seq)


def _is_digest_before(pair: Sequence[object], seq: int) -> bool:
    number, digest = pair
    is_digest = isinstance(digest, str) and _DIGEST.fullmatch(digest) is not None
    return is_digest and _is_before(number, seq)


def _is_before(number: object, seq: int) -> bool:
    return type(number) is int and 0 <= number < seq
