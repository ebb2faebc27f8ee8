"""What an app runs: a host, the schema that it runs under, and the state it starts from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from memoranda.kernel.errors import InvalidIntent
from memoranda.kernel.json import JsonValue, check
from memoranda.worlds.domain import Domain
from memoranda.worlds.host import Host
from memoranda.worlds.local_host import LocalHost


@dataclass(frozen=True, slots=True)
class Genesis:
    """What a branch begins with: a schema, and the first state under it."""

    schema_hash: str
    initial: JsonValue
    computed: Mapping[str, JsonValue]
    """What follows from the initial state."""


@dataclass(frozen=True, slots=True)
class Runtime(Genesis):
    """A host with what is known of it before it runs."""

    host: Host
    check_intent: Callable[[str, JsonValue], Any]
    """Refuses an action or an input that it does not know, with InvalidIntent."""


def of_domain(domain: Domain) -> Runtime:
    """The actions of a domain, run in this process."""
    host = LocalHost(domain)
    initial = domain.initial_data()
    computed = domain.compute(initial)
    return Runtime(domain.schema_hash, initial, computed, host, domain.check_intent)


def of_host(host: Host, schema_hash: str, initial: JsonValue) -> Runtime:
    """Any other host; whether it knows an action, it says itself, by its result."""

    def check_intent(action: str, _input: JsonValue) -> None:
        if not action or action.startswith("system."):
            raise InvalidIntent(action, "names beginning with 'system.' are reserved")

    check(initial)
    return Runtime(schema_hash, initial, {}, host, check_intent)
