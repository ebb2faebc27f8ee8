"""Verifying a ledger: everything that is stored is walked, hashed and derived anew.

1. the journal: chain, tree and bodies, in one pass          (`ledger.walk`)
   and the snapshots of its worlds, whose hashes are made anew      (`worlds`)
2. its head, the nodes of the tree that are stored, and the list of its notices
3. the rows, tags, marks and words that follow from it, in a second pass   (`ledger.rows`)
4. the items that its cycles stored, and what these are found by     (`turns`)
5. the vectors, as far as can be told without their model          (`vectors`)

It reads one snapshot: writing goes on meanwhile, and a ledger that is being written to is no
more suspicious for it. Each portion is checked in a thread, so that the event loop goes on too.
"""

from asyncio import to_thread
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from memoranda.identity import verify_inclusion
from memoranda.identity.merkle import leaf_hash
from memoranda.journeys.audit.attachments import check_vectors
from memoranda.journeys.audit.turns import CycleWalk
from memoranda.journeys.audit.worlds import WorldWalk
from memoranda.kernel.clock import Randomness
from memoranda.kernel.errors import BodyUnreadable, InvalidProof, StoreFailed
from memoranda.kernel.results import Result
from memoranda.ledger.damage import Damages
from memoranda.ledger.entry import entry_hash
from memoranda.ledger.port import Ledger
from memoranda.ledger.rows import RowWalk, TagSums, tags_of_newest
from memoranda.ledger.snapshot import (
    DERIVATIONS,
    DOCUMENTS,
    ENTRIES,
    MARKS,
    NODES,
    ROWS,
    TAGS,
    THREADS,
    WORDS,
    LedgerSnapshot,
    StoredTag,
)
from memoranda.ledger.tree import STRIDE, blocks_for_inclusion, blocks_for_root, inclusion, root
from memoranda.ledger.unit import Head
from memoranda.ledger.walk import Walk, mark_row
from memoranda.ledger.words import document_tag
from memoranda.recall.sums import KEY_BYTES, WordSums

Progress = Callable[[str, int, int], None]
"""Called with what is being walked, how far it is, and how far it goes."""


@dataclass(frozen=True, slots=True, repr=False)
class Report(Result):
    """What a verification found. `roots` are those at the sizes that were asked for."""

    head: Head
    """The end of the journal that was verified, as its head says it."""
    size: int
    root: bytes
    last_hash: str
    erased: int
    rows: int
    damages: Damages
    roots: dict[int, bytes] = field(default_factory=dict)
    indexed: int | None = None
    """Of how many entries the words were compared; None if another tokenizer made the index."""

    @property
    def origin(self) -> str:
        """Which journal it is."""
        return self.head.origin

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.damages

    def wire_members(self) -> Mapping[str, object]:
        """What was walked, and what is wrong."""
        return {
            "origin": self.origin,
            "sound": self.is_sound,
            "size": self.size,
            "root": self.root,
            "erased": self.erased,
            "versions": self.rows,
            "indexed": self.indexed,
            "damage": self.damages,
        }


async def verify(
    ledger: Ledger, *, roots_at: Collection[int] = (), progress: Progress | None = None
) -> Report:
    """Verify a ledger; damage is reported, all of it, never raised."""
    tell = progress or nobody
    damages = Damages()
    async with ledger.snapshot() as snapshot:
        head = await snapshot.head()
        key = Randomness().take(KEY_BYTES)
        walk = Walk(head.origin, damages, roots_at, key=key)
        worlds, cycles = WorldWalk(ledger, damages), CycleWalk(damages, key)
        async for entries in snapshot.rows(ENTRIES):  # 1.
            others = await to_thread(walk.feed, entries)
            await worlds.feed(others)
            await to_thread(cycles.feed, others)
            tell("entries", walk.size, head.size)
        walk.facts.finish()
        await _check_head(snapshot, head, walk)  # 2.
        await _check_notices(ledger, walk)
        words = await _words(snapshot, walk.size, damages, tell)  # 3.
        rows = RowWalk(walk.objects, damages, words, key=key)
        async for chunk in snapshot.rows(ROWS):
            await to_thread(rows.feed, chunk)
            tell("rows", rows.count, head.size)
        await to_thread(rows.finish)
        await _check_tags(snapshot, rows.tags, await summed(snapshot.rows(TAGS), key), damages)
        rows.derivations.add_sums(walk.facts.derivations)
        documents = await summed(_documents(snapshot), key)
        marks = (map(mark_row, chunk) async for chunk in snapshot.rows(MARKS))
        if words is not None and rows.documents.differing(documents):
            damages.add("index", None, "what stands around an object is not what the objects say")
        if walk.facts.marks.differing(await summed(marks, key)):
            damages.add("index", None, "the names of facts are not those that the facts say")
        if rows.derivations.differing(await summed(snapshot.rows(DERIVATIONS), key)):
            why = "what is listed as made from what is not what the objects and facts say"
            damages.add("index", None, why)
        await cycles.finish(snapshot)  # 4.
        await check_vectors(snapshot, rows.embedded, damages)  # 5.
        return Report(
            head,
            walk.size,
            walk.root(),
            walk.last_hash,
            walk.erased,
            rows.count,
            damages,
            walk.roots,
            None if words is None else words.indexed,
        )


