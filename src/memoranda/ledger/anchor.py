"""What is kept of journals elsewhere: by anchors, and by the directory over all scopes.

An anchor is a place outside of the database that keeps its checkpoints. Whoever can write the
database can rewrite all of it, checkpoints included, but not what an anchor kept: a journal that is
shorter than it once was was rolled back, one that has another root at the same size was rewritten.
Nothing is known about what came after the newest checkpoint of an anchor.
"""

from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol, runtime_checkable

from memoranda.identity import canonical_bytes, decode
from memoranda.identity.merkle import HASH_SIZE
from memoranda.kernel.errors import InvalidCheckpoint, InvalidJson
from memoranda.kernel.results import Result
from memoranda.ledger.checkpoint import Checkpoint, parse_checkpoint
from memoranda.ledger.signed_note import (
    Signature,
    Standing,
    Verifier,
    VerifierKey,
    check_signatures,
)
from memoranda.ledger.tree import Block, Blocks


@dataclass(frozen=True, slots=True)
class KeptNote:
    """A note as an anchor kept it, not yet read; ``where`` is its place in the anchor."""

    where: str
    text: str


@dataclass(frozen=True, slots=True)
class KeptDamage:
    """A place where an anchor holds no whole note.

    ``torn``: writing broke off there, and nobody got a receipt for it; ``damaged``: a note
    that is not what was written; ``not_cosigned``: nothing shows that the witness said it, now.
    """

    where: str
    what: Literal["torn", "damaged", "not_cosigned"]
    why: str


Kept = KeptNote | KeptDamage


class ConsistencyProofs(Protocol):
    """Proves to an anchor that the tree grew from what the anchor saw last (RFC 6962 2.1.2)."""

    async def __call__(self, old_size: int, /) -> Sequence[bytes]:
        """The proof from a size, at least 1, to that of the checkpoint being published."""
        ...


class Anchor(Protocol):
    """Keeps checkpoints where the database's writers can't change them."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    async def publish(
        self, note: str, /, proofs: ConsistencyProofs | None = None
    ) -> tuple[Signature, ...]:
        """Keep a checkpoint; when it returns, it is kept. AnchorFailed otherwise.

        A witness asks for the proof from what it saw last, and answers with its own signatures. A
        plain file needs no proof and signs nothing.
        """
        ...

    def read(self, origin: str | None = None, /) -> AsyncIterator[Kept]:
        """The notes of an origin, or all, the oldest first; damage is shown whatever the origin."""
        ...


@runtime_checkable
class WitnessingAnchor(Anchor, Protocol):
    """An anchor that is a witness: it cosigns what it keeps, with this key."""

    @property
    def key(self) -> VerifierKey | None:
        """Its public key; None where it is not known, and nothing that it signs is believed."""
        ...


@runtime_checkable
class BatchAnchor(Anchor, Protocol):
    """An anchor that keeps many checkpoints in about the time of one.

    A database makes the checkpoints of all its scopes together; other anchors get them one by one.
    """

    async def publish_all(self, notes: Sequence[str], /) -> Sequence[tuple[Signature, ...]]:
        """Keep these checkpoints; when it returns, all are kept. AnchorFailed otherwise.

        For each, in their order, the anchor's own signatures.
        """
        ...


# ---------------------------------------------------------------------- comparing

Verdict = Literal[
    "agrees", "rolled_back", "forked", "missing", "other_origin", "bad_signature", "malformed",
    "damaged", "torn", "not_cosigned",
]  # fmt: skip
"""What a kept checkpoint says about a journal.

