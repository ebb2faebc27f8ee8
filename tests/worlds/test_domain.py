"""Domains: what they refuse, what their hash covers, what they take."""

from collections.abc import Callable
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    create_model,
)
from typing_extensions import TypedDict

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.kernel.ambient import check_reach
from memoranda.kernel.errors import InvalidDomain, InvalidIntent, InvalidWorld, MemoryOutOfReach
from memoranda.worlds.domain import Domain, _reduced
from tests.worlds.running import Order, Shop, a_shop

GOLDEN = "c82d2c69c6c41b5a10556eebc775a3d8dc6c8ac9c090aa595df288bc0d677a1c"


XY: Any = Literal["x", "y"]
YX: Any = Literal["y", "x"]
XYZ: Any = Literal["x", "y", "z"]


class Node(BaseModel):
    """A tree."""

    label: str = Field(title="A label", description="what is read", examples=["x"])
    children: list["Node"] = []


class Other(BaseModel):
    label: str
    children: list["Other"] = []


class Reserved(BaseModel):
    app: int = Field(alias="$app")


class InTypedDict(TypedDict):
    a: Annotated[int, Field(alias="$a")]


class Outer(BaseModel):
    inner: dict[str, list[Reserved | None]]


class Plain(BaseModel):
    a: int
    b: Literal["x", "y"] = "x"


def nothing(ctx: Any) -> None:
    """No change."""


def domain_of(
    name: str = "d",
    version: str = "1",
    state: type[BaseModel] | None = None,
    initial: Any = None,
    **actions: type[BaseModel] | None,
) -> Domain:
    domain = Domain(name, version, state=state, initial=initial)
    for action, takes in actions.items():
        domain.action(name=action, input=takes)(nothing)
    return domain


# -------------------------------------------------------------------- what is refused

RESERVING: list[type[BaseModel]] = [
    Reserved,
    Outer,
    create_model("M", **{"$app": (int, ...)}),  # type: ignore[call-overload]
    create_model("M", a=(int, Field(validation_alias="$a"))),
    create_model("M", a=(int, Field(validation_alias=AliasChoices("a", "$a")))),
    create_model("M", a=(int, Field(validation_alias=AliasPath("x", "$a")))),
    create_model("M", a=(int, Field(validation_alias=AliasChoices("b", AliasPath("$a", 0))))),
    create_model("M", a=(int, Field(serialization_alias="$a"))),
    create_model("M", a=(list[InTypedDict], ...)),
]


@pytest.mark.rule("APP-INPUT-2")
@pytest.mark.parametrize("model", RESERVING, ids=range(len(RESERVING)))
def test_an_input_with_a_reserved_name_at_any_depth_is_refused_when_it_is_defined(
    model: type[BaseModel],
) -> None:
    domain = Domain("d", "1")

    with pytest.raises(InvalidDomain) as caught:
        domain.action(name="act", input=model)(nothing)

    assert caught.value.code == "input.domain"
    assert domain.actions == ()


@pytest.mark.rule("APP-INPUT-2")
@pytest.mark.parametrize("model", RESERVING, ids=range(len(RESERVING)))
def test_a_state_with_a_reserved_name_at_any_depth_is_refused(model: type[BaseModel]) -> None:
    with pytest.raises(InvalidDomain):
        Domain("d", "1", state=model, initial={})


@pytest.mark.parametrize("name", ["system", "system.memory.create", "", " ", "$act", "a\x00b"])
def test_an_action_with_a_name_of_the_platform_is_refused(name: str) -> None:
    with pytest.raises(InvalidDomain):
        Domain("d", "1").action(name=name)(nothing)


def test_an_action_may_begin_as_the_platform_does() -> None:
    assert domain_of(systematic=None).actions == ("systematic",)


def test_nothing_is_defined_twice() -> None:
    domain = domain_of(act=None)
    domain.computed(name="total")(len)

    with pytest.raises(InvalidDomain):
        domain.action(name="act")(nothing)
    with pytest.raises(InvalidDomain):
        domain.computed(name="total")(len)


def test_no_action_is_defined_after_the_hash_was_read() -> None:
    domain = domain_of(act=None)
    before = domain.schema_hash

    with pytest.raises(InvalidDomain):
        domain.action(name="later")(nothing)

    assert domain.schema_hash == before


