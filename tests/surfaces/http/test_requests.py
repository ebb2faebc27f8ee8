"""Requests over HTTP: what goes in, what comes out, and what is refused."""

import asyncio
import base64
from typing import Any
from urllib.parse import quote

import pytest

from memoranda.surfaces.http.door import LOOPBACK, DoorLimits
from memoranda.surfaces.http.messages import MAX_BODY
from tests.surfaces.http.serving import Served, served

EMAIL = "The customer prefers email"


async def test_what_is_remembered_is_recalled_explained_and_verified(door: Served) -> None:
    receipt = await door.told("POST", "/v1/memories", json={"data": EMAIL, "source": "t/1"})
    found = await door.told("POST", "/v1/recall", json={"query": "customer email", "topK": 3})
    why = await door.told("GET", f"/v1/why/{found['traceId']}")
    trace = await door.told("GET", f"/v1/traces/{found['traceId']}")
    verified = await door.told("POST", "/v1/verify")

    assert [item["id"] for item in found["items"]] == [receipt["id"]]
    assert found["outcome"] == "found"
    assert why["what"] == "recall"
    assert trace["selected"][0]["verified"] is True
    assert verified["sound"] is True


async def test_a_version_has_an_entity_tag(door: Served) -> None:
    made = await door.ask("PUT", "/v1/memories/a", json={"data": {"n": 1}})
    read = await door.ask("GET", "/v1/memories/a")
    same = await door.ask("GET", "/v1/memories/a", headers={"If-None-Match": '"1"'})
    patched = await door.ask(
        "PATCH", "/v1/memories/a", json={"patch": {"n": 2}}, headers={"If-Match": '"1"'}
    )

    assert [one.headers["etag"] for one in (made, read, same, patched)] == ['"1"'] * 3 + ['"2"']
    assert (same.status_code, same.content) == (304, b"")
    late = {"json": {"patch": {"n": 3}}, "headers": {"If-Match": '"1"'}}
    assert await door.refused("PATCH", "/v1/memories/a", **late) == (412, "record.version_conflict")
    new = {"json": {"data": 1}, "headers": {"If-None-Match": "*"}}
    assert await door.refused("PUT", "/v1/memories/a", **new) == (412, "record.version_conflict")
    assert (await door.told("GET", "/v1/memories/a"))["data"] == {"n": 2}


async def test_a_retry_with_the_same_key_lands_once(door: Served) -> None:
    asked: dict[str, Any] = {"json": {"data": EMAIL}, "headers": {"Idempotency-Key": "k1"}}
    first = await door.told("POST", "/v1/memories", **asked)
    again = await door.told("POST", "/v1/memories", **asked)
    other = {"json": {"data": "else"}, "headers": {"Idempotency-Key": "k1"}}

    assert first == again
    assert await door.refused("POST", "/v1/memories", **other) == (
        409,
        "record.idempotency_conflict",
    )


async def test_pages_follow_each_other_by_their_cursor(door: Served) -> None:
    for number in range(5):
        await door.told("PUT", f"/v1/memories/m{number}", json={"data": number, "tags": ["t"]})
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = await door.told("GET", "/v1/memories", params={"limit": 2, "tags": "t", **cursor})
        found += [item["id"] for item in page["items"]]
        if page["next"] is None:
            break
        cursor = {"cursor": page["next"]}

    assert sorted(found) == [f"m{number}" for number in range(5)]


async def test_an_id_may_hold_a_slash_and_anything_else(door: Served) -> None:
    for id in ("a/b", "한국어 ?#%", "history", "a/b/history"):
        path = f"/v1/memories/{quote(id, safe='')}"
        await door.told("PUT", path, json={"data": id})

        assert (await door.told("GET", path))["id"] == id
        assert len(await door.told("GET", f"{path}/history")) == 1


async def test_bytes_go_as_base64(door: Served) -> None:
    data = base64.b64encode(bytes(range(256))).decode()
    await door.told("PUT", "/v1/memories/b", json={"data": data, "mediaType": "image/png"})

    assert (await door.told("GET", "/v1/memories/b"))["data"] == data
    asked = {"json": {"data": "no base64!", "mediaType": "image/png"}}
    assert await door.refused("PUT", "/v1/memories/b", **asked) == (400, "input.record")


