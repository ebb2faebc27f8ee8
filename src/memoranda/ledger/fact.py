"""Facts: entries that are not about an object, such as proposals, decisions, worlds, executions.

A fact is found by its **marks**, names such as ``proposal/<id>``. They stand in its body, so that
whoever reads the journal derives the index of marks anew. A mark that says how things stand
(``open/<id>``) is taken away by a later fact, which names the entry that had it.

What a fact was made from are its inputs, names again or ids of objects; they lead to its output.
When an input is erased, every entry with the output's mark is erased too, and a fact of the kind
``erasure`` takes over the mark: that something was there is still known, and nothing of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from memoranda.identity import canonical_bytes, decode
from memoranda.kernel.errors import InvalidInput
from memoranda.kernel.json import JsonValue
from memoranda.ledger.entry import FactKind, body_digest, read_entry
from memoranda.ledger.unit import Draft, Mark, NamedEntry

ERASURE: Final = "Erasure"
"""The type of the body of an ``erasure``."""

TYPES: Final[Mapping[str, frozenset[str]]] = {
    "proposal": frozenset({"Proposal"}),
    "decision": frozenset({"Vote", "Decision"}),
    "world": frozenset({"World", "Branch"}),
    "execution": frozenset({"ExecutionBegun", "ExecutionSealed", "ExecutionAbandoned"}),
    "effect": frozenset({"EffectStarted", "EffectFinished"}),
    "erasure": frozenset({ERASURE}),
    "trace": frozenset({"Trace"}),
    "cycle": frozenset({"Cycle", "CycleRecall"}),
    "learning": frozenset({"Learned", "NothingLearned"}),
    "job": frozenset({"JobRun"}),
}
"""What the body of a fact of each kind can be (`docs/format.md`)."""


class Fact(NamedTuple):
    """A fact that is to be written: its kind, what it says, and how it is found."""

    kind: FactKind
    says: Mapping[str, JsonValue]
    marks: Sequence[str] = ()
    unmarks: Sequence[Mark] = ()
    inputs: Sequence[str] = ()
    output: str = ""

    def draft(self, salt: bytes) -> Draft:
        """The entry that it becomes; a member is left out where it would be empty."""
        document = dict(self.says)
        if self.marks:
            document["marks"] = list(self.marks)
        if self.unmarks:
            document["unmarks"] = [[name, seq] for name, seq in self.unmarks]
        if self.inputs:
            document["inputs"], document["output"] = list(self.inputs), self.output
        return Draft(
            self.kind,
            canonical_bytes(document),
            salt,
            inputs=self.inputs,
            marks=self.marks,
            unmarks=self.unmarks,
            output=self.output,
        )


def erasure(
    entries: Sequence[NamedEntry], names: Sequence[str], *, reason: str, cause: str, salt: bytes
) -> Draft:
    """The entry after which these entries have no body; each is named with the digest that it had.

    What they had taken away from others stays taken away.
    """
    gone = {entry.seq: entry.digest for entry in entries}
    says = {
        "type": ERASURE,
        "reason": reason,
        "cause": cause,
        "erased": [[seq, gone[seq]] for seq in sorted(gone)],
    }
    kept = [mark for entry in entries for mark in entry.unmarks if mark.seq not in gone]
    fact = Fact("erasure", says, marks=tuple(names), unmarks=tuple(dict.fromkeys(kept)))
    return fact.draft(salt)._replace(erased=sorted(gone))


def named_entries(stored: Iterable[tuple[bytes, bytes]]) -> list[NamedEntry]:
    """Entries with their bodies, as what may be erased; erasures have nothing to be erased.

    One whose body can't be read goes as well, and nobody knows what it was.
    """
    found = []
    for raw, body in stored:
        entry = read_entry(raw)
        if entry.kind == "erasure":
            continue
        try:
            document = decode(body)
            kind, unmarks = document["type"], unmarks_of(document)
        except (InvalidInput, KeyError, TypeError, AttributeError):
            kind, unmarks = "", []
        found.append(NamedEntry(entry.seq, entry.body_digest, kind, unmarks))
    return found


def digest_of(draft: Draft) -> str:
    """The body digest that the entry of a draft will have."""
    return body_digest(draft.salt, draft.body)


def marks_of(document: Mapping[str, Any], seq: int) -> list[Mark]:
    """The marks that the fact of an entry has."""
    return [Mark(name, seq) for name in document.get("marks", ())]


def unmarks_of(document: Mapping[str, Any]) -> list[Mark]:
    return [Mark(name, seq) for name, seq in document.get("unmarks", ())]


def derivations_of(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a fact was made from: each input, and the name that it leads to."""
    return [(source, document["output"]) for source in document.get("inputs", ())]


def erased_by(document: Mapping[str, Any]) -> list[tuple[int, str]]:
    """The entries that lost their bodies with it, each with its body digest."""
    return [(seq, digest) for seq, digest in document.get("erased", ())]
