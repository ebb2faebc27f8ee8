"""Who acts, and where: bad ones are refused in plain words."""

import pytest

from memoranda.kernel.actors import ActorRef, check_scope, parse_actor
from memoranda.kernel.errors import InvalidActor, InvalidScope


def test_an_actor_is_read_from_kind_and_id() -> None:
    actor = parse_actor("agent:support:eu")

    assert (actor.kind, actor.actor_id) == ("agent", "support:eu")
    assert str(actor) == "agent:support:eu"
    assert parse_actor(actor) is actor


def test_an_actor_has_the_names_of_the_wire() -> None:
    actor = ActorRef.model_validate({"actorId": "mina", "kind": "human", "name": "민아"})

    assert actor.model_dump(exclude_none=True) == {
        "actorId": "mina",
        "kind": "human",
        "name": "민아",
    }


@pytest.mark.parametrize("actor", ["", "mina", "robot:1", "human:", "human:\x00", None, 5])
def test_a_bad_actor_is_refused(actor: str) -> None:
    with pytest.raises(InvalidActor) as caught:
        parse_actor(actor)

    assert caught.value.code == "input.actor"


@pytest.mark.parametrize("scope", ["support", "고객 지원", "tenant/7:agent.3", "a" * 128])
def test_a_scope_is_a_short_printable_string(scope: str) -> None:
    assert check_scope(scope) == scope


@pytest.mark.parametrize("scope", ["", " a", "a\n", "a\x00b", "a" * 129, "\ud800", None, 7])
def test_a_bad_scope_is_refused(scope: object) -> None:
    with pytest.raises(InvalidScope) as caught:
        check_scope(scope)

    assert caught.value.code == "input.scope"
