"""Database URLs: what they name, and what is wrong with the others."""

from pathlib import Path

import pytest

from memoranda.app.databases import DatabaseUrl, file_of, file_url, hidden, parse_url
from memoranda.kernel.errors import InvalidUrl


@pytest.mark.parametrize(
    ("url", "kind", "place"),
    [
        ("dict://", "dict", ""),
        ("sqlite:///memory.db", "sqlite", "memory.db"),
        ("sqlite:////var/lib/memory.db", "sqlite", "/var/lib/memory.db"),
        ("memory.db", "sqlite", "memory.db"),
        ("/var/lib/기억 one?.db", "sqlite", "/var/lib/기억 one?.db"),
        (Path("a/memory.db"), "sqlite", "a/memory.db"),
        ("sqlite:///기억%20one%3F.db", "sqlite", "기억 one?.db"),
        ("sqlite://:memory:", "sqlite", ":memory:"),
        ("postgresql://me@host/db", "postgresql", "postgresql://me@host/db"),
        ("postgres://me@host/db", "postgresql", "postgresql://me@host/db"),
    ],
)
def test_a_url_names_a_store_and_a_place(url: str | Path, kind: str, place: str) -> None:
    assert parse_url(url) == DatabaseUrl(kind, place)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "host=db password=x",
        "postgres",
        "me@host",
        "sqlite://memory.db",
        "sqlite:///",
        "sqlite:///a.db?mode=ro",
        "dict://x",
        "mysql://h",
        None,
    ],
)
def test_a_wrong_url_is_refused_with_the_forms_that_are_understood(url: str) -> None:
    with pytest.raises(InvalidUrl) as caught:
        parse_url(url)

    assert caught.value.code == "input.url"
    assert "sqlite:///path.db" in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "mysql://me:s3cret@host/db",
        "mysql://me:s3c@ret@host/db?password=s3cret",
        "host=db password=s3cret",
        "postgresql:/me:s3cret@host/db",
        "sqlite://me:s3cret@host/db",
        "dict://me:s3cret@host",
    ],
)
def test_a_password_is_never_shown(url: str) -> None:
    with pytest.raises(InvalidUrl) as caught:
        parse_url(url)

    assert "s3c" not in str(caught.value)
    assert "s3c" not in hidden("postgresql://me:s3cret@host/db?password=s3cret")


@pytest.mark.parametrize("name", ["memory.db", "100% of it?#.db", "기억 one.db", ":memory:", "%41"])
def test_any_file_has_a_url(name: str, tmp_path: Path) -> None:
    assert file_of(file_url(tmp_path / name)) == str(tmp_path / name)
    assert file_of(file_url(name)) == str(Path(name).absolute())
