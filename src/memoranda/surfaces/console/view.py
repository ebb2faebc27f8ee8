"""A view: one request of a person, with what the page may ask, and how it is shown.

Pages call operations by name, as every door does, so that the table says who may do what. What a
person may not do is not shown: templates ask `view.may`.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

from pydantic.alias_generators import to_camel
from starlette.requests import Request

from memoranda.app.surfaces import OPERATIONS, Principal, Service
from memoranda.errors import RequestTimedOut
from memoranda.surfaces.console.shown import rendered
from memoranda.surfaces.console.words import LANGUAGES, Phrases, words_of
from memoranda.surfaces.http.door import Door
from memoranda.surfaces.http.messages import MAX_BODY, HttpAnswer, body_of, parameters
from memoranda.types import Audit

KEY_COOKIE: Final = "memoranda_key"
SCOPE_COOKIE: Final = "memoranda_scope"
LANGUAGE_COOKIE: Final = "memoranda_language"
HTML: Final = "text/html; charset=utf-8"
_SLOW: Final = frozenset({"verify"})
CSP: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
PAGE_HEADERS: Final = {
    "content-security-policy": CSP,
    # With no-referrer, the browser would send a form with the origin null, which is refused.
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "vary": "cookie, accept-language, hx-request",
}


@dataclass(frozen=True, slots=True)
class LastAudit:
    """What the last verification found that somebody asked this process for."""

    audit: Audit
    at: int


@dataclass(slots=True)
class Console:
    """What all pages of one server share."""

    door: Door
    audits: dict[str, LastAudit] = field(default_factory=dict)
    """By scope. Another process has its own: a verification is asked for where it is shown."""

    @property
    def service(self) -> Service:
        """What lies behind the door."""
        return self.door.service


class View:
    """A request, by whoever is logged in."""

    def __init__(self, console: Console, request: Request, principal: Principal | None) -> None:
        self.console = console
        self.request = request
        self.given = principal
        self.form: Mapping[str, str] = {}
        self.query: Mapping[str, str] = request.query_params

    @property
    def principal(self) -> Principal:
        """Whoever asks; every page but that for logging in has one."""
        assert self.given is not None  # noqa: S101 - the route let nobody else in
        return self.given

    @property
    def words(self) -> Phrases:
        """The language that was chosen, or the first that the browser asks for and we speak."""
        chosen = self.request.cookies.get(LANGUAGE_COOKIE, "")
        if chosen in LANGUAGES:
            return words_of(chosen)
        asked = self.request.headers.get("accept-language", "")
        spoken = (part.partition(";")[0].strip()[:2].lower() for part in asked.split(","))
        return words_of(next((one for one in spoken if one in LANGUAGES), "en"))

    def may(self, name: str) -> bool:
        """Whether an operation is allowed to whoever asks."""
        return self.given is not None and OPERATIONS[name].right in self.given.rights

    async def ask(self, name: str, /, **members: Any) -> Any:
        """What an operation comes to; members by their Python names, those that are None left out.

        Right, identity and request are checked as for every other door.
        """
        given = {to_camel(key): value for key, value in members.items() if value is not None}
        limit = None if name in _SLOW else self.console.door.limits.time_limit_s
        try:
            async with asyncio.timeout(limit):
                return await self.console.service.call(self.principal, OPERATIONS[name], given)
        except TimeoutError:
            raise RequestTimedOut(self.console.door.limits.time_limit_s) from None

    async def stream(self, name: str, /, **members: Any) -> AsyncGenerator[Any, None]:
        """The stream of an operation that has one."""
        found: AsyncGenerator[Any, None] = await self.ask(name, **members)
        return found

    async def read_form(self) -> None:
        """Read the form that was sent; of a field that was sent twice, the last counts."""
        receive = self.request.receive
        body = await body_of(receive, self.request.headers, MAX_BODY)
        self.form = {name: values[-1] for name, values in parameters(body).items()}

    def said(self, name: str) -> str | None:
        """A field of the form; None where it is empty."""
        return self.form.get(name, "").strip() or None

    def show(self, template: str, code: int = 200, /, **values: Any) -> HttpAnswer:
        """A page."""
        text = rendered(template, view=self, words=self.words, **values)
        return HttpAnswer(code, text.encode(), HTML, dict(PAGE_HEADERS))


def link(path: str, **query: Any) -> str:
    """A path with a query; what is None or empty is left out."""
    asked = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(asked)}" if asked else path


def redirect(path: str, cookies: Mapping[str, str] | None = None, **query: Any) -> HttpAnswer:
    """Go to another page, by GET."""
    headers = {"location": link(path, **query), **PAGE_HEADERS}
    answer = HttpAnswer(303, b"", HTML, headers)
    if cookies:
        ((name, value),) = cookies.items()
        answer.headers["set-cookie"] = f"{name}={value}"
    return answer