async def _check_head(snapshot: LedgerSnapshot, head: Head, walk: Walk) -> None:
    report = walk.damages.add
    if head.size != walk.size:
        report("head", None, f"it says {head.size:,} entries, and there are {walk.size:,}")
    elif head.entry_hash.hex() != walk.last_hash:
        report("head", None, "it does not name the hash of the last entry")
    stored: dict[int, list[bytes]] = {}
    async for nodes in snapshot.rows(NODES):
        for level, number, node in nodes:
            at_level = stored.setdefault(level, [])
            if number != len(at_level):
                report("tree", None, f"of level {level}, node {len(at_level)} is not there")
            at_level.append(node)
    level = STRIDE
    while (derived := walk.level(level)) or level in stored:
        found = stored.pop(level, [])
        if len(found) != len(derived):
            report("tree", None, f"level {level} has {len(found)} nodes, not {len(derived)}")
        for number, (data, other) in enumerate(zip(found, derived, strict=False)):
            if data != other:
                report("tree", None, f"node {number} of level {level} is not that of its entries")
        level += STRIDE
    for level in sorted(stored):
        report("tree", None, f"level {level} is stored, and there is no such level")


async def _check_notices(ledger: Ledger, walk: Walk) -> None:
    # They are not read from the snapshot: those that came since are behind its end.
    try:
        listed = {notice.seq for notice in await ledger.notices() if notice.seq < walk.end}
    except BodyUnreadable:
        return  # one of them was found to be unreadable in the first pass
    for seq in sorted(walk.notices - listed):
        walk.damages.add("index", seq, "it is about the whole memory, and not among the notices")
    for seq in sorted(listed - walk.notices):
        walk.damages.add("index", seq, "it is among the notices, and about no whole memory")


async def _words(
    snapshot: LedgerSnapshot, size: int, damages: Damages, tell: Progress
) -> WordSums | None:
    """What the word index has; None if it can't be compared."""
    index = await snapshot.index()
    if index.is_stale:
        return None
    if not 0 <= index.indexed <= size:
        why = f"it says that it has the words of {index.indexed:,} entries of {size:,}"
        damages.add("index", None, why)
    if index.broken is not None:
        damages.add("index", None, index.broken)
    words = await to_thread(WordSums, size, index, Randomness().take(KEY_BYTES))
    count = 0
    try:
        async for chunk in snapshot.rows(WORDS):
            await to_thread(words.feed, chunk, damages)
            count += sum(len(each.seqs) for each in chunk)
            tell("words", count, count)
    except StoreFailed as failed:
        damages.add("index", None, f"it can't be read: {failed.why}")
        return None
    return words


async def _documents(snapshot: LedgerSnapshot) -> AsyncGenerator[Iterable[StoredTag], None]:
    async for documents in snapshot.rows(DOCUMENTS):
        yield map(document_tag, documents)
    async for threads in snapshot.rows(THREADS):
        yield threads


async def _check_tags(
    snapshot: LedgerSnapshot, derived: TagSums, stored: TagSums, damages: Damages
) -> None:
    buckets = derived.differing(stored)
    if not buckets:
        return
    # Which ones differ: only what falls into the buckets that do is held in memory.
    wanted: set[StoredTag] = set()
    async for rows in snapshot.rows(ROWS):
        await to_thread(wanted.update, stored.in_buckets(tags_of_newest(rows), buckets))
    async for tags in snapshot.rows(TAGS):
        for tag in stored.in_buckets(tags, buckets):
            if tag in wanted:
                wanted.discard(tag)
            else:
                why = f"the index has the tag {tag.tag!r} for {tag.id!r}, and the object has not"
                damages.add("tag", None, why)
    for tag in sorted(wanted):
        why = f"the object {tag.id!r} has the tag {tag.tag!r}, and the index has not"
        damages.add("tag", None, why)


async def summed(chunks: AsyncIterator[Iterable[StoredTag]], key: bytes) -> TagSums:
    sums = TagSums(key)
    async for chunk in chunks:
        await to_thread(sums.add_all, chunk)
    return sums


def nobody(_what: str, _done: int, _total: int) -> None:
    """Nobody watches."""


# ------------------------------------------------------------------------------------------------
# The journal's proof for one entry: that it stands where it says, under the journal's root.


@dataclass(frozen=True, slots=True, repr=False)
class EntryProof(Result):
    """An entry, and the hashes that lead from it to the root over all entries (RFC 6962)."""

    seq: int
    entry_hash: str
    size: int
    root: str
    hashes: tuple[str, ...]
    holds: bool
    """Whether they do."""


async def proof_of(ledger: Ledger, seq: int) -> EntryProof | None:
    """The proof of an entry under the journal as it is now; it is checked before it is given.

    None where there is none: the entry is gone, or others are, so that there is no root over them.
    """
    entry = (await ledger.bytes_at([seq])).get(seq)
    if entry is None:
        return None
    size = (await ledger.head()).size
    blocks = blocks_for_root(size) | blocks_for_inclusion(seq, size)
    hashes = await ledger.hashes(blocks)
    try:
        top, path = root(size, hashes), inclusion(seq, size, hashes)
    except InvalidProof:
        return None
    try:
        verify_inclusion(leaf=leaf_hash(entry), index=seq, size=size, proof=path, root=top)
        holds = True
    except InvalidProof:
        holds = False
    return EntryProof(
        seq,
        entry_hash(entry).hex(),
        size,
        top.hex(),
        tuple(data.hex() for data in path),
        holds,
    )
