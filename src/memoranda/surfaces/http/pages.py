"""The page at /docs: every operation with its route, right and members. No script, no CDN."""

from functools import cache
from html import escape
from typing import Final

from memoranda.app.surfaces import OPERATIONS, Operation
from memoranda.surfaces.http.routes import PREFIX

HTML: Final = "text/html; charset=utf-8"
_STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "code{background:#8882;padding:0 .25em}td,th{text-align:left;vertical-align:top;"
    "padding:.2rem .8rem .2rem 0}summary{cursor:pointer}:root{color-scheme:light dark}"
)


@cache
def reference_page() -> bytes:
    """The page, which is the same for everybody."""
    parts = "".join(map(_part, OPERATIONS.values()))
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>memoranda</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{_STYLE}</style><h1>memoranda</h1>"
        '<p>Every operation of this server. The same for programs: <a href="/openapi.json">'
        "openapi.json</a>. Send a key as <code>Authorization: Bearer …</code>.</p>"
        f"{parts}</html>"
    ).encode()


def _part(operation: Operation) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(str(field.alias))}</code>{'' if field.is_required() else '?'}"
        f"<td>{escape(field.description or '')}"
        for field in operation.request.model_fields.values()
    )
    return (
        f"<details><summary><code>{escape(operation.method)} {PREFIX}{escape(operation.path)}"
        f"</code> {escape(operation.name)}</summary><p>{escape(operation.summary)} "
        f"Needs the right <code>{operation.right}</code>.</p><table>{rows}</table></details>"
    )
