"""``memoranda maintain``: what keeps scopes in order, by their policies or by hand."""

import asyncio
import re
import signal
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any, Final, TypedDict

import typer
from rich.console import Group
from rich.text import Text
from typing_extensions import Unpack

from memoranda import Memory, models
from memoranda.app.surfaces import EVERY, work_on_jobs
from memoranda.policies import MemoryMaintenanceConfig, MemoryRetentionPolicy, Policy
from memoranda.surfaces.cli.command import OF_SCOPES, command
from memoranda.surfaces.cli.groups import arg, group, opt, wrong_use
from memoranda.surfaces.cli.options import Value
from memoranda.surfaces.cli.present import (
    Output,
    bars,
    blocks,
    details,
    print_json_line,
    print_line,
    shows,
    table,
    when,
)
from memoranda.surfaces.cli.target import Target
from memoranda.surfaces.errors import NOT_THERE
from memoranda.types import Brought, JobRun, JobStatus, MaintenanceStatus

NOTHING: Final = "nothing to do"
_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_SPAN: Final = re.compile(r"(\d{1,9})([smhd])")


def _seconds(text: str, option: str) -> int:
    found = _SPAN.fullmatch(text)
    if found is None:
        raise wrong_use(f"{option} is not a span of time, such as 90s, 15m, 12h or 30d.")
    return int(found[1]) * _UNITS[found[2]]


def _periods(given: Sequence[str], option: str) -> dict[str, int]:
    """How often each job runs: JOB=SPAN, or JOB=never."""
    found = {}
    for text in given:
        job, equals, span = text.partition("=")
        if not equals or job not in EVERY:
            known = ", ".join(EVERY)
            raise wrong_use(f"{option}: {text!r} is not JOB=SPAN, where JOB is one of {known}.")
        found[job] = 0 if span == "never" else _seconds(span, option)
    return found


# ------------------------------------------------------------------------------ looking


@command("status", common=OF_SCOPES, nothing="Nothing was written to this database yet.")
def status_(target: Target) -> Sequence[MaintenanceStatus]:
    """Show the maintenance of each scope: its policy, and how each job stands."""
    found = target.run_each(lambda memory: memory.maintain.status(), read_only=True)
    return [status for _, status in found]


@shows(MaintenanceStatus, exit_status=lambda status: NOT_THERE * any(_is_given_up(status)))
def _status(status: MaintenanceStatus) -> Group:
    kept = status.retention
    rules = [
        ("scope", status.scope),
        ("enabled", status.enabled),
        ("policy", f"version {status.policy_version}"),
        ("max age", None if kept.max_age is None else f"{kept.max_age:,} ms"),
        ("max records", kept.max_records),
        ("ephemeral", kept.ephemeral_tags),
    ]
    rows = [
        [job.job, _every(job), when(job.due_at), when(job.last_at), _standing(job)]
        for job in status.jobs
        if job.every_s is not None or job.last_at is not None or job.due_at is not None
    ]
    words = [details(rules)]
    return blocks([*words, table("job, every, due, last run, came to+", rows)] if rows else words)


def _is_given_up(status: MaintenanceStatus) -> list[bool]:
    return [job.is_given_up for job in status.jobs]


def _every(job: JobStatus) -> str:
    if job.every_s is None:
        return "-"
    unit = next(unit for unit in "dhms" if job.every_s % _UNITS[unit] == 0)
    return f"{job.every_s // _UNITS[unit]}{unit}"


def _standing(job: JobStatus) -> Text:
    if job.holder is not None:
        return Text(f"running at {job.holder}")
    if job.is_given_up:
        return Text(f"given up: {job.last_error}", "bold red")
    if job.last_error is not None:
        return Text(f"failed: {job.last_error}", "red")
    return Text(_counts(job.last_counts) if job.last_at is not None else "-")


def _counts(counts: Any) -> str:
    said = [
        f"{name.replace('_', ' ')} {count:,}" for name, count in sorted(counts.items()) if count
    ]
    return ", ".join(said) or NOTHING


# ------------------------------------------------------------------------------ running


@command("run", embeds=True, read_only=lambda given: bool(given.get("dry_run")))
async def run_(
    memory: Memory[Any],
    jobs: Annotated[list[str] | None, arg("JOB…", "Which; all that can be run here, else.")] = None,
    dry_run: Annotated[bool, opt("Count what would be done, and change nothing.")] = False,
) -> Sequence[JobRun]:
    """Run maintenance jobs now, whether they are due or not.

    Exits with 4 when one failed. What another process runs at this moment is left to it.
    """
    return await memory.maintain.run(*(jobs or ()), dry_run=dry_run)


def _runs(runs: Sequence[JobRun]) -> Any:
    rows = [[run.job, run.outcome, _came_to(run)] for run in runs]
    return table("job, outcome, came to+", rows)


