"""What a verification looks at beside a journal: the sessions of turns, and retries.

Of both there are few: they are held in memory, and compared while the entries are read once more.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from memoranda.identity import decode, sha256_hex
from memoranda.journeys.turn.facts import TYPE, salted_digest, session_digest
from memoranda.kernel.errors import InvalidInput, InvalidProof
from memoranda.ledger.beside import CYCLE, StoredRetry, StoredSession
from memoranda.ledger.codec import Unreadable
from memoranda.ledger.damage import Damages
from memoranda.ledger.entry import body_digest, read_entry
from memoranda.ledger.fact import ERASURE
from memoranda.ledger.retry import bound_salt
from memoranda.ledger.unit import RETRIED, Snapshot, StoredEntry


async def check_sessions(
    snapshot: Snapshot, sessions: Sequence[StoredSession], damages: Damages
) -> None:
    """Compare each session with the fact of the cycle that saved it; damage is reported.

    Where that cycle was erased there is nothing to compare with.
    """
    if not sessions:
        return
    saved = {one.cycle for one in sessions}
    facts: dict[str, Mapping[str, Any]] = {}
    erased: set[str] = set()
    async with aclosing(snapshot.entries()) as chunks:
        async for chunk in chunks:
            for document in _facts(chunk):
                cycle = document.get("cycleId")
                if document.get("type") == TYPE and cycle in saved:
                    if document.get("outcome") == "completed":
                        facts[cycle] = document
                elif document.get("type") == ERASURE:
                    names = document.get("marks", ())
                    erased |= {one.removeprefix(CYCLE) for one in names if one.startswith(CYCLE)}
    for one in sessions:
        why = _wrong(one, facts.get(one.cycle), is_erased=one.cycle in erased)
        if why is not None:
            damages.add("session", None, f"the session {one.name!r} {why}")


def _wrong(
    session: StoredSession, fact: Mapping[str, Any] | None, *, is_erased: bool
) -> str | None:
    if isinstance(session.body, Unreadable):
        return "can't be read"
    if f'"sessionId":"{session.session_id}"'.encode() not in session.body:
        return "has another id than its document says"
    if fact is None:
        return None if is_erased else "was saved by no cycle that is on record"
    if session.salt is None or sha256_hex(session.salt) != fact.get("salt"):
        return None  # that was said of the salt
    digest = session_digest(session.name, session.body)
    if salted_digest(session.salt, digest) != fact.get("session"):
        return f"is not what the cycle {session.cycle!r} saved"
    return None


async def check_retries(
    snapshot: Snapshot, retries: Sequence[StoredRetry], damages: Damages
) -> None:
    """Each retry answers with entries that are there: its own first, among them what it names."""
    wanted: dict[int, list[StoredRetry]] = {}
    size = (await snapshot.head()).size
    for one in retries:
        if not (one.seq >= 0 and one.entries >= 0 and one.seq + one.entries <= size):
            damages.add("retry", None, f"a retry is answered with entry {one.seq}, beyond the end")
        elif one.entries:
            wanted.setdefault(one.seq, []).append(one)
    if not wanted:
        return
    unnamed: list[StoredRetry] = []
    async with aclosing(snapshot.entries()) as chunks:
        async for chunk in chunks:
            for stored in chunk:
                for retry in wanted.pop(stored.seq, ()):
                    if (why := _answered_wrong(retry, stored)) is not None:
                        damages.add("retry", stored.seq, f"the retry that it answers {why}")
                    else:
                        unnamed.append(retry)
                unnamed = [one for one in unnamed if not _is_about(one, stored)]
                for retry in [one for one in unnamed if stored.seq == one.seq + one.entries - 1]:
                    why = "the retry that it answers is about something else"
                    damages.add("retry", retry.seq, why)
                    unnamed.remove(retry)


def _answered_wrong(retry: StoredRetry, stored: StoredEntry) -> str | None:
    try:
        if read_entry(stored.entry).at < retry.at:  # an entry is never older than was asked for
            return "is of a later time"
    except InvalidProof:
        return None  # the walk has said so
    salt = bound_salt(retry.nonce, retry.key_digest, retry.fingerprint)
    if stored.salt is not None and stored.salt != salt:
        return "is of another write"
    return None


def _is_about(retry: StoredRetry, stored: StoredEntry) -> bool:
    """Whether an entry may be what a retry is about."""
    document = next(_facts([stored]), None)
    if document is None or not retry.about:
        return True  # erased, or damaged: the walk has said so; or about several
    names = [document.get("id"), *document.get("marks", ())]
    about = [retry.about, *(prefix + retry.about for prefix in RETRIED)]
    return any(one in names for one in about)


def _facts(stored: Sequence[StoredEntry]) -> Iterator[Mapping[str, Any]]:
    """The documents of entries; what is damaged is passed over, the walk has said so."""
    for _, raw, salt, body in stored:
        if salt is None or body is None or isinstance(body, Unreadable):
            continue
        try:
            entry, document = read_entry(raw), decode(body)
        except (InvalidProof, InvalidInput):
            continue
        if isinstance(document, dict) and body_digest(salt, body) == entry.body_digest:
            yield document
