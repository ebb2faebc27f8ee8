"""Spans of operations, by OpenTelemetry's GenAI conventions for memory (status: development).

Nothing of what is remembered or asked stands in them: ids, counts and codes only.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, StatusCode

from memoranda.app.service.operation import Operation
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

_TRACER: Final = trace.get_tracer("memoranda")


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
    """How many records an operation came to."""
    if not span.is_recording():
        return
    if isinstance(result, Recalled):
        span.set_attribute("gen_ai.memory.record.count", len(result.selected_items))
        span.set_attribute("memoranda.trace_id", result.trace_id)
    elif isinstance(result, list | tuple):
        span.set_attribute("gen_ai.memory.record.count", len(result))
