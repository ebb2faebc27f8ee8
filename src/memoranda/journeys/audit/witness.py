"""A witness: it keeps the checkpoints of others append-only, and says so with its signature."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from memoranda.kernel.errors import CheckpointConflict, InvalidProof, LogUnknown
from memoranda.ledger.checkpoint import parse_checkpoint
from memoranda.ledger.signed_note import SignedNote, Signer, Verifier, sign_note, verify_note
from memoranda.ledger.witness import Cosigned, check_extends, parse_request

log = logging.getLogger("memoranda.witness")


class WitnessMemory(Protocol):
    """What a witness remembers, one checkpoint for each log; it outlives a crash."""

    async def newest(self, origin: str) -> Cosigned | None:
        """The newest checkpoint of a log that was cosigned; None where there is none."""
        ...

    async def advance(
        self, origin: str, new: Cosigned, judge: Callable[[Cosigned | None], None]
    ) -> None:
        """Remember a checkpoint if `judge` agrees; nobody else writes between the two."""
        ...


@dataclass(frozen=True, slots=True)
class Witness:
    """Cosigns what extends what it knows, and nothing else (C2SP tlog-witness)."""

    known: Callable[[str], Sequence[Verifier]]
    """The keys of a log, by its origin; LogUnknown where there is none."""
    memory: WitnessMemory
    cosigners: Sequence[Signer]

    async def add_checkpoint(self, raw: bytes) -> str:
        """Cosign a checkpoint; the lines of the cosignatures.

        1. the request has the form of one                            InvalidCheckpoint
        2. the log is known                                           LogUnknown
        3. a key of the log has signed the checkpoint                 InvalidSignature
        4. it extends what was cosigned last (`check_extends`)
        5. it is remembered, in one transaction with 4
        6. only then it is cosigned: a crash forgets nothing that somebody was given
        """
        request = parse_request(raw)  # 1.
        new, note = request.noted
        keys = self.known(new.origin)  # 2.
        signed = verify_note(note, keys).signed  # 3.
        kept = Cosigned(new.size, new.root, str(SignedNote(note.text, signed)))
        try:
            await self.memory.advance(  # 4. and 5.
                new.origin, kept, lambda known: check_extends(request, known)
            )
        except (CheckpointConflict, InvalidProof) as refused:
            if getattr(refused, "size", request.old_size) == request.old_size:
                # The log's own key has signed it. If it does not grow from here, that proves it.
                log.warning("perhaps another history: %s: %s", refused, kept.note)
            raise
        return await self._cosigned(note.text)  # 6.

    async def newest_checkpoint(self, origin: str) -> str:
        """The newest checkpoint of a log, cosigned anew: so it is as of now; LogUnknown if none."""
        known = await self.memory.newest(origin)
        if known is None:
            raise LogUnknown(origin)
        return known.note + await self._cosigned(parse_checkpoint(known.note).note.text)

    async def _cosigned(self, text: str) -> str:
        cosigned = await sign_note(text, self.cosigners)
        return "".join(signature.line for signature in cosigned.signatures)
