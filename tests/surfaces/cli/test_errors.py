"""Every error of the tree has an exit code, and leaves as one plain line."""

import logging
from collections.abc import Iterator

import pytest
import typer
from typer.testing import CliRunner

from memoranda.kernel.errors import (
    CycleFailed,
    DoorError,
    EntryDamaged,
    FailFast,
    InvalidInput,
    InvalidPlan,
    InvalidScope,
    MemorandaError,
    NotRecorded,
    PlanError,
    RecordError,
    RecordNotFound,
    ScopeCollision,
    ScopeExists,
    StoreClosed,
    StoreError,
    StoreUnavailable,
    WorldError,
    WriteFailed,
)
from memoranda.kernel.json import parse
from memoranda.surfaces.cli.groups import PlainErrors
from memoranda.surfaces.errors import EXIT_CODES, exit_code


def leaves(kind: type[MemorandaError] = MemorandaError) -> Iterator[type[MemorandaError]]:
    ours = [child for child in kind.__subclasses__() if child.__module__.startswith("memoranda.")]
    for child in ours:
        yield from leaves(child)
    if not ours:
        yield kind


def failing_with(error: Exception) -> typer.Typer:
    app = typer.Typer(cls=PlainErrors)

    @app.callback()
    def everything() -> None: ...

    @app.command()
    def fail(*, json: bool = False) -> None:
        _ = json
        raise error

    return app


@pytest.mark.parametrize("leaf", list(leaves()))
def test_every_error_has_one_exit_code(leaf: type[MemorandaError]) -> None:
    nearest = next(kind for kind in leaf.__mro__ if kind in EXIT_CODES)

    assert exit_code(leaf.__new__(leaf)) == EXIT_CODES[nearest]


def test_the_branches_have_their_codes() -> None:
    assert {
        InvalidInput: 2,
        RecordError: 3,
        WorldError: 3,
        PlanError: 3,
        CycleFailed: 6,
        FailFast: 7,
        StoreError: 4,
        ScopeCollision: 3,
        ScopeExists: 3,
        EntryDamaged: 5,
        DoorError: 4,
    } == EXIT_CODES


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidScope("", "it is empty"), 2),
        (RecordNotFound("x"), 3),
        (NotRecorded("x"), 3),
        (StoreClosed(), 4),
        (CycleFailed("1", "no answer"), 6),
        (WriteFailed("the cycle", "disk full"), 7),
    ],
)
def test_an_error_is_one_plain_line_and_an_exit_code(error: MemorandaError, status: int) -> None:
    result = CliRunner().invoke(failing_with(error), ["fail"])

    assert result.exit_code == status
    assert result.stdout == ""
    assert result.stderr == f"error: {error}\n"


def test_with_json_an_error_is_json_on_stderr() -> None:
    result = CliRunner().invoke(failing_with(RecordNotFound("기억")), ["fail", "--json"])

    assert result.exit_code == 3
    assert parse(result.stderr) == {
        "error": {"code": "record.not_found", "message": str(RecordNotFound("기억"))}
    }
    assert "기억" in result.stderr


def test_an_error_that_is_a_list_keeps_its_lines() -> None:
    result = CliRunner().invoke(failing_with(InvalidPlan(("no steps", "no name"))), ["fail"])

    assert result.stderr == "error: The plan can't be run:\n  - no steps\n  - no name\n"


def test_a_bug_is_not_dressed_up_as_a_refusal() -> None:
    result = CliRunner().invoke(failing_with(ZeroDivisionError()), ["fail"])

    assert isinstance(result.exception, ZeroDivisionError)


def test_what_is_logged_twice_is_told_once() -> None:
    app = typer.Typer(cls=PlainErrors)

    @app.callback(invoke_without_command=True)
    def warn() -> None:
        for _ in range(2):
            logging.getLogger("memoranda").warning("the role bypasses row security")

    assert CliRunner().invoke(app, []).stderr == "warning: the role bypasses row security\n"


def test_an_aborted_question_is_said_in_a_line() -> None:
    result = CliRunner().invoke(failing_with(typer.Abort()), ["fail"])

    assert (result.exit_code, result.stderr) == (1, "error: Aborted.\n")


@pytest.mark.parametrize("as_json", [False, True])
def test_a_message_with_bytes_that_are_no_text_is_told_all_the_same(*, as_json: bool) -> None:
    app = failing_with(StoreUnavailable("/tmp/\udcff/x.db", "there is no such file"))  # noqa: S108
    result = CliRunner().invoke(app, ["fail", *(["--json"] if as_json else [])])

    assert result.exit_code == 4
    assert "there is no such file" in result.stderr
