"""A real HTTP server on loopback that speaks OpenAI's chat completions, well or badly."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[[BaseHTTPRequestHandler], None]


class ChatServer:
    """What it was asked, and how it replies to whatever comes next."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.reply: Reply = whole("Hello")
        self.paths: list[str] = []
        self.questions: list[dict[str, Any]] = []
        self.authorizations: list[str | None] = []
        self.closing = threading.Event()
        """Set when the server goes away: who hangs until then hangs for the whole test."""


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            server.paths.append(self.path)
            server.questions.append(json.loads(body))
            server.authorizations.append(self.headers.get("authorization"))
            self.close_connection = True
            server.reply(self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = False
        block_on_close = True

        def handle_error(self, request: object, client_address: object) -> None:
            pass  # a client that hung up is part of the tests

    listening = Server(("127.0.0.1", 0), Handler)
    server = ChatServer(f"http://127.0.0.1:{listening.server_address[1]}/v1")
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        listening.shutdown()
        thread.join()
        listening.server_close()


# --------------------------------------------------------------------------- replies


def raw(status: int, body: bytes, **headers: str) -> Reply:
    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("content-length", str(len(body)))
        for name, value in ({"content_type": "application/json"} | headers).items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return reply


def document(value: object, status: int = 200, **headers: str) -> Reply:
    return raw(status, json.dumps(value).encode(), **headers)  # noqa: TID251 - a server's own bytes


def whole(content: object, end: str | None = "stop") -> Reply:
    message = {"role": "assistant", "content": content}
    return document({"choices": [{"index": 0, "message": message, "finish_reason": end}]})


def piece(content: object, end: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": end}]}


def streamed(*events: object, done: bool = True, cut_at: int | None = None) -> Reply:
    """Events as SSE, written in odd cuts, so that characters and lines arrive in halves."""
    lines = [event if isinstance(event, str) else _dumped(event) for event in events]
    lines += ["[DONE]"] if done else []
    sent = b": a comment\r\n\r\n" + b"".join(f"data: {line}\n\n".encode() for line in lines)
    sent = sent[:cut_at]

    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream; charset=utf-8")
        handler.end_headers()
        for start in range(0, len(sent), 7):
            handler.wfile.write(sent[start : start + 7])
            handler.wfile.flush()

    return reply


def silent_after(first: bytes) -> Callable[[ChatServer], Reply]:
    """Begins a stream, and says nothing more until the server is closed."""

    def bound(server: ChatServer) -> Reply:
        def reply(handler: BaseHTTPRequestHandler) -> None:
            if first:
                handler.send_response(200)
                handler.send_header("content-type", "text/event-stream")
                handler.end_headers()
                handler.wfile.write(first)
                handler.wfile.flush()
            server.closing.wait()

        return reply

    return bound


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)  # noqa: TID251 - a server's own bytes
