"""The walks of docs/architecture.md are what really happens, and no longer than they say."""

import re
from collections.abc import Iterator
from functools import cached_property
from pkgutil import resolve_name

import pytest

from tests.project.docs.test_snippets import ROOT
from tests.project.docs.walks import VERBS, Walk, walked

PAGE = (ROOT / "docs" / "architecture.md").read_text()
MOST_HOPS = 15
LEAST_CROSSED = 0.85
"""What is said of a verb may be so much more than what is measured: threads differ."""
HOP = re.compile(r"^\d+\. `(?P<function>[\w.]+)`: ", re.MULTILINE)
CROSSED = re.compile(
    r"^\| `(?P<verb>\w+)` \| (?P<functions>\d+) \| (?P<files>\d+) \|$", re.MULTILINE
)


def sections() -> Iterator[tuple[str, list[str]]]:
    """The verb of each walk, and its hops."""
    for section in PAGE.split("\n### ")[1:]:
        heading, _, text = section.partition("\n")
        (verb,) = re.findall(r"`memory\.(\w+)`", heading)
        yield verb, HOP.findall(text.partition("\n## ")[0])


WALKS = dict(sections())
FIGURES = {found["verb"]: found for found in CROSSED.finditer(PAGE)}


@pytest.fixture(scope="module", params=list(VERBS))
def walk(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Walk]:
    return request.param, walked(request.param, tmp_path_factory.mktemp("walk"))


def test_the_page_has_a_walk_and_figures_for_each_verb() -> None:
    assert set(WALKS) == set(FIGURES) == set(VERBS)


@pytest.mark.parametrize("verb", WALKS)
def test_a_walk_has_few_hops(verb: str) -> None:
    assert 10 <= len(WALKS[verb]) <= MOST_HOPS


@pytest.mark.parametrize("hop", sorted({hop for hops in WALKS.values() for hop in hops}))
def test_a_hop_is_a_function_that_exists(hop: str) -> None:
    found = resolve_name(f"memoranda.{hop}")

    assert callable(found) or isinstance(found, cached_property)


def test_the_hops_are_called_in_the_order_of_the_page(walk: tuple[str, Walk]) -> None:
    verb, crossed = walk
    hops = WALKS[verb]

    assert [hop for hop in hops if hop not in crossed.functions] == []
    assert hops == sorted(hops, key=crossed.functions.index)


def test_a_verb_crosses_as_much_as_the_page_says(walk: tuple[str, Walk]) -> None:
    verb, crossed = walk
    functions, files = (int(FIGURES[verb][what]) for what in ("functions", "files"))

    assert functions * LEAST_CROSSED <= len(crossed.functions) <= functions
    assert files * LEAST_CROSSED <= len(crossed.files) <= files
