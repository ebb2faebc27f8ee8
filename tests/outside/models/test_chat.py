"""A model behind an OpenAI-compatible endpoint: one answer, or one clear failure."""

import gc
import logging
import socket
import sys
from collections.abc import Iterator
from contextlib import aclosing, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import DependencyMissing, ModelFailed
from memoranda.outside.models.chat import ChatModel
from memoranda.outside.models.endpoint import Refused, piece_of, refusal_of, whole_answer
from memoranda.plans.models import Prompt, Settings
from tests.outside.models.server import (
    ChatServer,
    Reply,
    chat_server,
    document,
    piece,
    raw,
    silent_after,
    streamed,
    whole,
)
from tests.patience import PATIENCE

KEY = "sk-test-4Jx9mQ2vTz7w"
ASKED = Prompt("고객에게 어떻게 연락하나요? 🙂", "Answer briefly.")
NO_SETTINGS = Settings()


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server


def model_of(server: ChatServer, *, seconds: float = PATIENCE, key: str | None = None) -> ChatModel:
    environment = {} if key is None else {"TEST_MODEL_KEY": key}
    variable = None if key is None else "TEST_MODEL_KEY"
    return ChatModel(
        server.url, "tiny", key_variable=variable, seconds=seconds, environment=environment
    )


async def streamed_from(model: ChatModel, settings: Settings = NO_SETTINGS) -> list[str]:
    return [piece async for piece in model.stream(ASKED, settings)]


async def failure_of(model: ChatModel, *, stream: bool) -> ModelFailed:
    answer = streamed_from(model) if stream else model.complete(ASKED, NO_SETTINGS)
    with pytest.raises(ModelFailed) as caught:
        await answer
    assert caught.value.code == "plan.model_failed"
    assert caught.value.model == "tiny"
    return caught.value


both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])

# ----------------------------------------------------------------------- good answers


async def test_a_whole_answer_is_what_the_model_said(server: ChatServer) -> None:
    server.reply = whole("이메일을 선호합니다. ✓ naïve")

    assert await model_of(server).complete(ASKED, NO_SETTINGS) == "이메일을 선호합니다. ✓ naïve"
    assert server.paths == ["/v1/chat/completions"]
    assert server.questions == [
        {
            "model": "tiny",
            "stream": False,
            "messages": [
                {"role": "system", "content": ASKED.system},
                {"role": "user", "content": ASKED.user},
            ],
        }
    ]


async def test_a_streamed_answer_is_the_same_in_pieces(server: ChatServer) -> None:
    server.reply = streamed(piece("이메", None), piece(None), piece("일 🙂"), piece("", "stop"))

    assert await streamed_from(model_of(server)) == ["이메", "일 🙂"]
    assert server.questions[0]["stream"] is True


async def test_settings_of_the_plan_reach_the_model_and_absent_ones_do_not(
    server: ChatServer,
) -> None:
    model = model_of(server)

    await model.complete(Prompt("hi"), Settings("other", 0.5, 64))

    assert server.questions[0] == {
        "model": "other",
        "stream": False,
        "temperature": 0.5,
        "max_tokens": 64,
        "messages": [{"role": "user", "content": "hi"}],
    }


async def test_a_stream_may_end_without_done_if_the_model_said_that_it_is_over(
    server: ChatServer,
) -> None:
    server.reply = streamed(piece("yes"), piece(None, "stop"), done=False)

    assert await streamed_from(model_of(server)) == ["yes"]


async def test_an_event_of_counts_carries_no_text(server: ChatServer) -> None:
    server.reply = streamed(
        piece("yes"), piece(None, "stop"), {"choices": [], "usage": {"total_tokens": 3}}
    )

    assert await streamed_from(model_of(server)) == ["yes"]


async def test_an_answer_that_the_plan_cut_short_is_an_answer(server: ChatServer) -> None:
    server.reply = whole("The first few", end="length")

    assert await model_of(server).complete(ASKED, Settings(max_tokens=3)) == "The first few"


async def test_who_stops_listening_closes_the_connection(server: ChatServer) -> None:
    first = f"data: {piece('one')}\n\n".replace("'", '"').replace("None", "null").encode()
    server.reply = silent_after(first)(server)

    async with aclosing(model_of(server).stream(ASKED, NO_SETTINGS)) as stream:
        async for said in stream:
            assert said == "one"
            break

    # A connection that stays open would be a ResourceWarning here, which is an error.
    gc.collect()


# --------------------------------------------------------------------------- failures

