"""The site of these documents, built by Sphinx from the Markdown that is read in the repository.

`make docs` builds it. The navigation is made of docs/index.md: each heading is a part, each link in
its list a page. Nothing is loaded from elsewhere when a page is read.
"""

import re
from typing import Any

project = "memoranda"
author = "the authors of memoranda"
extensions = ["myst_parser"]
exclude_patterns = ["README.md"]
html_theme = "furo"
html_title = "memoranda"
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_theme_options: dict[str, Any] = {
    "light_css_variables": {"color-brand-primary": "#0b6e4f", "color-brand-content": "#0b6e4f"},
    "dark_css_variables": {"color-brand-primary": "#5fd3a6", "color-brand-content": "#5fd3a6"},
}
html_static_path = ["_static"]
html_css_files = ["site.css"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "myst.xref_missing", "misc.highlighting_failure"]
"""Links and anchors are compared by the suite, where the pages are read as they stand."""
pygments_style = "friendly"

_PART = re.compile(r"^## (?P<title>.+?)\n(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_PAGE = re.compile(r"^- \[(?P<title>[^]]+)\]\((?P<page>[\w/-]+)\.md\)", re.MULTILINE)
_DECISION = re.compile(r"^\d+\. \[.*\]\((?P<page>[\w-]+)\.md\)", re.MULTILINE)


def _with_navigation(app: Any, name: str, source: list[str]) -> None:  # noqa: ARG001 - Sphinx's
    """Give the front page its tree, and the list of decisions its own."""
    (text,) = source
    trees = []
    if name == "index":
        for part in _PART.finditer(text):
            pages = [f"{one['title']} <{one['page']}>" for one in _PAGE.finditer(part["text"])]
            trees.append((f":caption: {part['title']}\n", pages))
    elif name == "adr/README":
        trees.append(("", [one["page"] for one in _DECISION.finditer(text)]))
    for options, pages in trees:
        text += "\n".join(["", "```{toctree}", f":hidden:\n{options}", *pages, "```", ""])
    source[0] = text


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _with_navigation)
