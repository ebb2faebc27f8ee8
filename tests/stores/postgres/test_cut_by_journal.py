"""The tables can be cut by journal and lie on many servers: what schema and statements need.

Read from the catalogue and from the statements themselves, on a plain server (ADR 29).
"""

import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module

import pytest

from memoranda import stores
from memoranda.kernel.errors import ScopeCollision
from memoranda.stores import postgres
from memoranda.stores.postgres import database as database_module
from memoranda.stores.postgres.database import PostgresDatabase, journal_number
from memoranda.stores.statements import Statement
from tests.stores.postgres.catalogue import asked

NO_JOURNAL = {"migrations", "access_keys"}
NO_FUNCTION_OF_A_JOURNAL = {"tag_key"}
LISTING = {database_module._SCOPES, database_module._ORIGINS, database_module._DUE_JOBS}
"""All scopes are listed by whoever says so, and the jobs of all of them: of no journal alone."""

_REFERENCE = re.compile(
    r"\b(?:FROM|JOIN|UPDATE)\s+memoranda\.(\w+)(?!\w*\()(?:\s+(?:AS\s+)?(\w+))?"
)
_KEYWORDS = {"WHERE", "SET", "ORDER", "LEFT", "JOIN", "SELECT", "VALUES"}


@pytest.fixture
async def url(postgres_url: str) -> str:
    await (await PostgresDatabase.open(postgres_url, 0, create=True)).close()
    return postgres_url


def tables(url: str) -> set[str]:
    query = "SELECT relname::text FROM pg_class WHERE relnamespace = 'memoranda'::regnamespace"
    found = {str(name) for (name,) in asked(url, query + " AND relkind = 'r'")}
    return found - NO_JOURNAL


async def test_every_key_and_unique_index_begins_with_the_journal(url: str) -> None:
    keys = asked(
        url,
        """SELECT c.relname::text, a.attname::text, format_type(a.atttypid, NULL)
           FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
           LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
           WHERE c.relnamespace = 'memoranda'::regnamespace AND i.indisunique""",
    )

    of_journals = [key for key in keys if key[0] not in NO_JOURNAL]
    assert {name for name, *_ in of_journals} == tables(url), "each has one"
    assert {tuple(rest) for _, *rest in of_journals} == {("journal", "bigint")}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1 FROM pg_attribute WHERE attidentity <> '' AND attrelid IN (SELECT oid FROM ours)",
        "SELECT 1 FROM pg_class WHERE relkind = 'S' AND relnamespace = 'memoranda'::regnamespace",
        "SELECT 1 FROM pg_trigger WHERE tgrelid IN (SELECT oid FROM ours)",
        "SELECT 1 FROM pg_constraint WHERE contype = 'f' AND conrelid IN (SELECT oid FROM ours)",
    ],
    ids=["identity columns", "sequences", "triggers", "foreign keys"],
)
async def test_there_is_nothing_that_can_not_be_distributed(url: str, query: str) -> None:
    ours = "SELECT oid FROM pg_class WHERE relnamespace = 'memoranda'::regnamespace"
    assert asked(url, f"WITH ours AS ({ours}) {query}") == []


async def test_the_first_argument_of_every_function_is_the_journal(url: str) -> None:
    query = """SELECT proname::text, proargnames[1], proargtypes[0]::regtype::text FROM pg_proc
               WHERE pronamespace = 'memoranda'::regnamespace"""
    functions = {str(name): tuple(rest) for name, *rest in asked(url, query)}

    for name in NO_FUNCTION_OF_A_JOURNAL:
        del functions[name]
    assert set(functions.values()) == {("p_journal", "bigint")}


async def test_the_only_setting_that_decides_what_is_seen_is_of_a_transaction(url: str) -> None:
    query = "SELECT prosrc FROM pg_proc WHERE pronamespace = 'memoranda'::regnamespace"
    sources = " ".join(str(source) for (source,) in asked(url, query))

    calls = re.findall(r"set_config\(.*?, (\w+)\)", sources)
    assert calls
    assert set(calls) == {"true"}
    assert set(re.findall(r"set_config\('([\w.]+)'", sources)) == {"memoranda.journal"}


def unnamed(statement: str, known: set[str]) -> Iterator[str]:
    """The tables that a statement refers to without naming the journal."""
    for table, alias in _REFERENCE.findall(statement):
        if table not in known:
            continue  # a function
        name = "" if alias in _KEYWORDS else rf"\b{alias}\." if alias else ""
        if not re.search(
            rf"{name}journal = (?:p_journal|%s|\?|%\(journal\)s|:journal|\w+\.journal)", statement
        ):
            yield table


def written_in(values: Iterable[object]) -> Iterator[str]:
    """The texts among some values, and those that PostgreSQL is asked by the statements there."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, Statement):
            yield value.postgres
        elif isinstance(value, Mapping):
            yield from written_in(value.values())
        elif isinstance(value, tuple | list):
            yield from written_in(value)


async def test_every_reference_to_a_table_names_its_journal(url: str) -> None:
    """By a parameter, or as that of a table beside it whose own is a parameter."""
    known = tables(url)
    query = "SELECT prosrc FROM pg_proc WHERE pronamespace = 'memoranda'::regnamespace"
    statements = [part for (source,) in asked(url, query) for part in str(source).split(";")]
    for package in (stores, postgres):
        for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
            if not module.ispkg:
                values = vars(import_module(module.name)).values()
                statements += [one for one in written_in(values) if "memoranda." in one]

    of_tables = [one for one in statements if any(f"memoranda.{name}" in one for name in known)]
    assert len(of_tables) > 100
    found = {one: list(unnamed(one, known)) for one in of_tables if one not in LISTING}
    assert {one: gone for one, gone in found.items() if gone} == {}


def test_the_number_of_a_journal_is_made_of_its_scope_alone() -> None:
    assert journal_number("support") == 5_819_496_810_865_881_038


async def test_two_scopes_with_one_number_are_refused_by_name(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "journal_number", lambda _: 7)
    database = await PostgresDatabase.open(postgres_url, 0, create=True)
    await database.ledger("one", "origin of one", 0)

    for call in (database.ledger("other", "origin of other", 0), database.existing("other")):
        with pytest.raises(ScopeCollision) as caught:
            await call
        assert caught.value.code == "store.scope_collision"
    await database.close()
