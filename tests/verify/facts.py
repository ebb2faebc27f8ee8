"""A journal of facts, made from docs/format.md with nothing of memoranda."""

from typing import Any

from tests.verify.journals import Journal, canonical, memory, sha256

SCHEMA = "5" * 64
IDLE: dict[str, Any] = {
    "status": "idle",
    "lastError": None,
    "errors": [],
    "pendingRequirements": [],
    "currentAction": None,
}
BROKEN: dict[str, Any] = {
    "code": "action.raised",
    "message": "no",
    "source": {"actionId": "add", "nodePath": ""},
    "timestamp": 5,
}
FAILED = {
    **IDLE,
    "lastError": BROKEN,
    "errors": [BROKEN, {**BROKEN, "code": "a"}, BROKEN],
    "pendingRequirements": [{"id": "\uff21"}, {"id": "z"}, {"id": "\U0001f600"}],
}


def hex_of(value: Any) -> str:
    """Hex SHA-256 of what is canonical."""
    return sha256(canonical(value).encode()).hex()


def snapshot(data: Any, version: int = 0, system: Any = IDLE) -> dict[str, Any]:
    meta = {"version": version, "timestamp": 7, "randomSeed": "s", "schemaHash": SCHEMA}
    return {"data": data, "computed": {}, "system": system, "meta": meta}


def completed(data: Any) -> dict[str, Any]:
    """What is hashed of a snapshot that nothing is wrong with."""
    system = {"terminalStatus": "completed", "errors": [], "pendingDigest": "empty"}
    return {"data": data, "system": system}


def failed(data: Any) -> dict[str, Any]:
    """What is hashed of one whose system is `FAILED`."""
    place = {"actionId": "add", "nodePath": ""}
    errors = [{"code": code, "source": place} for code in ("action.raised", "a", "action.raised")]
    pending = {"pendingIds": ["z", "\U0001f600", "\uff21"]}  # by UTF-16 units
    system = {
        "terminalStatus": "failed",
        "errors": sorted(errors, key=hex_of),
        "pendingDigest": hex_of(pending),
    }
    return {"data": data, "system": system}


def world_of(hashed: Any) -> str:
    return sha256(f"{SCHEMA}:{hex_of(hashed)}".encode()).hex()


def kept(whole: Any, on: list[int] | None = None, changes: Any = None) -> dict[str, Any]:
    if on is None:
        return {"sha256": hex_of(whole), "full": whole}
    return {"sha256": hex_of(whole), "on": on, "changes": changes}


def world(hashed: Any) -> dict[str, Any]:
    record = {
        "worldId": world_of(hashed),
        "schemaHash": SCHEMA,
        "snapshotHash": hex_of(hashed),
        "createdAt": 1,
        "createdBy": None,
    }
    return {"type": "World", "world": record, "marks": [f"world/{world_of(hashed)}"]}


def sealed(key: str, hashed: Any, keeping: Any, **more: Any) -> dict[str, Any]:
    to = world_of(hashed)
    edge = {"edgeId": f"edge-{key}", "from": "0" * 64, "to": to, "proposalId": key[:2]}
    return {
        "type": "ExecutionSealed",
        "executionKey": key,
        "proposalId": key[:2],
        "branch": "main",
        "outcome": "completed",
        "world": to,
        "schemaHash": SCHEMA,
        "edge": edge,
        "snapshot": keeping,
        "completedAt": 9,
        "marks": [f"execution/{key}", f"world/{to}", "branch/main"],
        **more,
    }


def begun(key: str, parent: int, *inputs: str) -> dict[str, Any]:
    return {
        "type": "ExecutionBegun",
        "executionKey": key,
        "proposalId": key[:2],
        "branch": "main",
        "parent": parent,
        "schemaHash": SCHEMA,
        "input": {"$app": {"memoryContext": None, "memoryRecallFailed": False}},
        "sources": [],
        "marks": [f"execution/{key}"],
        "inputs": [f"proposal/{key[:2]}", *inputs],
        "output": f"execution/{key}",
    }


def proposed(id: str) -> dict[str, Any]:
    said = {"type": "Proposal", "proposal": {"proposalId": id}, "branch": "main"}
    return said | {"marks": [f"proposal/{id}", f"open/{id}"], "policy": {}}