async def test_many_writes_land_together_or_not_at_all(door: Served) -> None:
    writes = [{"do": "put", "id": "a", "data": 1}, {"do": "forget", "id": "b", "reason": "old"}]
    receipts = await door.told("POST", "/v1/memories/batch", json={"writes": writes})
    bad = [{"do": "put", "id": "c", "data": 1}, {"do": "update", "id": "nowhere", "patch": 1}]

    assert [receipt and receipt["id"] for receipt in receipts] == ["a", None]
    assert await door.refused("POST", "/v1/memories/batch", json={"writes": bad}) == (
        404,
        "record.not_found",
    )
    assert await door.refused("GET", "/v1/memories/c") == (404, "record.not_found")


async def test_records_are_created_found_and_streamed(door: Served) -> None:
    ids = await door.told(
        "POST", "/v1/records/many", json={"records": [{"data": {"n": n}} for n in range(3)]}
    )
    page = await door.told("POST", "/v1/records/page", json={"filter": {"limit": 2}})
    lines = await door.ask("POST", "/v1/records/stream", json={"filter": {}})
    gone = await door.ask("DELETE", f"/v1/records/{ids[0]}")

    assert len(page["items"]) == 2
    assert lines.headers["content-type"] == "application/x-ndjson"
    assert len(lines.text.splitlines()) == 3
    assert (gone.status_code, gone.content) == (204, b"")
    assert await door.told("POST", "/v1/records/count", json={"filter": {}}) == 2
    asked = {"json": {"filter": {"colour": "red"}}}
    assert await door.refused("POST", "/v1/records/page", **asked) == (
        400,
        "input.filter.unknown_key",
    )


async def test_an_export_can_be_imported_elsewhere(door: Served) -> None:
    await door.told("PUT", "/v1/memories/a", json={"data": EMAIL, "source": "t/1"})
    exported = await door.ask("GET", "/v1/exports/objects")

    report = await door.told(
        "POST",
        "/v1/imports?dryRun=true",
        content=exported.content,
        headers={"content-type": "application/x-ndjson", "memoranda-scope": "elsewhere"},
    )

    assert (report["objects"], report["dryRun"]) == (1, True)


async def test_entries_come_as_events_when_they_are_written(door: Served) -> None:
    await door.told("POST", "/v1/memories", json={"data": "first"})
    assert door.server.door is not None
    sent: list[bytes] = []
    seen = asyncio.Event()

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0)
        if not sent:
            return {"type": "http.request", "body": b""}
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))
        if b"second" in b"".join(sent):
            seen.set()

    scope = {
        "type": "http",
        "method": "GET",
        "raw_path": b"/v1/journal/tail",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"last-event-id", b"0")],
    }
    task = asyncio.create_task(door.server.door(scope, receive, send))
    await door.told("POST", "/v1/memories", json={"data": "second"})
    await seen.wait()
    door.server.stop()
    await task

    text = b"".join(sent).decode()
    assert "id: 1\nevent: create\n" in text
    assert '"statement":"second"' in text


# ------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"data": 1, "data": 2}', "input.json"),
        (b'{"data": NaN}', "input.json"),
        (b'{"data": 9007199254740993}', "input.json"),
        (b'{"data": "\\ud800"}', "input.json"),
        (b'{"data": ' + b"[" * 100 + b"]" * 100 + b"}", "input.json"),
        (b"[" * 100_000, "input.json"),
        (b"\xff", "input.json"),
        (b"[1]", "input.record"),
        (b'{"data": 1, "nonsense": 2}', "input.record"),
        (b'{"data": 1, "tags": "x"}', "input.record"),
        (b"{}", "input.record"),
    ],
)
async def test_a_body_that_could_be_read_in_two_ways_is_refused(
    door: Served, body: bytes, code: str
) -> None:
    headers = {"content-type": "application/json"}

    assert await door.refused("POST", "/v1/memories", content=body, headers=headers) == (400, code)
    assert await door.database.scopes() == []


