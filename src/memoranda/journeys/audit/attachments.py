"""Verifying what is attached to a journal: sessions, retries, vectors and the index of items."""

from asyncio import to_thread
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from memoranda.identity import decode, sha256_hex
from memoranda.journeys.turn.facts import TYPE, salted_digest, session_digest
from memoranda.kernel.errors import InvalidInput, InvalidProof, ItemDamaged
from memoranda.ledger.attachments import (
    CYCLE,
    StoredItem,
    StoredKeyword,
    StoredRetry,
    StoredSession,
)
from memoranda.ledger.codec import Unreadable
from memoranda.ledger.damage import Damages
from memoranda.ledger.entry import body_digest, read_entry
from memoranda.ledger.fact import ERASURE
from memoranda.ledger.retry import bound_salt
from memoranda.ledger.rows import TagSums
from memoranda.ledger.snapshot import (
    ENTRIES,
    ITEMS,
    KEYWORDS,
    VECTORS,
    LedgerSnapshot,
    StoredTag,
    StoredVector,
)
from memoranda.ledger.time import parse_time
from memoranda.ledger.unit import RETRIED, StoredEntry
from memoranda.plans.items import MemoryItem, read_item, terms
from memoranda.recall.embedder import broken_vector
from memoranda.recall.vectors import NO_VECTOR

# ------------------------------------------------------------------------------------------------
# What a verification looks at besides a journal: the sessions of turns, and retries.
#
# Of both there are few: they are held in memory, and compared while the entries are read once more.


async def check_sessions(
    snapshot: LedgerSnapshot, sessions: Sequence[StoredSession], damages: Damages
) -> None:
    """Compare each session with the fact of the cycle that saved it; damage is reported.

    Where that cycle was erased there is nothing to compare with.
    """
    if not sessions:
        return
    saved = {session.cycle for session in sessions}
    facts: dict[str, Mapping[str, Any]] = {}
    erased: set[str] = set()

    def read(chunk: Sequence[StoredEntry]) -> None:
        for document in _facts(chunk):
            cycle, own = document.get("cycleId"), document.get("type")
            if own == TYPE and isinstance(cycle, str) and cycle in saved:
                if document.get("outcome") == "completed":
                    facts[cycle] = document
            elif own == ERASURE:
                names = _marks(document)
                erased.update(name.removeprefix(CYCLE) for name in names if name.startswith(CYCLE))

    async with aclosing(snapshot.rows(ENTRIES)) as chunks:
        async for chunk in chunks:
            await to_thread(read, chunk)
    for session in sessions:
        why = _wrong(session, facts.get(session.cycle), is_erased=session.cycle in erased)
        if why is not None:
            damages.add("session", None, f"the session {session.name!r} {why}")


def _wrong(
    session: StoredSession, fact: Mapping[str, Any] | None, *, is_erased: bool
) -> str | None:
    if isinstance(session.body, Unreadable):
        return "can't be read"
    if f'"sessionId":"{session.session_id}"'.encode() not in session.body:
        return "has another id than its document says"
    if fact is None:
        return None if is_erased else "was saved by no cycle that is on record"
    if session.salt is None or sha256_hex(session.salt) != fact.get("salt"):
        return None  # that was said of the salt
    digest = session_digest(session.name, session.body)
    if salted_digest(session.salt, digest) != fact.get("session"):
        return f"is not what the cycle {session.cycle!r} saved"
    return None


async def check_retries(
    snapshot: LedgerSnapshot, retries: Sequence[StoredRetry], damages: Damages
) -> None:
    """Each retry answers with entries that are there: its own first, among them what it names."""
    wanted: dict[int, list[StoredRetry]] = {}
    size = (await snapshot.head()).size
    for one in retries:
        if not (one.seq >= 0 and one.entries >= 0 and one.seq + one.entries <= size):
            damages.add("retry", None, f"a retry is answered with entry {one.seq}, beyond the end")
        elif one.entries:
            wanted.setdefault(one.seq, []).append(one)
    if not wanted:
        return
    unnamed: list[StoredRetry] = []

    def compare(chunk: Sequence[StoredEntry]) -> None:
        for stored in chunk:
            for retry in wanted.pop(stored.seq, ()):
                if (why := _answered_wrong(retry, stored)) is not None:
                    damages.add("retry", stored.seq, f"the retry that it answers {why}")
                else:
                    unnamed.append(retry)
            unnamed[:] = [one for one in unnamed if not _is_about(one, stored)]
            for retry in [one for one in unnamed if stored.seq == one.seq + one.entries - 1]:
                why = "the retry that it answers is about something else"
                damages.add("retry", retry.seq, why)
                unnamed.remove(retry)

    async with aclosing(snapshot.rows(ENTRIES)) as chunks:
        async for chunk in chunks:
            await to_thread(compare, chunk)


def _answered_wrong(retry: StoredRetry, stored: StoredEntry) -> str | None:
    try:
        if read_entry(stored.entry).at < retry.at:  # an entry is never older than was asked for
            return "is of a later time"
    except InvalidProof:
        return None  # the walk has said so
    salt = bound_salt(retry.nonce, retry.key_digest, retry.fingerprint)
    if stored.salt is not None and stored.salt != salt:
        return "is of another write"
    return None


def _is_about(retry: StoredRetry, stored: StoredEntry) -> bool:
    document = next(_facts([stored]), None)
    if document is None or not retry.about:
        return True  # erased, or damaged: the walk has said so; or about several
    names = [document.get("id"), *_marks(document)]
    about = [retry.about, *(prefix + retry.about for prefix in RETRIED)]
    return any(text in names for text in about)


