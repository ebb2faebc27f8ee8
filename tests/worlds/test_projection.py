"""Projections: an event becomes an intent, from data and computed alone."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from memoranda.identity import canonical_bytes
from memoranda.kernel.actors import ActorRef, parse_actor
from memoranda.kernel.ambient import check_reach, observed, reached
from memoranda.kernel.errors import InvalidDomain, InvalidWorld, MemoryOutOfReach
from memoranda.worlds.proposal import (
    IntentBody,
    Projection,
    ProjectionEvent,
    SnapshotView,
    project,
    projection,
)
from memoranda.worlds.readonly import ReadOnly
from tests.worlds.running import a_shop, base_of, objects

ACTOR = ActorRef(actor_id="kim", kind="human", meta={"team": ["a"]})
EVENT = ProjectionEvent(kind="ui", event_id="e-1", payload={"item": "tea", "path": ["x"]})


def shown(function: Callable[..., Any], **members: Any) -> IntentBody | None:
    shop = a_shop()
    return project(Projection("p", function), base_of(shop, **members), ACTOR, EVENT)


def test_an_event_becomes_an_intent() -> None:
    @projection("shop.form")
    def from_form(seen: SnapshotView, _actor: ActorRef, event: ProjectionEvent) -> IntentBody:
        given = {"item": event.payload["item"], "count": 1 + len(seen.data["lines"])}
        return IntentBody(type="order", input=given, scope_proposal=None)

    found = project(from_form, base_of(a_shop()), ACTOR, EVENT)

    assert from_form.id == "shop.form"
    assert found == IntentBody(type="order", input={"item": "tea", "count": 1})


def test_an_event_may_mean_nothing() -> None:
    assert shown(lambda *_: None) is None


def test_what_it_returns_may_hold_views_and_is_taken_by_value() -> None:
    kept: dict[str, Any] = {}

    def body(seen: SnapshotView, _actor: ActorRef, event: ProjectionEvent) -> dict[str, Any]:
        kept["input"] = {"lines": seen.data["lines"], "path": event.payload["path"]}
        return {"type": "order", **kept}

    found = shown(body)
    kept["input"]["path"] = "later"

    assert found is not None
    assert found.input == {"lines": [], "path": ["x"]}


@pytest.mark.rule("C-5")
@pytest.mark.parametrize("reach", [check_reach, lambda: reached(["m-1"]), lambda: reached([])])
def test_memory_can_not_be_reached_from_a_projection(reach: Callable[[], None]) -> None:
    with pytest.raises(MemoryOutOfReach) as caught:
        shown(lambda *_: reach())

    assert caught.value.code == "input.memory_out_of_reach"
    assert caught.value.who == "a projection"
    check_reach()


@pytest.mark.rule("C-5")
def test_memory_can_not_be_reached_though_a_recall_is_being_observed() -> None:
    with observed() as seen, pytest.raises(MemoryOutOfReach):
        shown(lambda *_: reached(["m-1"]))

    assert seen.ids == ()


@pytest.mark.rule("C-5")
def test_a_projection_sees_data_and_computed_and_nothing_else() -> None:
    views: list[SnapshotView] = []
    frozen = {"$app": {"memoryContext": {"secret": 1}, "memoryRecallFailed": False}}

    shown(lambda seen, *_: views.append(seen), computed={"total": 3}, input=frozen)

    (view,) = views
    assert set(type(view).model_fields) == {"data", "computed"}
    assert view.computed == {"total": 3}
    assert not any(hasattr(view, name) for name in ("input", "meta", "system"))
    assert "secret" not in repr(view)


@pytest.mark.parametrize(
    "change",
    [
        lambda seen, _actor, _event: seen.data.update(a=1),
        lambda seen, _actor, _event: seen.data["lines"].append(1),
        lambda seen, _actor, _event: seen.computed.clear(),
        lambda _seen, _actor, event: event.payload["path"].append(1),
    ],
)
def test_what_a_projection_gets_can_not_be_changed(change: Callable[..., Any]) -> None:
    with pytest.raises(ReadOnly):
        shown(change)


def test_the_actor_that_a_projection_gets_is_its_own() -> None:
    shown(lambda _seen, actor, _event: actor.meta["team"].clear())

    assert ACTOR.meta == {"team": ["a"]}


@given(objects)
def test_the_same_data_and_event_give_the_same_intent(data: dict[str, Any]) -> None:
    @projection("p")
    def whole(seen: SnapshotView, actor: ActorRef, event: ProjectionEvent) -> dict[str, Any]:
        return {"type": "t", "input": {"all": seen.data, "by": str(actor), "of": event.event_id}}

    view = SnapshotView(data=data, computed={})
    found = [project(whole, view, parse_actor("human:kim"), EVENT) for _ in range(2)]

    assert found[0] == found[1]
    assert found[0] is not None
    assert canonical_bytes(found[0].input["all"]) == canonical_bytes(data)


async def test_a_projection_is_a_plain_function_with_an_id() -> None:
    async def waiting(_seen: SnapshotView, _actor: ActorRef, _event: ProjectionEvent) -> None: ...

    with pytest.raises(InvalidDomain):
        projection("p")(waiting)  # type: ignore[arg-type]
    with pytest.raises(InvalidDomain):
        projection(" ")(lambda *_: None)


@pytest.mark.parametrize("returned", ["order", 1, [], {"type": ""}, {"type": "t", "actor": "x"}])
def test_what_is_no_intent_is_refused(returned: Any) -> None:
    with pytest.raises(InvalidWorld):
        shown(lambda *_: returned)
