"""What a turn reads beside the journal is what a cycle left there: its fact has the digests.

Items, sessions and recordings are rows that anybody who has the database can edit. Whoever uses one
compares it first; what differs is damage, and the turn fails rather than going on with it.
"""

from collections.abc import Sequence

from memoranda.identity import sha256_hex
from memoranda.journeys.turn.facts import Cycle, completed, salt_of, salted_digest, session_digest
from memoranda.kernel.errors import EntryDamaged, ItemDamaged, NotRecorded, SessionDamaged
from memoranda.ledger.beside import CYCLE, StoredItem
from memoranda.ledger.unit import Ledger
from memoranda.plans.items import RetrievedItem, read_retrieved
from memoranda.plans.recording import Recording, read_recording
from memoranda.plans.session import SessionState


async def check_index(ledger: Ledger, session_ref: str) -> None:
    """ItemDamaged where a session's index has more or less than its items (ING-NO-FALLBACK).

    Which keyword is missing, or whether one became another, is for `verify` to say.
    """
    if not await ledger.origins.is_index_whole(session_ref):
        why = "it has not the keywords of all items, or more; run `memoranda verify`"
        raise ItemDamaged(f"index of the session {session_ref}", why)


async def check_items(ledger: Ledger, session_ref: str, found: Sequence[RetrievedItem]) -> None:
    """ItemDamaged for an item that is not the one that its cycle stored (ING-PARTIAL).

    One that is gone by now was erased meanwhile: the cycle that was given it won't land.
    """
    given = {item.id: item for item in found}
    facts: dict[str, Cycle | None] = {}
    for stored in await ledger.origins.stored(session_ref, list(given)):
        if stored.cycle is not None and stored.cycle not in facts:
            facts[stored.cycle] = await completed(ledger, stored.cycle)
        why = _not_of(stored, facts.get(stored.cycle or ""), given[stored.id])
        if why is not None:
            raise ItemDamaged(stored.id, why)


def _not_of(stored: StoredItem, landed: Cycle | None, given: RetrievedItem) -> str | None:
    """Why an item is not what its cycle stored; None if it is."""
    if stored.body is None or stored.cycle is None or stored.salt is None:
        return "no cycle stored it"
    if landed is None:
        return "the cycle that stored it is not on record"
    digest = salted_digest(stored.salt, sha256_hex(stored.body))
    if landed.document["sessionRef"] != stored.session or digest not in landed.document["items"]:
        return "it is not what its cycle stored"
    if read_retrieved(stored.body, id=stored.id, session_ref=stored.session) != given:
        return "it changed while it was read"
    return None


async def check_session(ledger: Ledger, name: str, found: SessionState) -> None:
    """SessionDamaged for a session that is not the one that its cycle saved.

    One whose cycle was erased since is not looked at: nothing is left to compare it with.
    """
    cycle = await ledger.beside.saved_by(name)
    if cycle is None:
        return
    landed = await completed(ledger, cycle)
    if landed is None:
        if not await ledger.marked(CYCLE + cycle, limit=1):
            raise SessionDamaged(name, "no cycle that is on record saved it")
        return
    salt = await salt_of(ledger, landed)
    digest = session_digest(name, found.body)
    if salt is None or salted_digest(salt, digest) != landed.document.get("session"):
        raise SessionDamaged(name, "it is not what its last cycle saved")


async def recording_of(ledger: Ledger, landed: Cycle) -> Recording:
    """What was recorded of a cycle; NotRecorded if nothing was.

    EntryDamaged where the recording is not there that the cycle left, or is another one.
    """
    if not landed.document["recorded"]:
        raise NotRecorded(landed.cycle_id)
    body = await ledger.beside.recording(landed.cycle_id)
    salt = await salt_of(ledger, landed)
    if body is None or salt is None:
        raise EntryDamaged(landed.seq, "recording", "what was recorded of its cycle is not there")
    if salted_digest(salt, sha256_hex(body)) != landed.document.get("recording"):
        raise EntryDamaged(landed.seq, "recording", "it is not what was recorded of its cycle")
    return await read_recording(ledger.beside, landed.cycle_id)