def decided(id: str, at: int) -> dict[str, Any]:
    return {
        "type": "Decision",
        "decision": {"proposalId": id},
        "proposalDigest": "0" * 64,
        "baseWorld": "0" * 64,
        "marks": [f"proposal/{id}", f"running/{id}:1"],
        "unmarks": [[f"open/{id}", at]],
    }


START = {"count": 0, "notes": ["가", "b"], "$mel": 1}
FIRST = {"count": 1, "notes": ["가", "b", {"deep": 0.5}], "$mel": 2}
SECOND = {"count": 1, "notes": ["b", {"deep": 0.5, "more": None}]}
BRANCH, WORLD, PROPOSAL, DECISION, BEGUN, STARTED, FINISHED, SEALED, NEXT, FAILING, FORK = range(11)
ERASED = (12, 13, 14)
"""A proposal, its beginning and its end, of which the bodies are gone."""
ERASURE = 16


def own(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if not name.startswith("$")}


def facts_sample(*, erased: bool = True) -> Journal:
    """Every type of fact once; the proposal p3 with its execution was erased, or is about to be."""
    journal = Journal()
    add = journal.add
    start, first = snapshot(START), snapshot(FIRST, 1)
    second, none = snapshot(SECOND, 2), snapshot(SECOND, 3, FAILED)
    begin = completed(own(START))
    branch: dict[str, Any] = {
        "type": "Branch",
        "name": "main",
        "head": world_of(begin),
        "schemaHash": SCHEMA,
    }
    branch |= {"snapshot": kept(start), "createdAt": 1, "marks": ["branch/main", "branches/main"]}
    add("world", branch)  # 0
    add("world", world(completed(own(FIRST))))
    add("proposal", proposed("p1"))
    add("decision", decided("p1", PROPOSAL))
    add("execution", begun("p1:1", BRANCH, "branches/main"))
    effect = {"executionKey": "p1:1", "number": 1, "name": "ask", "marks": ["execution/p1:1"]}
    add("effect", effect | {"type": "EffectStarted", "argumentsDigest": "0" * 64})  # 5
    add("effect", effect | {"type": "EffectFinished", "result": [1, 2.5]})
    to_first = [
        ["set", ["data", "count"], 1],
        ["set", ["data", "$mel"], 2],
        ["splice", ["data", "notes"], 2, 0, [{"deep": 0.5}]],
        ["set", ["meta", "version"], 1],
    ]
    over = {"unmarks": [["running/p1:1", DECISION]]}
    add("execution", sealed("p1:1", completed(own(FIRST)), kept(first, [0], to_first), **over))
    to_second = [
        ["unset", ["data", "$mel"]],
        ["splice", ["data", "notes"], 0, 1, []],
        ["set", ["data", "notes", 1, "more"], None],
        ["set", ["meta", "version"], 2],
    ]
    add("execution", sealed("p2:1", completed(SECOND), kept(second, [0, 7], to_second)))
    to_none = [["set", ["system"], FAILED], ["set", ["meta", "version"], 3]]
    ended = kept(none, [0, 7, 8], to_none)
    add("execution", sealed("pf:1", failed(SECOND), ended, outcome="failed"))
    fork = branch | {"name": "b", "head": world_of(completed(SECOND)), "snapshot": kept(second)}
    add("world", fork | {"marks": ["branch/b", "branches/b"], "inputs": ["execution/p2:1"],
                         "output": "branches/b"})  # fmt: skip
    add("decision", {"type": "Vote", "proposalId": "p1", "vote": {}, "marks": ["proposal/p1"]})
    add("proposal", proposed("p3"))  # 12
    add("execution", begun("p3:1", FORK, "branches/b"))
    add("execution", sealed("p3:1", completed(own(START)), kept(start)))
    add("create", memory("a", 1))
    gone = [[seq, journal.kept[seq].members["body_digest"]] for seq in ERASED]
    names = ["proposal/p3", "execution/p3:1", f"world/{world_of(begin)}"]
    said = {"type": "Erasure", "reason": "asked for", "cause": "user_request", "erased": gone}
    add("erasure", said | {"marks": names})  # 16
    abandoned = {"type": "ExecutionAbandoned", "proposalId": "p3", "why": "it was erased"}
    add("execution", abandoned | {"marks": ["proposal/p3"], "unmarks": [["open/p3", 12]]})
    if erased:
        journal.erase(*ERASED)
    return journal
