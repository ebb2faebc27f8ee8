"""The MemoryLog as NDJSON: out as the seed has it, in strictly, or leniently with a list (GOV-LOG).

One canonical JSON object a line, each line ended by a newline: a later export begins with the
bytes of an earlier one.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from memoranda.identity import canonical_bytes
from memoranda.kernel.errors import InvalidEvent, InvalidLog
from memoranda.kernel.json import JsonValue
from memoranda.ledger.event import LogEvent
from memoranda.ledger.validate_events import Log, numbered, read_line, validate_log
from memoranda.ledger.violation import Violation


@dataclass(frozen=True, slots=True)
class LogReading:
    """The events of a log as they stood there, and what was let through to have them."""

    documents: tuple[dict[str, JsonValue], ...]
    let_through: tuple[Violation, ...] = ()

    def events(self) -> Iterator[LogEvent]:
        """The events as values; InvalidEvent at one of somebody else's that can't be one."""
        for document in self.documents:
            yield LogEvent.model_validate(document)


def write_log(events: Iterable[Mapping[str, JsonValue]]) -> Iterator[bytes]:
    """The lines of a log, each with its newline."""
    for event in events:
        yield canonical_bytes(dict(event)) + b"\n"


def read_log(lines: Log, *, lenient: bool = False) -> LogReading:
    """The events of a log (GOV-LOG).

    Strictly, a log with any error is refused as a whole with InvalidLog, and so are members that
    we don't know: what they mean to say would be lost. Leniently, for logs of others, every line
    that is a JSON object is kept as it is, and all that is wrong with it is listed; a line that
    is none can't be kept, and is listed too. Warnings never refuse a log.
    """
    lines = lines if isinstance(lines, (str, bytes)) else list(lines)
    found = validate_log(lines)
    broken = {violation.line for violation in found if violation.severity == "error"}
    documents = []
    for number, line in numbered(lines):
        document, unread = read_line(line)
        if unread is not None:
            continue
        documents.append(document)
        if number not in broken:  # there, it was said already
            found += [replace(violation, line=number) for violation in _unfit(document)]
    found.sort(key=lambda violation: violation.line or 0)
    errors = [violation for violation in found if violation.severity == "error"]
    if errors and not lenient:
        raise InvalidLog(len(errors), errors[0].line or 0, f"{errors[0].why}, at {errors[0].where}")
    return LogReading(tuple(documents), tuple(found))


def _unfit(document: dict[str, JsonValue]) -> Iterator[Violation]:
    """What keeps a valid event from being one of ours: unknown members, times of another form."""
    try:
        LogEvent.model_validate(document)
    except InvalidEvent as refused:
        yield Violation("L1", "GOV-LOG", refused.where, refused.why)