@pytest.mark.parametrize(
    "define",
    [
        lambda: Domain("", "1"),
        lambda: Domain("d", ""),
        lambda: Domain("d", 1),  # type: ignore[arg-type]
        lambda: Domain("d", "1", state=int),  # type: ignore[arg-type]
        lambda: Domain("d", "1", state=RootModel[list[int]]),
        lambda: Domain("d", "1", state=create_model("M", f=(Callable[[], int], ...))),
        lambda: Domain("d", "1", state=Plain),
        lambda: Domain("d", "1", state=Plain, initial={"a": "1"}),
        lambda: Domain("d", "1", state=Plain, initial={"a": 1, "c": 1}),
        lambda: Domain("d", "1", initial={"$app": 1}),
        lambda: Domain("d", "1", initial={"a": object()}),
    ],
)
def test_what_makes_no_domain_is_refused(define: Callable[[], Domain]) -> None:
    with pytest.raises(InvalidDomain) as caught:
        define()

    assert caught.value.code == "input.domain"


# ------------------------------------------------------------------ what the hash covers


def test_the_schema_hash_is_that_of_its_documented_form() -> None:
    text = {"type": "string"}
    children = {"type": "array", "items": {"$up": 1}, "default": []}
    node = {
        "type": "object",
        "properties": {"label": text, "children": children},
        "required": ["label"],
    }
    letters = {"type": "string", "enum": ["x", "y"], "default": "x"}
    plain = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": letters},
        "required": ["a"],
    }
    form = {
        "form": "memoranda/domain/1",
        "name": "d",
        "version": "1",
        "state": node,
        "actions": {"act": plain, "none": None},
    }

    domain = domain_of(state=Node, initial={"label": "root"}, act=Plain, none=None)

    assert domain.schema_hash == sha256_hex(canonical_bytes(form))


def test_the_schema_hash_of_a_domain_is_fixed_for_ever() -> None:
    domain = domain_of(state=Node, initial={"label": "root"}, act=Plain, none=None)

    assert domain.schema_hash == GOLDEN


def test_how_a_release_of_pydantic_writes_a_reference_does_not_count() -> None:
    defs = {"A": {"type": "integer", "title": "A"}}

    found = [
        _reduced(written, defs, ())
        for written in (
            {"$ref": "#/$defs/A", "default": 1},
            {"allOf": [{"$ref": "#/$defs/A"}], "default": 1, "title": "a"},
            {"type": "integer", "default": 1},
        )
    ]

    assert found == [{"type": "integer", "default": 1}] * 3


def test_the_hash_changes_with_what_a_domain_is() -> None:
    wider = create_model("Plain", a=(int, ...), b=(XYZ, "x"))
    other_default = create_model("Plain", a=(int, ...), b=(XY, "y"))
    bounded = create_model("Plain", a=(int, Field(ge=0)), b=(XY, "x"))
    open_ended = create_model(
        "Plain", __config__=ConfigDict(extra="forbid"), a=(int, ...), b=(XY, "x")
    )
    domains = [
        domain_of(act=None),
        domain_of(name="e", act=None),
        domain_of(version="2", act=None),
        domain_of(state=Shop, act=None),
        domain_of(state=Node, initial={"label": "x"}, act=None),
        domain_of(other=None),
        domain_of(act=None, other=None),
        *(
            domain_of(act=model)
            for model in (Plain, Order, Node, wider, other_default, bounded, open_ended)
        ),
    ]

    hashes = [domain.schema_hash for domain in domains]

    assert len(set(hashes)) == len(domains)
    assert all(len(found) == 64 for found in hashes)


def test_the_hash_does_not_change_with_how_a_domain_is_written() -> None:
    documented = create_model(
        "Renamed",
        __doc__="Another text.",
        b=(YX, Field(default="x", title="Bee", description="said otherwise")),
        a=(int, Field(examples=[1])),
    )

    def act(ctx: Any) -> dict[str, Any]:
        """Do something else."""
        return {"a": ctx.now}

    written = domain_of(zero=None, act=Plain)
    again = Domain("d", "1", initial={"a": 1})
    again.action(input=documented)(act)
    again.action(name="zero")(act)
    again.computed(name="total")(len)

    assert written.schema_hash == again.schema_hash


