"""Logging in with a key, and out; which scope, which language."""

from typing import Final
from urllib.parse import quote

from memoranda.errors import DoorError, InvalidRecord
from memoranda.surfaces.console.view import (
    KEY_COOKIE,
    LANGUAGE_COOKIE,
    SCOPE_COOKIE,
    View,
    redirect,
)
from memoranda.surfaces.console.words import LANGUAGES
from memoranda.surfaces.http.messages import HttpAnswer

_WEEK_S: Final = 7 * 24 * 60 * 60
_YEAR_S: Final = 365 * 24 * 60 * 60


async def show(view: View) -> HttpAnswer:
    """The form for a key."""
    return view.show("login.html", refused=None)


async def log_in(view: View) -> HttpAnswer:
    """Keep a key that is good in a cookie."""
    key = view.said("key") or ""
    try:
        await view.console.service.principal(key)
    except DoorError as refused:
        return view.show("login.html", 401, refused=str(refused))
    return redirect("/", {KEY_COOKIE: _cookie(view, key, _WEEK_S)})


async def log_out(view: View) -> HttpAnswer:
    """Forget the key."""
    return redirect("/login", {KEY_COOKIE: _cookie(view, "", 0)})


async def choose_scope(view: View) -> HttpAnswer:
    """Look at another scope: whoever comes without a key may name it."""
    scope = view.said("scope") or ""
    if view.principal.key_id is not None:
        raise InvalidRecord("$.scope", "it is the key's")
    await view.console.service.principal(None, scope=scope or None)
    return redirect("/", {SCOPE_COOKIE: _cookie(view, quote(scope, safe=""), _YEAR_S)})


async def choose_language(view: View) -> HttpAnswer:
    """Speak another language."""
    language = view.form.get("language", "")
    if language not in LANGUAGES:
        raise InvalidRecord("$.language", f"it is one of {', '.join(LANGUAGES)}")
    back = view.form.get("back", "/")
    is_ours = back.startswith("/") and not back.startswith(("//", "/\\"))
    answer = redirect(back if is_ours else "/")
    answer.headers["set-cookie"] = f"{LANGUAGE_COOKIE}={_cookie(view, language, _YEAR_S)}"
    return answer


def _cookie(view: View, value: str, seconds: int) -> str:
    """A cookie that no script and no other site gets; over TLS alone, where the page came so."""
    secure = "; Secure" if view.request.headers.get("origin", "").startswith("https:") else ""
    return f"{value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"
