"""The examples of the OpenAPI document: `python -m tests.surfaces.http.answering` writes them.

A day in a shop is told to a server, operation by operation, with a clock that stands still and
bytes that are drawn from a seed; what it answers is the example of that operation. A test tells it
anew, and holds each against its schema.
"""

import asyncio
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx2

from memoranda import App, Clockwork, errors
from memoranda.app.service.operations import OPERATIONS
from memoranda.formats import parse_json
from memoranda.kernel.access import RIGHTS
from memoranda.models import scripted
from memoranda.surfaces import story
from memoranda.surfaces.errors import problem_of
from memoranda.surfaces.http import openapi
from memoranda.surfaces.http.messages import MAX_BODY, json_bytes
from memoranda.testkit.strategies import FrozenClock
from tests.campaigns.adversity.chance import Random, seeded_randomness
from tests.journeys.embeddings.toy import ToyEmbedder
from tests.surfaces.http.serving import Served, served

FILE: Final = Path(openapi.__file__).with_name("answers.json")
START: Final = 1_763_000_000_000
SCOPE: Final = "shop"
ELSEWHERE: Final = "the same person in another scope"
NOBODY: Final = "somebody with a wrong key"
NO_CONTENT: Final = 204
MEASURED: Final = "tookMs"
"""A member that a real clock measured: it is shown as one millisecond."""

Answers = dict[str, Any]


def app_of(scope: str) -> App[Any] | None:
    """The shop of the demo story, with a model that knows one answer."""
    shop = story.app()
    model = scripted([{"when": "", "answer": "By email, as you prefer."}])
    return (
        App(domain=shop.domain, authority=shop.authority, model=model) if scope == SCOPE else None
    )


class Telling:
    """Calls, and what the first of each operation was answered."""

    def __init__(self, door: Served, keys: dict[str, str]) -> None:
        self.door = door
        self.keys = keys
        self.answers: Answers = {}
        self.problems: Answers = {}

    async def __call__(self, name: str, /, *, who: str = story.AGENT, **given: Any) -> Any:
        """What an operation answers to these members, well."""
        answer = await self._asked(name, who, given)
        assert answer.is_success, (name, answer.text)
        if answer.status_code == NO_CONTENT:
            return None
        found = answer.text if OPERATIONS[name].stream else still(answer.json())
        self.answers.setdefault(name, found)
        return found

    async def refused(self, name: str, /, *, who: str = story.AGENT, **given: Any) -> None:
        """Keep the problem that an operation answers."""
        self.keep((await self._asked(name, who, given)).json())

    def keep(self, problem: Any) -> None:
        """Keep the first problem of each status."""
        self.problems.setdefault(str(problem["status"]), problem)

    async def _asked(self, name: str, who: str, given: dict[str, Any]) -> httpx2.Response:
        operation = OPERATIONS[name]
        path = re.sub(r"\{(\w+)\}", lambda found: str(given.pop(found[1])), operation.path)
        where = "params" if operation.method in ("GET", "DELETE") else "json"
        return await self.door.ask(
            operation.method,
            f"/v1{path}",
            headers={"authorization": f"Bearer {self.keys[who]}"},
            **{where: given},
        )


def still(found: Any) -> Any:
    """The same without what a real clock measured."""
    if isinstance(found, dict):
        return {key: 1 if key == MEASURED else still(value) for key, value in found.items()}
    return [still(one) for one in found] if isinstance(found, list) else found


