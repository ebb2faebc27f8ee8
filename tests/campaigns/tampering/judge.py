"""Both verifiers on a database that was tampered with, and what their findings are worth."""

import io
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

import memoranda
import memoranda_verify
from memoranda.app.audit import export_scope, verify_database
from memoranda.journeys.audit.checkpoints import Seal
from memoranda.ledger.anchor import SCOPE as DIRECTORY
from memoranda.ledger.anchor import Anchor as Witness
from memoranda.ledger.anchor import KeptNote
from memoranda.ledger.damage import Damages
from memoranda.outside.keys import Ed25519Signer
from memoranda_verify import Anchor, parse_checkpoint, parse_key
from tests.campaigns.adversity.chance import Random
from tests.campaigns.tampering.adversary import OTHER_KEY, NotHere, TamperedDatabase
from tests.campaigns.tampering.clean import KEY, SEAL, CleanDatabase
from tests.campaigns.tampering.deeds import WHOLE, Deed, Named, TamperingClass

TRIES = 50

Verifier = Literal["database", "export"]
Outcome = Literal["named", "found", "missed", "accused", "failed"]
"""``named``: found, with the right check and place. ``found``: something else was said. ``missed``:
nothing was. ``accused``: named, but so was a scope that nothing was done to. ``failed``: the
verifier broke off with an error."""


class Sight(NamedTuple):
    """One finding of a verifier."""

    part: str | None
    check: str
    seq: int | None
    why: str


class Verdict(NamedTuple):
    """What a verifier made of one deed, with the checkpoint that was kept elsewhere or without."""

    verifier: Verifier
    with_checkpoint: bool
    outcome: Outcome
    expected: Outcome
    seen: Sequence[Sight] = ()
    why: str = ""

    @property
    def is_right(self) -> bool:
        """Whether it is what the class says."""
        return self.outcome == self.expected


class Run(NamedTuple):
    """One deed and what came of it."""

    name: str
    deed: Deed
    verdicts: Sequence[Verdict]


# ----------------------------------------------------------------------------- verifiers


async def seen_in_database(
    url: str,
    notes: Sequence[str] = (),
    *,
    witnesses: Sequence[Witness] = (),
    expected: Sequence[str] = (),
) -> list[Sight]:
    """What `verify_database` finds."""
    kept = [KeptNote("kept elsewhere", note) for note in notes]
    seal = Seal(known=SEAL.known, anchors=witnesses)
    audit = await verify_database(url, seal=seal, kept=kept, expected=expected)
    seen = _sights(WHOLE, audit.damages)
    for part in (*audit.scopes, *([audit.directory] if audit.directory else [])):
        seen += _sights(part.scope, part.report.damages)
    assert audit.is_sound == (not seen)
    return seen


def _sights(part: str | None, damages: Damages) -> list[Sight]:
    return [Sight(part, one.check, one.seq, one.why) for one in damages.found]


async def exported(url: str, scope: str, signed: str = "") -> bytes:
    """An export of the scope, signed by whoever tampered with it if they did."""
    by: dict[str, list[Ed25519Signer]] = {"": [], "pretended": [_Pretended()], "other": [_OTHER]}
    signers = by[signed]
    return b"".join([line async for line in export_scope(url, scope, signers=signers)])


class _Pretended(Ed25519Signer):
    """Says that it is the known key."""

    def __init__(self) -> None:
        super().__init__(OTHER_KEY.name, OTHER_KEY.seed)

    @property
    def key_id(self) -> bytes:
        """The known key's."""
        return KEY.key_id


_OTHER = Ed25519Signer(OTHER_KEY.name, OTHER_KEY.seed)


def seen_in_export(
    export: bytes, scope: str, notes: Sequence[str] = (), *, require_signature: bool = False
) -> list[Sight]:
    """What the stand-alone verifier finds."""
    report = memoranda_verify.verify(
        io.BytesIO(export),
        anchors=[Anchor("kept elsewhere", parse_checkpoint(note)) for note in notes],
        keys=[parse_key(KEY.vkey)],
        require_signature=require_signature,
    )
    return [Sight(scope, one.check, one.seq, one.why) for one in report.findings]


# --------------------------------------------------------------------------------- judging


