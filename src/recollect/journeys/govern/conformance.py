"""Conformance: what memory rests on is compared whenever it is opened (GOV-BREAK).

A difference that nothing on record excuses is logged as a break, once. Opening never fails for
it; while it stands, nothing is returned for factual use, and a recorded re-audit lifts it.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from recollect.journeys.audit.checkpoints import Checkpoints, checkpoint_of, root_at
from recollect.journeys.audit.verify import Progress, nobody
from recollect.journeys.audit.whole import Audit, audit
from recollect.journeys.govern.drafts import Drafts
from recollect.journeys.govern.receipts import Receipt
from recollect.journeys.govern.table import GovernedTable
from recollect.journeys.records.contents import check_text
from recollect.kernel.clock import Clock
from recollect.kernel.errors import ConformanceBroken, InvalidPolicy, InvalidProof
from recollect.ledger.anchor import Finding
from recollect.ledger.breaks import Break, Fingerprint, LogHead, ReAudit, compare
from recollect.ledger.entry import Kind, entry_hash, genesis
from recollect.ledger.governance import (
    Governance,
    audit_body,
    break_body,
    fingerprint_body,
    folded,
    policy_body,
)
from recollect.ledger.policy import Policy
from recollect.ledger.unit import REBUILDING, Draft, Head, Unit
from recollect.text import TOKENIZER

ANCHORED_AT_OPEN = 8
"""How many of an anchor's newest notes are compared when a handle is opened; `verify` takes all."""


@dataclass(frozen=True, slots=True)
class Status:
    """How a scope stands, for people and programs."""

    scope: str
    origin: str
    size: int
    checkpoint: str | None
    """The newest checkpoint that is kept with the journal, as a note."""
    policies: Mapping[str, Policy]
    breaks: Mapping[str, str]
    anchors: Sequence[Finding]
    unreachable: Mapping[str, str]


