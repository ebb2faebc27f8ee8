"""Questions about lineages have one answer each, also where runs lead back."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.worlds.world import Lineage, WorldEdge, WorldLineage
from tests.worlds.making import T0
from tests.worlds.test_world import edge, world


def lineage(*pairs: str, genesis: str = "a") -> Lineage:
    """Edges as ``"ab"``: from a to b."""
    edges = [
        WorldEdge(
            edge_id=f"edge-{number}",
            from_world=pair[0],
            to_world=pair[1],
            proposal_id="p",
            decision_id="d",
            created_at=T0,
        )
        for number, pair in enumerate(pairs)
    ]
    return Lineage(genesis, edges)


# a → b → c → e, b → d; d → b leads back; c → c changed nothing; e has a second parent
WORLDS = lineage("ab", "bc", "bd", "db", "cc", "ce", "de")


def test_parents_and_children_are_the_ends_of_the_edges() -> None:
    assert WORLDS.parents("b") == ["a", "d"]
    assert WORLDS.parents("e") == ["c", "d"]
    assert WORLDS.parents("c") == ["b", "c"]
    assert WORLDS.children("b") == ["c", "d"]
    assert WORLDS.parents("a") == WORLDS.children("e") == WORLDS.children("unknown") == []


def test_ancestors_and_descendants_come_nearest_first() -> None:
    assert WORLDS.ancestors("e") == ["c", "d", "b", "a"]
    assert WORLDS.descendants("a") == ["b", "c", "d", "e"]
    assert WORLDS.descendants("c") == ["e"]
    assert WORLDS.ancestors("a") == []


def test_a_leaf_leads_to_no_other_world() -> None:
    assert WORLDS.is_leaf("e")
    assert not WORLDS.is_leaf("c")
    assert lineage("ab", "bb").is_leaf("b")


def test_the_depth_is_the_shortest_way_from_the_genesis() -> None:
    assert [WORLDS.depth(world) for world in "abcde"] == [0, 1, 2, 2, 3]
    assert WORLDS.depth("unknown") is None


def test_a_path_is_a_shortest_one_or_none() -> None:
    assert WORLDS.path("a", "e") == ["a", "b", "c", "e"]
    assert WORLDS.path("d", "c") == ["d", "b", "c"]
    assert WORLDS.path("c", "c") == ["c"]
    assert WORLDS.path("e", "a") is None


def test_the_common_ancestor_is_the_nearest_to_both() -> None:
    assert WORLDS.common_ancestor("c", "d") == "b"
    assert WORLDS.common_ancestor("a", "e") == "a"
    assert WORLDS.common_ancestor("e", "e") == "e"
    assert lineage("ab", "xy").common_ancestor("b", "y") is None


def test_a_lineage_that_was_written_down_can_be_asked() -> None:
    one, two = world(1), world(2)
    written = WorldLineage(
        genesis=one.world_id,
        worlds={one.world_id: one, two.world_id: two},
        edges={"edge-1": edge(1, one, two)},
    )

    assert Lineage.of(written).path(one.world_id, two.world_id) == [one.world_id, two.world_id]


def test_a_long_history_is_no_deep_recursion() -> None:
    edges = [
        WorldEdge(
            edge_id=f"e{n}",
            from_world=f"w{n}",
            to_world=f"w{n + 1}",
            proposal_id="p",
            decision_id="d",
            created_at=T0,
        )
        for n in range(5000)
    ]
    long = Lineage("w0", edges)

    assert long.depth("w5000") == 5000
    assert len(long.ancestors("w5000")) == 5000


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")).map("".join)))
def test_answers_agree_with_each_other(pairs: list[str]) -> None:
    some = lineage(*pairs)
    for one in "abcdef":
        assert one not in some.ancestors(one)
        for other in some.ancestors(one):
            assert one in some.descendants(other)
            path = some.path(other, one)
            assert path is not None
            assert (path[0], path[-1]) == (other, one)
            assert all(b in some.children(a) for a, b in itertools.pairwise(path))
        for other in "abcdef":
            assert some.common_ancestor(one, other) == some.common_ancestor(other, one)


@pytest.mark.parametrize("world", ["a", "e"])
def test_every_world_is_its_own_nearest_common_ancestor(world: str) -> None:
    assert WORLDS.common_ancestor(world, world) == world
