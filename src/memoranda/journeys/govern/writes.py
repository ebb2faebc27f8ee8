"""Writes as values: what each reads, what is checked before it, and what follows from what it read.

A verb runs one write; a batch runs many in one transaction, each on what those before it left
(`GovernedTable.run`).
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from memoranda.identity import decode
from memoranda.journeys.govern.about import Said
from memoranda.journeys.govern.drafts import Drafts, content_of
from memoranda.journeys.govern.provenance import of_new
from memoranda.journeys.govern.rulebook import Rulebook
from memoranda.journeys.records.contents import (
    Request,
)
from memoranda.kernel.errors import RecordNotFound
from memoranda.ledger.object import Cause
from memoranda.ledger.unit import Current, Draft
from memoranda.records.model import MemoryRecordInput
from memoranda.records.table import Edit, Note, Row, check_version

T = TypeVar("T")

_Given = MemoryRecordInput[Any]  # to ask for it takes as long as to make one

Decision = Callable[[Sequence[Current | None], Note], list[Draft]]
"""What follows from the newest versions that were read; pure, for it may run a second time."""

Check = Callable[[Rulebook, str], Awaitable[None]]
"""Asks the policies whether an actor may; refused before anything is read."""


class Write(NamedTuple):
    """One write of one object; it makes one draft, or none where there is nothing to forget."""

    id: str
    decide: Decision
    reads: Sequence[str] = ()
    """Nothing, where its id was made for it."""
    request: Request = ()
    """What was asked for, so that a retry is known."""
    check: Check | None = None
    reason: str | None = None
    creates: bool = False
    """Whether it creates what is not there, or no longer."""
    forgets: bool = False
    cause: Cause | None = None
    """Why it forgets, where the policies have to allow that."""

    def drafts(self, found: Sequence[Current | None], note: Note) -> list[Draft]:
        return self.decide(
            found, note if self.reason is None else note._replace(reason=self.reason)
        )


# ------------------------------------------------------------------ what is to be decided


def replacing(
    drafts: Drafts, row: Row, said: Said, expected_version: int | None, **more: Any
) -> Write:
    """A new object, or the next version of one with nothing of the old one left."""
    provenance = of_new(said)

    def decide(found: Sequence[Current | None], note: Note) -> list[Draft]:
        (current,) = found
        check_version(row.id, 0 if current is None else current.number, expected_version)
        if current is None or current.status != "active":
            return drafts.new(row, provenance, found, note, is_dated=False)
        return [drafts.replaced(current, row.content, note, said)]

    return Write(row.id, decide, (row.id,), creates=True, **more)


def editing(drafts: Drafts, edit: Edit, said: Said, **more: Any) -> Write:
    """The next version of an object; RecordNotFound without one."""

    def decide(found: Sequence[Current | None], note: Note) -> list[Draft]:
        current = active(edit.id, found[0])
        check_version(edit.id, current.number, edit.expected_version)
        before = decode(current.body)
        content = edit.apply(content_of(before))
        return [drafts.edited(current, before, content, note, said)]

    return Write(edit.id, decide, (edit.id,), **more)


def forgetting(
    drafts: Drafts, id: str, cause: Cause, expected_version: int | None, **more: Any
) -> Write:
    """The end of an object, if it is active; nothing else is an error.

    VersionConflict where somebody changed or forgot it since the expected version: whoever
    expects a version has not seen that.
    """

    def decide(found: Sequence[Current | None], note: Note) -> list[Draft]:
        (current,) = found
        if current is None:
            return []
        check_version(id, current.number, expected_version)
        return [drafts.invalidated(current, note, cause)] if current.status == "active" else []

    return Write(id, decide, (id,), forgets=True, cause=cause, **more)


def active(id: str, current: Current | None) -> Current:
    """The object, if it is there and active; else RecordNotFound."""
    if current is None or current.status != "active":
        raise RecordNotFound(id)
    return current
