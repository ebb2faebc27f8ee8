"""What `memoranda.append` is given: the drafts of units as columns, and what they come to.

The database chains the entries, under the lock of the head. What can be settled before is settled
here: the digests of bodies, which the database only knows as a codec stores them; which version is
the newest when all is done, and which tags and derivations have come and gone by then.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from psycopg.types.numeric import Int8

from memoranda.identity import canonical_bytes, sha256
from memoranda.identity.merkle import HASH_SIZE
from memoranda.kernel.retry import RetryKey
from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.entry import FACT_KINDS, salted
from memoranda.ledger.retry import key_digest
from memoranda.ledger.unit import Current, Draft, Expected, Place, Unit, Version
from memoranda.stores.postgres.arrays import Blobs, Flags, Integers, Texts

DRAFTS_AT_ONCE: Final = 1_000
BYTES_AT_ONCE: Final = 8 * 1024 * 1024
_COLUMNS: Final = 47

APPEND: Final = (
    "SELECT outcome, about, seq, hashes FROM memoranda.append(%s, %s"  # noqa: S608 - ours
    + ", %s" * _COLUMNS
    + ")"
)

_Tag = tuple[str, int, str]


class Portion:
    """The arguments of one call: all entries of some units, or some entries of one."""

    def __init__(self, codec: BodyCodec) -> None:
        self._codec = codec
        self._actors, self._kinds = Texts(), Texts()
        self._ats = Integers()
        self._digests, self._salts, self._bodies = Blobs(), Blobs(), Blobs()
        self._of, self._since = Integers(), Integers()
        self._is_newest = Flags()
        self._ids, self._statuses, self._subjects = Texts(), Texts(), Texts()
        self._numbers, self._created, self._updated = Integers(), Integers(), Integers()
        self._valid_from, self._valid_to, self._expires = Integers(), Integers(), Integers()
        self._again: Int8 | None = None
        self._replaced_ids, self._replaced_numbers = Texts(), Integers()
        self._tags: dict[_Tag, None] = {}
        self._gone: dict[_Tag, None] = {}
        self._erased_ids = Texts()
        self._derivations: dict[tuple[str, str], None] = {}
        self._read_ids, self._read_numbers = Texts(), Integers()
        self._key_digests, self._fingerprints, self._nonces = Blobs(), Blobs(), Blobs()
        self._abouts = Texts()
        self._firsts, self._counts, self._key_ats = Integers(), Integers(), Integers()
        self._marks, self._marked = Texts(), Integers()
        self._unmarks, self._unmarked = Texts(), Integers()
        self._erased_seqs, self._erased_names = Integers(), Texts()
        self._expected_names, self._expected_seqs = Texts(), Integers()
        self._stored: dict[tuple[str, int], int] = {}

    def add(self, unit: Unit, drafts: Sequence[Draft]) -> None:
        """Add the entries of a unit."""
        for draft in drafts:
            entry = len(self._bodies)
            self._actors.append(quoted(draft.actor or unit.actor))
            self._ats.append(unit.at)
            self._kinds.append(draft.kind)
            self._digests.append(salted(draft.salt, sha256(draft.body)))
            self._salts.append(draft.salt)
            subject = None if draft.version is None else draft.version.subject
            self._bodies.append(self._codec.pack(draft.body, subject))
            if draft.replaces is not None:
                self._replace(draft.replaces, draft.replaced_tags)
                if draft.erases:
                    self._erased_ids.append(draft.replaces.id)
            if draft.unmarks or draft.erased:
                self._take_away(draft)
            if draft.version is not None:
                self._store(draft, entry)
            elif draft.kind in FACT_KINDS:
                self._note_fact(draft, entry)

    def add_read(self, ids: Sequence[str], found: Sequence[Current | None]) -> None:
        """Add what a unit decided on: it is refused if that is no longer so."""
        self._read_ids += ids
        self._read_numbers += [None if each is None else each.number for each in found]

    def add_expected(self, expects: Sequence[Expected]) -> None:
        """Add what a unit expects: it is refused if that is not so."""
        self._expected_names += [name for name, _ in expects]
        self._expected_seqs += [seq for _, seq in expects]

    def add_key(self, unit: Unit, key: RetryKey, drafts: Sequence[Draft]) -> None:
        """Note what a unit with a key comes to: these entries, which were added last."""
        count = len(drafts)
        self._key_digests.append(key_digest(key.key))
        self._fingerprints.append(key.fingerprint)
        self._nonces.append(drafts[0].nonce if drafts else b"")
        self._abouts.append(unit.about)
        self._firsts.append(len(self._bodies) - count)
        self._counts.append(count)
        self._key_ats.append(unit.at)

    def parameters(self, scope: str, journal: int) -> tuple[object, ...]:
        """The parameters of `APPEND`."""
        return (
            scope,
            Int8(journal),
            *(self._actors, self._ats, self._kinds, self._digests, self._salts, self._bodies),
            *(self._of, self._since, self._is_newest, self._ids, self._numbers, self._statuses),
            *(self._created, self._updated),
            *(self._valid_from, self._valid_to, self._expires, self._subjects),
            self._again,
            *(self._replaced_ids, self._replaced_numbers),
            *_tag_columns(self._tags),
            *_tag_columns(self._gone),
            self._erased_ids,
            *_pair_columns(self._derivations),
            *(self._read_ids, self._read_numbers),
            *(self._key_digests, self._fingerprints, self._nonces, self._abouts),
            *(self._firsts, self._counts, self._key_ats),
            *(self._marks, self._marked, self._unmarks, self._unmarked),
            *(self._erased_seqs, self._erased_names),
            *(self._expected_names, self._expected_seqs),
        )

    def _store(self, draft: Draft, entry: int) -> None:
        version = draft.version
        if version is None:
            return
        index = self._stored.setdefault((version.id, version.number), len(self._ids))
        if index < len(self._ids) and self._again is None:
            self._again = Int8(len(self._ids) + 1)
        self._of.append(entry)
        self._since.append(self._since_of(draft, version, entry))
        self._is_newest.append(True)
        self._ids.append(version.id)
        self._numbers.append(version.number)
        self._statuses.append(version.status)
        self._created.append(version.created_at)
        self._updated.append(version.updated_at)
        self._valid_from.append(version.valid_from)
        self._valid_to.append(version.valid_to)
        self._expires.append(version.expires_at)
        self._subjects.append(version.subject)
        self._derivations.update(((source, version.id), None) for source in draft.inputs)
        for tag in draft.tags:
            _move((tag, version.created_at, version.id), self._gone, self._tags)

    def _since_of(self, draft: Draft, version: Version, entry: int) -> int | None:
        """Since when it is active without a break; None since the version that is stored was."""
        before = draft.replaces
        if before is None or not version.status == before.status == "active":
            return entry
        index = self._stored.get((before.id, before.number))
        return None if index is None else self._since[index]

    def _note_fact(self, fact: Draft, entry: int) -> None:
        self._marks += fact.marks
        self._marked += [entry] * len(fact.marks)
        self._derivations.update(((source, fact.output), None) for source in fact.inputs)

    def _take_away(self, fact: Draft) -> None:
        """What goes is taken away first, so what it takes of what was added here goes here."""
        self._unmarks += [mark.name for mark in fact.unmarks]
        self._unmarked += [mark.seq for mark in fact.unmarks]
        if fact.erased:
            self._erased_seqs += fact.erased
            self._erased_names += fact.marks
            gone = set(fact.marks)
            left = (pair for pair in self._derivations if pair[1] not in gone)
            self._derivations = dict.fromkeys(left)

    def _replace(self, replaced: Current, tags: Sequence[str]) -> None:
        index = self._stored.get((replaced.id, replaced.number))
        if index is None:
            self._replaced_ids.append(replaced.id)
            self._replaced_numbers.append(replaced.number)
        else:
            self._is_newest[index] = False
        for tag in tags:
            _move((tag, replaced.created_at, replaced.id), self._tags, self._gone)


def portions(drafts: Sequence[Draft]) -> Iterator[Sequence[Draft]]:
    """The drafts of a unit, in parts that a statement can carry.

    What one erases must be stored before: if it is not, a new part begins there.
    """
    start, size = 0, 0
    ids = set[str]()
    for number, draft in enumerate(drafts):
        size += len(draft.body)
        erased = draft.replaces.id if draft.erases and draft.replaces is not None else None
        is_full = number - start == DRAFTS_AT_ONCE or size > BYTES_AT_ONCE
        if number > start and (is_full or erased in ids):
            yield drafts[start:number]
            start, size = number, len(draft.body)
            ids.clear()
        if draft.version is not None:
            ids.add(draft.version.id)
    if start < len(drafts):
        yield drafts[start:]


def places(seq: int, hashes: bytes) -> list[Place]:
    """Where the entries stand whose hashes these are, one after the other."""
    return [Place(seq + number, each) for number, each in enumerate(hashes_in(hashes))]


def hashes_in(hashes: bytes) -> list[bytes]:
    """Hashes that stand one after the other."""
    starts = range(0, len(hashes), HASH_SIZE)
    return [hashes[start : start + HASH_SIZE] for start in starts]


@lru_cache(maxsize=1024)
def quoted(actor: str) -> str:
    """An actor as it stands in an entry: a JSON string."""
    return canonical_bytes(actor).decode()


def _move(tag: _Tag, source: dict[_Tag, None], target: dict[_Tag, None]) -> None:
    """What came and went again, or the other way round, is not written at all."""
    if tag in source:
        del source[tag]
    else:
        target[tag] = None


def _pair_columns(pairs: dict[tuple[str, str], None]) -> tuple[Texts, Texts]:
    return Texts(first for first, _ in pairs), Texts(second for _, second in pairs)


def _tag_columns(tags: dict[_Tag, None]) -> tuple[Texts, Integers, Texts]:
    return (
        Texts(tag for tag, _, _ in tags),
        Integers(created_at for _, created_at, _ in tags),
        Texts(id for _, _, id in tags),
    )
