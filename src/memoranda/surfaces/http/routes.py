"""From a method and a path to an operation. Segments are decoded one by one: an id may have a /."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import unquote_to_bytes

from memoranda.app.surfaces import Operation
from memoranda.errors import InvalidJson, MethodRefused, RouteNotFound

PREFIX: Final = "/v1"

Pattern = tuple[str, ...]


def segments_of(path: str) -> Pattern:
    """The parts of a path, without the prefix."""
    return tuple(path.strip("/").split("/"))


class Routes:
    """The routes of operations."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._by_length: defaultdict[int, list[tuple[Pattern, str, Operation]]] = defaultdict(list)
        for operation in operations:
            pattern = segments_of(operation.path)
            self._by_length[len(pattern)].append((pattern, operation.method, operation))
        for found in self._by_length.values():
            # What is written out comes before what stands for anything.
            found.sort(key=lambda route: [segment.startswith("{") for segment in route[0]])

    def find(self, method: str, raw_path: bytes) -> tuple[Operation, Mapping[str, str]]:
        """The operation of a request, and the members that stand in its path.

        RouteNotFound where nothing is, MethodRefused where other methods are taken.
        """
        given = raw_path.removeprefix(PREFIX.encode()).removeprefix(b"/").split(b"/")
        segments = [_decoded(segment) for segment in given]
        allowed = []
        for pattern, taken, operation in self._by_length.get(len(segments), ()):
            members = _matched(pattern, segments)
            if members is None:
                continue
            if taken == method:
                return operation, members
            allowed.append(taken)
        if allowed:
            raise MethodRefused(", ".join(dict.fromkeys(allowed)))
        raise RouteNotFound


def _matched(pattern: Pattern, segments: Iterable[str]) -> Mapping[str, str] | None:
    members = {}
    for expected, segment in zip(pattern, segments, strict=True):
        if expected.startswith("{") and segment:
            members[expected[1:-1]] = segment
        elif expected != segment:
            return None
    return members


def _decoded(segment: bytes) -> str:
    try:
        return unquote_to_bytes(segment).decode()
    except UnicodeDecodeError:
        raise InvalidJson("the path", "it is not UTF-8") from None
