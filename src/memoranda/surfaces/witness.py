"""The witness over HTTP: POST /add-checkpoint (C2SP tlog-witness), and what it knows of a log.

======================================= ========================================================
request                                 answer
======================================= ========================================================
POST /add-checkpoint                    200 the cosignatures; 400 no such request; 404 the log is
                                        unknown; 403 no key of it has signed; 409 another size is
                                        known, which is the body, or another root; 422 the proof
                                        does not hold; 413 and 408 too long; 503 can't remember
GET /checkpoint?origin=…                200 the newest checkpoint, cosigned now; 404 there is none
======================================= ========================================================

The specification leaves open how the newest checkpoint is asked for; the second request is ours.
"""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Final

from memoranda.errors import (
    CheckpointConflict,
    DependencyMissing,
    InvalidCheckpoint,
    InvalidOption,
    InvalidProof,
    InvalidSignature,
    LogUnknown,
    MemorandaError,
    StoreError,
)

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from memoranda.app.surfaces import Witness

LOOPBACK: Final = "127.0.0.1"
MOST_BYTES: Final = 131_072
SECONDS: Final = 10.0
"""How long a request may take to arrive."""
AT_ONCE: Final = 64
PLAIN: Final = "text/plain; charset=utf-8"
SIZE: Final = "text/x.tlog.size"

STATUSES: Final[Mapping[type[MemorandaError], int]] = {
    InvalidCheckpoint: 400,
    InvalidSignature: 403,
    LogUnknown: 404,
    CheckpointConflict: 409,
    InvalidProof: 422,
    StoreError: 503,
}
log = logging.getLogger("memoranda.witness")


def witness_app(witness: "Witness") -> "Starlette":
    """The application of a witness."""
    from starlette.applications import Starlette  # noqa: PLC0415 - an extra
    from starlette.routing import Route  # noqa: PLC0415

    async def add_checkpoint(request: "Request") -> str:
        return await witness.add_checkpoint(await _body(request))

    async def checkpoint(request: "Request") -> str:
        return await witness.newest_checkpoint(request.query_params.get("origin", ""))

    return Starlette(
        routes=[
            Route("/add-checkpoint", _answered(add_checkpoint), methods=["POST"]),
            Route("/checkpoint", _answered(checkpoint), methods=["GET"]),
        ]
    )


class _TooMuch(Exception):
    """A request is longer than any that a log sends."""


async def _body(request: "Request") -> bytes:
    pieces, size = [], 0
    async with asyncio.timeout(SECONDS):
        async for piece in request.stream():
            size += len(piece)
            if size > MOST_BYTES:
                raise _TooMuch
            pieces.append(piece)
    return b"".join(pieces)


def _answered(
    act: Callable[["Request"], Awaitable[str]],
) -> Callable[["Request"], Awaitable["Response"]]:
    """The endpoint of an act: its text, or the status and the words of what it refused."""
    from starlette.responses import Response  # noqa: PLC0415 - an extra

    def answer(text: str, status: int, kind: str = PLAIN) -> Response:
        # As a header: what is said as a media type gets a character set, and a size has none.
        return Response(text, status, headers={"content-type": kind})

    async def endpoint(request: "Request") -> Response:
        try:
            return answer(await act(request), 200)
        except CheckpointConflict as conflict:
            return answer(f"{conflict.size}\n", 409, SIZE)
        except MemorandaError as refused:
            status = next(STATUSES[kind] for kind in type(refused).__mro__ if kind in STATUSES)
            if isinstance(refused, StoreError):
                log.error("%s", refused)  # noqa: TRY400 - it says all
            return answer(f"{refused.code}: {refused}\n", status)
        except _TooMuch:
            return answer("The request is too long.\n", 413)
        except TimeoutError:
            return answer("The request took too long.\n", 408)

    return endpoint


@asynccontextmanager
async def serving(
    witness: "Witness", *, host: str = LOOPBACK, port: int = 0
) -> "AsyncIterator[tuple[str, asyncio.Task[None]]]":
    """Serve a witness: its URL, and what ends when the process is told to; port 0 is any."""
    uvicorn = _uvicorn()
    config = uvicorn.Config(
        witness_app(witness),
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=AT_ONCE,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=5,
    )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as failed:
        raise InvalidOption("--port", f"{host}:{port}: {failed.strerror or failed}") from failed
    server = uvicorn.Server(config)
    served = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        name = f"[{host}]" if ":" in host else host
        yield f"http://{name}:{listening.getsockname()[1]}", served
    finally:
        server.should_exit = True
        await served
        listening.close()


def _uvicorn() -> ModuleType:
    try:
        import starlette  # noqa: F401, PLC0415 - an extra
        import uvicorn  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        raise DependencyMissing(missing.name or "uvicorn", "server") from missing
    return uvicorn