def test_the_hash_knows_no_names_of_classes_nor_how_definitions_are_shared() -> None:
    class Half(BaseModel):
        a: int

    class OtherHalf(BaseModel):
        a: int

    shared = create_model("Pair", left=(Half, ...), right=(Half, ...))
    apart = create_model("Pair", left=(Half, ...), right=(OtherHalf, ...))

    assert domain_of(act=shared).schema_hash == domain_of(act=apart).schema_hash
    assert domain_of(act=Node).schema_hash == domain_of(act=Other).schema_hash


def test_a_member_may_be_called_as_a_keyword_is() -> None:
    titled = create_model("M", title=(str, ...), description=(int, ...), properties=(int, ...))
    less = create_model("M", title=(str, ...), properties=(int, ...))

    assert domain_of(act=titled).schema_hash != domain_of(act=less).schema_hash


# ----------------------------------------------------------------------- what is taken


def test_an_input_is_validated_as_json_into_the_actions_model() -> None:
    class Booking(BaseModel):
        day: date
        seats: frozenset[int] = frozenset()

    domain = domain_of(book=Booking)

    found = domain.check_intent("book", {"day": "2026-02-15", "seats": [2, 1]})

    assert found == Booking(day=date(2026, 2, 15), seats=frozenset({1, 2}))


def test_an_input_may_be_left_out_where_it_has_defaults() -> None:
    domain = domain_of(act=create_model("M", a=(int, 3)), none=None)

    assert domain.check_intent("act").model_dump() == {"a": 3}  # type: ignore[union-attr]
    assert domain.check_intent("none") is None
    assert domain.check_intent("none", {}) is None


@pytest.mark.parametrize(
    ("action", "given"),
    [
        ("nowhere", {}),
        ("system.memory.create", {}),
        ("act", {"a": "1"}),
        ("act", {"a": 1, "c": 2}),
        ("act", {"a": 1, "$app": {"memoryContext": 1}}),
        ("act", [1]),
        ("act", None),
        ("act", {"a": object()}),
        ("none", {"a": 1}),
        ("none", False),
    ],
)
def test_an_intent_that_the_domain_does_not_take_is_refused(action: str, given: Any) -> None:
    with pytest.raises(InvalidIntent) as caught:
        domain_of(act=Plain, none=None).check_intent(action, given)

    assert caught.value.code == "input.intent"


def test_a_model_that_says_so_takes_further_members() -> None:
    more = create_model("M", __config__=ConfigDict(extra="allow"), a=(int, ...))

    found = domain_of(act=more).check_intent("act", {"a": 1, "c": 2})

    assert found is not None
    assert found.model_extra == {"c": 2}


def test_the_initial_state_is_given_or_that_of_the_models_defaults() -> None:
    assert domain_of().initial_data() == {}
    assert domain_of(initial={"a": [1.0]}).initial_data() == {"a": [1]}
    assert domain_of(state=Plain, initial=Plain(a=2)).initial_data() == {"a": 2, "b": "x"}
    assert a_shop().initial_data()["lines"] == []


def test_the_initial_state_is_fresh_each_time() -> None:
    domain = domain_of(initial={"a": [1]})

    domain.initial_data()["a"].append(2)

    assert domain.initial_data() == {"a": [1]}


@pytest.mark.parametrize("data", [None, [], {"a": "x"}, {"b": "x"}, {"a": 1, "$host": 1}])
def test_what_is_no_state_is_refused(data: Any) -> None:
    with pytest.raises(InvalidWorld):
        domain_of(state=Plain, initial={"a": 1}).check_state(data)


def test_computed_values_follow_from_the_state_alone() -> None:
    domain = domain_of()
    domain.computed()(len)
    domain.computed(name="sorted")(sorted)

    assert domain.compute({"b": 1, "a": 2}) == {"len": 2, "sorted": ["a", "b"]}


def test_memory_is_out_of_reach_for_computed_values() -> None:
    domain = domain_of()

    @domain.computed()
    def reaching(_data: Any) -> None:
        check_reach()

    with pytest.raises(MemoryOutOfReach):
        domain.compute({})
