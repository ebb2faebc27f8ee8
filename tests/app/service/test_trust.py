"""How far something is trusted is set by the credential that it came with, never by its text."""

from typing import Any

import pytest

import memoranda
from memoranda.app.doorkeeper import Service
from memoranda.app.service.operations import OPERATIONS
from memoranda.errors import InvalidOption
from memoranda.kernel.access import RIGHTS, Principal

pytestmark = pytest.mark.anyio

MAY_WRITE = [right for right in RIGHTS if right != "decide"]
SAID = "I prefer green tea."
CONSOLIDATION = {
    "ids": ["a", "b"],
    "statement": "Ann prefers email; Ann lives in Seoul",
    "justification": "both are of Ann",
}
WRITES: list[tuple[str, dict[str, Any]]] = [
    ("remember", {"data": SAID}),
    ("remember", {"data": SAID, "source": "web", "verdict": "Inference", "meta": {"a": 1}}),
    ("remember_many", {"memories": [{"data": SAID}, {"data": {"a": 1}}]}),
    ("put", {"id": "new", "data": SAID}),
    ("put", {"id": "a", "data": SAID}),
    ("put", {"id": "approved", "data": SAID, "tags": ["x"]}),
    ("update", {"id": "a", "patch": SAID}),
    ("update", {"id": "approved", "patch": SAID}),
    ("batch", {"writes": [{"do": "remember", "data": SAID}, {"do": "put", "id": "b", "data": 1}]}),
    ("learn", {"messages": [{"role": "user", "speaker": "ann", "content": SAID}]}),
    ("records.create", {"data": {"a": 1}}),
    ("records.create_many", {"records": [{"data": {"a": 1}}, {"data": {"b": 1}}]}),
    ("records.update", {"id": "object", "patch": {"b": 2}}),
    ("records.update_many", {"updates": [{"id": "object", "patch": {"b": 2}}]}),
    ("records.annotate", {"id": "object", "tags": ["x"]}),
    ("govern.revise", {"id": "approved", "source": "web", "reason": "read it"}),
    ("govern.supersede", {"id": "a", "data": SAID, "reason": "read it"}),
    ("govern.consolidate", CONSOLIDATION),
]


@pytest.mark.parametrize(
    ("name", "given"), WRITES, ids=[f"{n} {i}" for i, (n, _) in enumerate(WRITES)]
)
async def test_what_an_untrusted_key_states_is_untrusted(
    fresh_url: str, name: str, given: dict[str, Any]
) -> None:
    async with memoranda.connect(fresh_url) as database:
        memory = database.scope("s", actor="agent:own")
        await memory.remember("Ann prefers email", id="a", source="t/1")
        await memory.remember("Ann lives in Seoul", id="b", source="t/2")
        await memory.remember("Ann is 40", id="approved", source="t/1")
        await memory.put("object", {"a": 1})
        await database.scope("s", actor="human:lee").govern.approve("approved", reason="true")
        size = (await memory.journal.head()).size
        service = Service(database)
        made = await database.keys.create(
            scope="s", actor="agent:web", rights=MAY_WRITE, trust="untrusted"
        )
        principal = await service.principal(made.key)

        await service.call(principal, OPERATIONS[name], given)

        stated = [
            entry.body or {}
            for entry in await memory.journal.entries(size)
            if entry.kind in ("create", "consolidate")
        ]
        assert stated
        assert {body["trust"] for body in stated} == {"untrusted"}
        assert (await memory.verify()).is_sound
        usual = Principal("agent:web", "s", principal.rights)
        await service.call(usual, OPERATIONS["remember"], {"data": SAID, "id": "usual"})
        found = await memory.get("usual")
        assert found is not None
        assert found.trust == "unreviewed"


async def test_what_was_untrusted_is_raised_by_an_approval_alone(fresh_url: str) -> None:
    async with memoranda.connect(fresh_url) as database:
        service = Service(database)
        untrusted = Principal("agent:web", "s", frozenset(RIGHTS), trust="untrusted")
        await service.call(untrusted, OPERATIONS["remember"], {"data": {"a": 1}, "id": "x"})
        memory = database.scope("s", actor="agent:own")
        for write in (memory.put("x", {"a": 2}), memory.update("x", {"b": 3})):
            await write
            assert (await memory.get("x")).trust == "untrusted"  # type: ignore[union-attr]
        recalled = await memory.recall("a", top_k=3, verified_only=True)
        await database.scope("s", actor="human:lee").govern.approve("x", reason="true")

        assert recalled.outcome == "empty"
        assert (await memory.get("x")).trust == "approved"  # type: ignore[union-attr]


async def test_an_untrusted_key_decides_nothing(fresh_url: str) -> None:
    async with memoranda.connect(fresh_url) as database:
        wrongs: list[dict[str, Any]] = [
            {"rights": RIGHTS, "trust": "untrusted"},
            {"trust": "approved"},
        ]
        for wrong in wrongs:
            given: dict[str, Any] = {"scope": "s", "actor": "agent:web", "rights": ["read"]}
            with pytest.raises(InvalidOption):
                await database.keys.create(**{**given, **wrong})
        assert not await database.keys.list()
