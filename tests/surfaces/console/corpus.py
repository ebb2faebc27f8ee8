"""Texts that would run if a page took them for anything but text."""

from typing import Final

MARK: Final = "__ran__"
_RUN: Final = f"window.{MARK}=1"

CORPUS: Final = (
    f"<script>{_RUN}</script>",
    f"<img src=x onerror={_RUN}>",
    f"<svg onload={_RUN}>",
    f'"><script>{_RUN}</script>',
    f"'><img src=x onerror={_RUN}>",
    f'" onfocus={_RUN} autofocus x="',
    f"' onmouseover={_RUN} x='",
    f"</textarea><script>{_RUN}</script>",
    f"</pre><script>{_RUN}</script>",
    f"</title><script>{_RUN}</script>",
    f"javascript:{_RUN}",
    f'<a href="javascript:{_RUN}">click</a>',
    f'<iframe srcdoc="<script>{_RUN.replace("window", "parent")}</script>"></iframe>',
    f"<body onload={_RUN}>",
    f"<math><mtext></p><script>{_RUN}</script>",
    f'<div hx-on:load="{_RUN}" hx-trigger="load" hx-get="/"></div>',
    f"<style>@import 'x'</style><meta http-equiv=refresh content=\"0;url=javascript:{_RUN}\">",
    "{{ 7 * 7 }}{% raw %}{{ view.console }}{% endraw %}",
    f"<template><script>{_RUN}</script></template>",
    f"&lt;script&gt;{_RUN}&lt;/script&gt;",
    "\u202e<b>right to left</b>\u2028line\u2029paragraph",
    f"data: {_RUN}\n\nevent: entry\ndata: <script>{_RUN}</script>",
)
