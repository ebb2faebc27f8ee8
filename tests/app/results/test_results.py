"""Every result is plain JSON on the wire, one short line as a repr, and a table in a notebook."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

import memoranda
from memoranda import Memory
from memoranda.journeys.recall.recalled import Item
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.json import JsonValue, check
from memoranda.kernel.results import LONGEST, Result, Rows, Wired, plain
from memoranda.worlds.snapshot import Snapshot
from tests.app.results.session import every_result
from tests.app.results.walking import results_of

CAMEL = re.compile(r"[a-z]+([A-Z][a-z]*|[0-9]+)*")
WHOLE_HASH = re.compile(r"[0-9a-f]{64}")
OPEN = {
    *("data", "meta", "known", "policies", "breaks", "unreachable", "steps", "counts", "error"),
    *("proposal", "computed", "input", "checkpoints", "sources", "decision", "body"),
    *("recording", "fact", "documents"),
}
"""Members whose own members are named by users, by other documents or by seeds."""


@pytest.fixture
async def results(tmp_path: Path) -> list[Wired]:
    return await every_result(tmp_path)


def keys(wire: JsonValue) -> Iterator[str]:
    if isinstance(wire, list):
        for member in wire:
            yield from keys(member)
    elif isinstance(wire, dict):
        for name, member in wire.items():
            yield name
            if name not in OPEN:
                yield from keys(member)


# ------------------------------------------------------------------------- all of them


def test_every_verb_returns_something_that_has_a_wire_form() -> None:
    found = results_of(Memory)

    assert len(found) > 20
    assert [one for one in found if not issubclass(one, Wired)] == []
    kinds = (Result, Rows, Snapshot)
    assert [one for one in found if not issubclass(one, kinds)] == []


async def test_every_result_is_plain_json_with_camel_case_names(results: list[Wired]) -> None:
    for one in results:
        wire = one.to_wire()
        check(wire)
        assert [name for name in keys(wire) if not CAMEL.fullmatch(name)] == [], one


async def test_every_result_has_a_short_repr_without_whole_hashes(results: list[Wired]) -> None:
    for one in results:
        assert repr(one).startswith(f"{type(one).__name__}(")
        assert len(repr(one)) <= LONGEST
        assert WHOLE_HASH.search(repr(one)) is None


async def test_the_session_gets_every_result_that_a_verb_returns(results: list[Wired]) -> None:
    assert results_of(Memory) - {type(one) for one in results} == set()


async def test_lists_and_recalls_are_tables_in_a_notebook(results: list[Any]) -> None:
    tables = [one._repr_html_() for one in results if hasattr(one, "_repr_html_")]

    assert len(tables) > 4
    assert all(table.startswith("<table>") for table in tables)
    assert "<b>" not in "".join(tables)
    assert "&lt;b&gt;email&lt;/b&gt;" in "".join(tables)


async def test_an_item_says_whom_it_is_about_and_how_it_was_marked(tmp_path: Path) -> None:
    async with memoranda.open(f"sqlite:///{tmp_path}/memory.db") as memory:
        await memory.remember("email", id="a", subject="kim", tags=["x"], meta={"n": 1})
        await memory.remember("email as well", id="b")
        found = await memory.recall("email", top_k=2)

    said = {one["id"]: one for one in map(Item.to_wire, found)}
    assert (said["a"]["subject"], said["a"]["tags"], said["a"]["meta"]) == ("kim", ["x"], {"n": 1})
    assert said["b"].keys().isdisjoint({"subject", "tags", "meta"})


# ---------------------------------------------------------------------- the generic part


@dataclass(frozen=True, slots=True, repr=False)
class Found(Result):
    is_sound: bool
    entry_hash: str
    said: Any
    until_when: int | None = None
    must_be: int | None = 3


def test_names_are_camel_case_and_absent_members_are_left_out() -> None:
    assert Found(True, "00", b"\x01", must_be=None).to_wire() == {
        "sound": True,
        "entryHash": "00",
        "said": "01",
        "mustBe": None,
    }
    assert Found(False, "00", (1,), 5).to_wire()["untilWhen"] == 5


def test_names_inside_of_data_stay_as_they_are() -> None:
    assert Found(True, "", {"is_a_b": {"c_d": ()}}).to_wire()["said"] == {"is_a_b": {"c_d": []}}


def test_a_model_and_whatever_pydantic_knows_become_json() -> None:
    class Own(BaseModel):
        name_of: str | None

    ours = ActorRef(actor_id="7", kind="human")
    assert plain([Own(name_of=None), Path("a")]) == [{"name_of": None}, "a"]
    assert plain({"by": ours}) == {"by": {"actorId": "7", "kind": "human"}}


@given(st.lists(st.text(max_size=400)), st.text(max_size=400))
def test_a_repr_and_a_table_stay_short_whatever_is_said(texts: list[str], name: str) -> None:
    rows = Rows(Found(True, name, text) for text in texts)

    assert all(len(repr(one)) <= LONGEST for one in (rows, *rows))
    assert rows._repr_html_().count("<tr>") <= len(texts) + 1


def test_rows_are_a_sequence_that_equals_a_list() -> None:
    one, two = Found(True, "a", 1), Found(True, "b", 2)
    rows = Rows([one, two])

    assert (len(rows), rows[0], list(rows[1:])) == (2, one, [two])
    assert rows == [one, two] == list(rows)
    assert rows != [two]
    assert hash(rows) == hash(Rows((one, two)))
    assert rows.to_wire() == [one.to_wire(), two.to_wire()]


def test_a_long_table_says_how_much_more_there_is() -> None:
    rows = Rows(Found(True, "a", number) for number in range(1_234))

    assert "1,134 more" in rows._repr_html_()
    assert Rows[Found](())._repr_html_() == "<p>nothing</p>"


async def test_data_of_a_model_is_json_on_the_wire(tmp_path: Path) -> None:
    class Note(BaseModel):
        said_by: str

    url = f"sqlite:///{tmp_path}/memory.db"
    async with memoranda.open(url, model=Note) as memory:
        await memory.remember(Note(said_by="kim"), id="a")
        found, record = await memory.get("a"), await memory.records.get("a")

    assert found is not None
    assert record is not None
    assert found.data == Note(said_by="kim")
    assert found.to_wire()["data"] == record.to_wire()["data"] == {"said_by": "kim"}