``agrees``: the journal has this root at this size; ``rolled_back``: it is shorter than it was;
``forked``: it has another root at this size; ``missing``: there is no such journal;
``other_origin``: the checkpoint is of another journal; ``bad_signature``: the signature of a known
key does not hold; ``malformed``: it is no checkpoint; ``damaged``, ``torn``, ``not_cosigned``: see
`KeptDamage`.
"""

_CALM: Final[frozenset[Verdict]] = frozenset({"agrees", "torn"})


@dataclass(frozen=True, slots=True)
class Claim:
    """A checkpoint that was kept, its signatures judged; whether it is true is still open."""

    where: str
    checkpoint: Checkpoint
    standing: Standing
    signed_by: tuple[str, ...] = ()
    """The known keys that signed it."""


@dataclass(frozen=True, slots=True, repr=False)
class Finding(Result):
    """What one place of an anchor says. Every place gives one; what agrees too."""

    verdict: Verdict
    where: str
    why: str
    claim: Claim | None = None
    """None where there is no checkpoint to be read."""

    def wire_members(self) -> Mapping[str, object]:
        """What it says, where, and what its signatures are worth."""
        return {
            "verdict": self.verdict,
            "where": self.where,
            "standing": self.standing,
            "why": self.why,
        }

    @property
    def standing(self) -> Standing | None:
        """What the signatures are worth: a report says 'unsigned' where nobody signed."""
        return self.claim.standing if self.claim else None

    @property
    def is_alarm(self) -> bool:
        """Whether the journal or the anchor is not what it was.

        A torn note alarms nobody: whoever wrote it never got a receipt for it.
        """
        return self.verdict not in _CALM

    def __str__(self) -> str:
        text = f"{self.where}: {self.verdict}: {self.why}"
        if self.claim is None:
            return text
        who = f" by {', '.join(self.claim.signed_by)}" if self.claim.signed_by else ""
        return f"{text} ({self.claim.standing}{who})"


@dataclass(frozen=True, slots=True)
class History:
    """A journal as it is now: its origin, its size, and its root at any size up to that."""

    origin: str
    size: int
    root_at: Callable[[int], bytes]


def compare(
    kept: Iterable[Kept], history: History, known: Sequence[Verifier] = ()
) -> Iterator[Finding]:
    """What each place of an anchor says about a journal, one finding for each."""
    for note in kept:
        claim = examine(note, known)
        if isinstance(claim, Claim):
            size = claim.checkpoint.size
            root = history.root_at(size) if size <= history.size else None
            yield settle(claim, history.origin, history.size, root)
        else:
            yield claim


def examine(kept: Kept, known: Sequence[Verifier] = ()) -> Claim | Finding:
    """What an anchor claims in one place, or the finding that it claims nothing to be believed.

    1. it is a whole note
    2. the note is a checkpoint
    3. no known key's signature fails
    """
    # 1.
    if isinstance(kept, KeptDamage):
        return Finding(kept.what, kept.where, kept.why)
    # 2.
    try:
        checkpoint, note = parse_checkpoint(kept.text)
    except InvalidCheckpoint as refused:
        return Finding("malformed", kept.where, f"{refused.why}, at {refused.where}")
    # 3.
    report = check_signatures(note, known)
    claim = Claim(kept.where, checkpoint, report.standing, tuple(map(str, report.signed)))
    if report.failed:
        why = f"the signature of {report.failed[0]} is not of this checkpoint"
        return Finding("bad_signature", kept.where, why, claim)
    return claim


def settle(claim: Claim, origin: str, size: int | None, root: bytes | None) -> Finding:
    """Whether a claim is true of a journal, from its size and its root *at the claim's size*.

    ``size`` is None where there is no such journal; ``root`` is None where it is shorter.

    1. the claim is about this journal
    2. the journal is there
    3. it is at least as long as it was                                  (by size)
    4. it has the root that it had                                       (by root)
    """
    claimed = claim.checkpoint
    # 1.
    if claimed.origin != origin:
        return _found("other_origin", claim, f"it is of {claimed.origin}, not of {origin}")
    # 2.
    if size is None:
        return _found("missing", claim, f"{origin} had {claimed.size} entries, and is not there")
    # 3.
    if claimed.size > size or root is None:
        return _found("rolled_back", claim, f"{origin} had {claimed.size} entries, and has {size}")
    # 4.
    if claimed.root != root:
        why = (
            f"{origin} had the root {claimed.root.hex()} at {claimed.size} entries, "
            f"and has {root.hex()} there"
        )
        return _found("forked", claim, why)
    return _found("agrees", claim, f"{origin} at {claimed.size} entries")


def _found(verdict: Verdict, claim: Claim, why: str) -> Finding:
    return Finding(verdict, claim.where, why, claim)


# ------------------------------------------------------------------------------------------------
# The directory: a journal over the journals of a database, so that none can vanish whole.
#
# Each checkpoint of a scope's journal is also an entry of the directory, whose body names the
# journal, its size and its root. The directory has a chain, a tree and checkpoints like any other
# journal, grows like one, and can be kept by any anchor or witness. A scope that was removed, cut
# off or put back is still named there.

SCOPE: Final = ""
"""The scope of the directory itself; no user can open one of this name."""

TYPE: Final = "ScopeHead"


@dataclass(frozen=True, slots=True)
class ScopeHead:
    """The size and root that a scope's journal had."""

    scope: str
    origin: str
    size: int
    root: bytes

    @property
    def body(self) -> bytes:
        return canonical_bytes(
            {
                "type": TYPE,
                "scope": self.scope,
                "origin": self.origin,
                "size": self.size,
                "root": self.root.hex(),
            }
        )

    @property
    def claim(self) -> Claim:
        """What the directory claims of the journal, to be settled like any other claim."""
        checkpoint = Checkpoint(self.origin, self.size, self.root)
        return Claim(f"the directory, of {self.scope!r}", checkpoint, "unsigned")


