"""Whatever is done to a database is found and named, or is known not to be."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import memoranda_verify
from memoranda.ledger.anchor import SCOPE as DIRECTORY
from memoranda.outside.keys import Ed25519Signer
from tests.campaigns.adversity.chance import Random
from tests.campaigns.tampering.adversary import TamperedDatabase
from tests.campaigns.tampering.calm import calm_runs
from tests.campaigns.tampering.campaign import CLASSES, Campaign
from tests.campaigns.tampering.clean import (
    KEY,
    SCOPES,
    CleanDatabase,
    SqliteClean,
    postgres_clean,
)
from tests.campaigns.tampering.judge import (
    done,
    exported,
    run,
    seen_in_database,
    seen_in_export,
    tampered,
)
from tests.campaigns.tampering.threats import PAGE, WORDS, line_of, lines_in
from tests.stores.postgres.server import PostgresServer
from tests.witnesses import WitnessFiles

SEED = 20_261_116


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> SqliteClean:
    """A clean database with a backup, for all classes."""
    return SqliteClean(tmp_path_factory.mktemp("tampering"), Random(SEED), 60)


@pytest.mark.parametrize("name", sorted(CLASSES))
async def test_it_is_found_and_named_or_known_not_to_be(name: str, clean: SqliteClean) -> None:
    campaign = Campaign(SEED)

    campaign.add(await run(CLASSES[name], clean, Random(f"{SEED}/{name}")))

    assert campaign.wrong == {}
    seen = line_of(name, campaign)
    line = lines_in(PAGE.read_text())[seen.what]
    assert seen.database_checks <= line.database_checks, "the page does not name the check"
    assert seen.export_checks <= line.export_checks, "the page does not name the check"


@pytest.mark.parametrize(
    "name", sorted(name for name in CLASSES if CLASSES[name].database == "checkpoint")
)
async def test_what_takes_a_checkpoint_is_found_by_a_witness_and_the_name_of_the_directory(
    name: str, clean: SqliteClean, tmp_path: Path
) -> None:
    log_key = Ed25519Signer(KEY.name, KEY.seed).key
    files = WitnessFiles.make(tmp_path / "witness", f"memoranda/ {log_key}")
    async with files.served() as witness:
        for note in clean.now.notes.values():
            await witness.publish(note)
        _, url = await done(CLASSES[name], clean, Random(f"{SEED}/{name}"))
        directory = clean.now.notes[DIRECTORY].partition("\n")[0]

        seen = await seen_in_database(url, witnesses=[witness], expected=[directory])
        calm = await seen_in_database(clean.copied(), witnesses=[witness], expected=[directory])

    assert {one.check for one in seen} >= {"anchor"}
    assert calm == []


ON_POSTGRES = (
    "a_backup_is_put_back",
    "a_mark_is_added",
    "a_row_is_edited",
    "a_snapshot_is_edited_and_all_rehashed",
    "a_word_is_added_to_the_index",
    "an_entry_is_edited",
    "it_is_rewritten_and_rehashed_with_everything",
)
"""One of each kind; the long form does all: `python -m tests.campaigns.tampering --postgres`."""


def test_it_is_no_different_when_postgresql_is_tampered_with_by_its_owner(
    postgres_server: PostgresServer,
) -> None:
    @contextmanager
    def make(chance: Random) -> Iterator[CleanDatabase]:
        with postgres_clean(postgres_server.url(), chance, 30) as clean:
            yield clean

    campaign = Campaign(SEED, make)

    campaign.go(len(ON_POSTGRES), {name: CLASSES[name] for name in ON_POSTGRES})

    assert campaign.wrong == {}
    assert campaign.runs == len(campaign.outcomes) == len(ON_POSTGRES)


def test_a_clean_database_alarms_nobody(tmp_path: Path) -> None:
    assert calm_runs(SEED, 5, folder=tmp_path) == []


async def test_a_copy_that_nobody_touched_is_sound_with_all_that_was_kept(
    clean: SqliteClean,
) -> None:
    url = clean.copied()

    for kept in (clean.then, clean.now):
        assert await seen_in_database(url, list(kept.notes.values())) == []
        for scope in SCOPES:
            assert seen_in_export(await exported(url, scope), scope, [kept.notes[scope]]) == []


async def test_an_attacker_who_changes_nothing_leaves_no_trace(clean: SqliteClean) -> None:
    """What the simulator computes anew is what the database had: its forgeries are good ones."""
    url = clean.copied()
    with clean.tables(url) as tables:
        tampered = TamperedDatabase(clean, url, tables, Random(SEED))
        for scope in SCOPES:
            tampered.pass_off(tampered.book(scope))

    assert await seen_in_database(url, list(clean.now.notes.values())) == []


async def test_the_command_names_what_was_forged(clean: SqliteClean, tmp_path: Path) -> None:
    one = CLASSES["it_is_rewritten_and_rehashed_with_everything"]
    deed, url = tampered(one, clean, Random(SEED))
    export, kept = tmp_path / "export.ndjson", tmp_path / "kept.txt"
    export.write_bytes(await exported(url, deed.scope))
    kept.write_text(clean.now.notes[deed.scope])
    command = [sys.executable, memoranda_verify.__file__, str(export)]

    alone = subprocess.run(command, check=False, capture_output=True)  # noqa: ASYNC221, S603
    forked = subprocess.run(  # noqa: ASYNC221, S603
        [*command, "--checkpoint", str(kept)], check=False, capture_output=True, text=True
    )

    assert alone.returncode == 0
    assert forked.returncode == 5
    assert "forked" in forked.stdout


# ------------------------------------------------------------------------------- the page


def test_the_page_has_every_class_and_no_other() -> None:
    lines = lines_in(PAGE.read_text())

    empty = Campaign(SEED)
    assert list(lines) == [line_of(name, empty).what for name in CLASSES]
    for name, one in CLASSES.items():
        line = lines[line_of(name, empty).what]
        assert (line.database, line.export) == (WORDS[one.database], WORDS[one.export])


def test_there_are_classes_of_every_kind() -> None:
    """What can't be found without an anchor is shown as such, beside what can."""
    needs = {one.database for one in CLASSES.values()}

    assert needs == {"nothing", "checkpoint", "nobody"}
    assert DIRECTORY not in SCOPES
