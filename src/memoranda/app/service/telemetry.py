"""Spans of operations, by OpenTelemetry's GenAI conventions for memory (status: development).

Ids, counts and codes stand in them. What was asked and found does so only where whoever runs the
server wants it, by the variable that the conventions have for that.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from opentelemetry import context, propagate, trace
from opentelemetry.trace import Span, SpanKind, StatusCode

from memoranda.app.service.operation import Operation
from memoranda.identity import canonical_bytes
from memoranda.journeys.govern.objects import Receipt
from memoranda.journeys.recall.recalled import Recalled
from memoranda.kernel.access import Principal
from memoranda.kernel.errors import MemorandaError

_NAMES: Final[Mapping[str, str]] = {
    "remember": "create_memory",
    "remember_many": "create_memory",
    "learn": "create_memory",
    "put": "upsert_memory",
    "update": "update_memory",
    "recall": "search_memory",
    "forget": "delete_memory",
    "erase": "delete_memory",
    "records.create": "create_memory",
    "records.create_many": "create_memory",
    "records.update": "update_memory",
    "records.update_many": "update_memory",
    "records.delete": "delete_memory",
    "records.delete_many": "delete_memory",
    "records.page": "search_memory",
}
"""What the conventions call an operation; the others are memoranda's own."""

CONTENT: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_WANTED: Final = frozenset({"true", "span_only", "span_and_event"})
_TRACER: Final = trace.get_tracer("memoranda")


def is_content_wanted() -> bool:
    """Whether spans shall have what was asked and found."""
    return os.environ.get(CONTENT, "").lower() in _WANTED


@contextmanager
def continued(headers: Mapping[str, str]) -> Iterator[None]:
    """In this block spans belong to the trace that a request's headers name, if they name one."""
    if "traceparent" not in headers:
        yield
        return
    named = {name: headers[name] for name in ("traceparent", "tracestate") if name in headers}
    token = context.attach(propagate.extract(named))
    try:
        yield
    finally:
        context.detach(token)


@contextmanager
def spanned(
    operation: Operation, principal: Principal, arguments: Mapping[str, Any]
) -> Iterator[Span]:
    """A span around an operation; a refusal is its error type."""
    name = _NAMES.get(operation.name)
    attributes: dict[str, Any] = {
        "memoranda.operation": operation.name,
        "memoranda.actor": principal.actor,
        "gen_ai.memory.store.id": principal.scope,
    }
    if name is not None:
        attributes["gen_ai.operation.name"] = name
    if isinstance(id := arguments.get("id"), str):
        attributes["gen_ai.memory.record.id"] = id
    with _TRACER.start_as_current_span(
        name or f"memoranda.{operation.name}",
        kind=SpanKind.INTERNAL,
        attributes=attributes,
        record_exception=False,  # its message may hold what was sent
        set_status_on_exception=False,
    ) as span:
        try:
            yield span
        except BaseException as error:
            code = error.code if isinstance(error, MemorandaError) else type(error).__name__
            span.set_attribute("error.type", code)
            span.set_status(StatusCode.ERROR)
            raise


def note_result(span: Span, result: object) -> None:
    """Which record an operation came to, or how many."""
    if not span.is_recording():
        return
    if isinstance(result, Recalled):
        span.set_attribute("gen_ai.memory.record.count", len(result.selected_items))
        span.set_attribute("memoranda.trace_id", result.trace_id)
        span.set_attribute("memoranda.outcome", result.outcome)
        if is_content_wanted():
            span.set_attribute("gen_ai.memory.query.text", result.journaled.query)
            span.set_attribute("gen_ai.memory.records", _records(result))
    elif isinstance(result, Receipt):
        span.set_attribute("gen_ai.memory.record.id", result.id)
    elif isinstance(result, Sequence) and not isinstance(result, str | bytes):
        span.set_attribute("gen_ai.memory.record.count", len(result))


def _records(recalled: Recalled[Any]) -> str:
    """What was found, as the conventions write it."""
    return canonical_bytes(
        [
            {
                "id": item.id,
                "content": item.text,
                "score": item.confidence,
                "metadata": {"trust": item.trust, "verified": item.verified},
            }
            for item in recalled.selected_items
        ]
    ).decode()
