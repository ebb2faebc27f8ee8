"""After turns, no table, index or journal body holds a whole response, or what was cut from one."""

import asyncio
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import memoranda
from memoranda.identity import canonical_bytes
from memoranda.kernel.errors import CycleFailed
from memoranda.outside.models.scripted import ScriptedAnswer, ScriptedModel
from memoranda.plans.extractive import extract
from memoranda.plans.summary import Limits, Summary
from tests.journeys.turn.talking import bodies, talk
from tests.plans.items.conftest import Place
from tests.plans.items.test_storing import holding
from tests.stores.postgres.roles import make_roles
from tests.stores.postgres.server import PostgresServer

CANARY = "카나리아qzx"


class Said(NamedTuple):
    """A turn: what the user says, what the model answers, and what of it must be nowhere."""

    text: str
    response: str
    canaries: tuple[str, ...] = ()


TURNS = [
    Said(
        f"Tell me how Ada {CANARY}-asked wants her invoices sent, and what it takes.",
        "Ada wants her invoices by email. They go out on the first of each month."
        f"\n```sh\nexport TOKEN={CANARY}-code\n```\nAnything else can wait until Monday.",
        (f"{CANARY}-code",),
    ),
    Said("What is the code of the door?", f"It is {CANARY}-door."),
    Said("And the word for it?", f"{CANARY}word", (f"{CANARY}word",)),
    Said("고객은 무엇을 선호하나요?", "고객은 전화보다 이메일을 선호합니다."),
    Said("정말인가요?", "네, 그렇습니다."),
]


class Opened(NamedTuple):
    """Where turns are taken, and where its owner looks at the tables."""

    url: str
    place: Place


@pytest.fixture(scope="module")
def postgres_of_canaries(postgres_server: PostgresServer) -> tuple[str, str]:
    """A database as the role that programs use, and as its superuser."""
    owned = postgres_server.create_database()
    return asyncio.run(make_roles(postgres_server, owned)).app, owned


@pytest.fixture(
    params=[
        pytest.param("sqlite", marks=pytest.mark.backend("sqlite")),
        pytest.param("postgres", marks=pytest.mark.backend("postgres")),
    ]
)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    if request.param == "postgres":
        url, owned = request.getfixturevalue("postgres_of_canaries")
        return Opened(url, Place(owned))
    url = f"sqlite:///{tmp_path}/memory.db"
    return Opened(url, Place(url))


def scripted() -> ScriptedModel:
    return ScriptedModel([ScriptedAnswer(when=said.text, answer=said.response) for said in TURNS])


@pytest.mark.rule("ING-RAW")
async def test_nothing_raw_reaches_any_table_index_or_body(opened: Opened) -> None:
    facts: list[dict[str, Any]] = []
    async with memoranda.open(opened.url, scope="canaries") as memory:
        turns = await memory.turns.open(talk(), model=scripted())
        for said in TURNS:
            assert (await turns.take(said.text)).response == said.response
        facts = await bodies(memory)

    # What is kept is found where it should be: so the search below sees what there is.
    kept = extract(TURNS[0].response, TURNS[0].text, Limits())
    assert kept is not None
    assert holding(opened.place, kept.summary) == {"memories"}
    assert len(facts) == len(TURNS)

    told = canonical_bytes(facts).decode()
    for said in TURNS:
        for raw in (said.response, said.text, *said.canaries):
            assert holding(opened.place, raw) == set()
            assert raw not in told


@pytest.mark.rule("ING-RAW")
async def test_a_summariser_that_keeps_everything_ends_the_cycle_and_nothing_is_kept(
    opened: Opened,
) -> None:
    class Hoarding:
        async def summarise(self, response: str, text: str | None, limits: Limits) -> Summary:
            _ = text, limits
            return Summary(f"All of it: {response.upper()}", ())

    said = Said("Who is the guest?", f"The guest is {CANARY}-guest of Busan.")
    model = ScriptedModel([ScriptedAnswer(when="", answer=said.response)])
    async with memoranda.open(opened.url, scope="hoarding") as memory:
        turns = await memory.turns.open(talk(), model=model, summariser=Hoarding())

        with pytest.raises(CycleFailed) as caught:
            await turns.take(said.text)

    assert caught.value.code == "plan.cycle_failed"
    assert f"{CANARY}-guest" not in str(caught.value)
    assert holding(opened.place, f"{CANARY}-guest") == set()
    assert holding(opened.place, f"{CANARY}-guest".upper()) == set()