async def told(folder: Path) -> dict[str, Answers]:
    """The examples: of answers by the operation, of problems by the status."""
    clock = FrozenClock(START)
    clockwork = Clockwork(clock, randomness=seeded_randomness(Random(7)))
    url = f"sqlite:///{folder}/memory.db"
    options: Any = {"clockwork": clockwork, "embedder": ToyEmbedder(), "app_of": app_of}
    async with served(url, keyless=False, **options) as door:
        keys = {
            actor: (await door.database.keys.create(scope=SCOPE, actor=actor, rights=rights)).key
            for actor, rights in {
                story.AGENT: ["read", "write"],
                story.MANAGER: RIGHTS,
            }.items()
        }
        other = await door.database.keys.create(
            scope="branch-office", actor=story.MANAGER, rights=RIGHTS
        )
        call = Telling(door, keys | {ELSEWHERE: other.key, NOBODY: "mk_none"})
        await _remembered(call)
        await _asked(call)
        await _acted(call)
        await _governed(call)
        await _kept(call)
        await _audited(call)
        await _refused(call)
    for refused in (
        errors.WorldErased("world", "0a1b"),
        errors.RequestTooLarge(MAX_BODY),
        errors.Overloaded(1),
        errors.ModelFailed("chat", "it took too long"),
        errors.RequestTimedOut(10.0),
        RuntimeError("a bug"),
    ):
        call.keep(parse_json(json_bytes(problem_of(refused).document())))
    return {"answers": call.answers, "problems": dict(sorted(call.problems.items()))}


async def _remembered(call: Telling) -> None:
    kim: Any = {"subject": "kim", "source": "ticket/812", "tags": ["preference"]}
    await call("remember", data="Kim prefers email", id="contact", **kim)
    await call(
        "remember_many",
        memories=[{"data": "Kim lives in Busan", "id": "city"}, {"data": "Kim calls at noon"}],
        subject="kim",
        source="ticket/813",
    )
    await call("put", id="carrier", data={"name": "Swift Parcel", "days": 3}, source="contract/8")
    await call("update", id="carrier", patch={"days": 2}, reason="the new contract")
    await call(
        "batch",
        writes=[
            {"do": "put", "id": "lamp", "data": "The blue lamp is sold out"},
            {"do": "forget", "id": "nothing", "reason": "it was never there"},
        ],
    )
    message = {"role": "user", "speaker": "ann", "content": "My favourite colour is green."}
    await call("learn", messages=[message])
    await call("get", id="contact")
    await call("list", subject="kim", limit=2)
    await call("records.create", data={"n": 1}, id="order-1", tags=["order"])
    await call("records.create_many", records=[{"id": "order-2", "data": {"n": 2}}])
    await call("records.get", id="order-1")
    await call("records.version", id="order-1")
    await call("records.page", filter={"tags": ["order"]})
    await call("records.ids", filter={"tags": ["order"]})
    await call("records.count", filter={"tags": ["order"]})
    await call("records.stream", filter={"tags": ["order"]})
    await call("records.tags", prefix="o")
    await call("records.forget_where", filter={"tags": ["order"]}, reason="it was delivered")
    await call("forget", id="lamp", reason="it is in stock again")
    await call("history", id="lamp")


async def _asked(call: Telling) -> None:
    found = await call("recall", query="how does Kim want to be reached?", topK=1)
    await call("trace", id=found["traceId"])
    await call("why", id=found["traceId"])
    await call("whoami")
    await call("journal.original", ref=found["items"][0]["ref"]["worldId"])
    await call("journal.object", id="contact")
    turn = await call("turns.take", message="How do you reach me?", session="kim", record=True)
    await call("turns.account", cycleId=turn["cycleId"])
    await call("turns.sessions")
    await call("turns.replay", cycleId=turn["cycleId"])


async def _acted(call: Telling) -> None:
    small = {"ticket": "812", "customer": "kim", "euros": story.SMALL}
    await call("act", action="refund", input=small, memory=[], reason="the lid was broken")
    large = small | {"ticket": "813", "euros": story.LARGE}
    for verdict in ("approve", "reject", "abstain"):
        made = await call("worlds.propose", action="refund", input=large, memory=[], reason="lost")
        proposal = made["proposalId"]
        await call("inbox.list")
        lee = {"who": story.MANAGER, "proposalId": proposal}
        await call(f"inbox.{verdict}", **lee, reason="the carrier was asked")
        if verdict == "approve":
            await call("worlds.run", proposalId=proposal)
            await call("worlds.standing", proposalId=proposal)
    await call("worlds.resume")
    branches = await call("worlds.branches")
    world = branches[0]["world"]
    await call("worlds.branch", name="what-if", at=world)
    await call("worlds.restore", id=world)
    await call("worlds.lineage", name="main", limit=2)
    await call("worlds.replay", id=world)
    await call("worlds.replay_branch", name="main")