async def run(one: TamperingClass, clean: CleanDatabase, chance: Random) -> Run:
    """Tamper with a copy, and see what the verifiers say."""
    deed, url = await done(one, clean, chance)
    verdicts = [
        await _of_database(one, deed, url, clean, with_checkpoint)
        for with_checkpoint in _arms(one.database)
    ]
    if one.export != "not in it":
        verdicts += [
            await _of_export(one, deed, url, clean, with_checkpoint)
            for with_checkpoint in _arms(one.export)
        ]
    return Run(one.name, deed, verdicts)


async def done(one: TamperingClass, clean: CleanDatabase, chance: Random) -> tuple[Deed, str]:
    """Do it, with what follows: a backup is put back, and somebody goes on writing."""
    deed, url = tampered(one, clean, chance)
    if deed.restores:
        url = clean.restored()
    if deed.goes_on:
        await _write_on(url, deed.scope, clean)
    return deed, url


def tampered(one: TamperingClass, clean: CleanDatabase, chance: Random) -> tuple[Deed, str]:
    """Do it to a fresh copy; where there is nothing to do it to, in another place."""
    for _ in range(TRIES):
        url = clean.copied()
        with suppress(NotHere), clean.tables(url) as tables:
            return one.does(TamperedDatabase(clean, url, tables, chance)), url
    raise NotHere


def _arms(needs: str) -> tuple[bool, ...]:
    return {"nothing": (False,), "checkpoint": (False, True), "nobody": (True,)}[needs]


def _expected(needs: str, *, with_checkpoint: bool) -> Outcome:
    found = needs == "nothing" or (needs == "checkpoint" and with_checkpoint)
    return "named" if found else "missed"


async def _of_database(
    one: TamperingClass, deed: Deed, url: str, clean: CleanDatabase, with_checkpoint: bool
) -> Verdict:
    kept = clean.then if one.kept == "older" else clean.now
    if not with_checkpoint:
        notes = []
    elif one.database == "nobody":  # not even with all of them
        notes = list(kept.notes.values())
    else:
        notes = [kept.notes[DIRECTORY if one.kept == "directory" else deed.scope]]
    expected = _expected(one.database, with_checkpoint=with_checkpoint)
    try:
        seen = await seen_in_database(url, notes)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a verdict
        return Verdict("database", with_checkpoint, "failed", expected, why=repr(error))
    touched = {WHOLE, deed.scope, *deed.also, *(named.part for named in deed.database)}
    outcome = _outcome(seen, deed.database, touched)
    return Verdict("database", with_checkpoint, outcome, expected, seen)


async def _of_export(
    one: TamperingClass, deed: Deed, url: str, clean: CleanDatabase, with_checkpoint: bool
) -> Verdict:
    kept = clean.then if one.kept == "older" else clean.now
    notes = [kept.notes[deed.scope]] if with_checkpoint else []
    expected = _expected(one.export, with_checkpoint=with_checkpoint)
    try:
        export = await exported(url, deed.scope, one.exports_signed)
        seen = seen_in_export(export, deed.scope, notes, require_signature=bool(one.exports_signed))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a verdict
        return Verdict("export", with_checkpoint, "failed", expected, why=repr(error))
    outcome = _outcome(seen, deed.export, {deed.scope})
    return Verdict("export", with_checkpoint, outcome, expected, seen)


def _outcome(seen: Sequence[Sight], named: Sequence[Named], touched: set[str | None]) -> Outcome:
    if not seen:
        return "missed"
    if not named or not all(any(_fits(sight, one) for sight in seen) for one in named):
        return "found"
    return "named" if {sight.part for sight in seen} <= touched else "accused"


def _fits(sight: Sight, named: Named) -> bool:
    return (sight.check, sight.seq, sight.part) == (
        named.check,
        named.seq,
        named.part,
    ) and named.about in sight.why


async def _write_on(url: str, scope: str, clean: CleanDatabase) -> None:
    more = clean.now.sizes[scope] - clean.then.sizes[scope] + 5
    async with memoranda.open(url, scope=scope, seal=SEAL) as memory:
        await memory.remember_many([f"after the backup {n}" for n in range(more)], source="doc/on")
