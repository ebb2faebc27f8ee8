"""Recordings as a file, and a process that replays it: ``python -m tests.worlds.replaying``."""

import asyncio
import contextlib
import json
import locale
import socket
import sys
from pathlib import Path
from typing import Any

from memoranda.identity import Frozen, canonical_bytes, decode, freeze
from memoranda.worlds.host import EffectError, EffectRecord, HostExecutionOptions
from memoranda.worlds.local_host import LocalHost
from memoranda.worlds.proposal import Intent
from memoranda.worlds.replay import RunRecording, replayed
from memoranda.worlds.snapshot import Snapshot
from tests.worlds.running import Prices, a_shop


class Gone(Prices):
    """An outside that nobody may ask."""

    async def look_up(self, item: str) -> float:
        raise AssertionError(f"a replay asked for {item}")


def written(recording: RunRecording) -> dict[str, Any]:
    """A recording as JSON."""
    return {
        "executionKey": recording.execution_key,
        "base": recording.base.to_wire(),
        "intent": recording.intent.to_wire(),
        "options": recording.options.to_wire(),
        "now": recording.now,
        "randomSeed": recording.random_seed,
        "input": None if recording.input is None else [recording.input.thaw()],
        "effects": [
            {
                "number": effect.number,
                "name": effect.name,
                "argumentsDigest": effect.arguments_digest,
                "result": None if effect.result is None else [effect.result.thaw()],
                "error": effect.error and [effect.error.type, effect.error.message],
            }
            for effect in recording.effects
        ],
        "terminal": decode(recording.terminal),
        "outcome": recording.outcome,
    }


def read(document: dict[str, Any]) -> RunRecording:
    """The recording of a document that `written` made."""
    return RunRecording(
        execution_key=document["executionKey"],
        base=Snapshot.from_wire(document["base"]),
        intent=Intent.from_wire(document["intent"]),
        options=HostExecutionOptions.from_wire(document["options"]),
        now=document["now"],
        random_seed=document["randomSeed"],
        input=_frozen(document["input"]),
        effects=tuple(
            EffectRecord(
                effect["number"],
                effect["name"],
                effect["argumentsDigest"],
                _frozen(effect["result"]),
                EffectError(*effect["error"]) if effect["error"] else None,
            )
            for effect in document["effects"]
        ),
        terminal=canonical_bytes(document["terminal"]),
        outcome=document["outcome"],
    )


def _frozen(one: list[Any] | None) -> Frozen | None:
    return None if one is None else freeze(one[0])


def refuse_sockets(event: str, _arguments: object) -> None:
    """An audit hook: an event loop's own pair of sockets is all that may be made."""
    if event.startswith("socket.") and event != "socket.__new__":
        raise PermissionError(event)


async def main(path: str) -> None:
    """Replay each, and print what came out."""
    documents = json.loads(Path(path).read_text(encoding="utf-8"))
    sys.addaudithook(refuse_sockets)
    with contextlib.suppress(PermissionError):
        socket.create_connection(("127.0.0.1", 9))
        sys.exit("sockets are not blocked")
    for document in documents:
        host = LocalHost(a_shop(Gone()))
        print(await replayed(host, read(document)))  # noqa: T201 - a command


if __name__ == "__main__":
    locale.setlocale(locale.LC_ALL, "")
    asyncio.run(main(sys.argv[1]))
