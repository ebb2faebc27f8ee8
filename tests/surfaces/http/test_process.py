"""`memoranda serve` as a process: what its page says, how it stops, and several of them."""

import re
import shlex
import signal
import subprocess
from pathlib import Path

import httpx2
import pytest

import memoranda
from memoranda.formats import create_key
from memoranda.kernel.access import RIGHTS
from tests.patience import PATIENCE
from tests.surfaces.http.serving import process

PAGE = Path(__file__).parents[3] / "docs" / "server.md"
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


def matches(said: str, printed: str) -> bool:
    """Whether a line of a page stands for what was printed: … is anything."""
    pattern = ".*".join(re.escape(part) for part in said.split("…"))
    return re.fullmatch(pattern, printed) is not None


def test_the_transcripts_of_the_page_are_true(tmp_path: Path) -> None:
    (transcript,) = CONSOLE.findall(PAGE.read_text())
    lines = transcript.splitlines()
    with process(f"sqlite:///{tmp_path}/memory.db", folder=tmp_path) as (address, _):
        for command, said in zip(lines[::2], lines[1::2], strict=True):
            asked = command.removeprefix("$ ").replace("localhost:8300", address)
            done = subprocess.run(  # noqa: S603 - what the page says
                shlex.split(asked), capture_output=True, text=True, check=True, timeout=PATIENCE
            )
            assert matches(said, done.stdout.rstrip("\n")), (said, done.stdout)


def test_a_server_that_stops_finishes_and_signs_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/data/memory.db"
    (tmp_path / "data").mkdir()
    (tmp_path / "keys").mkdir()
    key_file, ring = tmp_path / "keys" / "signing.key", tmp_path / "keys" / "ring"
    create_key(key_file, ring, name="example.org/memory")
    monkeypatch.setenv("MEMORANDA_SIGNING_KEY_FILE", str(key_file))
    monkeypatch.setenv("MEMORANDA_KEYRING", str(ring))
    with process(url, folder=tmp_path) as (address, running):
        httpx2.post(f"{address}/v1/memories", json={"data": "hello"}).raise_for_status()
        with httpx2.stream("GET", f"{address}/v1/journal/tail", timeout=PATIENCE) as stream:
            lines = stream.iter_lines()
            assert next(lines) == ": memoranda"
            running.send_signal(signal.SIGTERM)
            assert list(lines) == [""]
        assert running.wait(PATIENCE) in (0, -signal.SIGTERM)

    with memoranda.open_sync(url, scope="default") as memory:
        audit = memory.verify()
        assert audit.is_sound
        assert audit.signed_by == [next(iter(audit.signed_by))]
        assert memory.list()[0].data == "hello"


@pytest.mark.backend("postgres")
def test_several_workers_serve_one_database_and_keep_one_limit(
    postgres_url: str, tmp_path: Path
) -> None:
    with memoranda.connect_sync(postgres_url) as database:
        made = database.keys.create(scope="s", actor="agent:a", rights=RIGHTS, per_minute=30)
        other = database.keys.create(scope="s", actor="agent:b", rights=["maintain"])
    headers = {"authorization": f"Bearer {made.key}"}
    with process(postgres_url, "--workers", "2", folder=tmp_path) as (address, _):
        statuses = [
            httpx2.get(f"{address}/v1/journal", headers=headers, timeout=PATIENCE).status_code
            for _ in range(70)
        ]
        told = {"authorization": f"Bearer {other.key}"}
        counted = {httpx2.get(f"{address}/metrics", headers=told).text for _ in range(4)}

    # At most two minutes are touched, and each has its limit.
    assert statuses.count(200) <= 60
    assert statuses.count(429) >= 10
    assert set(statuses) == {200, 429}
    # Whichever worker is asked, it tells what all of them count.
    for text in counted:
        assert (
            sum(
                float(line.rpartition(" ")[2])
                for line in text.splitlines()
                if line.startswith("memoranda_requests_total")
            )
            == 70
        )
