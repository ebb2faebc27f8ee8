"""The records that every system stores: the same ones, in the same order, in every run.

A record is a pure function of its number, so that nothing has to be kept to find it again. Its
text is 22 words, drawn Zipf-like from 50,000 made in code, every eighth of them Korean; it has 2
of 50 tags and 1 of 100 sessions; `created_at` rises. With its id and times it is about 370 bytes
of JSON.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from memoranda.identity import canonical_bytes
from memoranda.ledger.object import with_members
from memoranda.ledger.passages import ordinary_version
from memoranda.stores.shorthand import BODY, packed

SEED: Final = 20_000
VOCABULARY: Final = 50_000
WORDS: Final = 22
TAGS: Final = tuple(f"topic-{number:02}" for number in range(50))
SESSIONS: Final = 100
FIRST_CREATED_AT: Final = 1_600_000_000_000

_WORD: Final = 2**64
_CONSONANTS: Final = "bcdfghjklmnprstvz"
_VOWELS: Final = "aeiou"
_HANGUL_FIRST: Final = 0xAC00
_HANGUL_COUNT: Final = 11_172
_KOREAN_EVERY: Final = 8


@dataclass(slots=True)
class Numbers:
    """A small seeded generator (splitmix64): the same numbers on every Python."""

    state: int

    def below(self, bound: int) -> int:
        """The next number from 0 up to, but not including, the bound."""
        self.state = (self.state + 0x9E37_79B9_7F4A_7C15) % _WORD
        mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58_476D_1CE4_E5B9 % _WORD
        mixed = (mixed ^ (mixed >> 27)) * 0x94D0_49BB_1331_11EB % _WORD
        return ((mixed ^ (mixed >> 31)) * bound) >> 64

    def fraction(self) -> float:
        """The next number from 0 up to, but not including, 1."""
        return self.below(2**53) / 2**53


@dataclass(frozen=True, slots=True)
class Item:
    """A record of the workload, and the object that a floor writes without encoding anything."""

    number: int
    id: str
    created_at: int
    tags: tuple[str, ...]
    data: dict[str, Any]
    body: bytes
    shorthand: bytes

    def patched(self, turn: int) -> "Patch":
        """A change of one member, differing from turn to turn: SQLite skips equal bytes."""
        change = {"importance": turn}
        data = {**self.data, **change}
        return Patch(change, data, *_bodies(self.id, self.created_at, data, self.tags, turn + 1))


@dataclass(frozen=True, slots=True)
class Patch:
    """A change, for those who merge; the data after it, and the object, for those who replace."""

    change: dict[str, Any]
    data: dict[str, Any]
    body: bytes
    shorthand: bytes


def item(number: int) -> Item:
    """The record of this number."""
    numbers = Numbers(SEED + number * 1_000_003)
    words = vocabulary()
    # The rank is 50,000 to a uniform power: each power of ten is drawn as often as the next.
    text = " ".join(words[int(VOCABULARY ** numbers.fraction()) - 1] for _ in range(WORDS))
    first = numbers.below(len(TAGS))
    second = (first + 1 + numbers.below(len(TAGS) - 1)) % len(TAGS)
    tags = (TAGS[first], TAGS[second])
    data = {
        "text": text,
        "session": f"session-{numbers.below(SESSIONS):03}",
        "speaker": "user" if numbers.below(2) else "assistant",
        "kind": "observation",
        "turn": number,
        "importance": 0,
        "tag": tags[0],  # beside the tags, for who can filter by a scalar only
    }
    created_at = FIRST_CREATED_AT + number * 10
    id = _time_ordered_id(created_at, numbers.below(2**62))
    return Item(number, id, created_at, tags, data, *_bodies(id, created_at, data, tags, 1))


def items(start: int, count: int) -> list[Item]:
    """The records from one number on."""
    return [item(number) for number in range(start, start + count)]


def chunks(count: int, size: int) -> Iterator[list[Item]]:
    """The first records, a chunk at a time."""
    for start in range(0, count, size):
        yield items(start, min(size, count - start))


def _time_ordered_id(milliseconds: int, tail: int) -> str:
    """A version 7 UUID, as memoranda makes them: for those who are given their ids."""
    text = f"{milliseconds << 80 | 0x7 << 76 | 0b10 << 62 | tail:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _bodies(
    id: str, created_at: int, data: dict[str, Any], tags: tuple[str, ...], version: int
) -> tuple[bytes, bytes]:
    """The object that memoranda stores for such data, and its shorthand."""
    first = ordinary_version(
        b"bench",
        id,
        canonical_bytes(data),
        tags,
        b"SystemGeneratedStatement",
        created_at + 1,
        created_at,
        created_at,
        b"x" * 20,
    )
    body, _ = with_members(first, {"version": str(version)})
    return body, packed(body, BODY)


@cache
def vocabulary() -> tuple[str, ...]:
    numbers = Numbers(SEED)
    return tuple(_word(numbers, rank) for rank in range(VOCABULARY))


def _word(numbers: Numbers, rank: int) -> str:
    if rank % _KOREAN_EVERY == _KOREAN_EVERY - 1:
        syllables = range(1 + numbers.below(3))
        return "".join(chr(_HANGUL_FIRST + numbers.below(_HANGUL_COUNT)) for _ in syllables)
    syllables = range(2 + numbers.below(3))
    return "".join(
        _CONSONANTS[numbers.below(len(_CONSONANTS))] + _VOWELS[numbers.below(len(_VOWELS))]
        for _ in syllables
    )
