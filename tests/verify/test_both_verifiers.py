"""The two verifiers, written apart, agree on what is wrong with a journal (docs/format.md)."""

import pytest

from tests.verify.damages import DAMAGES, Damage
from tests.verify.in_database import found_in_database, stored
from tests.verify.journals import Journal, memory, sample

SHARED = [
    damage
    for damage in DAMAGES
    if damage.findings[0][1] is not None and stored(damage.make()) is not None
]
"""Damage that a database can have, too: not of lines, of the header or of the end."""


def test_most_damage_can_be_in_a_database() -> None:
    assert len(SHARED) > len(DAMAGES) // 2


def test_neither_finds_anything_in_a_journal_that_is_right() -> None:
    for journal in (sample(), sample(erased=False)):
        entries = stored(journal.export())
        assert entries is not None
        found = found_in_database(entries, journal.origin)
        assert found == ([] if journal.kept[4].body is None else [("object", 4), ("object", 5)])


@pytest.mark.parametrize("damage", SHARED, ids=lambda damage: damage.name)
def test_both_name_the_same_first(damage: Damage) -> None:
    entries = stored(damage.make())
    assert entries is not None

    found = found_in_database(entries, sample().origin)

    check, seq = damage.findings[0]
    # A number that does not follow shows in the rows, where they are in order of their numbers.
    names = {check, "row"} if "version" in damage.name else {check}
    # Of a version that was erased by hand a database knows which it was, an export what followed.
    places = {seq, 3} if "between_erased" in damage.name else {seq}
    assert any(name in names and place in places for name, place in found), found


def test_an_object_without_bounds_says_so_by_its_temporal_scope() -> None:
    journal = Journal()
    journal.add("maintenance", {"type": "Tick"})
    journal.add("create", memory("a", 1))
    entries = stored(journal.export())
    assert entries is not None

    assert found_in_database(entries, journal.origin) == []
