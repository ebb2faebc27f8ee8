"""A memoranda server, over HTTP: requests, answers, and lines as they come."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from memoranda.kernel.errors import (
    DependencyMissing,
    InvalidUrl,
    StoreClosed,
    StoreFailed,
    StoreUnavailable,
)

if TYPE_CHECKING:
    import httpx2

PATIENCE_S: Final = 60.0
"""How long an answer may take; the server gives up long before."""
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})

Query = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """What a server answered."""

    status: int
    body: bytes


class MemorandaServer:
    """One server, asked with one key. It is opened in the loop that uses it."""

    def __init__(self, url: str, key: str | None) -> None:
        """InvalidUrl for what is no address, and for a key that would be sent unencrypted."""
        parts = urlsplit(url)
        self.url: Final = url.rstrip("/")
        if parts.username is not None or parts.query or parts.fragment or not parts.hostname:
            raise InvalidUrl(f"{parts.scheme}://…", "a server is named by its address alone")
        if key is not None and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise InvalidUrl(self.url, "its key would be sent unencrypted: use https://")
        self._key = key
        self._client: httpx2.AsyncClient | None = None

    async def open(self) -> None:
        """Make the connections that are used from now on."""
        try:
            import httpx2  # noqa: PLC0415 - an extra
        except ModuleNotFoundError as missing:
            raise DependencyMissing("httpx2", "server") from missing
        headers = {} if self._key is None else {"authorization": f"Bearer {self._key}"}
        logging.getLogger("httpx2").setLevel(logging.WARNING)  # it would log every address
        self._client = httpx2.AsyncClient(
            headers=headers, timeout=httpx2.Timeout(PATIENCE_S), trust_env=False
        )

    async def close(self) -> None:
        """Let go of the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def ask(
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        body: bytes | None = None,
        headers: Mapping[str, str],
    ) -> ServerAnswer:
        """An answer, whatever it says. StoreUnavailable where there is no server.

        StoreFailed where it broke off: whether a write landed is unknown.
        """
        with self._explained():
            found = await self._opened.request(
                method, self.url + path, params=list(query), content=body, headers=dict(headers)
            )
            return ServerAnswer(found.status_code, found.content)

    async def lines(
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        body: bytes | None = None,
        headers: Mapping[str, str],
    ) -> AsyncGenerator[ServerAnswer, None]:
        """The lines of an answer as they come; of a refusal, all of it."""
        with self._explained():
            asked = self._opened.stream(
                method,
                self.url + path,
                params=list(query),
                content=body,
                headers=dict(headers),
                timeout=None,
            )
            async with asked as found:
                if not found.is_success:
                    yield ServerAnswer(found.status_code, await found.aread())
                    return
                async with aclosing(found.aiter_lines()) as lines:  # type: ignore[type-var]
                    async for line in lines:
                        yield ServerAnswer(found.status_code, line.encode())

    @property
    def _opened(self) -> "httpx2.AsyncClient":
        if self._client is None:
            raise StoreClosed
        return self._client

    @contextmanager
    def _explained(self) -> Iterator[None]:
        import httpx2  # noqa: PLC0415 - an extra

        try:
            yield
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol) as failed:
            raise StoreUnavailable(self.url, f"there is no answer ({failed})") from None
        except (httpx2.HTTPError, httpx2.StreamError) as failed:
            raise StoreFailed(self.url, type(failed).__name__) from None
        except asyncio.CancelledError:
            raise
