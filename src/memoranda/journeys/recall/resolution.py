"""What selectors name becomes what is in the journal: record versions, and worlds."""

import logging
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from memoranda.identity import decode
from memoranda.journeys.govern.table import FilteredLedger
from memoranda.journeys.intent.chronicle import MEMORY, Chronicle
from memoranda.journeys.intent.documents import made_from
from memoranda.journeys.intent.execution import described
from memoranda.journeys.recall.sources import ScopeSources, is_allowed
from memoranda.journeys.recall.verification import Tree, Verified
from memoranda.kernel.errors import (
    EntryDamaged,
    InvalidInput,
    MemorandaError,
    WorldErased,
    WorldNotFound,
)
from memoranda.kernel.json import JsonValue
from memoranda.ledger.lifecycle import trust_of
from memoranda.ledger.object import data_of, value_of
from memoranda.ledger.unit import Current, Expected, Past, StoredEntry
from memoranda.recall.index import EVERYTHING, fits_by_time
from memoranda.recall.proof import body_address
from memoranda.recall.selector import Chosen, NoSelection, Request, Selection, Selector
from memoranda.text.tokens import shown

NOTHING: Final[Mapping[str, JsonValue]] = MappingProxyType({})


class Resolved(NamedTuple):
    """A memory as the journal has it."""

    chosen: Chosen
    address: str
    kind: Literal["record", "world"]
    id: str
    version: int | None
    seq: int
    created_at: int
    data: Any
    """What it says, as whoever asks has it."""
    said: JsonValue
    text: str
    trust: str
    origin: str
    input: str
    """What is noted where it is read: an object's id, or a name."""
    newest: Expected | None = None
    """Of a world, the newest entry under the name of what left it."""
    against: str | None = None
    """Why it can't be verified, if that is known already."""
    snapshot: Mapping[str, JsonValue] | None = None
    tags: tuple[str, ...] = ()
    meta: Mapping[str, JsonValue] = NOTHING
    subject: str | None = None
    stored: StoredEntry | None = None
    """Its entry, where that was read with it."""


class Unresolved(NamedTuple):
    """What a selector named, and why it is not handed out."""

    name: str
    why: str


class Resolving:
    """Looks up what selectors of one scope named."""

    def __init__(self, ledger: FilteredLedger, chronicle: Chronicle) -> None:
        self._ledger = ledger
        self._chronicle = chronicle

    async def resolved(
        self, chosen: Chosen, request: Request, sources: ScopeSources
    ) -> Resolved | Unresolved:
        """The memory that was chosen; or why there is none.

        What was not read from its sources for this request is looked up.
        """
        if chosen.world is not None:
            return await self._world(chosen, chosen.world, request)
        name, size = str(chosen.id), request.constraints.as_of
        current, seq = chosen.found, chosen.seq
        if current is not None and seq is not None and size is None and sources.has_read(chosen):
            return _record(chosen, current, seq, None, sources.stored.get(seq))
        try:
            versions = await self._ledger.versions(name)
        except EntryDamaged as damaged:
            return Unresolved(name, str(damaged))
        then = [version for version in versions if size is None or version.seq < size]
        if not then or then[-1].body is None or then[-1].version.status != "active":
            return Unresolved(name, "it is not there")
        current = Current(*then[-1].version, then[-1].body)
        if not is_allowed(current, request):
            return Unresolved(name, "it is not what was asked for")
        return _record(chosen, current, then[-1].seq, _ended(versions))

    async def _world(
        self, chosen: Chosen, world_id: str, request: Request
    ) -> Resolved | Unresolved:
        try:
            record = await self._chronicle.world(world_id)
            keeper = await self._chronicle.keeper(world_id)
            kept = await self._chronicle.kept(keeper)
        except (WorldNotFound, WorldErased, EntryDamaged) as missing:
            return Unresolved(world_id, str(missing))
        asked = request.constraints
        is_later = asked.as_of is not None and record.seq >= asked.as_of
        if is_later or not fits_by_time(asked.filter, record.document["world"]["createdAt"]):
            return Unresolved(world_id, "it is not what was asked for")
        name = made_from(keeper)
        try:
            newest = await self._chronicle.newest(name)
        except (WorldErased, EntryDamaged) as missing:
            return Unresolved(world_id, str(missing))
        return Resolved(
            chosen,
            world_id,
            "world",
            name.partition("/")[2],
            None,
            record.seq,
            record.document["world"]["createdAt"],
            kept.parts["data"],
            kept.parts["data"],
            shown(kept.parts["data"]),
            "approved",
            name,
            name,
            Expected(name, None if newest is None else newest.seq),
            snapshot=kept.parts,
        )