@shows(JobRun, table=_runs, exit_status=lambda run: NOT_THERE * (run.error is not None))
def _run(run: JobRun) -> Any:
    return _runs([run])


def _came_to(run: JobRun) -> str:
    return _counts(run.counts) if run.error is None else run.error


class PolicyOptions(TypedDict, total=False):
    """What the maintenance policy of a scope is to say; what is not named stays."""

    enabled: Annotated[bool, opt("Run the jobs by themselves, or not.", "--enable/--disable")]
    max_age: Annotated[
        int, opt("Archive what was not updated for so long.", metavar="SPAN"), Value(_seconds)
    ]
    max_records: Annotated[int, opt("Keep the newest so many.", min=0)]
    ephemeral_tags: Annotated[
        list[str], opt("Archive what has this tag; may be repeated.", "--ephemeral-tag")
    ]
    every: Annotated[
        dict[str, int],
        opt("How often a job runs; may be repeated.", metavar="JOB=SPAN|JOB=never"),
        Value(_periods, list[str] | None),
    ]
    unlimited: Annotated[bool, opt("Keep everything: no age, no number, no tag.")]
    reason: Annotated[str, opt("Why it is changed; it is kept.")]


@command("policy", read_only=lambda given: not any(given.values()))
async def policy_(memory: Memory[Any], **said: Unpack[PolicyOptions]) -> Policy:
    """Show the maintenance policy of a scope, or put its next version into force.

    A change needs --reason, and is logged like that of every policy.
    """
    found = (await memory.govern.status()).policies["maintenance"]
    if not said:
        return found
    if "reason" not in said:
        raise wrong_use("A policy is changed with a reason: name --reason.")
    rules: Any = found.rules
    kept = {} if said.get("unlimited") else dict(rules["retention"])
    for option, name, factor in (("max_age", "maxAge", 1_000), ("max_records", "maxRecords", 1)):
        if option in said:
            kept[name] = said[option] * factor  # type: ignore[literal-required]
    if "ephemeral_tags" in said:
        kept["ephemeralTags"] = said["ephemeral_tags"]
    every = {**rules["every"], **said.get("every", {})}
    await memory.maintain.configure(
        MemoryMaintenanceConfig(
            enabled=said.get("enabled", rules["enabled"]),
            retention=MemoryRetentionPolicy.model_validate(kept),
        ),
        every={job: seconds for job, seconds in every.items() if seconds},
        reason=said["reason"],
    )
    return (await memory.govern.status()).policies["maintenance"]


# ------------------------------------------------------------------------------ by hand


@command(embeds=True)
async def embed(memory: Memory[Any]) -> Brought:
    """Give everything a vector that has none yet, with the embedder of the environment or ours.

    What was made is logged in the journal. The texts are sent to an embedder that is named.
    """
    with bars() as progress:
        return await memory.maintain.embed(progress=progress(memory.scope))


@command()
async def scrub(memory: Memory[Any]) -> Output:
    """Write the database anew, so that no byte of what was erased is left in it.

    For after an erasure that another process kept from finishing, and for PostgreSQL's old rows.
    """
    await memory.maintain.scrub()
    return Output(
        {"scrubbed": True}, "The database was written anew: what was erased is in no byte of it."
    )


maintain = group(
    "Jobs that keep scopes in order; vectors, and bytes of what was erased.",
    *(status_, run_, policy_, embed, scrub),
)


@maintain.callback(invoke_without_command=True)
def work(
    context: typer.Context,
    worker: Annotated[
        bool, opt("Run what is due in all scopes, until it is stopped.", "--worker", metavar="")
    ] = False,
    database: Annotated[
        str | None,
        opt("Which database the worker is for.", "--database", "-d", metavar="URL|FILE"),
    ] = None,
    as_json: Annotated[
        bool, opt("Print each run as a line of JSON.", "--json", metavar="")
    ] = False,
) -> None:
    """Jobs that keep scopes in order; vectors, and bytes of what was erased.

    With --worker it runs the jobs that the policies of all scopes ask for when they are due, one
    at a time, and prints each. Any number of workers may run, on any number of machines.
    """
    if context.invoked_subcommand is not None:
        return
    if not worker:
        typer.echo(context.get_help())
        return
    target = Target(database)
    asyncio.run(_work(target, as_json=as_json))


async def _work(target: Target, *, as_json: bool) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for sign in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # on Windows, Ctrl-C cancels what runs
            loop.add_signal_handler(sign, stop.set)
    embedder = models.embedder_from_environment()

    def tell(run: JobRun) -> None:
        if as_json:
            print_json_line(run)
        else:
            print_line(f"{run.scope}  {run.job}  {run.outcome}  {_came_to(run)}")

    await work_on_jobs(target.url, stop, seal=target.seal(), embedder=embedder, tell=tell)
