"""Ledgers that break a promise each, around one of ours that keeps all of them."""

from collections.abc import Sequence
from typing import Any

from memoranda.ledger.unit import Committed, Current, Draft, StoredEntry, Unit


class Wrapped:
    """Passes everything on."""

    def __init__(self, ledger: Any) -> None:
        self.ledger = ledger

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ledger, name)

    async def commit(self, unit: Unit) -> Committed:
        done: Committed = await self.ledger.commit(self.changed(unit))
        return done

    def changed(self, unit: Unit) -> Unit:
        return unit


class HalfUnits(Wrapped):
    """Loses the last entry of a unit."""

    def changed(self, unit: Unit) -> Unit:
        def decide(found: Sequence[Current | None]) -> Sequence[Draft]:
            drafts = unit.decide(found)
            return drafts[: max(1, len(drafts) - 1)]

        return unit._replace(decide=decide)


class Trusting(Wrapped):
    """Believes whatever is expected."""

    def changed(self, unit: Unit) -> Unit:
        return unit._replace(expects=())


class Keyless(Wrapped):
    """Forgets the keys of units."""

    def changed(self, unit: Unit) -> Unit:
        return unit._replace(key=None)


class Clinging(Wrapped):
    """Answers a key as the first time, whatever was erased since."""

    def __init__(self, ledger: Any) -> None:
        super().__init__(ledger)
        self._first: dict[str, Committed] = {}

    async def commit(self, unit: Unit) -> Committed:
        done: Committed = await self.ledger.commit(unit)
        if unit.key is None:
            return done
        first = self._first.setdefault(unit.key.key, done)
        return done if first is done else first._replace(fresh=False)


class Forgiving(Wrapped):
    """Reads nothing but what is named, where something is erased."""

    def changed(self, unit: Unit) -> Unit:
        return unit._replace(is_erasing=False)


class Reversed(Wrapped):
    """Hands out what is marked in another order."""

    async def marked(self, name: str, **asked: Any) -> list[StoredEntry]:
        found: list[StoredEntry] = await self.ledger.marked(name, **asked)
        return found[::-1]
