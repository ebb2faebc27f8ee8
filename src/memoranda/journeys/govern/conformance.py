"""Conformance: what memory rests on is compared whenever it is opened (GOV-BREAK).

A difference that nothing on record excuses, damage that `verify` or a read finds, and a model that
the scope does not declare are each logged as a break, once. Opening never fails for it and writes
nothing: what it finds stands at once, and is logged before the handle's first write. While a break
stands, nothing is returned or recorded as factual, and a recorded re-audit lifts it.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from memoranda.journeys.audit.checkpoints import (
    Checkpoints,
    StoredCheckpoint,
    checkpoint_of,
    root_at,
)
from memoranda.journeys.audit.verify import Progress, nobody
from memoranda.journeys.audit.whole import Audit, audit
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.objects import Receipt
from memoranda.journeys.govern.soundness import (
    ANCHORED_AT_OPEN,
    check_report,
    damage_of,
    damages_at_end,
    lifted,
    models_of,
    objects_at,
)
from memoranda.journeys.govern.table import GovernedTable
from memoranda.journeys.records.contents import check_text
from memoranda.kernel.actors import parse_actor
from memoranda.kernel.clock import Clock
from memoranda.kernel.errors import (
    AuditRefused,
    InvalidPolicy,
    InvalidProof,
    PolicyRefused,
    StoreReadOnly,
)
from memoranda.kernel.given import check_kind
from memoranda.kernel.results import Result
from memoranda.ledger.anchor import Finding
from memoranda.ledger.breaks import (
    Break,
    Fingerprint,
    LogHead,
    compare,
    of_damages,
    outside,
    undeclared,
)
from memoranda.ledger.damage import Damage, first_damages
from memoranda.ledger.entry import Kind, read_entry
from memoranda.ledger.governance import (
    Governance,
    ReAudit,
    audit_body,
    break_body,
    fingerprint_body,
    policy_body,
    standing,
)
from memoranda.ledger.policy import OversightRules, Policy, declared
from memoranda.ledger.snapshot import INDEX_FORM, REBUILDING
from memoranda.ledger.unit import Draft, EntryPlace, Unit

ACTOR = "system:memoranda"

_Note = tuple[Kind, bytes]
"""An entry about the whole memory: its kind, and its body."""

Found = tuple[list[Break], list[_Note]]
"""Breaks that were found, and what else is to be noted."""

Used = Mapping[str, Collection[str]]
"""The identities of the models that were used, by role."""


@dataclass(frozen=True, slots=True, repr=False)
class Status(Result):
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
        self.rulebook = table.rulebook
        self._models: Used = {role: [identity] for role, identity in (models or {}).items()}
        self._one_at_a_time = asyncio.Lock()

    async def checkpoints(self, limit: int) -> list[StoredCheckpoint]:
        """The checkpoints that are kept with the journal, the newest first."""
        return await self._checkpoints.noted(limit)

    # ------------------------------------------------------------------------- opening

    async def on_open(self) -> None:
        """Compare what memory rests on now with what it rested on. Nothing is written."""
        state = await self.rulebook.logged()
        found, _ = await self._opening(state)
        self.rulebook.unrecorded = {break_.id: standing(break_) for break_ in _new(found, state)}

    async def log_opening(self, at: int | None = None) -> None:
        """Log what broke, and what memory rests on now; at this time, or now."""
        async with self._one_at_a_time:
            state = await self.rulebook.logged()
            found, notes = await self._opening(state)
            if await self._log(state, found, notes, at):
                self.rulebook.unrecorded = {}

    async def _opening(self, state: Governance) -> Found:
        """The breaks, and what else the journal does not say of the memory as it is now."""
        now, before = await self._fingerprint(state), state.fingerprint
        damages = await damages_at_end(self._ledger, self._checkpoints, state)
        found = [*await self._changes(state, now), *await self._of_damages(state, damages)]
        models, new, notes = self._of_models(state, self._models)
        now = replace(now, policies={**now.policies, "models": models.digest})
        is_same = before is not None and before.digest == now.digest
        is_known = before is not None and (before.log is not None or now.log is None)
        if not (is_same and is_known):
            notes.append(("maintenance", fingerprint_body(now)))
        return [*found, *new], notes

    async def used_models(self, used: Used, at: int) -> Sequence[Draft]:
        """What is to be logged of models that were used, with what was made with them (GOV-BREAK).

        One that the scope does not declare is a break; the first one of a role that it declares
        nothing for is declared by its use.
        """
        async with self._writing(at):
            state = await self.state()
            _, found, notes = self._of_models(state, used)
            notes = [*_notes(_new(found, state)), *notes]
            return [Draft(kind, body, self._drafts.salt(), actor=ACTOR) for kind, body in notes]

    async def state(self) -> Governance:
        """What the journal says of the memory as a whole, and what was found since."""
        return await self.rulebook.state()

    async def status(self) -> Status:
        state, head = await self.state(), await self._ledger.head()
        notes = await self._ledger.notes(1)
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

    # -------------------------------------------------------------------------- damage

    async def audit(self, *, progress: Progress = nobody) -> Audit:
        """Verify the ledger, compare it with its checkpoints and its anchors, log all damage."""
        if self.rulebook.unrecorded:  # logged first, so that the report is of a journal that has it
            with suppress(StoreReadOnly):
                await self._table.begin(self._clock.now_ms())
        return await self.recorded(await audit(self._checkpoints, progress=progress))

    async def recorded(self, found: Audit) -> Audit:
        """An audit whose damage is on record, as far as it can be; `Audit.recorded` says so."""
        # That no known key has signed is what an auditor asked for, and no damage.
        damages = [damage for damage in found.report.damages.found if damage.name != "signature"]
        return replace(found, recorded=await self.record(damages))

    async def record(self, damages: Sequence[Damage]) -> bool | None:
        """Log damage as conformance breaks, each once; False if this handle can't write.

        None if there is none. What stands already, or was accepted by a re-audit, is on record.
        """
        if not damages:
            return None
        async with self._writing():
            state = await self.state()
            # Of what is wrong at the end of the journal, this names the entries.
            damages = [*await damages_at_end(self._ledger, self._checkpoints, state), *damages]
            return await self._log(state, await self._of_damages(state, damages))

    async def note(self, failed: BaseException | None) -> None:
        """Log the damage that something failed of, if that is what it failed of."""
        await self.note_all([failed])

    async def note_all(self, failed: Sequence[BaseException | None]) -> None:
        damages = [damage for error in failed if (damage := damage_of(error)) is not None]
        await self.record(damages)

    # ------------------------------------------------------------------------ policies

    async def change_policy(self, policy: Policy, *, reason: str, actor: str) -> Receipt:
        """Put a policy's next version into force (GOV-BREAK)."""
        check_kind("policy", policy, Policy, "a Policy")
        check_text("reason", reason)
        state = await self.state()
        if policy.kind not in state.policies:
            raise InvalidPolicy(policy.kind, "there is no such policy")
        if policy.kind == "oversight" and parse_actor(actor).kind == "agent":
            raise PolicyRefused("oversight", f"{actor!r} wants to change it, and no agent may")
        body = policy_body(state.policies[policy.kind], policy, reason)
        place = await self._append(actor, [("policy_change", body)])
        await self.log_opening()  # what memory rests on has changed, with a trail
        return _receipt(policy.id, policy.version, place)

    async def record_audit(
        self,
        audit_ref: str,
        *,
        report: Audit,
        reason: str,
        actor: str,
        accept: Collection[int | str] = (),
    ) -> Receipt:
        """Record a re-audit that rests on a report of `verify`: it lifts what was before it.

        1. agents can't, unless the policy lets them
        2. the report is of the journal as it is: nothing but notices came since
        3. each damage in it was accepted before, or is named now
        4. the breaks that the report looked at are lifted; the models that they are about are
           declared from here on, in the place of those that were
        """
        check_kind("report", report, Audit, "what `verify` has returned")
        check_text("audit_ref", audit_ref)
        check_text("reason", reason)
        async with self._writing():
            state = await self.state()
            # 1.
            oversight = state.policies["oversight"].read(OversightRules)
            if parse_actor(actor).kind == "agent" and not oversight.agents_may_audit:
                why = f"{actor!r} is an agent; let a person record it"
                raise AuditRefused(f"{why}, or change the policy oversight")
            # 2.
            head = await self._ledger.head()
            since = range(report.report.head.size, head.size)
            entries = await self._ledger.bytes_at(since)
            # 3.
            damages = check_report(report.report, head, entries, state, accept)
            # 4.
            over = lifted(state, report.report.head.size, damages)
            audit = ReAudit(
                audit_ref, reason, report.report.size, report.report.root.hex(), over, damages
            )
            audit = replace(audit, objects=await objects_at(self._ledger, audit.damaged))
            notes: list[_Note] = [("policy_change", audit_body(state, audit))]
            models = state.policies["models"]
            roles = models_of(state, over)
            if roles:
                after = declared(models, roles)
                why = f"audited: {audit_ref}"
                notes.append(("policy_change", policy_body(models, after, why)))
                models = after
            now = await self._fingerprint(state)
            now = replace(now, policies={**now.policies, "models": models.digest})
            if over:  # what is compared from here on
                notes.append(("maintenance", fingerprint_body(now)))
            return _receipt("re_audit", 1, await self._append(actor, notes))

    # ------------------------------------------------------------------------- inside

    async def _changes(self, state: Governance, now: Fingerprint) -> list[Break]:
        before = state.fingerprint
        root_then = None
        if before is not None and before.log is not None:
            size = before.log.size
            if size <= (await self._ledger.head()).size:
                try:
                    root_then = (await root_at(self._ledger, size)).hex()
                except InvalidProof:  # entries are missing: that is damage, and is reported as such
                    root_then = before.log.root
        return compare(before, now, state.recorded, root_then=root_then, since=state.fingerprint_at)

    async def _of_damages(self, state: Governance, damages: Sequence[Damage]) -> list[Break]:
        known = state.accepted.union(
            *(standing_break.damages for standing_break in state.standing.values())
        )
        found = first_damages(damages, state.damaged)
        new = [damage for damage in found if damage.name not in known]
        digests: dict[int, str] = {}
        seqs = [damage.entry for damage in new if damage.entry is not None]
        for seq, entry in (await self._ledger.bytes_at(seqs)).items():
            with suppress(InvalidProof):  # one that can't be read names no digest
                digests[seq] = read_entry(entry).body_digest
        return list(of_damages(new, digests, state.audited))

    def _of_models(self, state: Governance, used: Used) -> tuple[Policy, list[Break], list[_Note]]:
        """The policy of models after these were used, the breaks, and the change of the policy."""
        models = state.policies["models"]
        seen = {role: sorted(known) for role, known in used.items()}
        breaks = outside(models, seen)
        first = undeclared(models, seen)
        if not first:
            return models, breaks, []
        after = declared(models, first)
        reason = f"declared by their first use: {', '.join(sorted(first))}"
        return after, breaks, [("policy_change", policy_body(models, after, reason))]

    async def _fingerprint(self, state: Governance) -> Fingerprint:
        log = None
        with suppress(InvalidProof):  # then the log can't be verified, and that is a break
            checkpoint = await checkpoint_of(self._ledger)
            log = LogHead(checkpoint.size, checkpoint.root.hex())
        return Fingerprint(
            index=await self._index(state),
            policies={kind: policy.digest for kind, policy in state.policies.items()},
            log=log,
        )

    async def _index(self, state: Governance) -> str | None:
        """How the index was built; while it is made anew, how it had been."""
        built = (await self._ledger.index()).tokenizer
        if built == REBUILDING:
            return None if state.fingerprint is None else state.fingerprint.index
        return built or INDEX_FORM

    @asynccontextmanager
    async def _writing(self, at: int | None = None) -> AsyncIterator[None]:
        """One at a time looks at the state and writes what follows from it.

        What comes before a handle's first write is written first: it looks at the state, too.
        """
        with suppress(StoreReadOnly):  # then what is to be written is refused as well
            await self._table.begin(self._clock.now_ms() if at is None else at)
        async with self._one_at_a_time:
            yield

    async def _log(
        self,
        state: Governance,
        found: Sequence[Break],
        notes: Sequence[_Note] = (),
        at: int | None = None,
    ) -> bool:
        """Log breaks that don't stand already, and what else is to be noted, as one.

        False where this handle can't write: then the breaks stand for it alone.
        """
        new = _new(found, state)
        notes = [*_notes(new), *notes]
        if not notes:
            return not self.rulebook.unrecorded
        try:
            await self._append(ACTOR, notes, at)
        except StoreReadOnly:
            self.rulebook.unrecorded.update({break_.id: standing(break_) for break_ in new})
            return False
        return True

    async def _append(
        self, actor: str, notes: Sequence[_Note], at: int | None = None
    ) -> EntryPlace:
        """Append these in one unit, at a time or now; where the first of them stands."""
        drafts = [Draft(kind, body, self._drafts.salt()) for kind, body in notes]
        unit = Unit(actor, self._clock.now_ms() if at is None else at, lambda _: drafts)
        return (await self._table.commit(unit)).places[0]


def _new(found: Sequence[Break], state: Governance) -> list[Break]:
    """Those that don't stand already, each once."""
    new = {break_.id: break_ for break_ in found if break_.id not in state.standing}
    return list(new.values())


def _notes(breaks: Sequence[Break]) -> list[_Note]:
    return [("conformance_break", break_body(break_)) for break_ in breaks]


def _receipt(id: str, version: int, place: EntryPlace) -> Receipt:
    return Receipt(id, version, place.entry_hash.hex(), place.seq + 1)
