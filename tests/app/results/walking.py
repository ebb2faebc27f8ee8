"""Which values the verbs of a handle return, read from their annotations."""

import inspect
import types
import typing
from collections.abc import Iterator
from functools import cached_property
from typing import Any, get_args, get_origin, get_type_hints

from memoranda.journeys.govern.batch import Batch
from memoranda.journeys.recall.reasoning import Reasoning
from memoranda.journeys.records.store import Records
from memoranda.journeys.turn.turns import Turns
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.results import Rows

OBJECTS = (Batch, Reasoning, Records, Turns, Rows, ActorRef)
"""What has verbs of its own, or is no result: it is not sent anywhere."""


def results_of(handle: type) -> set[type]:
    """The classes of ours that the public verbs of a class, and of its groups, return."""
    found: set[type] = set()
    for name, member in inspect.getmembers_static(handle):
        if name.startswith("_"):
            continue
        if inspect.isfunction(member):
            found.update(_classes(_returned(member)))
        elif isinstance(member, property | cached_property):
            getter = member.fget if isinstance(member, property) else member.func
            for group in _classes(_returned(getter)):
                found.update(results_of(group) if group not in OBJECTS else ())
    return {one for one in found if one not in OBJECTS}


def _returned(function: Any) -> Any:
    return get_type_hints(inspect.unwrap(function)).get("return")


def _classes(hint: Any) -> Iterator[type]:
    if get_origin(hint) is not None or isinstance(hint, types.UnionType):
        yield from _classes(get_origin(hint))
        for part in get_args(hint):
            yield from _classes(part)
    elif _is_ours(hint):
        yield hint


def _is_ours(hint: Any) -> bool:
    is_class = isinstance(hint, type) and not typing.is_typeddict(hint)
    return is_class and hint.__module__.startswith("memoranda.")
