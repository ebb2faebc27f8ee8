"""Both databases answer filters as their definition in Python does, whatever data looks like.

The names and values are those that could be mistaken in stored bytes: quotes, escapes, commas and
colons, names that end alike, passages of an object's own members, numbers in all their forms.
"""

from random import Random  # noqa: TID251 - seeded by the test, so that a failure comes back
from typing import Any

import pytest

from memoranda import Memory, MemoryFilter, MemoryRecordInput
from memoranda.ledger.unit import Current
from memoranda.recall import index as fitting
from memoranda.records.filter import Judged, select
from memoranda.stores import selection
from memoranda.stores.postgres import select as postgres_select
from tests.handles import opened
from tests.stores.toy_codec import ToyCodec

pytestmark = pytest.mark.rule("MEM-FILTER")

NAMES = (
    "a", "b", "ba", "a b", ":", ",", '"', "\\", '":', "a:", ",a", 'a"', "a.b", "é", "가",
    "\U0001f600", "turn", "return", "x\ny", "format", "id", "nonce", "trust", "type", "created_ms",
)  # fmt: skip
SCALARS = (
    None, True, False, 0, -0.0, 1, 1.0, -1, 10, 100, 1.5, -1.5, 0.1, 1e21, -1e21, 1e-7, 5e-324,
    1.7976931348623157e308, 2**53 - 1, 1 - 2**53, 123456789012345680000.0, 0.000001234567890123456,
    "", "0", "1", "x", "xy", "y", " ", "!", ":", ",", '"', "\\", 'x":', '","', ':"', 'x"y', "x\\y",
    "[", "\x1f", "\n", "é", "z\u0301", "가나", "\uffff", "\U0001f600", "\U0010ffff", "json",
    "unreviewed", "MemoryObject", "2026-01-01", "2026-01-01T10:00:00Z", "2026-02-01", "2026",
    "x" * 200, '","nonce":"', '"turn":5.5.5', r"\"turn\":7", '"a":"x"', r"\"a\":\"x\"", '{"a":1}',
    "null", "1e999",
)  # fmt: skip
ORDERED = tuple(v for v in SCALARS if isinstance(v, int | float | str) and not isinstance(v, bool))


