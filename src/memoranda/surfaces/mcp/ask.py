"""Questions to the person behind a client, on both wires of the protocol.

Before 2026-07-28 a server sends a request of its own and waits for the answer. Since then it
answers with the question, and the client asks again with the answer. Nothing is kept meanwhile,
and no key is shared between servers: the question's name is a digest of all that was asked, so that
an answer counts for that question alone.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp_types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from memoranda.app.surfaces import Principal, quotable
from memoranda.errors import NotConfirmed

_MOST_SHOWN: Final = 300


@dataclass(frozen=True, slots=True)
class McpQuestion:
    """What a person is asked: to confirm something, and maybe to say why."""

    message: str
    asks_reason: bool = False

    def _form(self) -> dict[str, Any]:
        confirm = {"type": "boolean", "title": "Confirm", "description": "Yes, do it."}
        why = {"type": "string", "title": "Reason", "description": "In your own words."}
        return {
            "type": "object",
            "properties": {"confirm": confirm} | ({"reason": why} if self.asks_reason else {}),
            "required": ["confirm"],
        }

    def params(self) -> ElicitRequestFormParams:
        """The question as a form."""
        return ElicitRequestFormParams(message=self.message, requested_schema=self._form())

    def name(self, principal: Principal) -> str:
        """A name that only this question to this principal has."""
        asked = f"{principal.scope}\0{principal.actor}\0{self.message}"
        return f"confirm-{sha256(asked.encode()).hexdigest()[:32]}"


def can_ask(ctx: ServerRequestContext[Any, Any]) -> bool:
    """Whether the client shows forms to a person, and its answer can reach us."""
    capabilities = ctx.session.client_capabilities
    found = None if capabilities is None else capabilities.elicitation
    if found is None or (found.form is None and found.url is not None):
        return False
    return _is_modern(ctx) or ctx.session.can_send_request


def _is_modern(ctx: ServerRequestContext[Any, Any]) -> bool:
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


async def confirmed(
    ctx: ServerRequestContext[Any, Any],
    params: CallToolRequestParams,
    principal: Principal,
    question: McpQuestion,
) -> InputRequiredResult | str | None:
    """What the person said beside yes, or the question where it is still to be asked.

    NotConfirmed where the person says anything else than yes, or the client can't ask.
    """
    if not can_ask(ctx):
        raise NotConfirmed("the client can't ask a person")
    if _is_modern(ctx):
        name = question.name(principal)
        answer = (params.input_responses or {}).get(name)
        if answer is None:
            return InputRequiredResult(
                input_requests={name: ElicitRequest(params=question.params())}
            )
    else:
        form = question.params()
        answer = await ctx.session.elicit_form(
            form.message, form.requested_schema, related_request_id=ctx.request_id
        )
    if not isinstance(answer, ElicitResult):
        raise NotConfirmed("the answer is to another question")
    said = answer.content or {}
    if answer.action != "accept" or said.get("confirm") is not True:
        raise NotConfirmed("the person did not say yes")
    reason = said.get("reason")
    return reason if isinstance(reason, str) and reason.strip() else None


def shown(text: object) -> str:
    """A text of others as a person is shown it: short, and with nothing hidden in it."""
    seen = quotable(str(text)[: _MOST_SHOWN + 1])
    return f"“{seen if len(seen) <= _MOST_SHOWN else seen[:_MOST_SHOWN] + '…'}”"
