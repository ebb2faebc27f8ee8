"""Generated documents: a fast seeded generator for many, hypothesis strategies for the odd ones."""

import math
import random  # noqa: TID251 - seeded by the test, so that a failure comes back
import struct
from typing import Any

from hypothesis import strategies as st

MAX_INTEGER = 2**53 - 1

_WORDS = (
    *(
        "customer",
        "prefers email",
        "고객은",
        "이메일을 선호합니다",
        "über",
        "😀",
        "🇰🇷",
        "\ue000",
        "\uffff",
    ),
    *('"', "\\", "\\u0000", "/", "\n", "\x01", "\x1f", "\x7f", "\u2028", "1.0", ".0,", "1e16", ""),
    *("1234567890123456", "-12345678901234567890", "[12345678901234567,"),
)
_KEYS = (
    *("id", "text", "tags", "data", "meta", "at", "a.b", "A", "10", "9", "", '"', "\n"),
    *("이름", "é", "\ufb33", "😀", "\ue000"),
)


class DocumentSource:
    """Random documents of our JSON, dense in what canonical writers disagree about."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def document(self) -> Any:
        """A small document: most are objects."""
        return self._container(3) if self._random.random() < 0.95 else self._scalar()

    def double(self) -> float:
        """A finite double, often at the edges of the ways to write one."""
        chance = self._random
        match chance.randrange(8):
            case 0:
                number = struct.unpack("<d", chance.randbytes(8))[0]
            case 1:
                number = chance.uniform(-1, 1) * 10.0 ** chance.randint(-8, 23)
            case 2:
                number = round(chance.uniform(-1000, 1000), chance.randint(0, 6))
            case 3:
                number = chance.randint(-999, 999) * 10.0 ** chance.randint(-12, 25)
            case 4:
                number = math.nextafter(
                    10.0 ** chance.randint(-320, 308), chance.choice((0.0, 1.0, math.inf))
                )
            case 5:
                number = math.ldexp(chance.getrandbits(52), -1074)
            case 6:
                number = float(chance.getrandbits(chance.randint(40, 75)))
            case _:
                number = float(chance.choice((0, 1, -1, 2, 100, -0.0, 0.5, 1e16, 1e20, 1e21, 1e-6)))
        return number if math.isfinite(number) else 0.25

    def _scalar(self) -> Any:
        chance = self._random
        match chance.randrange(6):
            case 0:
                return chance.choice((None, True, False))
            case 1:
                return chance.randint(-1000, 1000)
            case 2:
                return chance.choice((MAX_INTEGER, -MAX_INTEGER, 1763245394123, 10**15))
            case 3 if chance.random() < 0.5:
                return self.double()
            case _:
                return " ".join(chance.choices(_WORDS, k=chance.randrange(5)))

    def _container(self, depth: int) -> Any:
        size = self._random.randrange(6)
        if self._random.random() < 0.3:
            items = [self._member(depth) for _ in range(size)]
            return items if self._random.random() < 0.8 else tuple(items)
        return {key: self._member(depth) for key in self._random.choices(_KEYS, k=size)}

    def _member(self, depth: int) -> Any:
        nested = depth > 0 and self._random.random() < 0.28
        return self._container(depth - 1) if nested else self._scalar()


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
doubles = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | st.integers(-MAX_INTEGER, MAX_INTEGER) | doubles | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=20,
)
