"""``memoranda status``: how each scope stands."""

import asyncio
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from memoranda.app.memory import open, scopes
from memoranda.journeys.audit.checkpoints import Seal
from memoranda.journeys.govern.conformance import Status
from memoranda.ledger.checkpoint import parse_checkpoint
from memoranda.ledger.signed_note import check_signatures
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.options import Actor, AsJson, Database, Scopes
from memoranda.surfaces.cli.present import console, counted, details, plain, print_json, print_line


def status(
    database: Database = None, scope: Scopes = None, actor: Actor = None, json: AsJson = False
) -> None:
    """Show how each scope stands: entries, checkpoint, policies, breaks, anchors.

    It reads little; `memoranda verify` walks everything.
    """
    place = Place(database, None, actor)
    seal = place.seal()
    found = asyncio.run(_statuses(place, scope, seal))
    if json:
        print_json([_as_json(one, seal) for one in found])
    elif found:
        for number, one in enumerate(found):
            _show(one, seal, first=number == 0)
    else:
        print_line("Nothing was written to this database yet.")


async def _statuses(place: Place, named: Sequence[str] | None, seal: Seal) -> list[Status]:
    found = []
    for scope in await scopes(place.url) if named is None else named:
        async with open(
            place.url, scope=scope, actor=place.actor_name, seal=seal, read_only=True
        ) as memory:
            found.append(await memory.status())
    return found


def _checkpoint(status: Status, seal: Seal) -> dict[str, Any] | None:
    if status.checkpoint is None:
        return None
    checkpoint, note = parse_checkpoint(status.checkpoint)
    signatures = check_signatures(note, seal.known)
    return {
        "size": checkpoint.size,
        "root": checkpoint.root.hex(),
        "standing": signatures.standing,
        "signed_by": [str(one) for one in signatures.signed],
        "note": status.checkpoint,
    }


def _as_json(status: Status, seal: Seal) -> dict[str, Any]:
    return {
        "scope": status.scope,
        "origin": status.origin,
        "entries": status.size,
        "checkpoint": _checkpoint(status, seal),
        "policies": {kind: policy.version for kind, policy in status.policies.items()},
        "breaks": [{"id": id, "why": why} for id, why in status.breaks.items()],
        "anchors": [
            {"name": one.name, "reachable": one.name not in status.unreachable,
             "why": status.unreachable.get(one.name)}
            for one in seal.anchors
        ],
        "anchored": [
            {"where": one.where, "verdict": one.verdict, "standing": one.standing, "why": one.why}
            for one in status.anchors
        ],
    }  # fmt: skip


def _show(status: Status, seal: Seal, *, first: bool) -> None:
    out = console()
    if not first:
        out.print()
    policies = ", ".join(f"{kind} {one.version}" for kind, one in status.policies.items())
    rows: list[tuple[str, Any]] = [
        ("scope", Text(plain(status.scope), "bold")),
        ("entries", f"{status.size:,}"),
        ("checkpoint", _checkpoint_in_words(status, seal)),
        ("policies", policies),
        *[("BREAK", Text(plain(why), "bold red")) for why in status.breaks.values()],
        *[("anchor", plain(line)) for line in _anchors_in_words(status, seal)],
    ]
    if status.breaks:
        rows.append(("", "after a re-audit: memoranda audit record REF --reason …"))
    out.print(details(rows))


def _checkpoint_in_words(status: Status, seal: Seal) -> str:
    found = _checkpoint(status, seal)
    if found is None:
        return "none yet"
    covered = "all entries"
    if found["size"] != status.size:
        covered = f"the first {counted(found['size'], 'entry', 'entries')}"
    who = f" by {', '.join(found['signed_by'])}" if found["signed_by"] else ""
    return f"of {covered}, {found['standing']}{who}"


def _anchors_in_words(status: Status, seal: Seal) -> Sequence[str]:
    if not seal.anchors:
        return ["none is named (MEMORANDA_ANCHOR_FILE)"]
    lines = [f"{name}: not reachable: {why}" for name, why in status.unreachable.items()]
    alarms = [str(one) for one in status.anchors if one.is_alarm]
    agreeing = sum(one.verdict == "agrees" for one in status.anchors)
    names = ", ".join(one.name for one in seal.anchors if one.name not in status.unreachable)
    if agreeing:
        lines.append(f"{names}: agrees, {counted(agreeing, 'checkpoint')} compared")
    elif names and not alarms:
        lines.append(f"{names}: keeps no checkpoint of this scope yet")
    return [*lines, *alarms]
