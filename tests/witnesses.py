"""Witnesses and logs for tests: real keys, real files, real HTTP over loopback."""

import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memoranda.app.witness import opened_witness
from memoranda.identity.merkle import NodeList, consistency_proof, frontier_at, leaf_hash
from memoranda.kernel.clock import Clock
from memoranda.kernel.json import parse
from memoranda.ledger.checkpoint import Checkpoint, sign_checkpoint
from memoranda.ledger.signed_note import VerifierKey
from memoranda.ledger.witness import request_text
from memoranda.outside.keys import Ed25519Signer, create_key
from memoranda.outside.witnesses import WitnessAnchor
from memoranda.surfaces.witness import serving
from tests.patience import PATIENCE

ORIGIN = "memoranda/0193-a/support"
LOG_KEY = Ed25519Signer("example.org/memory", bytes(range(32)))


@dataclass
class Log:
    """A journal in memory whose holder signs whatever it is; `at` gives it another history."""

    origin: str = ORIGIN
    signer: Ed25519Signer = LOG_KEY
    nodes: NodeList = field(default_factory=NodeList)

    @classmethod
    def of(cls, *entries: str, origin: str = ORIGIN) -> "Log":
        log = cls(origin)
        for entry in entries:
            log.nodes.append(leaf_hash(entry.encode()))
        return log

    async def note(self, size: int | None = None) -> str:
        size = self.nodes.frontier.size if size is None else size
        checkpoint = Checkpoint(self.origin, size, frontier_at(size, self.nodes).root())
        return str(await sign_checkpoint(checkpoint, [self.signer]))

    async def proof(self, old: int, size: int | None = None) -> Sequence[bytes]:
        size = self.nodes.frontier.size if size is None else size
        return consistency_proof(old, size, self.nodes) if 0 < old < size else []

    async def request(self, old: int, size: int | None = None) -> bytes:
        proof = await self.proof(old, size)
        return request_text(old, proof, await self.note(size)).encode()


@dataclass(frozen=True)
class WitnessFiles:
    """The files of a witness in a folder: its key, its logs and its memory."""

    folder: Path
    key: VerifierKey

    @classmethod
    def make(cls, folder: Path, *logs: str, name: str = "w1.example") -> "WitnessFiles":
        folder.mkdir(exist_ok=True)
        lines = logs or (f"memoranda/ {LOG_KEY.key}",)
        (folder / "logs").write_text("".join(f"{line}\n" for line in lines))
        key = create_key(folder / "key", folder / "ring", name=name, cosigns=True)
        return cls(folder, key)

    @property
    def named(self) -> dict[str, Path]:
        folder = self.folder
        return {
            "logs": folder / "logs",
            "key_file": folder / "key",
            "memory": folder / "memory.db",
        }

    @asynccontextmanager
    async def served(self, clock: Clock | None = None) -> AsyncIterator[WitnessAnchor]:
        """The witness, served on a port of its own; and a client of it that knows its key."""
        with opened_witness(**self.named, clock=clock) as witness:
            async with serving(witness) as (url, _):
                yield WitnessAnchor(url, self.key, clock=clock)


class WitnessProcess:
    """`memoranda witness` as a process of its own."""

    def __init__(self, files: WitnessFiles) -> None:
        named = [f"--{name.replace('_', '-')}={path}" for name, path in files.named.items()]
        self._started = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", "memoranda", "witness", *named, "--port=0", "--json"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._started.stdout is not None
        said: Any = parse(self._started.stdout.readline())
        self.anchor = WitnessAnchor(said["url"], files.key)

    def end(self, how: int = signal.SIGKILL) -> None:
        self._started.send_signal(how)
        with self._started:
            self._started.wait(PATIENCE)
