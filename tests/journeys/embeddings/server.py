"""A server on this machine that speaks `/v1/embeddings`, with the toy embedder behind it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson

from tests.journeys.embeddings.toy import ToyEmbedder

Answers = Callable[[dict[str, Any]], tuple[int, bytes]]


@dataclass
class Server:
    """What it was asked, with which headers, and how it answers."""

    answers: Answers
    url: str = ""
    requests: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        said = orjson.loads(await reader.readexactly(int(headers["content-length"])))
        self.requests.append((head[0], headers, said))
        status, body = self.answers(said)
        extra = b"location: /elsewhere\r\n" if status == 307 else b""
        writer.write(
            b"HTTP/1.1 %d Said\r\ncontent-type: application/json\r\n%bcontent-length: %d\r\n"
            b"connection: close\r\n\r\n%b" % (status, extra, len(body), body)
        )
        await writer.drain()
        writer.close()
        await writer.wait_closed()


def as_openai(said: dict[str, Any]) -> tuple[int, bytes]:
    """The answer of a real one; in reverse, since each says whose it is."""
    toy = ToyEmbedder()
    data = [
        {"object": "embedding", "index": number, "embedding": toy.vector(text)}
        for number, text in enumerate(said["input"])
    ]
    answer = {"object": "list", "model": said["model"], "data": data[::-1]}
    return 200, orjson.dumps(answer)  # noqa: TID251 - an answer of others


@asynccontextmanager
async def serving(answers: Answers = as_openai) -> AsyncIterator[Server]:
    """A server for the length of the block."""
    server = Server(answers)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    server.url = f"http://127.0.0.1:{port}/v1"
    async with listening:
        yield server
