"""Spans follow the GenAI conventions for memory, and say nothing of content unless it is wanted."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from memoranda.app.service import telemetry
from tests.surfaces.http.serving import Served

SCHEMA = Path(__file__).resolve().parents[4] / "shared/data/otel/gen-ai-memory-records.schema.json"
RECORDS = {  # the same in our words: what the conventions ask of each record
    "type": "array",
    "items": {
        "type": "object",
        "required": ["content"],
        "properties": {
            "id": {"type": "string"},
            "score": {"type": "number"},
            "metadata": {"type": "object"},
        },
    },
}
PIGEONS = "The customer prefers carrier pigeons"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(telemetry, "_TRACER", provider.get_tracer("memoranda"))
    monkeypatch.delenv(telemetry.CONTENT, raising=False)
    yield exporter
    provider.shutdown()


def said(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


async def test_every_kind_of_memory_operation_has_its_name(
    door: Served, spans: InMemorySpanExporter
) -> None:
    await door.told("POST", "/v1/memories", json={"data": PIGEONS, "id": "a"})
    await door.told("PUT", "/v1/memories/a", json={"data": PIGEONS})
    await door.told("PATCH", "/v1/memories/a", json={"patch": PIGEONS})
    await door.told("POST", "/v1/recall", json={"query": "pigeons?", "topK": 3})
    await door.told("GET", "/v1/memories")
    await door.told("DELETE", "/v1/memories/a?reason=over")

    found = spans.get_finished_spans()
    names = [span.name for span in found]
    assert names == [
        "create_memory", "upsert_memory", "update_memory", "search_memory", "memoranda.list",
        "delete_memory",
    ]  # fmt: skip
    for span in found:
        attributes = said(span)
        assert span.kind is SpanKind.INTERNAL
        assert attributes["gen_ai.memory.store.id"] == "default"
        assert attributes.get("gen_ai.operation.name", span.name) == span.name
        assert PIGEONS not in str(attributes)
        assert "pigeons" not in str(attributes)
    assert [said(span).get("gen_ai.memory.record.id") for span in found] == [
        "a", "a", "a", None, None, "a",
    ]  # fmt: skip
    assert [said(span).get("gen_ai.memory.record.count") for span in found] == [
        None, None, None, 1, 1, None,
    ]  # fmt: skip


async def test_a_refusal_is_the_type_of_the_error(
    door: Served, spans: InMemorySpanExporter
) -> None:
    await door.refused("PATCH", "/v1/memories/none", json={"patch": PIGEONS})

    (span,) = spans.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert said(span)["error.type"] == "record.not_found"
    assert not span.events
    assert PIGEONS not in span.to_json()


async def test_content_stands_in_a_span_where_it_is_wanted(
    door: Served, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    await door.told("POST", "/v1/memories", json={"data": PIGEONS, "id": "a"})
    monkeypatch.setenv(telemetry.CONTENT, "true")
    await door.told("POST", "/v1/recall", json={"query": "which pigeons?", "topK": 3})

    attributes = said(spans.get_finished_spans()[-1])
    records = json.loads(attributes["gen_ai.memory.records"])
    assert attributes["gen_ai.memory.query.text"] == "which pigeons?"
    assert [(record["id"], record["content"]) for record in records] == [("a", PIGEONS)]
    jsonschema.validate(records, RECORDS)
    if not SCHEMA.exists():
        pytest.skip("the schema of the conventions is not at hand: shared/data/otel")
    jsonschema.validate(records, json.loads(SCHEMA.read_text()))


async def test_a_span_belongs_to_the_trace_of_whoever_asks(
    door: Served, spans: InMemorySpanExporter
) -> None:
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    headers = {"traceparent": f"00-{trace}-{parent}-01"}
    await door.told("GET", "/v1/status", headers=headers)
    await door.told("GET", "/v1/status", headers={"traceparent": "nonsense"})

    first, second = spans.get_finished_spans()
    assert f"{first.context.trace_id:032x}" == trace
    assert first.parent is not None
    assert f"{first.parent.span_id:016x}" == parent
    assert second.parent is None