class Drawn:
    """Random data and filters that often fit."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def value(self, depth: int = 0) -> Any:
        kind = self._random.random()
        if kind < 0.6 or depth == 3:
            return self._random.choice(SCALARS)
        count = self._random.randrange(4)
        if kind < 0.7:
            return [self.value(depth + 1) for _ in range(count)]
        return self.members(depth)

    def members(self, depth: int = 0) -> dict[str, Any]:
        names = self._random.sample(NAMES, self._random.randrange(1, 6))
        return {name: self.value(depth + 1) for name in names}

    def record(self) -> MemoryRecordInput[Any]:
        data = self.members() if self._random.random() < 0.8 else self._random.choice(SCALARS)
        meta = self.members() if self._random.random() < 0.5 else None
        tags = tuple(f"{self._random.choice(NAMES)}/{n}" for n in range(self._random.randrange(3)))
        return MemoryRecordInput(data=data, meta=meta, tags=tags or None)

    def filter(self, records: list[Any]) -> MemoryFilter:
        where = dict(self._condition(records) for _ in range(self._random.choice((1, 1, 1, 2))))
        prefix = self._random.choice(NAMES) if self._random.random() < 0.1 else None
        return MemoryFilter(
            where=where,
            tag_prefix=prefix,
            limit=self._random.choice((None, None, 1, 5)),
            offset=self._random.choice((0, 0, 2)),
            order=self._random.choice(("asc", "desc")),
        )

    def _condition(self, records: list[Any]) -> tuple[str, Any]:
        """On a place that some record has, nearly always, and of a value like the one there."""
        record = self._random.choice(records)
        found = {"data": record.data, "meta": record.meta or {}}
        path: list[str] = []
        while isinstance(found, dict) and found and (len(path) < 2 or self._random.random() < 0.5):
            path.append(self._random.choice(list(found)))
            found = found[path[-1]]
        there = found if self._random.random() < 0.6 else self.value()
        operator = self._random.choice(
            ("$eq", "$ne", "$in", "$exists", "$gt", "$gte", "$lt", "$lte")
        )
        operand = there
        if operator == "$in":
            operand = [there, *(self.value() for _ in range(self._random.choice((0, 2, 40))))]
        elif operator == "$exists":
            operand = self._random.random() < 0.8
        elif operator[1] in "gl":
            is_ordered = isinstance(there, int | float | str) and not isinstance(there, bool)
            operand = there if is_ordered else self._random.choice(ORDERED)
        written = ".".join(step.replace("\\", "\\\\").replace(".", "\\.") for step in path)
        wanted = {operator: operand}
        if operator[1] in "gl" and self._random.random() < 0.3:
            wanted |= {self._random.choice(("$gte", "$lt")): self._random.choice(ORDERED)}
        return written, wanted


async def check(memory: Memory[Any], drawn: Drawn, filters: int) -> None:
    """What is found by filters is what their definition says."""
    written = await memory.records.query(MemoryFilter(order_by="entry", order="asc"))
    sizes = set()
    for _ in range(filters):
        filter = drawn.filter(written)
        wanted = [record.id for record in select(filter, written)]
        assert [record.id for record in await memory.records.query(filter)] == wanted, filter
        sizes.add(len(wanted))
    assert len(sizes) > 5, "they should fit some, and not all"


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("few", [10, 1_000])
async def test_a_database_finds_what_the_definition_says(
    memory: Memory[Any], monkeypatch: pytest.MonkeyPatch, seed: int, few: int
) -> None:
    drawn = Drawn(seed * 10 + few)
    for module in (selection, postgres_select):
        monkeypatch.setattr(module, "FEW", few)
    await memory.records.create_many([drawn.record() for _ in range(150)])

    await check(memory, drawn, 120)


async def test_what_is_encrypted_is_found_as_well(fresh_url: str) -> None:
    drawn = Drawn(77)
    async with opened(fresh_url) as memory:
        await memory.records.create_many([drawn.record() for _ in range(20)])
    async with opened(fresh_url, codec=ToyCodec()) as memory:
        await memory.records.create_many([drawn.record() for _ in range(60)])

        await check(memory, drawn, 80)


async def test_meta_may_say_what_every_object_says(memory: Memory[Any]) -> None:
    meta = {"a": "b", "trust": "unreviewed", "type": "MemoryObject", "z": 1}
    one = await memory.remember("a note", meta=meta)

    for name, value in meta.items():
        found = await memory.list(where={f"meta.{name}": value})
        assert [each.id for each in found] == [one.id]


@pytest.mark.parametrize(
    ("where", "most"),
    [
        ({"data.kind": "k007"}, 1),
        ({"data.kind": "none"}, 0),
        ({"data.kind": {"$in": ["k007", "k008"]}}, 2),
        ({"data.n": {"$gte": 100, "$lt": 103}}, 4),
        ({"data.n": {"$lt": -1}}, 0),
        ({"data.day": {"$gt": "2026-01-29"}}, 10),
        ({"meta.size": {"$lte": 1}}, 2),
        ({"meta.size": 299}, 1),
    ],
)
async def test_what_can_not_fit_is_not_read(
    memory: Memory[Any], monkeypatch: pytest.MonkeyPatch, where: dict[str, Any], most: int
) -> None:
    await memory.records.create_many(
        [
            MemoryRecordInput(
                data={"n": n, "kind": f"k{n:03}", "day": f"2026-01-{n % 30:02}"}, meta={"size": n}
            )
            for n in range(300)
        ]
    )
    read: list[str] = []
    judged = fitting.judged

    def noted(current: Current) -> Judged:
        read.append(current.id)
        return judged(current)

    monkeypatch.setattr(fitting, "judged", noted)

    await memory.records.query(MemoryFilter(where=where))
    assert len(read) <= most


async def test_many_records_with_a_tag_are_left_at_the_limit(memory: Memory[Any]) -> None:
    await memory.remember_many([f"note {n}" for n in range(1_200)], tags=["note/x", "note/y"])
    await memory.remember("one more", tags=["note/\U0010ffff", "other"])

    found = await memory.list(tag_prefix="note/", limit=2)
    assert [one.data for one in found] == ["one more", "note 1199"]
    assert len(await memory.list(tag_prefix="note/")) == 1_201
    assert len(await memory.list(tag_prefix="other")) == 1


async def test_meta_that_looks_like_a_statement_hides_nothing(memory: Memory[Any]) -> None:
    meta = {"statement": "x", "statement_type": "y", "a": '","nonce":"', "b": '"},"created_ms":'}
    data = {"a": "x", "t": '","statement_type":"', "q": '\\"'}
    kept = await memory.remember(data, meta=meta)
    await memory.remember({"a": "y"}, meta={"b": ""})

    found = await memory.get(kept.id)
    by_data = await memory.list(where={"data.a": "x", "data.q": '\\"'})
    by_meta = await memory.list(where={"meta.b": '"},"created_ms":'})

    assert found is not None
    assert (found.data, found.meta) == (data, meta)
    assert [each.id for each in by_data] == [each.id for each in by_meta] == [kept.id]