BAD: list[tuple[str, Reply]] = [
    ("not JSON", raw(200, b"<html>")),
    ("JSON that was cut", raw(200, b'{"choices": [{"message": {"content": "He')),
    ("no UTF-8", raw(200, b'{"choices": [{"message": {"content": "\xff"}}]}')),
    ("nothing", raw(200, b"")),
    ("too deep", raw(200, b"[" * 200_000)),
    ("a list", document([1, 2])),
    ("no choices", document({"choices": []})),
    ("choices of another kind", document({"choices": {"0": "x"}})),
    ("no message", document({"choices": [{}]})),
    ("null content", whole(None)),
    ("content of another kind", whole(["Hello"])),
    ("U+0000", whole("a\x00b")),
    ("a lone surrogate", whole("a\ud800b")),
    ("cut by the model", whole("He", end="length")),
    ("cut by a filter", whole("He", end="content_filter")),
]


@pytest.mark.parametrize("reply", [reply for _, reply in BAD], ids=[name for name, _ in BAD])
async def test_an_answer_that_is_none_is_one_failure(server: ChatServer, reply: Reply) -> None:
    server.reply = reply

    await failure_of(model_of(server), stream=False)

    assert len(server.questions) == 1


BROKEN: list[tuple[str, Reply]] = [
    ("no end", streamed(piece("He"), done=False)),
    ("no pieces", streamed(done=False)),
    ("an event that is cut", streamed(piece("Hello, world"), cut_at=60)),
    ("no JSON", streamed(piece("He"), "{nonsense")),
    ("an error on the way", streamed(piece("He"), {"error": {"message": "overloaded"}})),
    ("another shape", streamed(piece("He"), {"choices": [{"text": "llo"}]})),
    ("no text", streamed(piece(7))),
    ("U+0000", streamed(piece("a\x00"))),
    ("cut by the model", streamed(piece("He"), piece(None, "length"))),
    ("a whole answer instead", whole("Hello")),
]


@pytest.mark.parametrize("reply", [reply for _, reply in BROKEN], ids=[name for name, _ in BROKEN])
async def test_a_stream_that_breaks_off_is_a_failure_not_a_shorter_answer(
    server: ChatServer, reply: Reply
) -> None:
    server.reply = reply

    await failure_of(model_of(server), stream=True)


@both_ways
async def test_no_redirect_is_followed_for_the_key_would_go_with_it(
    server: ChatServer, *, stream: bool
) -> None:
    server.reply = raw(307, b"", location=f"{server.url}/elsewhere")

    failure = await failure_of(model_of(server, key=KEY), stream=stream)

    assert "307" in failure.why
    assert server.paths == ["/v1/chat/completions"]


@both_ways
@pytest.mark.parametrize("status", [400, 404, 500, 503])
async def test_a_status_that_is_no_answer_is_named(
    server: ChatServer, status: int, *, stream: bool
) -> None:
    server.reply = document({"error": {"message": "the model 'tiny'\nis not here"}}, status)

    failure = await failure_of(model_of(server), stream=stream)

    assert str(status) in failure.why
    assert "the model 'tiny' is not here" in failure.why


@both_ways
async def test_a_server_that_breaks_without_words_is_named_by_its_status(
    server: ChatServer, *, stream: bool
) -> None:
    server.reply = raw(502, b"<html>Bad gateway</html>", content_type="text/html")

    assert "502" in (await failure_of(model_of(server), stream=stream)).why


@both_ways
@pytest.mark.parametrize(
    ("wait", "said"),
    [("7", "retry after 7 s"), ("Mon, 16 Nov 2026 09:00:00 GMT", "16 Nov 2026 09:00:00")],
)
async def test_asked_too_often_is_one_failure_that_says_how_long_to_wait(
    server: ChatServer, wait: str, said: str, *, stream: bool
) -> None:
    server.reply = document({"error": {"message": "slow down"}}, 429, retry_after=wait)

    failure = await failure_of(model_of(server), stream=stream)

    assert "429" in failure.why
    assert said in failure.why
    assert len(server.questions) == 1  # nothing is asked again


@both_ways
async def test_a_model_that_is_silent_fails_in_time(server: ChatServer, *, stream: bool) -> None:
    server.reply = silent_after(b"")(server)

    failure = await failure_of(model_of(server, seconds=0.2), stream=stream)

    assert "0.2 s" in failure.why


async def test_a_stream_that_falls_silent_fails_in_time(server: ChatServer) -> None:
    server.reply = silent_after(b": soon\n\n")(server)

    assert "0.2 s" in (await failure_of(model_of(server, seconds=0.2), stream=True)).why


@both_ways
async def test_a_server_that_is_not_there_is_a_failure(*, stream: bool) -> None:
    with socket.socket() as taken:  # bound and not listening: nobody else can take the port
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"

        failure = await failure_of(ChatModel(url, "tiny"), stream=stream)

    assert "reached" in failure.why


# -------------------------------------------------------------------------------- key


