"""Both verifiers on journals of facts: they find the same first, and nothing in what is right."""

import io
from pathlib import Path
from typing import Any

import pytest

import memoranda_verify
from memoranda.journeys.intent import documents
from memoranda.journeys.intent.documents import TRACE
from memoranda.journeys.learn.learner import NOTHING
from memoranda.journeys.learn.lessons import TYPE as LEARNED
from memoranda.journeys.maintain.schedule import TYPE as JOB
from memoranda.journeys.turn.facts import RECALL
from memoranda.journeys.turn.facts import TYPE as CYCLE
from memoranda.ledger.fact import ERASURE, TYPES
from tests.verify.damages import Damage, Finding
from tests.verify.fact_damages import FACT_DAMAGES
from tests.verify.facts import ERASED, facts_sample, kept, sealed, snapshot, world_of
from tests.verify.in_database import found_in_database, stored
from tests.verify.journals import Journal

OBJECTS = {15: ("a", 1)}
"""The one object among the facts."""


def in_export(export: bytes) -> list[Finding]:
    report = memoranda_verify.verify(io.BytesIO(export))
    return [(one.check, one.seq) for one in report.findings]


def in_database(export: bytes, origin: str) -> list[Finding]:
    entries = stored(export)
    assert entries is not None
    return found_in_database(entries, origin, OBJECTS)


@pytest.mark.parametrize("is_erased", [True, False])
def test_neither_finds_anything_in_facts_that_are_right(is_erased: bool) -> None:
    journal = facts_sample(erased=is_erased)
    expected = [] if is_erased else [("object", 16)]  # what is still there was not erased

    assert in_export(journal.export())[:1] == expected
    assert in_database(journal.export(), journal.origin)[:1] == expected


@pytest.mark.parametrize("damage", FACT_DAMAGES, ids=lambda damage: damage.name)
def test_both_name_the_same_first(damage: Damage) -> None:
    export = damage.make()
    first = damage.findings[0]

    assert in_export(export)[0] == first
    assert first in in_database(export, facts_sample().origin)


@pytest.mark.parametrize("damage", FACT_DAMAGES, ids=lambda damage: damage.name)
def test_little_else_is_said(damage: Damage) -> None:
    """One edit is a few findings: what rests on what is damaged is not accused."""
    found = in_export(damage.make())

    worlds = [seq for check, seq in found if check == "world"]
    assert len(found) <= 1 + len(ERASED), found
    assert worlds in ([], [damage.findings[0][1]])


def test_both_know_the_types_that_are_written() -> None:
    written = {
        value
        for name, value in vars(documents).items()
        if name.isupper() and isinstance(value, str)
    }

    others = {ERASURE, TRACE, CYCLE, RECALL, LEARNED, NOTHING, JOB}

    assert set().union(*TYPES.values()) == written | others
    assert {kind: frozenset(types) for kind, types in memoranda_verify.FACT_TYPES.items()} == TYPES


# ------------------------------------------------------------------- snapshots from long before


def many_branches(branches: int, turns: int) -> Journal:
    """Worlds on many branches in turn, so that each rests on one from a while ago."""
    journal = Journal()
    on: list[list[int]] = [[] for _ in range(branches)]
    for turn in range(turns):
        for branch in range(branches):
            data = {"branch": branch, "turn": turn, "text": "x" * 200, "half": turn / 2}
            whole, hashed = snapshot(data, turn), {"data": data, "system": _SYSTEM}
            changes = [
                ["set", ["data", "turn"], turn],
                ["set", ["data", "half"], turn / 2],
                ["set", ["meta", "version"], turn],
            ]
            keeping = kept(whole, on[branch], changes) if on[branch] else kept(whole)
            on[branch] = [*on[branch], len(journal.kept)]
            journal.add("execution", canonical_floats(sealed(f"p{branch}:1", hashed, keeping)))
    return journal


_SYSTEM = {"terminalStatus": "completed", "errors": [], "pendingDigest": "empty"}


def canonical_floats(body: Any) -> str:
    """Its canonical text, in which a whole float is an integer."""
    return memoranda_verify.canonical(body)


@pytest.fixture
def halves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes of values with floats, made by the canonical form that has them."""
    monkeypatch.setattr("tests.verify.facts.canonical", memoranda_verify.canonical)


class Pipe(io.BytesIO):
    """A stream that is read once."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: Any) -> int:
        raise OSError

    def tell(self) -> int:
        raise OSError


@pytest.mark.usefixtures("halves")
def test_a_snapshot_is_restored_from_however_long_before(tmp_path: Any) -> None:
    journal = many_branches(5, 6)
    export = journal.export()
    file = tmp_path / "export.ndjson"
    file.write_bytes(export)

    assert list(memoranda_verify.verify(io.BytesIO(export)).findings) == []
    assert list(memoranda_verify.verify(Pipe(export)).findings) == []
    with file.open("rb") as opened:
        assert list(memoranda_verify.verify(opened).findings) == []
    assert found_in_database(stored(export) or [], journal.origin, {}) == []


@pytest.mark.usefixtures("halves")
def test_what_is_wrong_with_one_from_long_before_is_told_once() -> None:
    forged = many_branches(3, 5).with_body(4, lambda body: body.update(world=world_of({})))

    assert in_export(forged.export()) == [("world", 4)]
    assert found_in_database(stored(forged.export()) or [], forged.origin, {}) == [("world", 4)]


def test_a_deleted_line_does_not_accuse_the_snapshots_after_it() -> None:
    lines = facts_sample().lines()
    del lines[6]  # the entry 5

    found = in_export(b"".join(lines))

    assert found[0] == ("seq", 5)
    assert [one for one in found if one[0] == "world"] == []


def test_the_hash_of_a_snapshot_is_that_of_the_page() -> None:
    example = {"data": {}, "system": _SYSTEM}
    page = (Path(__file__).parents[2] / "docs" / "format.md").read_text()

    assert f"```json\n{memoranda_verify.canonical(example)}\n```" in page
