"""Any endpoint that speaks OpenAI's chat completions, whole or in pieces (extra ``models``).

A model is asked once: there are no retries here, for a plan's time is limited and a failed turn can
be sent again. Whatever goes wrong is one ModelFailed that says why. The key is read from an
environment variable for each call and goes nowhere but into the header of that call: it is in no
error, in no log and in no object that outlives the call.
"""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from http import HTTPStatus
from types import ModuleType
from typing import TYPE_CHECKING, Final

from memoranda.kernel.errors import ModelFailed
from memoranda.kernel.json import JsonValue
from memoranda.outside.models.endpoint import (
    Endpoint,
    Refused,
    body_of,
    events_of,
    httpx2_module,
    piece_of,
    refusal_of,
    whole_answer,
)
from memoranda.plans.models import Prompt, Settings

if TYPE_CHECKING:
    import httpx2

SECONDS: Final = 60.0
"""How long a model may be silent; a plan's own limit holds as well."""

_DONE: Final = "[DONE]"


class ChatModel:
    """A model behind ``POST {base_url}/chat/completions``."""

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        key_variable: str | None = None,
        seconds: float = SECONDS,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        """Where it is, what it is called there, and which environment variable holds the key.

        ModelFailed for an address that can't be one, or that would carry a key unencrypted to
        another machine; DependencyMissing without the extra ``models``.
        """
        httpx2_module()
        self.model = self.identity = model
        self._endpoint = Endpoint.of(base_url, model, key_variable, environment)
        self._seconds = seconds

    async def complete(self, prompt: Prompt, settings: Settings) -> str:
        """The whole answer."""
        httpx = httpx2_module()
        try:
            async with (
                asyncio.timeout(self._seconds),
                self._asked(prompt, settings, stream=False) as response,
            ):
                return whole_answer(_json(await body_of(response)), settings)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, Refused) as failed:
            why = _why(httpx, failed, self._seconds)
        # Not inside the handler: what failed holds the request, and with it the key.
        raise ModelFailed(settings.model or self.model, why)

    async def stream(self, prompt: Prompt, settings: Settings) -> AsyncGenerator[str]:
        """The pieces of the answer as they come; an answer without an end is a failure."""
        httpx = httpx2_module()
        is_ended = False
        try:
            async with (
                self._asked(prompt, settings, stream=True) as response,
                aclosing(events_of(response, self._seconds)) as events,
            ):
                async for event in events:
                    if event == _DONE:
                        is_ended = True
                        break
                    piece = piece_of(_json(event), settings)
                    is_ended = is_ended or piece.is_last
                    if piece.text:
                        yield piece.text
            why = "" if is_ended else "its answer broke off"
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, Refused) as failed:
            why = _why(httpx, failed, self._seconds)
        if why:
            raise ModelFailed(settings.model or self.model, why)

    @asynccontextmanager
    async def _asked(
        self, prompt: Prompt, settings: Settings, *, stream: bool
    ) -> "AsyncIterator[httpx2.Response]":
        """The response to one request, if it is a good one."""
        name = settings.model or self.model
        question = _question(name, prompt, settings, stream=stream)
        accept = "text/event-stream" if stream else "application/json"
        async with self._endpoint.posted(name, question, self._seconds, accept) as response:
            if response.status_code != HTTPStatus.OK:
                raise Refused(await self._why_refused(response, self._endpoint.key(name)))
            yield response

    async def _why_refused(self, response: "httpx2.Response", key: str | None) -> str:
        try:
            async with asyncio.timeout(self._seconds):
                body = _json(await body_of(response))
        except (Refused, TimeoutError):
            body = None
        wait = response.headers.get("retry-after")
        return refusal_of(response.status_code, wait, body, key, self._endpoint.key_variable)


def _question(
    name: str, prompt: Prompt, settings: Settings, *, stream: bool
) -> dict[str, JsonValue]:
    messages = [] if prompt.system is None else [{"role": "system", "content": prompt.system}]
    messages.append({"role": "user", "content": prompt.user})
    question: dict[str, JsonValue] = {"model": name, "messages": messages, "stream": stream}
    if settings.temperature is not None:
        question["temperature"] = settings.temperature
    if settings.max_tokens is not None:
        question["max_tokens"] = settings.max_tokens
    return question


def _json(text: str | bytes) -> JsonValue:
    # Not kernel.json: what else a server says besides the answer is its own affair.
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise Refused("its answer is not JSON") from None


def _why(httpx: ModuleType, failed: Exception, seconds: float) -> str:
    """Why, in our words: what the client says of a request may show its header."""
    match failed:
        case Refused():
            return failed.why
        case httpx.ConnectTimeout():
            return f"it was not reached within {seconds:g} s"
        case httpx.TimeoutException() | TimeoutError():
            return f"it did not answer within {seconds:g} s"
        case httpx.ConnectError():
            return "it can't be reached"
        case httpx.ReadError() | httpx.RemoteProtocolError():
            return "its answer broke off"
        case _:
            return f"the request failed ({type(failed).__name__})"
