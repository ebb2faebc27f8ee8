"""Plans and profiles are read from YAML as strictly as from JSON."""

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import canonical_bytes
from memoranda.kernel.errors import DependencyMissing, InvalidPlan
from memoranda.outside.profiles import (
    MAX_FILE,
    chat_profile,
    parse_yaml,
    read_document,
    read_profile,
)

MODES = """
version: "1"
modes:
  - id: default
    metadata: {topK: 3}
    plan:
      - type: RetrieveMemory
      - type: ContextSelect
"""


def test_yaml_is_read_as_json() -> None:
    assert parse_yaml("a: [1, 2.5, null, true, '한글']\nb: {c: d}") == {
        "a": [1, 2.5, None, True, "한글"],
        "b": {"c": "d"},
    }


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text("ab한 #:-"),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("a한"), inner),
        max_leaves=8,
    )
)
def test_json_is_yaml(value: Any) -> None:
    assert parse_yaml(canonical_bytes(value).decode()) == value


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\na: 2",
        "x: {a: 1, a: 1}",
        "a: &x [1]\nb: *x",
        "a: &x {b: 1}\nc: {<<: *x}",
        "<<: {a: 1}",
        "1: x",
        "? [a]\n: b",
        "true: x",
        "when: 2026-11-16",
        "a: !!python/object:os.system x",
        "a: !!set {b}",
        "a: !!binary aGk=",
        "a: .nan",
        "a: 9007199254740993",
        "a: 1\n---\nb: 2",
        "a: [",
        "a: \x00",
        "a: " + "9" * 5_000,
        "[" * 5_000,
        "a: yes",
        "a: Off",
        "a: 010",
        "a: 0x1F",
        "a: 1_000",
        "a: +1",
        "a: 12:30",
        "a: 1:0.5",
        "a: 1e5",
        "a: .5",
        "a: NULL",
        "!!timestamp x",
        '!!int ""',
        '!!float ""',
        "!!bool x",
        "!!null x",
        "!!map [1]",
        "!!omap [a: 1]",
        "!!pairs [a: 1]",
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(text: str) -> None:
    with pytest.raises(InvalidPlan):
        parse_yaml(text)


def test_a_text_in_quotes_may_look_like_anything() -> None:
    assert parse_yaml('a: "yes"\nb: "010"\nc: !!str 1e5x') == {"a": "yes", "b": "010", "c": "1e5x"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{\n\t"a": 1e2\n}', {"a": 100.0}),
        (r'{"a": "\ud83d\ude42 \/"}', {"a": "🙂 /"}),
    ],
)
def test_a_json_file_is_json_also_where_that_is_no_yaml(
    tmp_path: Path, text: str, value: object
) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text)

    assert read_document(path) == value


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', "a: 1", '{"a": NaN}', "", "[" * 5_000])
def test_a_json_file_is_read_strictly(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text)

    with pytest.raises(InvalidPlan):
        read_document(path)


def test_a_bomb_of_aliases_is_refused_at_its_first(tmp_path: Path) -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    path = tmp_path / "plan.yaml"
    path.write_text("\n".join(rows))

    with pytest.raises(InvalidPlan):
        read_document(path)


def test_a_file_that_is_not_there_too_long_or_no_text_is_refused(tmp_path: Path) -> None:
    long, binary = tmp_path / "long.yaml", tmp_path / "binary.yaml"
    long.write_text("#" * (MAX_FILE + 1))
    binary.write_bytes(b"a: \xff")

    for path in (tmp_path / "none.yaml", tmp_path, long, binary):
        with pytest.raises(InvalidPlan):
            read_document(path)


def test_a_profile_is_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "house"
    folder.mkdir()
    (folder / "modes.yaml").write_text(MODES)
    (folder / "bundles.yaml").write_text(
        'version: "1"\nbundles: [{modeId: default, files: [a.md]}]'
    )

    profile = read_profile(folder)

    assert profile.id == "house"
    assert profile.modes[0].metadata == {"topK": 3}
    assert profile.triggers == ()
    assert profile.bundles[0].files == ("a.md",)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("modes", MODES.replace('"1"', '"2"')),
        ("modes", MODES + "extra: 1"),
        ("modes", "version: '1'"),
        ("triggers", "[]"),
        ("triggers", "version: '1'\ntriggers: [{condition: x, targetMode: y, type: HARD}]"),
        ("bundles", "version: '1'\nbundles: {}"),
    ],
)
def test_a_part_of_a_wrong_form_is_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "modes.yaml").write_text(MODES)
    (tmp_path / f"{name}.yaml").write_text(text)

    with pytest.raises(InvalidPlan):
        read_profile(tmp_path)


def test_a_folder_without_modes_is_no_profile(tmp_path: Path) -> None:
    with pytest.raises(InvalidPlan):
        read_profile(tmp_path)


def test_without_the_extra_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "memoranda.outside.strict_yaml", raising=False)
    monkeypatch.setitem(sys.modules, "yaml", None)

    with pytest.raises(DependencyMissing) as caught:
        parse_yaml("a: 1")

    assert caught.value.extra == "plans"


def test_a_profile_may_be_json_and_then_needs_no_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = tmp_path / "house"
    house.mkdir()
    (house / "modes.json").write_bytes(canonical_bytes(parse_yaml(MODES)))
    monkeypatch.setitem(sys.modules, "memoranda.outside.strict_yaml", None)

    assert [mode.id for mode in read_profile(house).modes] == ["default"]


def test_a_part_that_is_there_in_both_forms_is_refused(tmp_path: Path) -> None:
    house = tmp_path / "house"
    house.mkdir()
    (house / "modes.yaml").write_text(MODES)
    (house / "modes.json").write_bytes(canonical_bytes(parse_yaml(MODES)))

    with pytest.raises(InvalidPlan) as caught:
        read_profile(house)

    assert caught.value.code == "input.plan"


def test_the_profile_that_is_brought_along_recalls_and_learns() -> None:
    (mode,) = chat_profile().modes

    assert mode.metadata["topK"] == 5
    assert {"RetrieveMemory", "RecallMemory", "ExtractFacts", "RememberFacts"} <= {
        step.type for step in mode.plan
    }
