"""By stdio and by HTTP, for real: a process, a socket, the SDK's client, both revisions."""

from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client

import memoranda
from memoranda.surfaces.http.messages import MAX_BODY
from memoranda.surfaces.mcp.mount import PATH, mcp_routes
from tests.patience import eventually
from tests.surfaces.mcp.clients import (
    AGENT,
    LEGACY,
    MODERN,
    SCOPE,
    Person,
    by_http,
    by_stdio,
    problem,
    talking,
    with_key,
)

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"accept": "application/json, text/event-stream"}


async def a_conversation(client: Client, person: Person, actor: str) -> None:
    """Remember, recall, verify with progress, forget with a question, and see who did it."""
    heard: list[float] = []

    async def heard_of(progress: float, total: float | None, message: str | None) -> None:
        del total, message
        heard.append(progress)

    made = await client.call_tool("remember", {"data": "Ann prefers email"})
    id = made.structured_content["id"]
    recalled = await client.call_tool("recall", {"query": "Ann", "topK": 1})
    verified = await client.call_tool("verify", {}, progress_callback=heard_of)
    forgotten = await client.call_tool("forget", {"id": id, "reason": "gone"})
    events = (await client.call_tool("history", {"id": id})).structured_content["items"]

    assert [item["id"] for item in recalled.structured_content["items"]] == [id]
    assert verified.structured_content["sound"] is True
    await eventually(lambda: heard)
    assert heard == sorted(set(heard))
    assert forgotten.structured_content["result"]["version"] == 2
    assert len(person.asked) == 1
    assert {event["actor"] for event in events} == {actor}


# ------------------------------------------------------------------------------------ stdio


async def test_a_conversation_by_stdio(fresh_url: str, mode: str, tmp_path: Path) -> None:
    person = Person()
    server = by_stdio(fresh_url, "--scope", SCOPE, folder=tmp_path)
    async with talking(server, mode, person) as client:
        expected = MODERN if mode == MODERN else "2025-11-25"
        assert client.session.protocol_version == expected
        await a_conversation(client, person, "agent:mcp")
    async with memoranda.connect(fresh_url) as database:
        assert await database.scopes() == [SCOPE]


async def test_a_key_says_who_the_client_is_and_until_when(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/memory.db"
    async with memoranda.connect(url) as database:
        made = await database.keys.create(scope=SCOPE, actor="agent:a", rights=["read", "write"])
        server = by_stdio(url, folder=tmp_path, MEMORANDA_API_KEY=made.key)
        async with talking(server, MODERN) as client:
            first = await client.call_tool("remember", {"data": "x"})
            await database.keys.revoke(made.made.id)

            async def asked() -> Any:
                return await client.call_tool("remember", {"data": "y"})

            last = await asked()
            while not last.is_error:
                last = await asked()

    assert not first.is_error
    assert problem(last)["code"] == "door.key_refused"


# ------------------------------------------------------------------------------------- http


async def test_a_conversation_by_http(fresh_url: str, mode: str) -> None:
    person = Person()
    async with (
        by_http(fresh_url) as address,
        talking(f"{address}{PATH}", mode, person) as client,
    ):
        await a_conversation(client, person, AGENT)


async def test_a_key_by_http_says_who_the_client_is(fresh_url: str, mode: str) -> None:
    async with memoranda.connect(fresh_url) as database:
        made = await database.keys.create(scope="theirs", actor="agent:a", rights=["read", "write"])
    async with by_http(fresh_url) as address:
        async with talking(with_key(address, made.key), mode) as client:
            answer = await client.call_tool("remember", {"data": "x"})
            id = answer.structured_content["id"]
            (event,) = (await client.call_tool("history", {"id": id})).structured_content["items"]
            refused = problem(await client.call_tool("review", {"decision": "approve"}))
        async with httpx2.AsyncClient(headers=ACCEPT) as client:
            answers = [
                await client.post(f"{address}{PATH}", json=HELLO, headers=headers)
                for headers in ({}, {"authorization": "Bearer mk_nonsense"})
            ]

    assert event["actor"] == "agent:a"
    assert refused["code"] == "door.right_missing"
    assert [(found.status_code, found.json()["code"]) for found in answers] == [
        (401, "door.key_missing"),
        (401, "door.key_refused"),
    ]
    assert all("www-authenticate" in found.headers for found in answers)


async def test_several_processes_share_no_sessions_and_nobody_is_asked(url: str) -> None:
    person = Person()
    async with (
        by_http(url, mounts=partial(mcp_routes, stateless=True)) as address,
        talking(f"{address}{PATH}", LEGACY, person) as client,
    ):
        made = await client.call_tool("remember", {"data": "x"})
        id = made.structured_content["id"]
        assert not (await client.call_tool("forget", {"id": id, "reason": "x"})).is_error

    assert person.asked == []


async def test_a_session_is_for_the_key_that_began_it(tmp_path: Path) -> None:
    own = f"sqlite:///{tmp_path}/own.db"
    async with memoranda.connect(own) as database:
        keys = [
            (await database.keys.create(scope=scope, actor=AGENT, rights=["read"])).key
            for scope in ("one", "two")
        ]
    one, two = ({"authorization": f"Bearer {key}"} for key in keys)
    ask = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    async with by_http(own) as address, httpx2.AsyncClient(headers=ACCEPT) as client:
        begun = await client.post(f"{address}{PATH}", json=HELLO, headers=one)
        session = {"mcp-session-id": begun.headers["mcp-session-id"]}
        theirs = await client.post(f"{address}{PATH}", json=ask, headers={**two, **session})

    assert begun.status_code == 200
    assert begun.headers["x-content-type-options"] == "nosniff"
    assert theirs.status_code == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"host": "evil.example"}, 403), ({"origin": "https://evil.example"}, 403), ({}, 200)],
)
async def test_other_hosts_and_origins_are_refused(
    url: str, headers: dict[str, str], status: int
) -> None:
    async with by_http(url) as address, httpx2.AsyncClient(headers=ACCEPT) as client:
        answer = await client.post(f"{address}{PATH}", json=HELLO, headers=headers)

    assert answer.status_code == status


async def test_a_body_that_is_too_large_is_refused(url: str) -> None:
    async with by_http(url) as address, httpx2.AsyncClient(headers=ACCEPT) as client:
        answer = await client.post(f"{address}{PATH}", content=b"x" * (MAX_BODY + 1))

    assert answer.status_code == 413


async def test_a_server_with_an_open_stream_stops(url: str) -> None:
    async with httpx2.AsyncClient(headers=ACCEPT) as client, AsyncExitStack() as streams:
        async with by_http(url) as address:
            begun = await client.post(f"{address}{PATH}", json=HELLO)
            session = {"mcp-session-id": begun.headers["mcp-session-id"]}
            opened = client.stream("GET", f"{address}{PATH}", headers=session)
            stream = await streams.enter_async_context(opened)
            assert stream.status_code == 200

        assert await stream.aread() is not None  # it has an end