async def _governed(call: Telling) -> None:
    lee = {"who": story.MANAGER}
    await call(
        "govern.consolidate",
        ids=["contact", "city"],
        statement="Kim, who lives in Busan, prefers email",
        justification="both are about Kim",
    )
    await call("govern.approve", **lee, id="contact", reason="Kim said so", verdict="Factual")
    await call("govern.archive", id="city", reason="Kim moves")
    await call("govern.reinstate", id="city", reason="Kim stays")
    await call("govern.supersede", id="city", data="Kim lives in Seoul", reason="Kim moved")
    await call("govern.revise", id="carrier", tags=["carrier"], reason="to find it")
    await call(
        "govern.change_policy",
        **lee,
        policy="oversight",
        version=2,
        rules={"maker_may_judge": False, "agents_may_audit": False},
        reason="people audit",
    )
    await call("govern.status")
    await call("govern.record_audit", **lee, auditRef="audit/1", reason="once a year")


async def _kept(call: Telling) -> None:
    lee = {"who": story.MANAGER}
    await call("maintain.configure", **lee, enabled=True, retention={"maxRecords": 1000},
               reason="that is enough")  # fmt: skip
    await call("maintain.run", **lee, jobs=["expiry", "checkpoint"])
    await call("maintain.status")
    await call("maintain.reindex", **lee)
    await call("maintain.embed", **lee)


async def _audited(call: Telling) -> None:
    await call("journal.head")
    (entry,) = await call("journal.entries", start=1, limit=1)
    event = f"id: {entry['seq']}\nevent: {entry['kind']}\ndata: {quoted(entry)}\n\n"
    call.answers["journal.tail"] = event  # the same entry, as Door sends it
    await call("journal.backwards", kinds=["create"], limit=1)
    await call("journal.latest", what="recall", limit=1)
    await call("journal.activity", since=START - 60_000, parts=1)
    await call("journal.subjects")
    await call("journal.ids", prefix="con")
    await call("journal.proof", seq=1)
    await call("journal.checkpoints", limit=1)
    lines = await call("journal.export", kind="objects", subject="kim")
    await call("journal.import_objects", who=ELSEWHERE, objects=lines, dryRun=True)
    await call("verify")
    await call("erase", who=story.MANAGER, subject="kim", reason="Kim asked us to, in letter 31")


async def _refused(call: Telling) -> None:
    """One problem of each status that a client can bring about."""
    await call.refused("remember")
    await call.refused("whoami", who=NOBODY)
    await call.refused("erase", id="carrier", reason="an agent may not")
    await call.refused("get", id="nowhere")
    await call.refused("records.create", data=1, id="carrier")
    await call.refused("update", id="carrier", patch=1, expectedVersion=1)
    for method, headers in (("POST", {}), ("PUT", {"content-type": "text/plain"})):
        path = "/v1/journal" if method == "POST" else "/v1/memories/a"
        key = {"authorization": f"Bearer {call.keys[story.AGENT]}"}
        answer = await call.door.ask(method, path, content=b"x", headers=headers | key)
        call.keep(answer.json())


async def main() -> None:
    """Write the file."""
    with TemporaryDirectory() as folder:
        found = await told(Path(folder))
    FILE.write_bytes(written(found))


def written(found: dict[str, Answers]) -> bytes:
    """The file: a line for each example."""
    parts = []
    for part, examples in found.items():
        lines = (f"{quoted(name)}:{quoted(one)}" for name, one in sorted(examples.items()))
        parts.append(f"{quoted(part)}:{{\n" + ",\n".join(lines) + "\n}")
    return ("{\n" + ",\n".join(parts) + "\n}\n").encode()


def quoted(value: Any) -> str:
    """A value as JSON."""
    return json_bytes(value).decode()


if __name__ == "__main__":
    asyncio.run(main())
