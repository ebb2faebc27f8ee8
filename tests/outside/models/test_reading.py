"""What a hostile server sends: bounded in time and in bytes, and one clear failure."""

import gzip
import json
from collections.abc import AsyncGenerator, Callable, Iterator
from http.server import BaseHTTPRequestHandler

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import ModelFailed
from memoranda.outside.models.chat import ChatModel
from memoranda.outside.models.endpoint import Refused, events_of
from memoranda.plans.models import Prompt, Settings
from tests.outside.models.server import ChatServer, Reply, chat_server, piece, raw
from tests.patience import PATIENCE

KEY = "sk-test-4Jx9mQ2vTz7w"
PIECE = b"data: " + json.dumps(piece("Hi")).encode() + b"\n\n"  # noqa: TID251 - a server's own
BIG = b"data: " + json.dumps(piece("x" * 200_000)).encode() + b"\n\n"  # noqa: TID251 - the same
EVENTS = "text/event-stream"

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server


def model_of(server: ChatServer, seconds: float) -> ChatModel:
    given_key = {"TEST_MODEL_KEY": KEY}
    return ChatModel(
        server.url, "tiny", key_variable="TEST_MODEL_KEY", seconds=seconds, environment=given_key
    )


async def why(server: ChatServer, *, stream: bool = True, seconds: float = PATIENCE) -> str:
    """Why there is no answer."""
    return await why_not(model_of(server, seconds), stream=stream)


async def why_given_up(server: ChatServer, status: int, drop: bytes) -> str:
    """Why there is no answer but a head and such drops, if it must end within 0.1 s from there.

    How long a busy machine takes to the head does not matter: until then there is time.
    """
    model = model_of(server, PATIENCE)

    def be_impatient() -> None:
        model._seconds = 0.1

    server.reply = dripping(server, head(status), drop, before=be_impatient)
    return await why_not(model, stream=True)


async def why_not(model: ChatModel, *, stream: bool) -> str:
    answer = _streamed(model) if stream else model.complete(Prompt("?"), Settings())
    with pytest.raises(ModelFailed) as caught:
        await answer
    return caught.value.why


async def _streamed(model: ChatModel) -> str:
    return "".join([one async for one in model.stream(Prompt("?"), Settings())])


def dripping(
    server: ChatServer, first: bytes, drop: bytes, before: Callable[[], None] = lambda: None
) -> Reply:
    """Sends a little again and again, and so is never silent, until the server is closed."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        before()
        handler.wfile.write(first)
        while not server.closing.wait(0.02):
            handler.wfile.write(drop)
            handler.wfile.flush()

    return reply


def endless(server: ChatServer, chunk: bytes) -> Reply:
    """Sends as fast as it can, until nobody listens."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("content-type", EVENTS)
        handler.end_headers()
        while not server.closing.is_set():
            handler.wfile.write(chunk)

    return reply


def head(status: int) -> bytes:
    return f"HTTP/1.1 {status} -\r\ncontent-type: {EVENTS}\r\n\r\n".encode()


@pytest.mark.parametrize("drop", [b": still there\n\n", b"x", b"\n", b"event: ping\n\n"])
async def test_who_says_nothing_but_keeps_the_line_is_silent(
    server: ChatServer, drop: bytes
) -> None:
    assert await why_given_up(server, 200, drop) == "it did not answer within 0.1 s"


async def test_an_answer_that_never_ends_is_none(server: ChatServer) -> None:
    assert await why_given_up(server, 200, PIECE) == "it did not answer within 0.1 s"


@pytest.mark.parametrize("stream", [True, False])
async def test_headers_that_never_end_are_given_up(server: ChatServer, *, stream: bool) -> None:
    server.reply = dripping(server, b"HTTP/1.1 200 OK\r\n", b"x-more: 1\r\n")

    assert (await why(server, stream=stream, seconds=0.2)).endswith(" within 0.2 s")


async def test_a_refusal_in_drops_is_named_by_its_status(server: ChatServer) -> None:
    assert await why_given_up(server, 500, b" ") == "it answered with status 500"