async def test_a_body_that_is_too_large_or_of_another_type_is_refused(door: Served) -> None:
    large = {"content": b"x" * (MAX_BODY + 1), "headers": {"content-type": "application/json"}}
    form = {"data": {"data": "x"}}

    assert await door.refused("POST", "/v1/memories", **large) == (413, "door.request_too_large")
    assert await door.refused("POST", "/v1/memories", **form) == (415, "door.media_type_refused")


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/v1/nothing", (404, "door.route_not_found")),
        ("GET", "/nothing", (404, "door.route_not_found")),
        ("GET", "/v1/memories/%FF", (400, "input.json")),
        ("GET", "/v1/memories?limit=201", (400, "input.record")),
        ("GET", "/v1/memories?limit=x", (400, "input.record")),
        ("GET", "/v1/memories?limit=1&limit=2", (400, "input.record")),
        ("GET", "/v1/memories?colour=red", (400, "input.record")),
        ("POST", "/v1/recall?topK=3", (400, "input.record")),
        ("GET", "/v1/journal/entries/-1/proof", (400, "input.record")),
        ("GET", "/v1/worlds/nowhere", (404, "world.not_found")),
        ("POST", "/v1/maintenance/embed", (409, "store.embedder_missing")),
    ],
)
async def test_a_request_that_means_nothing_is_refused(
    door: Served, method: str, path: str, expected: tuple[int, str]
) -> None:
    assert await door.refused(method, path) == expected


async def test_another_method_is_told_which_are_taken(door: Served) -> None:
    answer = await door.ask("POST", "/v1/status")

    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")


@pytest.mark.parametrize("path", ["/v1/status", "/healthz", "/metrics", "/docs"])
@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "localhost.evil.example"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"host": "127.0.0.1:8300", "origin": "http://localhost:8300"},
    ],
)
async def test_another_host_and_another_origin_are_refused(
    door: Served, path: str, headers: dict[str, str]
) -> None:
    assert await door.refused("GET", path, headers=headers) == (403, "door.host_refused")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8300", "[::1]:8300"])
async def test_this_machine_may_ask_itself(door: Served, host: str) -> None:
    headers = {"host": host, "origin": f"http://{host}"}
    answer = await door.ask("GET", "/v1/status", headers=headers)

    assert answer.status_code == 200
    assert not [name for name in answer.headers if name.startswith("access-control")]


# -------------------------------------------------------------------------------- limits


async def test_more_than_the_server_takes_on_is_told_to_come_again(fresh_url: str) -> None:
    limits = DoorLimits(at_once=2, hosts=LOOPBACK)
    async with served(fresh_url, limits=limits) as door:
        asked = [door.ask("POST", "/v1/memories", json={"data": f"text {n}"}) for n in range(12)]
        answers = await asyncio.gather(*asked)
        after = await door.ask("GET", "/v1/memories")

    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert {answer.headers["retry-after"] for answer in refused} == {"1"}
    assert after.status_code == 200
    assert len(after.json()["items"]) == len(answers) - len(refused)


async def test_a_request_that_takes_too_long_is_given_up(fresh_url: str) -> None:
    limits = DoorLimits(time_limit_s=0.0, hosts=LOOPBACK)
    async with served(fresh_url, limits=limits) as door:
        answer = await door.ask("POST", "/v1/recall", json={"query": "x", "topK": 1})

    assert (answer.status_code, answer.json()["code"]) == (503, "door.request_timed_out")


# --------------------------------------------------------------------------- beside /v1


async def test_health_readiness_and_metrics(door: Served) -> None:
    await door.told("POST", "/v1/memories", json={"data": EMAIL})
    health, ready = await door.ask("GET", "/healthz"), await door.ask("GET", "/readyz")
    counted = await door.ask("GET", "/metrics")

    assert (health.text, ready.text) == ("ok\n", "ready\n")
    assert 'memoranda_requests_total{operation="remember",status="200"} 1.0' in counted.text
    assert EMAIL not in counted.text


async def test_metrics_need_a_key_where_there_are_keys(door: Served) -> None:
    made = await door.database.keys.create(scope="s", actor="agent:a", rights=["read"])
    reader = {"headers": {"authorization": f"Bearer {made.key}"}}

    assert await door.refused("GET", "/metrics") == (401, "door.key_missing")
    assert await door.refused("GET", "/metrics", **reader) == (403, "door.right_missing")


async def test_the_page_of_operations_needs_nothing_from_elsewhere(door: Served) -> None:
    page = await door.ask("GET", "/docs")

    assert "POST /v1/memories" in page.text
    assert "http" not in page.text.replace("https://json", "")
    assert "<script" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