class Conformance:
    """The policies, breaks and audits of one scope."""

    def __init__(
        self,
        scope: str,
        table: GovernedTable,
        drafts: Drafts,
        clock: Clock,
        checkpoints: Checkpoints,
        models: Mapping[str, str] | None = None,
    ) -> None:
        self._scope = scope
        self._table = table
        self._ledger = table.ledger
        self._drafts = drafts
        self._clock = clock
        self._checkpoints = checkpoints
        self._models = dict(models or {})

    async def on_open(self) -> None:
        """Compare what memory rests on now with what it rested on, and log what broke."""
        state = await self.state()
        now = await self._fingerprint(state)
        found = await self._breaks(state, now)
        new = [one for one in found if one.id not in state.logged]
        bodies: list[tuple[Kind, bytes]] = [("conformance_break", break_body(one)) for one in new]
        if state.fingerprint is None or state.fingerprint.digest != now.digest:
            bodies.append(("maintenance", fingerprint_body(now)))
        if bodies:
            await self._append("system:recollect", bodies)

    async def state(self) -> Governance:
        """What the journal says of the memory as a whole."""
        notices = await self._ledger.notices()
        return folded(one.body for one in notices if one.body is not None)

    async def status(self) -> Status:
        """How the scope stands, its anchors compared anew."""
        state, head = await self.state(), await self._ledger.head()
        notes = await self._ledger.notes()
        findings = await self._checkpoints.findings(newest=ANCHORED_AT_OPEN)
        return Status(
            self._scope,
            head.origin,
            head.size,
            notes[0] if notes else None,
            {str(kind): policy for kind, policy in state.policies.items()},
            state.breaks,
            findings,
            dict(self._checkpoints.failures),
        )

    async def audit(self, *, progress: Progress = nobody) -> Audit:
        """Verify the ledger, and compare it with its checkpoints and its anchors."""
        return await audit(self._checkpoints, progress=progress)

    async def check_factual(self) -> None:
        """Refuse factual use while a break stands; ConformanceBroken names the first."""
        breaks = (await self.state()).breaks
        if breaks:
            raise ConformanceBroken(self._scope, next(iter(breaks.values())))

    async def change_policy(self, policy: Policy, *, reason: str, actor: str) -> Receipt:
        """Put a policy's next version into force (GOV-BREAK)."""
        check_text("reason", reason)
        state = await self.state()
        if policy.kind not in state.policies:
            raise InvalidPolicy(policy.kind, "there is no such policy")
        body = policy_body(state.policies[policy.kind], policy, reason)
        receipt = await self._append(actor, [("policy_change", body)], policy.id, policy.version)
        await self.on_open()  # what memory rests on has changed, with a trail
        return receipt

    async def record_audit(self, audit_ref: str, *, reason: str, actor: str) -> Receipt:
        """Record a re-audit of the memory as it is: every break that stands is lifted."""
        check_text("audit_ref", audit_ref)
        check_text("reason", reason)
        state = await self.state()
        now = await self._fingerprint(state)
        audit = ReAudit(audit_ref, frozenset(state.breaks), now.digest)
        body = audit_body(state.fingerprint or now, now, audit, reason)
        return await self._append(actor, [("policy_change", body)], "re_audit", 1)

    # ------------------------------------------------------------------------- inside

    async def _breaks(self, state: Governance, now: Fingerprint) -> list[Break]:
        before = state.fingerprint
        root_then = None
        if before is not None and before.log is not None and now.log is not None:
            size = before.log.size
            if size <= now.log.size:
                root_then = (await root_at(self._ledger, size)).hex()
        found = compare(before, now, state.trail, root_then=root_then)
        head = await self._ledger.head()
        if state.unreadable or now.log is None or not await self._is_whole(head):
            found.append(_lost(f"{head.size}/{head.entry_hash.hex()}"))
        findings = await self._checkpoints.findings(newest=ANCHORED_AT_OPEN)
        found += [_lost(str(one)) for one in findings if one.is_alarm][:1]
        return found

    async def _is_whole(self, head: Head) -> bool:
        """Whether the journal ends where its head says; the rest is for `verify`.

        Somebody may write meanwhile: an entry beyond the head is one too many if the head stays.
        """
        is_longer = await self._ledger.entry(head.size) is not None
        if is_longer and (await self._ledger.head()).size == head.size:
            return False
        if not head.size:
            return head.entry_hash.hex() == genesis(head.origin)
        last = await self._ledger.entry(head.size - 1)
        return last is not None and entry_hash(last.entry) == head.entry_hash

    async def _fingerprint(self, state: Governance) -> Fingerprint:
        log = None
        with suppress(InvalidProof):  # then the log can't be verified, and that is a break
            checkpoint = await checkpoint_of(self._ledger)
            log = LogHead(checkpoint.size, checkpoint.root.hex())
        known = {} if state.fingerprint is None else state.fingerprint.models
        return Fingerprint(
            models={**known, **self._models},
            tokenizer=await self._tokenizer(state),
            policies={kind: policy.digest for kind, policy in state.policies.items()},
            log=log,
        )

    async def _tokenizer(self, state: Governance) -> str | None:
        """Whose tokens the index has; while it is made anew, those that it had."""
        tokenizer = (await self._ledger.index()).tokenizer
        if tokenizer == REBUILDING:
            return None if state.fingerprint is None else state.fingerprint.tokenizer
        return tokenizer or TOKENIZER

    async def _append(
        self, actor: str, bodies: Sequence[tuple[Kind, bytes]], id: str = "", version: int = 1
    ) -> Receipt:
        drafts = [Draft(kind, body, self._drafts.salt()) for kind, body in bodies]
        unit = Unit(actor, self._clock.now_ms(), lambda _: drafts)
        last = (await self._table.commit(unit)).places[-1]
        return Receipt(id, version, last.entry_hash.hex(), last.seq + 1)


def _lost(what: str) -> Break:
    return Break("log_lost", "log", what, "none")