async def test_the_key_is_sent_and_read_anew_for_each_call(server: ChatServer) -> None:
    environment = {"SOME_KEY": "first"}
    model = ChatModel(server.url, "tiny", key_variable="SOME_KEY", environment=environment)

    await model.complete(ASKED, NO_SETTINGS)
    environment["SOME_KEY"] = " second\n"  # as a file of secrets gives it
    await model.complete(ASKED, NO_SETTINGS)

    assert server.authorizations == ["Bearer first", "Bearer second"]


async def test_no_key_is_sent_where_none_is_named(server: ChatServer) -> None:
    await model_of(server).complete(ASKED, NO_SETTINGS)

    assert server.authorizations == [None]


@both_ways
@pytest.mark.parametrize("key", ["", "   ", "two words", "line\nbreak", "ключ"])
async def test_a_key_that_is_none_is_refused_before_anything_is_sent(
    server: ChatServer, key: str, *, stream: bool
) -> None:
    failure = await failure_of(model_of(server, key=key), stream=stream)

    assert "TEST_MODEL_KEY" in failure.why
    assert not key.strip() or key not in str(failure)
    assert server.questions == []


REPLIES_THAT_TELL: list[tuple[str, Reply]] = [
    ("401", document({"error": {"message": f"Incorrect API key provided: {KEY}"}}, 401)),
    ("400", document({"error": {"message": f"bad header Bearer {KEY}"}}, 400)),
    ("a part", document({"error": {"message": f"bad key {KEY[:11]}***"}}, 400)),
    ("429", document({"error": KEY}, 429, retry_after="1")),
    ("500", document({"error": KEY}, 500)),
    ("not JSON", raw(200, KEY.encode())),
    ("another shape", document({"choices": KEY})),
]


@both_ways
@pytest.mark.parametrize(
    "reply",
    [reply for _, reply in REPLIES_THAT_TELL],
    ids=[name for name, _ in REPLIES_THAT_TELL],
)
async def test_no_failure_and_no_log_shows_the_key(
    server: ChatServer, reply: Reply, caplog: pytest.LogCaptureFixture, *, stream: bool
) -> None:
    caplog.set_level(logging.DEBUG)
    server.reply = reply
    model = model_of(server, key=KEY)

    failure = await failure_of(model, stream=stream)

    assert server.authorizations == [f"Bearer {KEY}"]
    for shown in (str(failure), repr(failure), repr(model), repr(vars(model)), caplog.text):
        assert KEY[:11] not in shown
    assert failure.__cause__ is None
    assert failure.__context__ is None  # it would hold the request, and with it the header


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1/v1",
        "127.0.0.1:8000",
        "",
        "http://",
        "http://user:secret@127.0.0.1/v1",
        "https://example.org/v1?key=secret",
        "http://127.0.0.1:99999/v1",
        "http://[::1/v1",
    ],
)
def test_an_address_that_is_none_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(ModelFailed) as caught:
        ChatModel(url, "tiny")

    assert caught.value.code == "plan.model_failed"
    assert "secret" not in str(caught.value)


def test_a_key_never_goes_unencrypted_to_another_machine() -> None:
    with pytest.raises(ModelFailed):
        ChatModel("http://models.example.org/v1", "tiny", key_variable="SOME_KEY")

    ChatModel("https://models.example.org/v1", "tiny", key_variable="SOME_KEY")
    ChatModel("http://[::1]:8000/v1", "tiny", key_variable="SOME_KEY")
    ChatModel("http://localhost:8000/v1", "tiny", key_variable="SOME_KEY")
    ChatModel("http://models.example.org/v1", "tiny")


@pytest.mark.parametrize("variable", ["", "a b", "sk-test-1", "1X"])
def test_a_key_is_named_by_a_variable_not_given(variable: str) -> None:
    with pytest.raises(ModelFailed) as caught:
        ChatModel("https://models.example.org/v1", "tiny", key_variable=variable)

    assert not variable or variable not in str(caught.value)


def test_without_the_extra_it_says_which_one_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)

    with pytest.raises(DependencyMissing) as caught:
        ChatModel("http://127.0.0.1/v1", "tiny")

    assert caught.value.extra == "models"


# ------------------------------------------------------------------------ any answer

any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "delta", "content", "finish_reason", "error"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@given(any_json)
def test_whatever_json_comes_it_is_an_answer_or_refused(body: object) -> None:
    for read in (whole_answer, piece_of):
        with suppress(Refused):
            read(body, NO_SETTINGS)


@given(st.integers(300, 599), any_json, st.text(max_size=30), st.none() | st.text(max_size=80))
def test_whatever_a_server_says_when_it_refuses_no_part_of_the_key_is_repeated(
    status: int, body: object, around: str, wait: str | None
) -> None:
    for said in (body, {"error": {"message": around + KEY + around}}):
        why = refusal_of(status, wait, said, KEY, "SOME_KEY")
        assert str(status) in why
        assert "\n" not in why
        assert KEY not in why
