"""The service: who comes to a door, and what they may have done there.

Every door does the same: it makes a `Principal` of a key, or of nothing where that is let in, and
calls operations with it. Scope and actor are the principal's; a request that names others is
refused.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from memoranda.app.database import Database
from memoranda.app.memory import Memory
from memoranda.app.options import App
from memoranda.app.service.operation import Operation
from memoranda.app.service.operations import OPERATIONS
from memoranda.app.service.telemetry import note_result, spanned
from memoranda.app.service.vocabulary import MOST
from memoranda.journeys.access.gate import PER_MINUTE, AccessGate
from memoranda.kernel.access import RIGHTS, Principal
from memoranda.kernel.actors import check_scope
from memoranda.kernel.errors import InvalidRecord, KeyMissing

AppOf = Callable[[str], App[Any] | None]
"""What a scope runs with: domain, authority, policies; None for nothing."""

_IDENTITY: Final = ("scope", "actor")
NO_CODE: Final[Mapping[str, Any]] = {}


def no_app(_scope: str) -> None:
    """Nothing to run, whatever the scope."""


@dataclass(frozen=True, slots=True)
class LocalPrincipal:
    """Whoever comes without a key to a server that nobody else can reach.

    It has every right, and may name its scope; its actor is fixed.
    """

    actor: str
    scope: str

    def named(self, scope: str | None) -> Principal:
        """The principal, in the scope that it names."""
        return Principal(
            self.actor, self.scope if scope is None else check_scope(scope), frozenset(RIGHTS)
        )


class Service:
    """One database as doors see it."""

    def __init__(
        self,
        database: Database,
        *,
        app_of: AppOf = no_app,
        local: LocalPrincipal | None = None,
        per_minute: int = PER_MINUTE,
    ) -> None:
        """`local` is let in without a key, as long as the database never had one."""
        self.database: Final = database
        self.operations: Final = OPERATIONS
        self._app_of = app_of
        self._local = local
        connected = database._connected  # noqa: SLF001 - the service is a part of the app
        self._rows = connected.key_rows()
        self._gate = AccessGate(self._rows, connected.clockwork.clock, per_minute=per_minute)

    async def principal(
        self, key: str | None, *, scope: str | None = None, actor: str | None = None
    ) -> Principal:
        """Whoever comes with this key, or with none; what they say of themselves must agree.

        KeyMissing without a key where one is needed, KeyRefused for one that is not good,
        IdentityRefused for another scope or actor than the key's, RateExceeded for too many
        requests.
        """
        if key is not None:
            found = await self._gate.principal(key)
        elif self._local is None or await self._gate.is_guarded():
            raise KeyMissing
        else:
            found = self._local.named(scope)
        found.check_identity(scope=scope, actor=actor)
        await self._gate.count(found)
        return found

    async def check_ready(self) -> None:
        """Ask the database something; a StoreError where it does not answer."""
        await self._rows.has_keys()

    def memory(self, principal: Principal) -> Memory[Any]:
        """The handle of a principal, with what its scope runs."""
        scope = principal.scope
        return self.database._handle(  # noqa: SLF001 - the service is a part of the app
            scope, principal.actor, None, self._app_of(scope), trust=principal.trust
        )

    def arguments(
        self, principal: Principal, operation: Operation, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """What a request says, as the verb takes it.

        1. the principal has the right
        2. a scope or an actor in the request is the principal's, and goes no further
        3. the request is one: InvalidRecord with the place
        4. a page that has no limit has the largest
        """
        # 1.
        principal.check_right(operation.name, operation.right)
        # 2.
        fields = operation.request.model_fields
        said = {name: given[name] for name in _IDENTITY if name in given and name not in fields}
        for name, value in said.items():
            if not isinstance(value, str):
                raise InvalidRecord(f"$.{name}", "it is a text")
        principal.check_identity(**said)
        # 3.
        rest = {name: value for name, value in given.items() if name not in said}
        arguments = operation.read(rest)
        # 4.
        if "limit" in fields and operation.name != "journal.ids":
            arguments.setdefault("limit", MOST)
        return arguments

    async def call(
        self,
        principal: Principal,
        operation: Operation,
        given: Mapping[str, Any],
        *,
        code: Mapping[str, Any] = NO_CODE,
    ) -> Any:
        """What an operation comes to; of a stream, an iterator that is not begun yet.

        `code` is what the door itself hands over, and no request can: say, a progress.
        """
        arguments = self.arguments(principal, operation, given)
        with spanned(operation, principal, arguments) as span:
            result = await operation.call(self.memory(principal), {**arguments, **code})
            note_result(span, result)
            return result
