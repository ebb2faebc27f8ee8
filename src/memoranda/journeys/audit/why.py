"""Why: what led to a world, an execution, a proposal, a recall or a record, as one tree.

Who selected, who used, who approved; the memories as they were then, and what is known of them
now; and the journal's proof for each (R-2, R-3). It reads, and never selects anything again.
"""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final

from memoranda.identity import decode
from memoranda.journeys.audit.verify import EntryProof, proof_of
from memoranda.journeys.intent import documents, names
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.journeys.intent.documents import TRACE, FoundFact, fact_of_type
from memoranda.journeys.records.contents import check_findable
from memoranda.journeys.turn.facts import RECALL
from memoranda.kernel.ambient import check_reach, reached
from memoranda.kernel.errors import RecordNotFound, WorldErased, WorldNotFound
from memoranda.kernel.json import JsonValue
from memoranda.kernel.results import Result
from memoranda.ledger.entry import read_entry
from memoranda.ledger.fact import ERASURE
from memoranda.ledger.lifecycle import act_of
from memoranda.ledger.object import data_of
from memoranda.ledger.port import Ledger
from memoranda.ledger.unit import Past
from memoranda.recall.trace import MEMORY, MEMORY_TRACES

ERASED: Final = "erased"
MOST: Final = 20
"""How many of those that led to a world are named; an action that does nothing has very many."""


@dataclass(frozen=True, slots=True, repr=False)
class Why(Result):
    """One thing, what is known of it, and what it rests on."""

    what: str
    """Such as ``world``, ``execution``, ``proposal``, ``decision``, ``memory``."""
    id: str
    known: Mapping[str, JsonValue] = field(default_factory=dict)
    parts: Sequence["Why"] = ()
    proof: EntryProof | None = None


