"""A body whose member is of another type, all hashes made anew, is damage: no verifier raises."""

import asyncio
import io
import json
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import pytest

import memoranda_verify
from memoranda.journeys.audit.attachments import check_sessions
from memoranda.ledger.attachments import StoredSession
from memoranda.ledger.damage import Damages
from memoranda.ledger.snapshot import Index
from memoranda.ledger.unit import StoredEntry
from memoranda.recall.sums import WordSums
from tests.verify.facts import facts_sample
from tests.verify.in_database import OBJECTS, Objects, found_in_database, stored
from tests.verify.journals import Journal, sample

WRONG: list[Any] = [None, -1, "x", [1], {}, [{"id": 1}]]


def _changed(value: Any, wrong: Any, depth: int = 2) -> Iterator[Any]:
    """A value with one of its members replaced by another one, for each of them."""
    if not isinstance(value, dict | list) or not depth:
        return
    for name, member in value.items() if isinstance(value, dict) else enumerate(value):
        for other in (wrong, *_changed(member, wrong, depth - 1)):
            copy: Any = value.copy()
            copy[name] = other
            yield copy


class _Snapshot:
    """A snapshot that has entries, and nothing else."""

    def __init__(self, entries: list[StoredEntry]) -> None:
        self._entries = entries

    async def rows(self, _table: object) -> AsyncGenerator[list[StoredEntry], None]:
        yield self._entries


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize(
    ("journal", "objects"),
    [(sample(), OBJECTS), (facts_sample(), {15: ("a", 1)})],
    ids=["objects", "facts"],
)
def test_no_verifier_raises(journal: Journal, objects: Objects, wrong: Any) -> None:
    for at, kept in enumerate(journal.kept):
        for body in _changed(json.loads(kept.body or "null"), wrong):
            forged = journal.with_body(at, lambda _: memoranda_verify.canonical(body))  # noqa: B023
            export = forged.export()
            entries = stored(export)
            assert entries is not None
            size = len(entries)
            words = WordSums(size, Index(size, ""), b"key")

            memoranda_verify.verify(io.BytesIO(export))
            snapshot: Any = _Snapshot(entries)
            session = StoredSession("s", "s", b"{}", "c", None)
            asyncio.run(check_sessions(snapshot, [session], Damages()))
            found_in_database(entries, journal.origin, objects, words)
