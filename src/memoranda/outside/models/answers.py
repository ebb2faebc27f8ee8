"""What an OpenAI-compatible endpoint answers, read strictly; and why it refused."""

from typing import Final, NamedTuple

from memoranda.kernel.json import JsonValue, storable
from memoranda.plans.models import Settings
from memoranda.text.quoting import quotable

_TOO_OFTEN: Final = 429
_NOT_ALLOWED: Final = (401, 403)
_LONGEST: Final = 200
_LONGEST_WAIT: Final = 40
_TELLING: Final = 6
"""So many characters of a key in a row give it away."""


class Refused(Exception):
    """Why an answer is none; it never leaves whoever asked for it."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Piece(NamedTuple):
    """A piece of an answer, and whether the model says that it is the last."""

    text: str
    is_last: bool


def whole_answer(body: JsonValue, settings: Settings) -> str:
    """The text of an answer; Refused if there is none, or it was cut."""
    choice = _choice(body)
    message = choice.get("message") if choice is not None else None
    content = message.get("content") if isinstance(message, dict) else None
    if choice is None or not isinstance(content, str):
        raise Refused("its answer has no text at choices[0].message.content")
    _check_end(choice.get("finish_reason"), settings)
    return _kept(content)


def piece_of(event: JsonValue, settings: Settings) -> Piece:
    """One piece; an event that carries no text, such as one of counts, is an empty one."""
    if isinstance(event, dict) and event.get("error") is not None:
        raise Refused("it broke off with an error")
    if isinstance(event, dict) and event.get("choices") == []:
        return Piece("", is_last=False)
    choice = _choice(event)
    delta = choice.get("delta") if choice is not None else None
    if choice is None or not isinstance(delta, dict):
        raise Refused("a piece of its answer has no choices[0].delta")
    content = delta.get("content")
    if content is not None and not isinstance(content, str):
        raise Refused("a piece of its answer is not a text")
    end = choice.get("finish_reason")
    _check_end(end, settings)
    return Piece(_kept(content or ""), is_last=end is not None)


def refusal_of(
    status: int, wait: str | None, body: JsonValue, key: str | None, variable: str | None
) -> str:
    """Why a server refused: the status, how long to wait, and its own words without the key."""
    if status == _TOO_OFTEN:
        waited = "" if wait is None or _tells(wait, key) else _plain(wait, _LONGEST_WAIT)
        if waited:
            unit = " s" if waited.isdecimal() else ""
            return f"it is asked too often (429): retry after {waited}{unit}"
        return "it is asked too often (429)"
    if status in _NOT_ALLOWED:
        which = f"the key in {variable}" if variable else "a request without a key"
        return f"it does not accept {which} ({status})"
    said = _said(body, key)
    return f"it answered with status {status}" + (f", saying: {said}" if said else "")


def _choice(body: JsonValue) -> dict[str, JsonValue] | None:
    choices = body.get("choices") if isinstance(body, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else None


def _check_end(end: JsonValue, settings: Settings) -> None:
    """Refuse an answer that was cut, but for one that the plan itself cut short."""
    if end == "length" and settings.max_tokens is None:
        raise Refused("its answer was cut: it is longer than the model allows")
    if end == "content_filter":
        raise Refused("its answer was cut by a filter")


def _kept(content: str) -> str:
    if not storable(content):
        raise Refused("its answer holds U+0000 or a lone surrogate")
    return content


def _said(body: JsonValue, key: str | None) -> str:
    error = body.get("error") if isinstance(body, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    if not isinstance(message, str) or _tells(message, key):
        return ""
    return _plain(message, _LONGEST)


def _tells(message: str, key: str | None) -> bool:
    """Whether a message holds any telling part of the key, in whatever case and spacing."""
    if key is None:
        return False
    key, said = key.lower(), "".join(one for one in message if "!" <= one <= "~").lower()
    parts = {key[at : at + _TELLING] for at in range(max(1, len(key) - _TELLING + 1))}
    return any(part in said for part in parts)


def _plain(text: str, longest: int) -> str:
    """A server's words in one short line, in which all can be seen."""
    line = " ".join(quotable(text[: longest * 4]).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"