class Explainer:
    """Answers 'why?' from the journal of one scope."""

    def __init__(self, ledger: Ledger, chronicle: Chronicle) -> None:
        self._ledger = ledger
        self._chronicle = chronicle

    async def why(self, id: str) -> Why:
        """The tree of whatever has this id; RecordNotFound if nothing has.

        What was erased says so, and nothing else of it.
        """
        check_reach()
        check_findable(id)
        for name, explain in (
            (names.proposal(id), self._proposal),
            (names.execution(id), self._execution),
            (names.world(id), self._world),
            (names.trace(id), self._recall),
            (names.cycle(id), self._cycle),
        ):
            if await self._ledger.marked(name, limit=1):
                return await explain(id)
        if past := await self._ledger.versions(id):
            return await self._record(id, past)
        raise RecordNotFound(id)

    # --------------------------------------------------------------------------- worlds

    async def _world(self, world_id: str) -> Why:
        parts: list[Why] = []
        record = await self._chronicle.world(world_id)
        has_more = False
        async with aclosing(self._chronicle.each(names.world(world_id))) as facts:
            async for fact in facts:
                if has_more := len(parts) == MOST and fact.type != documents.WORLD:
                    break
                if fact.type == documents.SEALED:
                    parts.append(await self._execution(fact.document["executionKey"]))
                elif fact.type == documents.BRANCH:
                    parts.append(await self._branch(fact))
        said = record.document["world"]
        known = {key: said[key] for key in ("schemaHash", "snapshotHash", "createdAt", "createdBy")}
        if not parts:
            known["content"] = ERASED
        if has_more:
            known["more"] = "others led to it, too"
        return Why("world", world_id, known, parts, await self._proof(record))

    async def _branch(self, fact: FoundFact) -> Why:
        said = fact.document
        known = {"head": said["head"], "createdAt": said["createdAt"]}
        return Why("branch", said["name"], known, (), await self._proof(fact))

    # ----------------------------------------------------------------------- executions

    async def _execution(self, key: str) -> Why:
        try:
            facts = await self._chronicle.execution(key)
        except WorldErased:
            return await self._erased("execution", key, names.execution(key))
        begun = next(stored for stored in facts if stored.type == documents.BEGUN)
        said = begun.document
        known: dict[str, JsonValue] = {
            "branch": said["branch"],
            "base": said["base"],
            "at": said["now"],
            "recall": said["recall"]["outcome"],
        }
        reached((names.execution(key),))
        app = said["input"]["$app"]
        known["memoryContext"] = app["memoryContext"]
        known["memoryRecallFailed"] = app["memoryRecallFailed"]
        sealed = next((stored for stored in facts if stored.type == documents.SEALED), None)
        if sealed is None:
            known["outcome"] = "not sealed"
        else:
            known["outcome"] = sealed.document["outcome"]
            known["world"] = sealed.document["world"]
            known["completedAt"] = sealed.document["completedAt"]
        parts = [await self._proposal(said["proposalId"], with_execution=False)]
        before = said["recall"].get("size", begun.seq)
        parts += [await self._memory(id, before) for id in said["sources"]]
        parts += [_effect(fact) for fact in facts if fact.type == documents.EFFECT_FINISHED]
        return Why("execution", key, known, parts, await self._proof(sealed or begun))

    async def _proposal(self, proposal_id: str, *, with_execution: bool = True) -> Why:
        try:
            facts = await self._chronicle.found(names.proposal(proposal_id))
        except WorldErased:
            return await self._erased("proposal", proposal_id, names.proposal(proposal_id))
        asked = next((fact for fact in facts if fact.type == documents.PROPOSAL), None)
        if asked is None:
            raise WorldNotFound("proposal", proposal_id)
        said = asked.document["proposal"]
        known: dict[str, JsonValue] = {
            "used by": _actor(said["actor"]),
            "action": said["intent"]["body"]["type"],
            "input": said["intent"]["body"].get("input"),
            "base": said["baseWorld"],
            "submittedAt": said["submittedAt"],
        }
        if selectors := _selectors(said.get("trace", {}).get("context", {})):
            known["selected by"] = ", ".join(selectors)
        if "trace" in said:
            known["trace"] = said["trace"]
        parts = [await self._decision(fact) for fact in facts if fact.type == documents.DECISION]
        made_from = asked.document.get("inputs", ())
        traces = [name for name in made_from if name.startswith(names.TRACE)]
        parts += [await self._recall(name.removeprefix(names.TRACE)) for name in traces]
        key = names.execution_key(proposal_id)
        if with_execution and await self._ledger.marked(names.execution(key), limit=1):
            execution = await self._execution(key)
            own = [part for part in execution.parts if part.what != "proposal"]
            parts.append(Why("execution", key, execution.known, own, execution.proof))
        return Why("proposal", proposal_id, known, parts, await self._proof(asked))

    async def _decision(self, fact: FoundFact) -> Why:
        said = fact.document["decision"]
        known = {
            "authority": _authority(said["authority"]),
            "decided by": _actor(said["decidedBy"]),
            "decision": said["decision"]["kind"],
            "decidedAt": said["decidedAt"],
        }
        for name in ("reason", "action"):
            if name in said["decision"]:
                known[name] = said["decision"][name]
        if "reasoning" in said:
            known["reasoning"] = said["reasoning"]
        if "votes" in said:
            known["votes"] = [
                f"{_actor(value['voter'])}: {value['decision']}" for value in said["votes"]
            ]
        return Why("decision", said["decisionId"], known, (), await self._proof(fact))

    # ---------------------------------------------------------------------------- cycles

    async def _cycle(self, cycle_id: str) -> Why:
        """A turn through a plan: each attempt at it, by digests, and what it recalled."""
        name = names.cycle(cycle_id)
        try:
            facts = await self._chronicle.found(name)
        except WorldErased:
            return await self._erased("cycle", cycle_id, name)
        recalls = [fact.document["trace"] for fact in facts if fact.document["type"] == RECALL]
        tried = [fact for fact in facts if fact.document["type"] != RECALL]
        parts = [await self._attempt(number, fact) for number, fact in enumerate(tried, 1)]
        parts += [await self._recall(name.removeprefix(names.TRACE)) for name in recalls]
        last = tried[-1].document
        known = {"outcome": last["outcome"], "session": last["sessionRef"]}
        return Why("cycle", cycle_id, known, parts)

    async def _attempt(self, number: int, fact: FoundFact) -> Why:
        said = fact.document
        known = {name: said[name] for name in ("outcome", "step", "error") if name in said}
        known |= {"at": fact.entry.at, "by": fact.entry.actor, "plan": said["planHash"]}
        if "steps" in said:
            known["steps"] = [f"{id} {digest}" for id, digest in said["steps"]]
            known["items"], known["recorded"] = said["items"], said["recorded"]
        return Why("attempt", str(number), known, (), await self._proof(fact))

    async def _erased(self, what: str, id: str, name: str) -> Why:
        stored = (await self._ledger.marked(name, limit=1, newest_first=True))[0]
        known: dict[str, JsonValue] = {"content": ERASED}
        document = {} if stored.body is None else decode(stored.body)
        if document.get("type") == ERASURE:
            known["reason"], known["cause"] = document["reason"], document["cause"]
            known["erasedAt"] = read_entry(stored.entry).at
        return Why(what, id, known, (), await proof_of(self._ledger, stored.seq))

    # -------------------------------------------------------------------------- memories

    async def _recall(self, trace_id: str) -> Why:
        """A selection: who asked for what, what was found and why, and what was left out."""
        name = names.trace(trace_id)
        try:
            fact = fact_of_type(await self._chronicle.found(name), TRACE, trace_id, "recall")
        except WorldErased:
            return await self._erased("recall", trace_id, name)
        trace, details = fact.document["trace"], fact.document["details"]
        known: dict[str, JsonValue] = {
            "selected by": _actor(trace["selector"]),
            "selector": details["selector"],
            "query": trace["query"],
            "outcome": fact.document["outcome"],
            "selectedAt": trace["selectedAt"],
            "atWorld": trace["atWorldId"],
            "topK": details["topK"],
        }
        if "subject" in fact.document:
            known["subject"] = fact.document["subject"]
        for member in ("constraints", "notes", "error", "below"):
            if details.get(member):
                known[member] = details[member]
        parts = [
            await self._selected(value, item)
            for value, item in zip(trace["selected"], details["items"], strict=True)
        ]
        return Why("recall", trace_id, known, parts, await self._proof(fact))

    async def _selected(self, document: Mapping[str, Any], item: Mapping[str, Any]) -> Why:
        known: dict[str, JsonValue] = {
            "reason": document["reason"],
            "confidence": document["confidence"],
            "verified": document["verified"],
            "ref": document["ref"]["worldId"],
        }
        for member in ("score", "whyNot"):
            if member in item:
                known[member] = item[member]
        if item["kind"] == "world":
            return Why("world", document["ref"]["worldId"], known)
        memory = await self._memory(item["id"], item["seq"] + 1)
        return Why("memory", item["id"], {**memory.known, **known}, (), memory.proof)

    async def _memory(self, id: str, before: int) -> Why:
        """A memory as it was when it was used, and what is known of it now."""
        if id.startswith(names.execution("")):
            return Why("execution", id.removeprefix(names.execution("")), {"its world": "recalled"})
        versions = await self._ledger.versions(id)
        then = [past for past in versions if past.seq < before]
        if not then:
            return Why("memory", id, {"content": "not in this journal"})
        reached((id,))
        used, newest = then[-1], versions[-1]
        known = {**_content(used), "now": _now(used, newest)}
        return Why("memory", id, known, (), await proof_of(self._ledger, used.seq))

    async def _record(self, id: str, versions: Sequence[Past]) -> Why:
        reached((id,))
        parts = []
        for past, before in zip(versions, [None, *versions], strict=False):
            entry = read_entry(past.entry)
            act = act_of(past, before)
            known = {**_content(past), "event": act, "at": entry.at, "by": entry.actor}
            if past.body is not None and (reason := decode(past.body).get("reason")):
                known["reason"] = reason
            parts.append(Why("version", str(past.version.number), known))
        for name in await self._ledger.outputs(id):
            what, _, which = name.partition("/")
            if not which or await self._ledger.versions(name):  # an id may have a slash in it
                what, which = "memory", name
            parts.append(Why(what, which, {"made from": "it"}))
        proof = await proof_of(self._ledger, versions[-1].seq)
        return Why("record", id, {"status": versions[-1].version.status}, parts, proof)

    async def _proof(self, fact: FoundFact) -> EntryProof | None:
        return await proof_of(self._ledger, fact.seq)