def _facts(stored: Sequence[StoredEntry]) -> Iterator[Mapping[str, Any]]:
    """The documents of entries; what is damaged is passed over, the walk has said so."""
    for _, raw, salt, body in stored:
        if salt is None or body is None or isinstance(body, Unreadable):
            continue
        try:
            entry, document = read_entry(raw), decode(body)
        except (InvalidProof, InvalidInput):
            continue
        if isinstance(document, dict) and body_digest(salt, body) == entry.body_digest:
            yield document


def _marks(document: Mapping[str, Any]) -> list[str]:
    """The marks of a fact, without what is no name: the walk has said so."""
    marks = document.get("marks")
    return [name for name in marks if isinstance(name, str)] if isinstance(marks, list) else []


# ------------------------------------------------------------------------------------------------
# What a verification looks at in vectors: whose they are, and whether they can be vectors.
#
# 1. a vector is of a version that there is, the newest of its object, and active
# 2. it has the dimensions and the form that its model's vectors are kept in     (`embedder`)
# 3. there are as many as the version has texts to embed: one, several or none
#
# Whether it is the vector of that text only its model can tell: it is not asked.


async def check_vectors(
    snapshot: LedgerSnapshot, wanted: Mapping[int, int], damages: Damages
) -> None:
    """Look at every vector; damage is reported.

    `wanted` is how many an entry is to have, where that is not one.
    """
    async with aclosing(snapshot.rows(VECTORS)) as chunks:
        async for vectors in chunks:
            await to_thread(_look_at, vectors, wanted, damages)


def _look_at(vectors: Sequence[StoredVector], wanted: Mapping[int, int], damages: Damages) -> None:
    for vector in vectors:
        why = _misplaced(vector) or _broken(vector, wanted.get(vector.seq, 1))
        if why is not None:
            named = f"the vector of {vector.id!r} by {vector.model!r}: "
            damages.add("vector", vector.seq, named + why)


def _broken(vector: StoredVector, wanted: int) -> str | None:
    """What is wrong with a vector, or with what stands in the place of one."""
    if not wanted:
        return None if vector.vector == NO_VECTOR else "what it is of is not to have one"
    return broken_vector(vector.model, vector.vector, wanted)


def _misplaced(vector: StoredVector) -> str | None:
    if vector.status is None:
        return "there is no version that it is of"
    if vector.status == "erased":
        return "what it is of was erased"
    if not vector.is_newest:
        return "what it is of is not the newest version"
    if vector.status != "active":
        return f"what it is of is {vector.status}"
    return None


# ------------------------------------------------------------------------------------------------
# What items are found by, derived anew: each keyword of an item, in the forms of the index.


def readable(item: StoredItem) -> MemoryItem | None:
    """The item, if it is there and can be read."""
    if item.body is None or isinstance(item.body, Unreadable):
        return None
    try:
        return read_item(item.body, id=item.id, session_ref=item.session)
    except ItemDamaged:
        return None


def keywords_of(item: StoredItem) -> list[StoredTag]:
    """The rows that the index should have for an item, as they are summed up."""
    return [_row(keyword) for keyword in _derived(item)]


async def check_item_index(
    snapshot: LedgerSnapshot, derived: TagSums, stored: TagSums, damages: Damages
) -> None:
    """Compare the index with what follows from the items; damage is reported.

    What an item that can't be read is found by is not looked at: that was said of the item.
    """
    async with aclosing(snapshot.rows(KEYWORDS)) as chunks:
        async for keywords in chunks:
            for keyword in keywords:
                stored.add(_row(keyword))
    buckets = derived.differing(stored)
    if not buckets:
        return
    # Which ones differ: only what falls into the buckets that do is held in memory.
    wanted: dict[StoredTag, StoredKeyword] = {}
    unknown: set[tuple[str, str | None]] = set()
    async with aclosing(snapshot.rows(ITEMS)) as items:
        async for some in items:
            for item in some:
                if item.body is not None and readable(item) is None:
                    unknown.add((item.session, item.id))
                for keyword in _derived(item):
                    wanted.update(
                        (row, keyword) for row in stored.in_buckets([_row(keyword)], buckets)
                    )
    async with aclosing(snapshot.rows(KEYWORDS)) as again:
        async for keywords in again:
            for keyword in keywords:
                for row in stored.in_buckets([_row(keyword)], buckets):
                    is_wanted = wanted.pop(row, None) is not None
                    if not is_wanted and (keyword.session, keyword.id) not in unknown:
                        damages.add("item", None, _not_of_an_item(keyword))
    for keyword in sorted(wanted.values()):
        named = f"the item {keyword.id!r} of the session {keyword.session!r}"
        why = f"{named} has the keyword {keyword.folded!r}, and the index of items has not"
        damages.add("item", None, why)


def _derived(item: StoredItem) -> list[StoredKeyword]:
    read = readable(item)
    if read is None:
        return []
    at = parse_time(read.timestamp)
    return [StoredKeyword(item.session, *term, at, item.id) for term in terms(read.keywords)]


def _row(keyword: StoredKeyword) -> StoredTag:
    session, gram, folded, marked, at, id = keyword
    sizes = f"{len(session)}:{len(gram)}:{len(folded)}:"
    return StoredTag(f"{sizes}{session}{gram}{folded}{marked}", at or 0, id or "")


def _not_of_an_item(keyword: StoredKeyword) -> str:
    has = f"the index of items has the keyword {keyword.folded!r}"
    if keyword.id is None:
        return f"{has} in the session {keyword.session!r}, and for no item"
    return (
        f"{has} for the item {keyword.id!r} of the session {keyword.session!r}, "
        "which has it not, or not so"
    )
