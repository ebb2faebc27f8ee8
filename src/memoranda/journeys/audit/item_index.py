"""What items are found by, derived anew: each keyword of an item, in the forms of the index."""

from contextlib import aclosing

from memoranda.kernel.errors import ItemDamaged
from memoranda.ledger.beside import StoredItem, StoredKeyword
from memoranda.ledger.codec import Unreadable
from memoranda.ledger.damage import Damages
from memoranda.ledger.rows import TagSums
from memoranda.ledger.time import parse_time
from memoranda.ledger.unit import Snapshot, StoredTag
from memoranda.plans.item_terms import terms
from memoranda.plans.items import MemoryItem, read_item


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
    return [_row(one) for one in _derived(item)]


async def check_item_index(
    snapshot: Snapshot, derived: TagSums, stored: TagSums, damages: Damages
) -> None:
    """Compare the index with what follows from the items; damage is reported.

    What an item that can't be read is found by is not looked at: that was said of the item.
    """
    async with aclosing(snapshot.keywords()) as chunks:
        async for keywords in chunks:
            for one in keywords:
                stored.add(_row(one))
    buckets = derived.differing(stored)
    if not buckets:
        return
    # Which ones differ: only what falls into the buckets that do is held in memory.
    wanted: dict[StoredTag, StoredKeyword] = {}
    unknown: set[tuple[str, str | None]] = set()
    async with aclosing(snapshot.items()) as items:
        async for some in items:
            for item in some:
                if item.body is not None and readable(item) is None:
                    unknown.add((item.session, item.id))
                for one in _derived(item):
                    wanted.update((row, one) for row in stored.in_buckets([_row(one)], buckets))
    async with aclosing(snapshot.keywords()) as again:
        async for keywords in again:
            for one in keywords:
                for row in stored.in_buckets([_row(one)], buckets):
                    is_wanted = wanted.pop(row, None) is not None
                    if not is_wanted and (one.session, one.id) not in unknown:
                        damages.add("item", None, _not_of_an_item(one))
    for one in sorted(wanted.values()):
        named = f"the item {one.id!r} of the session {one.session!r}"
        why = f"{named} has the keyword {one.folded!r}, and the index of items has not"
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
