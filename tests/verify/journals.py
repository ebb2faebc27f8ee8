"""Journals and exports for the verifiers, made from docs/format.md with nothing of memoranda.

The tree is the definition of RFC 6962 itself, slow and plain, so that a verifier that computes it
in another way is compared with something else than itself.
"""

import base64
import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ID = "0123456789abcdef" * 2
START = 1_763_257_839_123


def canonical(value: Any) -> str:
    """RFC 8785, for values without floats and without keys beyond the BMP."""
    return json.dumps(  # noqa: TID251
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )


def sha256(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def root(entries: list[bytes]) -> bytes:
    """RFC 6962, 2.1, as it stands there."""
    if not entries:
        return sha256(b"")
    if len(entries) == 1:
        return sha256(b"\x00" + entries[0])
    half = 1
    while half * 2 < len(entries):
        half *= 2
    return sha256(b"\x01" + root(entries[:half]) + root(entries[half:]))


@dataclass(frozen=True)
class Signer:
    name: str = "example.org/memory"
    seed: bytes = bytes(range(32))

    @property
    def _private(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.seed)

    @property
    def _public(self) -> bytes:
        return b"\x01" + self._private.public_key().public_bytes_raw()

    @property
    def key_id(self) -> bytes:
        return sha256(self.name.encode() + b"\n" + self._public)[:4]

    @property
    def vkey(self) -> str:
        return f"{self.name}+{self.key_id.hex()}+{base64.b64encode(self._public).decode()}"

    def line(self, text: str) -> str:
        signed = self.key_id + self._private.sign(text.encode())
        return f"— {self.name} {base64.b64encode(signed).decode()}\n"


@dataclass
class Kept:
    """One line of the journal: the exact texts."""

    entry: str
    salt: str | None
    body: str | None

    @property
    def members(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.entry)
        return found

    def line(self) -> bytes:
        """As memoranda writes it: in the order of the names."""
        return canonical_line(body=self.body, entry=self.entry, salt=self.salt)


def canonical_line(**members: Any) -> bytes:
    text = json.dumps(members, ensure_ascii=False, separators=(",", ":"))  # noqa: TID251
    return text.encode() + b"\n"


@dataclass
class Journal:
    scope: str = "support/ü"
    id: str = ID
    kept: list[Kept] = field(default_factory=list)

    @property
    def origin(self) -> str:
        return f"memoranda/{self.id}/{quote(self.scope, safe='')}"

    def add(self, kind: str, body: Any, **changes: Any) -> str:
        """Append an entry; returns the integrity digest of its body."""
        seq = len(self.kept)
        text = body if isinstance(body, str) else canonical(body)
        salt = sha256(b"salt %d" % seq)[:16]
        genesis = f"memoranda/journal/1\n{self.origin}"
        before = self.kept[-1].entry if self.kept else genesis
        entry = {
            "actor": "agent:support",
            "at": START + 1000 * seq,
            "body_digest": sha256(salt + sha256(text.encode())).hex(),
            "kind": kind,
            "previous_entry_hash": sha256(before.encode()).hex(),
            "seq": seq,
            "v": 1,
        }
        self.kept.append(Kept(canonical(entry | changes), salt.hex(), text))
        return sha256(text.encode()).hex()

    def erase(self, *seqs: int) -> None:
        for seq in seqs:
            self.kept[seq] = replace(self.kept[seq], salt=None, body=None)

    def rechained(self, change: Callable[[int, dict[str, Any]], None]) -> "Journal":
        """The same journal after its entries were changed, and all hashes computed anew."""
        forged = Journal(self.scope, self.id)
        before = f"memoranda/journal/1\n{self.origin}"
        for seq, one in enumerate(self.kept):
            members = one.members
            change(seq, members)
            members["previous_entry_hash"] = sha256(before.encode()).hex()
            before = canonical(members)
            forged.kept.append(Kept(before, one.salt, one.body))
        return forged

    def with_body(self, at: int, change: Callable[[dict[str, Any]], Any]) -> "Journal":
        """The same journal after one body was changed, and all hashes computed anew."""
        body = json.loads(str(self.kept[at].body))
        text = change(body) or canonical(body)
        salt = str(self.kept[at].salt)
        digest = sha256(bytes.fromhex(salt) + sha256(text.encode())).hex()

        def redigest(seq: int, members: dict[str, Any]) -> None:
            if seq == at:
                members["body_digest"] = digest

        forged = self.rechained(redigest)
        forged.kept[at] = replace(forged.kept[at], body=text)
        return forged

    def note(self, size: int | None = None, signers: Iterable[Signer] = ()) -> str:
        entries = [one.entry.encode() for one in self.kept][:size]
        head = base64.b64encode(root(entries)).decode()
        text = f"{self.origin}\n{len(entries)}\n{head}\n"
        return text + "\n" + "".join(signer.line(text) for signer in signers)

    def lines(self, signers: Iterable[Signer] = ()) -> list[bytes]:
        header = canonical_line(
            type="memoranda-export", v=1, origin=self.origin, scope=self.scope, size=len(self.kept)
        )
        end = canonical_line(type="end", checkpoint=self.note(signers=signers))
        return [header, *(one.line() for one in self.kept), end]

    def export(self, signers: Iterable[Signer] = ()) -> bytes:
        return b"".join(self.lines(signers))


def memory(id: str, version: int, **more: Any) -> dict[str, Any]:
    """The body of a MemoryObject."""
    return {
        "type": "MemoryObject",
        "id": id,
        "version": str(version),
        "statement": f"{id} said “no” {version} times",
        "statement_type": "UserProvidedStatement",
        "verdict_type": "Unanswered",
        "source_refs": [{"uri": "https://example.org/a"}],
        "timestamp": "2026-11-16T02:17:29Z",
        "temporal_scope": "unknown",
        "applicability_scope": None,
        **more,
    }


def sample(*, erased: bool = True) -> Journal:
    """Twelve entries with all that a journal can have; c was erased, or is about to be.

    a: created (1), changed (3), superseded (8)     b: created (2), archived (9)
    c: created (4), changed (5), erased (6)         d: consolidated (7)
    """
    journal = Journal()
    add = journal.add
    add(
        "policy_change", {"type": "Policy", "limits": [1, -5, 0.5], "note": "\u007f\t\\ \U0001f600"}
    )
    a1 = add("create", memory("a", 1))
    b1 = add("create", memory("b", 1, nested={"é": [True, False, None], "": {}}))
    a2 = add("create", memory("a", 2, supersedes="sha256:" + a1))
    c1 = add("create", memory("c", 1))
    c2 = add("create", memory("c", 2, supersedes="sha256:" + c1))
    gone = {"supersedes": "sha256:" + c2, "status": "erased", "reason": "asked for"}
    add("archive", memory("c", 3, **gone), actor="human:7f3a")
    add("consolidate", memory("d", 1, statement_type="ConsolidatedStatement"))
    over = {"supersedes": "sha256:" + a2, "status": "superseded", "reason": "d says it"}
    add("invalidate", memory("a", 3, **over))
    old = {"supersedes": "sha256:" + b1, "status": "archived", "reason": "old"}
    add("archive", memory("b", 2, **old), actor='policy:"keep\\30"')
    add("maintenance", {"type": "Reindexed"})
    add("checkpoint", {"type": "Published", "size": 11})
    if erased:
        journal.erase(4, 5)
    return journal
