"""Every Python snippet of the documents runs, and prints what the document says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "README.ko.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
SNIPPET = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```)?", re.MULTILINE | re.DOTALL
)
REMOTE = re.compile(r"postgresql://\w+@db\.example\.org/\w+")
LINK = re.compile(r"\]\((?!https?:)(?P<target>[^)#]+)\)")


def snippets() -> list[object]:
    return [
        pytest.param(
            document,
            found["code"],
            found["output"],
            id=f"{document.relative_to(ROOT)}-{number}",
        )
        for document in DOCUMENTS
        for number, found in enumerate(SNIPPET.finditer(document.read_text()), 1)
    ]


@pytest.mark.parametrize(("document", "code", "output"), snippets())
def test_a_snippet_runs_and_prints_what_is_said(
    document: Path,
    code: str,
    output: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(tmp_path)
    if REMOTE.search(code):  # stands for the reader's own server: here it is ours
        code = REMOTE.sub(request.getfixturevalue("postgres_url"), code)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(document), "exec"), {"__name__": "snippet"})  # noqa: S102

    if output is not None:
        assert printed.getvalue() == output


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_to_a_file_leads_somewhere(document: Path) -> None:
    targets = [found["target"] for found in LINK.finditer(document.read_text())]

    assert [target for target in targets if not (document.parent / target).exists()] == []


def test_the_readme_has_a_snippet() -> None:
    assert SNIPPET.search((ROOT / "README.md").read_text())
