"""A witness as an anchor: another machine, asked over HTTP, that cosigns checkpoints.

It is told what the journal is now and proves nothing by itself: what counts is that its key has
signed, and for what it says of a journal, that it signed just now.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from functools import cached_property
from typing import Final, NamedTuple, Self
from urllib.parse import urlsplit

from memoranda.kernel.clock import Clock, SystemClock
from memoranda.kernel.errors import (
    AnchorFailed,
    InvalidCheckpoint,
    InvalidKey,
    InvalidOption,
    WitnessDisagrees,
    WitnessRefused,
)
from memoranda.ledger.anchor import ConsistencyProofs, Kept, KeptDamage, KeptNote
from memoranda.ledger.checkpoint import Checkpoint, parse_checkpoint, parse_size
from memoranda.ledger.signed_note import (
    COSIGNATURE,
    Signature,
    SignedNote,
    VerifierKey,
    check_signatures,
)
from memoranda.ledger.witness import request_text, split_cosignature
from memoranda.outside.keys import Ed25519Verifier
from memoranda.outside.models.endpoint import Refused, httpx2_module, is_this_machine, joined

SECONDS: Final = 5.0
"""How long a witness may take for an answer."""
FRESH_SECONDS: Final = 600
"""How far the clocks of a witness and of whoever asks it may be apart."""
_MOST_BYTES: Final = 1_000_000
_TRIES: Final = 4
"""Another process may publish the same journal meanwhile: then the witness knows more."""
_OK, _CONFLICT, _NO_PROOF, _UNKNOWN = 200, 409, 422, 404
_WHY: Final[Mapping[int, str]] = {
    400: "it can't read the checkpoint",
    403: "no key that it knows for this log has signed the checkpoint",
    _UNKNOWN: "it does not know this log: its --logs must name the origin and the key",
}


class _Answer(NamedTuple):
    status: int
    body: str


class WitnessAnchor:
    """A witness by its URL and its public key; without a key nothing that it signs is believed."""

    def __init__(
        self,
        url: str,
        key: VerifierKey | None = None,
        *,
        clock: Clock | None = None,
        seconds: float = SECONDS,
    ) -> None:
        try:
            parts = urlsplit(url)
            parts.port  # noqa: B018 - says whether it is one
        except ValueError:
            raise InvalidOption("the address of a witness", "it is not a URL") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            why = "it does not begin with http:// or https://"
            raise InvalidOption("the address of a witness", why)
        if key is not None and key.kind != COSIGNATURE:
            raise InvalidKey(key.name, "it is not a witness's: that is of the type 04")
        self.url = url.rstrip("/")
        self.key = key
        self._is_loopback = is_this_machine(parts)
        self._clock = clock or SystemClock()
        self._seconds = seconds
        self._known: dict[str, int] = {}
        """Per log, the size that the witness cosigned last, as far as it was heard here."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """The witness of ``URL#KEY``, or of a URL alone; InvalidOption or InvalidKey otherwise."""
        url, separator, key = text.partition("#")
        return cls(url, VerifierKey.parse(key) if separator else None)

    @property
    def name(self) -> str:
        """What reports call it: its URL."""
        return self.url

    async def publish(
        self, note: str, /, proofs: ConsistencyProofs | None = None
    ) -> tuple[Signature, ...]:
        """Have a checkpoint cosigned; when it returns, the witness remembers it.

        1. it is sent with the proof from the size that the witness is thought to know
        2. if that knows another size, it is sent again with the proof from there
        3. WitnessDisagrees if what the witness knows is no beginning of this journal
        4. WitnessRefused if it does not cosign, or its key did not sign the answer
        """
        checkpoint, signed = parse_checkpoint(note)
        old = self._known.get(checkpoint.origin, 0)
        for _ in range(_TRIES):
            needs_proof = 0 < old < checkpoint.size
            proof = await proofs(old) if proofs is not None and needs_proof else ()
            answer = await self._post(request_text(old, proof, note))  # 1.
            match answer.status:
                case 200:
                    self._known[checkpoint.origin] = checkpoint.size
                    return self._cosigned(signed, answer.body)  # 4.
                case 409:
                    known = self._size(answer.body)
                    self._check_size(known, old, checkpoint)  # 3.
                    old = known  # 2.
                case 422:
                    why = f"what it cosigned, of {old} entries, is no beginning of the journal"
                    raise WitnessDisagrees(self.name, why)  # 3.
                case status:
                    said = _WHY.get(status, f"it answered with status {status}")
                    raise WitnessRefused(self.name, said)  # 4.
        raise WitnessRefused(self.name, "others had it cosign meanwhile, again and again")

    async def read(self, origin: str | None = None, /) -> AsyncIterator[Kept]:
        """The newest checkpoint of a journal that it cosigned, if there is one."""
        if origin is None:
            raise AnchorFailed(self.name, "a witness is asked for one journal at a time")
        answer = await self._ask("GET", "/checkpoint", params={"origin": origin})
        if answer.status == _OK:
            yield self._kept(answer.body)
        elif answer.status != _UNKNOWN:
            raise AnchorFailed(self.name, f"it answered with status {answer.status}")

    # ------------------------------------------------------------------- answers

    def _size(self, body: str) -> int:
        try:
            return parse_size(body.removesuffix("\n"))
        except InvalidCheckpoint:
            raise WitnessRefused(self.name, "it does not say which size it knows") from None

    def _check_size(self, known: int, old: int, checkpoint: Checkpoint) -> None:
        if known > checkpoint.size:
            raise WitnessDisagrees(
                self.name,
                f"it has cosigned {known} entries of {checkpoint.origin}, and this checkpoint is "
                f"of {checkpoint.size}: the journal was cut off, or another process was faster",
            )
        if known == old == checkpoint.size:
            why = f"it has cosigned another root of {checkpoint.origin} at {known} entries"
            raise WitnessDisagrees(self.name, why)

    def _cosigned(self, signed: SignedNote, lines: str) -> tuple[Signature, ...]:
        """The signatures of the witness's own key; those of others are left out."""
        if self.key is None:
            return ()
        try:
            _, note = parse_checkpoint(f"{signed.text}\n{lines}")
        except InvalidCheckpoint:
            raise WitnessRefused(self.name, "its answer holds no signatures") from None
        why = self._flaw(note)
        if why is not None:
            raise WitnessRefused(self.name, why)
        return check_signatures(note, [Ed25519Verifier(self.key)]).signed

    def _kept(self, body: str) -> Kept:
        """What it says of a journal; damage where nothing shows that the witness says it, now."""
        if self.key is not None:
            try:
                _, note = parse_checkpoint(body)
            except InvalidCheckpoint as refused:
                return KeptDamage(self.name, "not_cosigned", f"its answer: {refused.why}")
            if (why := self._flaw(note)) is not None:
                return KeptDamage(self.name, "not_cosigned", why)
        return KeptNote(self.name, body)

    def _flaw(self, note: SignedNote) -> str | None:
        """Why a note does not show that this witness has signed it just now; None if it does."""
        assert self.key is not None  # noqa: S101 - whoever calls has looked
        report = check_signatures(note, [Ed25519Verifier(self.key)])
        if report.failed:
            return f"the cosignature of {self.key.name} is not of this checkpoint"
        times = [split_cosignature(signature.signature) for signature in report.signed]
        if not times:
            return f"its answer is not cosigned by {self.key.name}"
        newest = max(found[0] for found in times if found is not None)
        away = abs(self._clock.now_ms() // 1000 - newest)
        if away > FRESH_SECONDS:
            return f"its answer was cosigned {away:,} s from now: it is an old one, or a clock is"
        return None

    # ------------------------------------------------------------------- requests

    async def _post(self, text: str) -> _Answer:
        return await self._ask("POST", "/add-checkpoint", content=text.encode())

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
    ) -> _Answer:
        """What it answers, within bounds; no redirect is followed. AnchorFailed if it is down."""
        httpx2 = httpx2_module()
        try:
            async with (
                asyncio.timeout(self._seconds),
                httpx2.AsyncClient(
                    timeout=self._seconds,
                    follow_redirects=False,
                    trust_env=not self._is_loopback,
                    verify=self._certificates,
                ) as client,
            ):
                request = client.build_request(
                    method,
                    f"{self.url}{path}",
                    content=content,
                    params=params,
                    headers={"user-agent": "memoranda", "accept-encoding": "identity"},
                )
                response = await client.send(request, stream=True)
                async with aclosing(response):
                    raw = await joined(response.aiter_raw(), _MOST_BYTES)
                return _Answer(response.status_code, raw.decode())
        except TimeoutError:
            raise AnchorFailed(self.name, f"no answer within {self._seconds:g} s") from None
        except UnicodeDecodeError:
            raise AnchorFailed(self.name, "its answer is not UTF-8") from None
        except Refused as refused:
            raise AnchorFailed(self.name, refused.why) from None
        except httpx2.HTTPError as failed:
            why = str(failed) or type(failed).__name__
            raise AnchorFailed(self.name, f"it can't be reached: {why}") from failed

    @cached_property
    def _certificates(self) -> ssl.SSLContext:
        """Loaded once: it takes a while."""
        if self.url.startswith("https:"):
            return ssl.create_default_context()
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
