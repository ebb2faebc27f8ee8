"""How values are shown: the templates, and the filters that they use.

Everything is escaped (autoescape is on for every template, and nothing is marked safe): what was
remembered is text, whatever it says.
"""

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

import orjson
from jinja2 import ChainableUndefined, Environment, PackageLoader

from memoranda.app.surfaces import format_time
from memoranda.types import SystemClock

STATIC: Final[Mapping[str, str]] = {
    "console.css": "text/css; charset=utf-8",
    "console.js": "text/javascript; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
"""What is served as it is, and its types."""

TONES: Final[Mapping[str, tuple[str, str]]] = {
    # trust
    "approved": ("good", "check"),
    "unreviewed": ("plain", "circle"),
    "untrusted": ("bad", "alert"),
    # verdicts
    "Factual": ("good", "check"),
    "Inference": ("info", "spark"),
    "Unanswered": ("plain", "circle"),
    "False": ("bad", "cross"),
    # statuses of objects
    "active": ("good", "check"),
    "invalidated": ("plain", "cross"),
    "archived": ("plain", "box"),
    "superseded": ("plain", "layers"),
    "erased": ("ink", "erase"),
    # outcomes
    "found": ("good", "check"),
    "empty": ("plain", "circle"),
    "degraded": ("warn", "alert"),
    "failed": ("bad", "cross"),
    "completed": ("good", "check"),
    "cancelled": ("plain", "cross"),
    "rejected": ("bad", "cross"),
    "evaluating": ("warn", "clock"),
    "submitted": ("warn", "clock"),
    "executing": ("info", "clock"),
    "same": ("good", "check"),
    "differs": ("bad", "alert"),
    "damaged": ("bad", "alert"),
    "not run": ("plain", "circle"),
    "not sealed": ("warn", "clock"),
    # how sure
    "likely": ("good", "bars3"),
    "maybe": ("info", "bars2"),
    "weak": ("plain", "bars1"),
}
"""One badge language for all pages: each word has a tone and a sign, so never colour alone."""

KINDS: Final[Mapping[str, tuple[str, str, str]]] = {
    "create": ("write", "layers", "written"),
    "consolidate": ("write", "layers", "summed up"),
    "invalidate": ("write", "cross", "forgotten"),
    "archive": ("write", "box", "put away"),
    "trace": ("read", "search", "recall"),
    "proposal": ("act", "hand", "proposal"),
    "decision": ("act", "check", "decision"),
    "execution": ("act", "play", "execution"),
    "effect": ("act", "play", "effect"),
    "world": ("act", "globe", "world"),
    "cycle": ("turn", "chat", "turn"),
    "learning": ("turn", "spark", "learned"),
    "erasure": ("gone", "erase", "erasure"),
    "conformance_break": ("gone", "alert", "break"),
    "policy_change": ("rule", "scale", "policy"),
    "maintenance": ("rule", "scale", "fingerprint"),
    "checkpoint": ("rule", "seal", "checkpoint"),
    "job": ("rule", "clock", "job"),
}
"""The families of entries, their signs, and what people call them."""

_MINUTE: Final = 60_000
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_LONG: Final = 200


def rendered(template: str, **values: Any) -> str:
    """A template with values."""
    return environment().get_template(template).render(**values)


@cache
def environment() -> Environment:
    """The templates, compiled once."""
    made = Environment(
        loader=PackageLoader("memoranda.surfaces.console"),
        autoescape=True,
        undefined=ChainableUndefined,
        extensions=["jinja2.ext.loopcontrols"],
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "moment": moment,
        "short": short,
        "said": said,
        "brief": brief,
        "pretty": pretty,
        "percent": percent,
        "number": number,
        "asset": asset,
    }
    made.globals |= {"ago": ago, "tone_of": tone_of, "kind_of": kind_of}
    return made


@cache
def static_file(name: str) -> bytes:
    """The bytes of a file that is served as it is."""
    return (files("memoranda.surfaces.console") / "static" / name).read_bytes()


@cache
def asset(name: str) -> str:
    """The address of a file, with a part that changes when the file does."""
    return f"/static/{name}?v={sha256(static_file(name)).hexdigest()[:12]}"


def tone_of(word: str) -> tuple[str, str]:
    """The tone and the sign of a word of the badge language."""
    return TONES.get(word, ("plain", "circle"))


def kind_of(kind: str) -> tuple[str, str, str]:
    """The family, the sign and the name of a kind of entry."""
    return KINDS.get(kind, ("rule", "circle", kind))


def moment(ms: int | None) -> str:
    """A time in UTC, to the second."""
    return "" if ms is None else format_time(ms).partition(".")[0].rstrip("Z").replace("T", " ")


def ago(words: Any, ms: int) -> str:
    """How long ago something was, roughly."""
    past = SystemClock().now_ms() - ms
    if past < 0:
        return moment(ms)
    if past < _MINUTE:
        return str(words("just now"))
    if past < _HOUR:
        return str(words("{n} min ago", n=past // _MINUTE))
    if past < _DAY:
        return str(words("{n} h ago", n=past // _HOUR))
    return str(words("{n} d ago", n=past // _DAY))


def short(text: object, length: int = 10) -> str:
    """The beginning of an id or a hash; the end too, where the beginning is a time."""
    whole = str(text)
    if len(whole) <= 2 * length:
        return whole
    return f"{whole[:length]}…{whole[-4:]}" if "-" in whole else f"{whole[:length]}…"


def said(data: object, length: int = _LONG) -> str:
    """What a memory says, on one line."""
    text = data if isinstance(data, str) else orjson.dumps(data).decode()  # noqa: TID251 - shown
    flat = " ".join(text.split())
    return flat if len(flat) <= length else f"{flat[: length - 1]}…"


def brief(data: object, length: int = _LONG) -> str:
    """What an action takes: names and values, without the signs of JSON."""
    if not isinstance(data, Mapping) or not data:
        return "" if data is None else said(data, length)
    text = " · ".join(f"{name} {said(value)}" for name, value in data.items())
    return said(text, length)


def pretty(data: object) -> str:
    """JSON over several lines; a text as it is."""
    if isinstance(data, str):
        return data
    return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode()  # noqa: TID251 - shown


def percent(part: float) -> str:
    """A part of one, as a percentage."""
    return f"{part * 100:.0f}%"


def number(count: int) -> str:
    """A count, in groups of three."""
    return f"{count:,}"