def read_head(body: bytes) -> ScopeHead:
    """The head that an entry of the directory names, or InvalidCheckpoint."""
    try:
        document = decode(body)
    except InvalidJson as refused:
        raise InvalidCheckpoint("a head", refused.why) from None
    match document:
        case {
            "type": "ScopeHead",
            "scope": str(scope),
            "origin": str(origin),
            "size": int(size),
            "root": str(root),
        } if len(root) == 2 * HASH_SIZE:
            with suppress(ValueError):  # not hexadecimal: refused below
                return ScopeHead(scope, origin, size, bytes.fromhex(root))
    raise InvalidCheckpoint("a head", "it does not name a scope, an origin, a size and a root")


def newest_heads(bodies: Iterable[bytes]) -> Mapping[str, ScopeHead]:
    """The last head that a directory names for each origin."""
    heads = {}
    for body in bodies:
        head = read_head(body)
        heads[head.origin] = head
    return heads


# ------------------------------------------------------------------------------------------------
# The port to many journals of one database at once: what their checkpoints need.
#
# A database may have thousands of scopes that were written to since their last checkpoints. They
# are read together and their notes are kept together: a few calls for all, not a few for each.


class NotedHead(NamedTuple):
    """How long the journal of a scope is, and how long it was at its newest kept checkpoint."""

    scope: str
    origin: str
    size: int
    noted: int | None
    """None where no checkpoint is kept."""


class NewNote(NamedTuple):
    """A checkpoint's note that is to be kept with the journal of this scope and origin."""

    scope: str
    origin: str
    size: int
    note: str
    at: int


class Journals(Protocol):
    """The journals of one database; that of the directory is under the scope of no name."""

    async def heads(self, scopes: Collection[str]) -> list[NotedHead]:
        """The heads of these scopes' journals; those that have none are left out."""
        ...

    async def hashes(self, blocks: Mapping[str, Collection[Block]]) -> dict[str, Blocks]:
        """Blocks of the trees of these scopes, as stored or as they follow from the entries."""
        ...

    async def keep_notes(self, notes: Sequence[NewNote]) -> None:
        """Keep notes in one transaction; one of the same journal and size is replaced.

        One whose scope has no journal of its origin is left out: the database was replaced.
        """
        ...
