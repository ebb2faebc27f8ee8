"""The table: every operation that doors offer, with the right that it needs.

A door makes its routes, tools or pages of this, and nothing else; the checks, the reference in
docs/http.md and the tests follow from it.
"""

from collections.abc import Mapping
from typing import Final

from memoranda.app.groups import Govern, Inbox, TurnsOf, Worlds
from memoranda.app.journal import Journal
from memoranda.app.memory import Memory
from memoranda.app.service import acts
from memoranda.app.service.operation import Operation
from memoranda.app.upkeep import Maintain
from memoranda.journeys.records.store import Records

_MEMORIES: Final = (
    Operation("remember", "write", Memory.remember, "adds", "POST /memories"),
    Operation("remember_many", "write", acts.remember_many, "adds", "POST /memories/many"),
    Operation("put", "write", Memory.put, "changes", "PUT /memories/{id}"),
    Operation("update", "write", Memory.update, "changes", "PATCH /memories/{id}"),
    Operation("batch", "write", acts.write_batch, "changes", "POST /memories/batch"),
    Operation("learn", "write", Memory.learn, "adds", "POST /memories/learn", is_repeatable=True),
    Operation("forget", "write", Memory.forget, "changes", "DELETE /memories/{id}"),
    Operation("erase", "erase", Memory.erase, "destroys", "POST /erasures", is_repeatable=True),
    Operation("get", "read", Memory.get, "reads", "GET /memories/{id}", finds=True),
    Operation("list", "read", Memory.list, "reads", "GET /memories"),
    Operation("history", "read", Memory.history, "reads", "GET /memories/{id}/history"),
    Operation("recall", "read", Memory.recall, "reads", "POST /recall"),
    Operation("trace", "read", acts.read_trace, "reads", "GET /traces/{id}"),
    Operation("why", "read", Memory.why, "reads", "GET /why/{id}"),
    Operation("whoami", "read", acts.whoami, "reads", "GET /whoami"),
    Operation("verify", "read", Memory.verify, "reads", "POST /verify"),
    Operation("act", "write", acts.act, "changes", "POST /act"),
)
_RECORDS: Final = (
    Operation("records.create", "write", acts.create_record, "adds", "POST /records"),
    Operation("records.create_many", "write", acts.create_records, "adds", "POST /records/many"),
    Operation("records.get", "read", Records.get, "reads", "GET /records/{id}", finds=True),
    Operation(
        "records.version", "read", Records.version, "reads", "GET /records/{id}/version", finds=True
    ),
    Operation("records.update", "write", Records.update, "changes", "PATCH /records/{id}"),
    Operation("records.update_many", "write", acts.update_records, "changes", "PATCH /records"),
    Operation(
        "records.annotate",
        "write",
        acts.annotate_record,
        "changes",
        "PUT /records/{id}/annotations",
    ),
    Operation(
        "records.delete",
        "write",
        Records.delete,
        "changes",
        "DELETE /records/{id}",
    ),
    Operation(
        "records.delete_many",
        "write",
        Records.delete_many,
        "changes",
        "POST /records/delete",
        is_repeatable=True,
    ),
    Operation(
        "records.clear",
        "write",
        Records.clear,
        "changes",
        "POST /records/clear",
        is_repeatable=True,
    ),
    Operation(
        "records.forget_where", "write", acts.forget_records, "changes", "POST /records/forget"
    ),
    Operation("records.page", "read", acts.page_records, "reads", "POST /records/page"),
    Operation("records.ids", "read", acts.record_ids, "reads", "POST /records/ids"),
    Operation("records.count", "read", acts.count_records, "reads", "POST /records/count"),
    Operation("records.tags", "read", acts.record_tags, "reads", "GET /tags"),
    Operation(
        "records.stream",
        "read",
        acts.stream_records,
        "reads",
        "POST /records/stream",
        stream="results",
    ),
)
_ACTING: Final = (
    Operation("inbox.list", "read", Inbox.list, "reads", "GET /inbox"),
    Operation(
        "inbox.approve", "decide", Inbox.approve, "changes", "POST /inbox/{proposalId}/approve"
    ),
    Operation("inbox.reject", "decide", Inbox.reject, "changes", "POST /inbox/{proposalId}/reject"),
    Operation(
        "inbox.abstain", "decide", Inbox.abstain, "changes", "POST /inbox/{proposalId}/abstain"
    ),
    Operation("worlds.propose", "write", acts.propose, "adds", "POST /proposals"),
    Operation("worlds.standing", "read", Worlds.standing, "reads", "GET /proposals/{proposalId}"),
    Operation("worlds.run", "write", Worlds.run, "changes", "POST /proposals/{proposalId}/run"),
    Operation("worlds.resume", "write", Worlds.resume, "changes", "POST /proposals/resume"),
    Operation("worlds.restore", "read", Worlds.restore, "reads", "GET /worlds/{id}"),
    Operation("worlds.lineage", "read", Worlds.lineage, "reads", "GET /branches/{name}/lineage"),
    Operation("worlds.replay", "read", Worlds.replay, "reads", "POST /worlds/{id}/replay"),
    Operation("worlds.branch", "write", Worlds.branch, "adds", "POST /branches"),
    Operation("worlds.branches", "read", Worlds.branches, "reads", "GET /branches"),
    Operation(
        "worlds.replay_branch",
        "read",
        Worlds.replay_branch,
        "reads",
        "POST /branches/{name}/replay",
        stream="results",
    ),
    Operation("turns.account", "read", TurnsOf.account, "reads", "GET /cycles/{cycleId}"),
    Operation("turns.take", "write", TurnsOf.take, "changes", "POST /turns"),
    Operation("turns.sessions", "read", TurnsOf.sessions, "reads", "GET /sessions"),
    Operation("turns.replay", "read", TurnsOf.replay, "reads", "POST /cycles/{cycleId}/replay"),
)
_GOVERNING: Final = (
    Operation("govern.archive", "write", Govern.archive, "changes", "POST /memories/{id}/archive"),
    Operation(
        "govern.reinstate", "write", Govern.reinstate, "changes", "POST /memories/{id}/reinstate"
    ),
    Operation(
        "govern.supersede", "write", Govern.supersede, "changes", "POST /memories/{id}/supersede"
    ),
    Operation("govern.revise", "write", Govern.revise, "changes", "POST /memories/{id}/revise"),
    Operation("govern.consolidate", "write", Govern.consolidate, "adds", "POST /consolidations"),
    Operation("govern.approve", "decide", Govern.approve, "changes", "POST /memories/{id}/approve"),
    Operation(
        "govern.change_policy", "maintain", acts.change_policy, "changes", "PUT /policies/{policy}"
    ),
    Operation("govern.record_audit", "maintain", acts.record_audit, "adds", "POST /audits"),
    Operation("govern.status", "read", Govern.status, "reads", "GET /status"),
)
_JOURNAL: Final = (
    Operation("journal.head", "read", Journal.head, "reads", "GET /journal"),
    Operation("journal.entries", "read", Journal.entries, "reads", "GET /journal/entries"),
    Operation("journal.backwards", "read", Journal.backwards, "reads", "GET /journal/backwards"),
    Operation("journal.latest", "read", Journal.latest, "reads", "GET /journal/latest/{what}"),
    Operation("journal.activity", "read", Journal.activity, "reads", "GET /journal/activity"),
    Operation("journal.subjects", "read", Journal.subjects, "reads", "GET /subjects"),
    Operation("journal.tail", "read", Journal.tail, "reads", "GET /journal/tail", stream="events"),
    Operation("journal.ids", "read", Journal.ids, "reads", "GET /journal/ids"),
    Operation(
        "journal.proof",
        "read",
        Journal.proof,
        "reads",
        "GET /journal/entries/{seq}/proof",
        finds=True,
    ),
    Operation("journal.checkpoints", "read", Journal.checkpoints, "reads", "GET /checkpoints"),
    Operation("journal.original", "read", Journal.original, "reads", "GET /originals/{ref}"),
    Operation("journal.object", "read", Journal.object, "reads", "GET /objects/{id}"),
    Operation(
        "journal.export", "read", Journal.export, "reads", "GET /exports/{kind}", stream="lines"
    ),
    Operation("journal.import_objects", "write", acts.import_objects, "adds", "POST /imports"),
)
_MAINTAINING: Final = (
    Operation("maintain.status", "read", Maintain.status, "reads", "GET /maintenance"),
    Operation(
        "maintain.configure",
        "maintain",
        acts.configure_maintenance,
        "changes",
        "PUT /maintenance",
    ),
    Operation(
        "maintain.run",
        "maintain",
        acts.run_jobs,
        "changes",
        "POST /maintenance/run",
        is_repeatable=True,
    ),
    Operation(
        "maintain.reindex",
        "maintain",
        Maintain.reindex,
        "changes",
        "POST /maintenance/reindex",
        is_repeatable=True,
    ),
    Operation(
        "maintain.embed",
        "maintain",
        Maintain.embed,
        "adds",
        "POST /maintenance/embed",
        is_repeatable=True,
    ),
    Operation(
        "maintain.scrub",
        "maintain",
        Maintain.scrub,
        "changes",
        "POST /maintenance/scrub",
        is_repeatable=True,
    ),
)

OPERATIONS: Final[Mapping[str, Operation]] = {
    operation.name: operation
    for operation in (*_MEMORIES, *_RECORDS, *_ACTING, *_GOVERNING, *_JOURNAL, *_MAINTAINING)
}
"""By name, in the order of the reference."""

NOT_OFFERED: Final[Mapping[str, str]] = {
    "reasoning": "a phase lies around code; over a door recalls and their proposal share its id",
    "worlds.project": "a projection is code",
    "turns.open": "a model and a summariser are code; turns.take has those of the server's app",
    "records.query": "records.page has the same, a page at a time",
    "maintain.evaluate": "recall each question; the figures are counted where they are read",
    "records.given": "a store of your own is not served",
}
"""What the API has and no door does, and why."""