@pytest.mark.parametrize("chunk", [BIG, b"x" * 65536, (b": " + b"x" * 65536 + b"\n") * 4])
async def test_an_answer_is_no_longer_than_the_limit(server: ChatServer, chunk: bytes) -> None:
    server.reply = endless(server, chunk)

    assert "has more than" in await why(server)


@pytest.mark.parametrize("charset", ["base64", "rot13", "idna", "utf-16", "undefined", "latin-1"])
async def test_a_stream_is_utf8_whatever_the_server_calls_it(
    server: ChatServer, charset: str
) -> None:
    server.reply = raw(200, PIECE, content_type=f"{EVENTS}; charset={charset}")

    assert await why(server) == "its answer broke off"  # it was read, and had no end


@pytest.mark.parametrize("stream", [True, False])
async def test_what_is_not_utf8_is_no_answer(server: ChatServer, *, stream: bool) -> None:
    sent = b'data: {"choices": [{"delta": {"content": "\xff"}, "finish_reason": "stop"}]}\n\n'
    server.reply = raw(200, sent, content_type=EVENTS)

    assert await why(server, stream=stream) in ("its answer is not UTF-8", "its answer is not JSON")


@pytest.mark.parametrize("stream", [True, False])
async def test_what_was_compressed_unasked_is_not_blown_up(
    server: ChatServer, *, stream: bool
) -> None:
    sent = gzip.compress(b"\n" * 20_000_000)
    server.reply = raw(200, sent, content_type=EVENTS, content_encoding="gzip")

    assert await why(server, stream=stream) in ("its answer is not UTF-8", "its answer is not JSON")


@pytest.mark.parametrize("said", [KEY, KEY[3:12], KEY.upper(), " ".join(KEY), "\u200b".join(KEY)])
async def test_neither_words_nor_headers_of_a_refusal_repeat_the_key(
    server: ChatServer, said: str
) -> None:
    server.reply = raw(429, b"{}", **({"retry_after": said} if said.isascii() else {}))
    assert await why(server) == "it is asked too often (429)"

    refused = json.dumps({"error": {"message": f"no {said}"}}).encode()  # noqa: TID251 - a server's
    server.reply = raw(500, refused)
    assert await why(server) == "it answered with status 500"


# ------------------------------------------------------------------------------ events


class Sent:
    """A response that comes in these pieces."""

    def __init__(self, *pieces: bytes) -> None:
        self.headers = {"content-type": EVENTS}
        self._pieces = pieces

    async def aiter_raw(self) -> AsyncGenerator[bytes]:
        for one in self._pieces:
            yield one


async def read(*pieces: bytes) -> list[str]:
    return [one async for one in events_of(Sent(*pieces), 20)]  # type: ignore[arg-type]


@given(
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.lists(st.text(st.sampled_from("a 가\u2028:🙂"), min_size=1), max_size=4),
    st.lists(st.integers(0, 200), max_size=6),
)
async def test_events_are_the_same_wherever_they_are_cut(
    end: bytes, texts: list[str], places: list[int]
) -> None:
    sent = b"".join(b"data:" + f" {one}".encode() + end * 2 for one in texts)
    cuts = sorted(min(place, len(sent)) for place in places)

    pieces = [sent[a:b] for a, b in zip([0, *cuts], [*cuts, len(sent)], strict=True)]

    assert await read(*pieces) == texts


@pytest.mark.parametrize(
    ("sent", "events"),
    [
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b"data: a\ndata:b\ndata\n\n", ["a\nb\n"]),
        (b": comment\nid: 1\nretry: x\ndata:  a\n\n", [" a"]),
        (b"data: a\n\ndata: b", ["a", "b"]),
        (b"\n\n\n", []),
    ],
)
async def test_an_event_is_its_data(sent: bytes, events: list[str]) -> None:
    assert await read(sent) == events


async def test_what_is_no_stream_of_events_is_refused() -> None:
    sent = Sent(b"data: a\n\n")
    sent.headers = {"content-type": "text/html"}

    with pytest.raises(Refused):
        _ = [one async for one in events_of(sent, 20)]  # type: ignore[arg-type]
