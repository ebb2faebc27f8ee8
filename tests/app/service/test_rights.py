"""Operation by right by door: whoever may not is refused, and in the same way everywhere."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from memoranda.app.remote.calls import RemoteHandle
from memoranda.app.service.operation import Operation
from memoranda.app.service.operations import NOT_OFFERED, OPERATIONS
from memoranda.errors import MemorandaError
from memoranda.journeys.records.codec import JsonCodec
from memoranda.kernel.access import RIGHTS
from memoranda.outside.server import MemorandaServer
from memoranda.surfaces.errors import problem_of
from memoranda.testkit.strategies import FrozenClock
from tests.surfaces.http.serving import BASE, Served, served

SCOPE, ACTOR = "mine", "agent:me"


@dataclass(frozen=True)
class Credentials:
    """Keys that are good, and keys that are not."""

    whole: str
    without: dict[str, str]
    """A key that has every right but one, by that one."""
    revoked: str
    expired: str


@pytest.fixture
async def door(fresh_url: str, clock: FrozenClock) -> AsyncIterator[Served]:
    async with served(fresh_url, keyless=False, clock=clock) as found:
        yield found


@pytest.fixture
async def credentials(door: Served, clock: FrozenClock) -> Credentials:
    keys = door.database.keys

    async def made(rights: Any = RIGHTS, **more: Any) -> Any:
        return await keys.create(scope=SCOPE, actor=ACTOR, rights=rights, **more)

    revoked = await made()
    await keys.revoke(revoked.made.id)
    expired = await made(expires=clock.now_ms() + 20)
    clock.advance(20)
    return Credentials(
        (await made()).key,
        {right: (await made([r for r in RIGHTS if r != right])).key for right in RIGHTS},
        revoked.key,
        expired.key,
    )


# ------------------------------------------------------------------------------- the doors


async def by_service(
    door: Served, operation: Operation, key: str | None, **identity: str
) -> str | None:
    """The code of the refusal where a door calls the service itself, as MCP and a console do."""
    try:
        principal = await door.service.principal(key)
        await door.service.call(principal, operation, identity)
    except MemorandaError as refused:
        return refused.code
    return None


async def by_http(
    door: Served, operation: Operation, key: str | None, **identity: str
) -> str | None:
    """The same over HTTP."""
    path = "/v1" + re.sub(r"\{\w+\}", "0", operation.path)
    headers = {} if key is None else {"authorization": f"Bearer {key}"}
    where = "params" if operation.method in ("GET", "DELETE") else "json"
    answer = await door.ask(operation.method, path, headers=headers, **{where: identity})
    return None if answer.is_success else str(answer.json()["code"])


async def by_client(
    door: Served, operation: Operation, key: str | None, **identity: str
) -> str | None:
    """The same through a client in Python, which makes our errors of what the server answers."""
    named = {"scope": None, "actor": None, **identity}
    server = MemorandaServer(BASE, key)
    server._client = door.client  # in this process, and no socket
    handle = RemoteHandle[Any](
        server, JsonCodec(), **named, read_only=False, identify=lambda _: None
    )  # type: ignore[arg-type]
    handle._headers |= {} if key is None else {"authorization": f"Bearer {key}"}
    members = dict.fromkeys(re.findall(r"\{(\w+)\}", operation.path), "0")
    try:
        if operation.stream is None:
            await handle.call(operation.name, members)
        else:
            await anext(handle.stream(operation.name, members), None)
    except MemorandaError as refused:
        return refused.code
    return None


DOORS = (by_service, by_http, by_client)
Door = Callable[..., Awaitable[str | None]]


@pytest.mark.parametrize("ask", DOORS)
async def test_every_operation_is_refused_to_whoever_has_no_good_key(
    door: Served, credentials: Credentials, ask: Door
) -> None:
    wrong = credentials.whole[:-2] + ("AA" if credentials.whole[-2:] != "AA" else "BB")
    for operation in OPERATIONS.values():
        assert await ask(door, operation, None) == "door.key_missing", operation.name
        for key in (wrong, "mk_nonsense", "", credentials.revoked, credentials.expired):
            assert await ask(door, operation, key) == "door.key_refused", operation.name


@pytest.mark.parametrize("ask", DOORS)
async def test_every_operation_is_refused_to_a_key_that_lacks_its_right(
    door: Served, credentials: Credentials, ask: Door
) -> None:
    for operation in OPERATIONS.values():
        code = await ask(door, operation, credentials.without[operation.right])

        assert code == "door.right_missing", operation.name


@pytest.mark.parametrize("ask", DOORS)
@pytest.mark.parametrize("identity", [{"scope": "theirs"}, {"actor": "human:boss"}])
async def test_every_operation_is_refused_that_names_another_scope_or_actor(
    door: Served, credentials: Credentials, ask: Door, identity: dict[str, str]
) -> None:
    for operation in OPERATIONS.values():
        code = await ask(door, operation, credentials.whole, **identity)

        assert code == "door.identity_refused", operation.name
    assert not await door.database.exists("theirs")


@pytest.mark.parametrize("header", ["Memoranda-Scope", "Memoranda-Actor"])
async def test_headers_that_name_another_identity_are_refused(
    door: Served, credentials: Credentials, header: str
) -> None:
    headers = {"authorization": f"Bearer {credentials.whole}", header: "agent:other"}

    assert await door.refused("GET", "/v1/status", headers=headers) == (
        403,
        "door.identity_refused",
    )


async def test_the_scope_and_the_actor_are_those_of_the_key(
    door: Served, credentials: Credentials
) -> None:
    headers = {"authorization": f"Bearer {credentials.whole}"}
    said = {"data": "hello", "scope": SCOPE, "actor": ACTOR}

    await door.told("POST", "/v1/memories", json=said, headers=headers)

    entries = await door.told("GET", "/v1/journal/entries", headers=headers)
    assert {entry["actor"] for entry in entries if entry["kind"] == "create"} == {ACTOR}
    assert await door.database.scopes() == [SCOPE]


async def test_nobody_learns_anything_of_another_scope(door: Served) -> None:
    """What is answered about ids of another scope is what is answered about ids of nobody."""
    keys = {
        scope: (await door.database.keys.create(scope=scope, actor=ACTOR, rights=RIGHTS)).key
        for scope in ("theirs", SCOPE)
    }
    canary = "canary-7c1f"
    theirs = {"authorization": f"Bearer {keys['theirs']}"}
    said = {"data": f"The {canary} sings", "subject": canary, "meta": {"a": canary}}
    record = {"id": "known-2", "data": {"a": canary}, "tags": [canary]}
    question = {"query": canary, "topK": 3, "reasoningId": "known-3"}
    await door.told("PUT", "/v1/memories/known-1", json=said, headers=theirs)
    await door.told("POST", "/v1/records", json=record, headers=theirs)
    found = await door.told("POST", "/v1/recall", json=question, headers=theirs)
    reference = found["items"][0]["ref"]["worldId"]
    ours = {"authorization": f"Bearer {keys[SCOPE]}"}
    requests: dict[str, dict[str, Any]] = {
        "recall": {"query": "who sings?", "topK": 9},
        "records.page": {"filter": {}},
        "records.stream": {"filter": {}},
        "worlds.propose": {"action": "refund", "reasoningId": "known-3"},
        "list": {"text": "sings"},
        "journal.ids": {"prefix": "known"},
        "erase": {"wholeScope": True, "reason": "all of it"},
    }
    for operation in OPERATIONS.values():
        if operation.stream == "events":
            continue
        answers = []
        for id in (found["traceId"], "trace-00000000-0000-7000-8000-000000000000"), (
            reference, "0" * 64), ("known-1", "never-1"), ("known-2", "never-2"):  # fmt: skip
            for one in id:
                path = "/v1" + re.sub(r"\{\w+\}", one, operation.path)
                where = "params" if operation.method in ("GET", "DELETE") else "json"
                given = requests.get(operation.name, {"reason": "because"})
                answer = await door.ask(operation.method, path, headers=ours, **{where: given})
                assert canary not in answer.text, (operation.name, one)
                assert answer.status_code < 500, (operation.name, answer.text)
                answers.append((answer.status_code, answer.text.replace(one, "…")))
        if "{" in operation.path:
            for known, never in zip(answers[::2], answers[1::2], strict=True):
                assert known == never, operation.name


# ------------------------------------------------------------------------------- the table


def test_every_verb_of_the_api_is_offered_or_it_is_said_why_not() -> None:
    from memoranda.app.memory import GROUPS, VERBS  # noqa: PLC0415

    offered = {name.partition(".")[0] for name in {*OPERATIONS, *NOT_OFFERED}}
    assert {*VERBS, *GROUPS} <= offered
    assert not OPERATIONS.keys() & NOT_OFFERED.keys()


def test_every_right_is_needed_by_something() -> None:
    assert {operation.right for operation in OPERATIONS.values()} == set(RIGHTS)


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=list(OPERATIONS))
def test_what_reads_needs_no_more_than_the_right_to_read(operation: Operation) -> None:
    assert (operation.right == "read") == operation.reads_only
    assert (operation.right == "erase") == (operation.effect == "destroys")
    assert operation.summary.endswith(".")


def test_no_two_operations_have_one_route() -> None:
    routes = [re.sub(r"\{\w+\}", "{}", operation.route) for operation in OPERATIONS.values()]

    assert len(set(routes)) == len(routes)


def test_a_problem_of_a_bug_says_nothing() -> None:
    problem = problem_of(ValueError("/etc/passwd SELECT secret"))

    assert (problem.status, problem.code) == (500, "bug")
    assert "passwd" not in str(problem.document())
