"""What a session is, and how a turn begins."""

import ast
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memoranda
from memoranda.identity import canonical_bytes
from memoranda.kernel.clock import Randomness, random_uuid
from memoranda.kernel.errors import (
    FailFast,
    InvalidRecord,
    SessionDamaged,
    SessionMismatch,
)
from memoranda.plans.session import (
    NO_SCAN,
    SessionState,
    begin,
    cold_start,
    read_session,
    resume,
    session_name,
)
from tests.journeys.sessions.cycles import AT, OTHER_PLAN, PLAN, cold

FIELDS = ["sessionId", "memoryRef", "repoScanVersion", "lastExecutionPlanHash", "updatedAt"]
STATE = cold().state(AT)


def document(**members: Any) -> bytes:
    """A session with some members changed; None takes one away."""
    whole = {**STATE.document, **members}
    return canonical_bytes({name: value for name, value in whole.items() if value is not None})


def test_a_session_has_exactly_five_texts_in_a_fixed_order() -> None:
    assert list(STATE.document) == FIELDS
    assert all(isinstance(value, str) for value in STATE.document.values())
    assert read_session("default", STATE.body) == STATE


@pytest.mark.parametrize("field", FIELDS)
def test_a_session_without_one_of_them_is_damaged(field: str) -> None:
    with pytest.raises(SessionDamaged) as caught:
        read_session("default", document(**{field: None}))

    assert caught.value.code == "plan.fail_fast.session_damaged"


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("value", [1, True, "", ["x"], "two\x00", {}])
def test_a_session_with_something_else_in_one_of_them_is_damaged(field: str, value: object) -> None:
    changed = STATE.document | {field: value}
    text = repr(changed).replace("'", '"').replace("True", "true").replace("\\x00", "\\u0000")

    with pytest.raises(SessionDamaged):
        read_session("default", text.encode())


def test_a_session_with_a_member_more_is_damaged() -> None:
    with pytest.raises(SessionDamaged):
        read_session("default", document(plan="the whole plan"))


@pytest.mark.parametrize(
    "members",
    [
        {"sessionId": "0190b7a2-7c11-7abc-8def-0123456789ab"},
        {"sessionId": STATE.session_id.upper()},
        {"lastExecutionPlanHash": "A" * 64},
        {"updatedAt": "yesterday"},
        {"updatedAt": "2026-02-30T00:00:00.000Z"},
        {"memoryRef": "x" * 513},
    ],
)
def test_a_session_whose_texts_are_of_another_form_is_damaged(members: dict[str, str]) -> None:
    with pytest.raises(SessionDamaged):
        read_session("default", document(**members))


@given(st.binary(max_size=200))
def test_whatever_is_no_session_is_damaged_and_nothing_else(raw: bytes) -> None:
    with pytest.raises(SessionDamaged):
        read_session("default", raw)


@given(st.integers(0, 400), st.integers(0, 255))
def test_a_session_with_a_byte_changed_is_read_whole_or_not_at_all(place: int, byte: int) -> None:
    raw = bytearray(STATE.body)
    raw[place % len(raw)] = byte
    with suppress(SessionDamaged):
        assert read_session("default", bytes(raw)).body == bytes(raw)


# --------------------------------------------------------------------------- starting


def test_without_a_session_a_turn_begins_cold_with_new_ids() -> None:
    one, other = (begin("default", None, PLAN, Randomness()) for _ in range(2))

    assert one.is_cold
    assert one.repo_scan_version == NO_SCAN
    assert len({one.session_id, one.memory_ref, other.session_id, other.memory_ref}) == 4


@pytest.mark.rule("ING-HASH")
def test_a_session_of_the_same_plan_is_resumed_with_its_references() -> None:
    state = cold().state(AT, "version-7")

    session = begin("default", state, PLAN, Randomness())

    assert not session.is_cold
    assert session.session_id == state.session_id
    assert session.memory_ref == state.memory_ref
    assert session.repo_scan_version == "version-7"
    assert session.stored == state


@pytest.mark.rule("ING-HASH")
def test_a_session_of_another_plan_fails_fast() -> None:
    with pytest.raises(SessionMismatch) as caught:
        begin("default", STATE, OTHER_PLAN, Randomness())

    assert isinstance(caught.value, FailFast)
    assert caught.value.code == "plan.fail_fast.session_mismatch"
    assert (caught.value.expected, caught.value.actual) == (OTHER_PLAN, PLAN)


def test_what_is_stored_of_a_session_is_what_the_next_turn_goes_on_from() -> None:
    session = cold_start("s1", PLAN, Randomness())
    state = session.state(AT, "version-1")
    after = session.after(state)

    assert after == resume("s1", state, PLAN)
    assert after.state(AT + 1).repo_scan_version == "version-1"
    assert after.state(AT + 1).updated_at > state.updated_at


@pytest.mark.rule("ING-SESSION")
def test_the_memory_reference_is_opaque_and_says_nothing_of_the_session_or_its_plan() -> None:
    drawn = b"0123456789abcdef" * 256
    one = cold_start("s1", PLAN, Randomness(lambda _: drawn))
    other = cold_start("s2", OTHER_PLAN, Randomness(lambda _: drawn))

    assert one.memory_ref == other.memory_ref == random_uuid(Randomness(lambda _: drawn))


@pytest.mark.parametrize("name", ["", "a/b", "..\\x", "세션", "a b", "x" * 65, "a\n", "\x00"])
def test_a_name_that_is_no_name_of_a_file_is_refused_rather_than_changed(name: str) -> None:
    with pytest.raises(InvalidRecord) as caught:
        session_name(name)

    assert caught.value.code == "input.record"


def test_a_session_can_not_be_changed() -> None:
    state: Any = SessionState.model_validate(STATE.document)

    with pytest.raises(ValueError, match="frozen"):
        state.session_id = "another"


# ------------------------------------------------------------- what knows nothing of what

SESSIONS = ("plans/session", "stores/sessions")
ITEMS = ("plans/items", "stores/items", "stores/sqlite/items", "stores/postgres/items")


def imported_by(path: Path) -> set[str]:
    """The modules that a file imports, as paths."""
    tree = ast.parse(path.read_text("utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        elif isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
    return {name.removeprefix("memoranda.").replace(".", "/") for name in names}


@pytest.mark.rule("ING-SESSION")
@pytest.mark.parametrize(("ones", "others"), [(SESSIONS, ITEMS), (ITEMS, SESSIONS)])
def test_stores_of_sessions_and_of_items_do_not_know_each_other(
    ones: tuple[str, ...], others: tuple[str, ...]
) -> None:
    root = Path(memoranda.__file__).parent
    files = [
        path for path in root.rglob("*.py") if path.relative_to(root).as_posix().startswith(ones)
    ]

    assert len(files) >= len(ones)
    for path in files:
        assert not any(name.startswith(others) for name in imported_by(path)), path