def _record(
    chosen: Chosen,
    current: Current,
    seq: int,
    against: str | None,
    stored: StoredEntry | None = None,
) -> Resolved:
    document: Any = decode(current.body)
    data = data_of(document)
    return Resolved(
        chosen,
        body_address(current.body),
        "record",
        current.id,
        current.number,
        seq,
        current.created_at,
        value_of(document),
        data,
        shown(data),
        document["trust"],
        _origin(document),
        current.id,
        against=against,
        tags=tuple(document.get("tags") or ()),
        meta=document.get("meta") or NOTHING,
        subject=current.subject,
        stored=stored,
    )


def _origin(document: Mapping[str, Any]) -> str:
    """Where a record is from: its first source, or what kind of statement it is."""
    for source in document["source_refs"]:
        if isinstance(source.get("uri"), str):
            return str(source["uri"])
    return str(document["statement_type"])


def _ended(versions: Sequence[Past]) -> str | None:
    status = versions[-1].version.status
    return None if status == "active" else f"it is {status} by now"


# ------------------------------------------------------------------------------------------------
# What is left of a selection once it was looked up and verified, and what its trace says of it.

log = logging.getLogger("memoranda.recall")


class Picked(NamedTuple):
    """What is left of a selection, and what is said of it."""

    items: Sequence[tuple[Resolved, Verified]]
    tree: Tree | None
    notes: Sequence[str]
    error: str | None
    selection: Selection
    world: str | None = None
    """The head of the branch that it was made at, as far as it was read."""
    is_declared: bool = True
    """Whether the scope declares which embedders it is asked with."""

    @property
    def sources(self) -> list[str]:
        """What takes the trace along when it is erased: what was selected, by id or name."""
        return [resolved.input for resolved, _ in self.items]

    def without(self, source: str) -> "Picked":
        """The same without what is gone by now, and with a word about it."""
        left = [(resolved, proved) for resolved, proved in self.items if resolved.input != source]
        if len(left) == len(self.items):
            raise WorldErased(MEMORY, source)  # it was none of these
        note = f"{source} was selected, and is left out: it is gone by now"
        return self._replace(items=left, notes=[*self.notes, note])


def is_trusted(resolved: Resolved, proved: Verified) -> bool:
    """Whether it may be handed out where only verified memory may: nor is it untrusted."""
    return proved.is_verified and trust_of(resolved.trust) != "untrusted"


def failed_selection(error: Exception) -> Picked:
    """A selection that failed; what the error says is on record only where it is our own.

    The text of any other may repeat whatever the selector was shown, and a trace of nothing goes
    with nothing.
    """
    log.warning("a selection failed", exc_info=error)
    is_ours = isinstance(error, NoSelection | MemorandaError) and not isinstance(
        error, InvalidInput
    )
    why = described(error) if is_ours else f"{type(error).__name__} (its text is in the log alone)"
    return Picked((), None, (), why, Selection(()))


def details_of(request: Request, selector: Selector, picked: Picked) -> dict[str, JsonValue]:
    """What `why` tells of a selection besides its trace."""
    asked = request.constraints
    given: dict[str, JsonValue] = {
        "minConfidence": asked.min_confidence or None,
        "verifiedOnly": asked.verified_only or None,
        "validAt": asked.valid_at,
        "asOf": asked.as_of,
        "tokenBudget": asked.token_budget,
        **(
            {}
            if asked.filter == EVERYTHING
            else asked.filter.model_dump(mode="json", exclude_defaults=True)
        ),
    }
    details: dict[str, JsonValue] = {
        "selector": selector.name,
        "topK": request.top_k - request.offset,
        "constraints": {name: value for name, value in given.items() if value is not None},
        "items": [_item_details(resolved, proved) for resolved, proved in picked.items],
        "below": [{"id": below.id, "score": below.score} for below in picked.selection.below],
    }
    if (used := picked.selection.model) is not None:
        details["model"] = {"identity": used.model, "without": used.without}
    if request.offset:
        details["offset"] = request.offset
    if picked.tree is not None:
        details["size"], details["root"] = picked.tree.size, picked.tree.root
        if picked.tree.signed is not None:
            details["signed"] = picked.tree.signed
    if picked.notes:
        details["notes"] = list(picked.notes)
    if picked.error is not None:
        details["error"] = picked.error
    return details


def _item_details(resolved: Resolved, proved: Verified) -> dict[str, JsonValue]:
    members: dict[str, JsonValue] = {"kind": resolved.kind, "id": resolved.id, "seq": resolved.seq}
    if resolved.version is not None:
        members["version"] = resolved.version
    if resolved.chosen.score is not None:
        members["score"] = resolved.chosen.score
    if proved.why_not is not None:
        members["whyNot"] = proved.why_not
    return members