def _content(past: Past) -> dict[str, JsonValue]:
    if past.body is None or past.version.status == ERASED:
        return {"version": past.version.number, "content": ERASED}
    document: Any = decode(past.body)
    said = {"version": past.version.number, "content": data_of(document)}
    return {**said, "trust": document["trust"], "verdict": document["verdict_type"]}


def _now(used: Past, newest: Past) -> str:
    version = newest.version
    if version.number == used.version.number:
        return "unchanged" if version.status == "active" else version.status
    if version.status == "active":
        return f"superseded by version {version.number}"
    return f"{version.status} (version {version.number})"


def _effect(fact: FoundFact) -> Why:
    said = fact.document
    known = {name: said[name] for name in ("result", "error") if name in said}
    return Why("effect", f"{said['number']} {said['name']}", known)


def _selectors(context: Mapping[str, Any]) -> list[str]:
    """Who selected the memory of a proposal, each once (R-3)."""
    traces = context.get(MEMORY_TRACES) or [context.get(MEMORY)]
    found = [
        trace["selector"] for trace in traces if isinstance(trace, dict) and "selector" in trace
    ]
    return list(dict.fromkeys(map(_actor, found)))


def _authority(ref: Mapping[str, Any]) -> str:
    """Its kind and id; one that was given no id of its own is its kind alone."""
    kind, name = str(ref["kind"]), ref["authorityId"]
    return kind if name == kind else f"{kind}:{name}"


def _actor(ref: Mapping[str, Any]) -> str:
    return f"{ref['kind']}:{ref['actorId']}"
