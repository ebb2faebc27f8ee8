"""RepoScan gives the version of a folder: of its names and contents, whole or not at all."""

import os
from pathlib import Path
from typing import Any

import pytest

from memoranda.kernel.errors import CycleFailed, InvalidRecord
from memoranda.outside.files import FolderScanner
from memoranda.plans.steps.context import RepoScan, RepoScanPayload


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "repo"
    (made / "src").mkdir(parents=True)
    (made / "a.txt").write_text("a")
    (made / "src" / "코드.py").write_text("b")
    return made


def _link_to(target: str, link: Path) -> Path:
    link.symlink_to(target)
    return link


async def scanned(folder: Path) -> Any:
    return await RepoScan(FolderScanner()).run(RepoScanPayload(path=str(folder)), {})


async def test_the_same_files_have_the_same_version_wherever_they_lie(
    folder: Path, tmp_path: Path
) -> None:
    before = await scanned(folder)
    os.utime(folder / "a.txt", (1, 1))
    folder.rename(tmp_path / "elsewhere")

    assert await scanned(tmp_path / "elsewhere") == before
    assert before["fileCount"] == 2
    assert len(before["versionId"]) == 64


async def test_every_change_of_a_name_or_a_content_is_another_version(folder: Path) -> None:
    versions = [(await scanned(folder))["versionId"]]
    for change in (
        lambda: (folder / "a.txt").write_text("b"),
        lambda: (folder / "a.txt").rename(folder / "b.txt"),
        lambda: (folder / "b.txt").rename(folder / "src" / "b.txt"),
        (folder / "new").touch,
        (folder / "new").unlink,
        lambda: (folder / "link").symlink_to("a"),
        lambda: _link_to("b", folder / "draft").replace(folder / "link"),
        lambda: os.mkfifo(folder / "pipe"),
        lambda: os.close(os.open(os.fsencode(folder) + b"/\xff", os.O_CREAT | os.O_WRONLY)),
    ):
        change()
        versions.append((await scanned(folder))["versionId"])

    del versions[5]  # without the new file it is the version from before
    assert len(set(versions)) == len(versions)


async def test_a_link_is_not_followed(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (folder / "link").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    before = await scanned(folder)

    (outside / "secret").write_text("x")

    assert await scanned(folder) == before
    assert before["fileCount"] == 2


async def test_what_git_writes_for_itself_is_left_out(folder: Path) -> None:
    before = await scanned(folder)
    (folder / ".git").mkdir()
    (folder / ".git" / "index").write_text("x")

    assert await scanned(folder) == before


async def test_a_folder_that_cant_be_read_whole_fails(folder: Path, tmp_path: Path) -> None:
    class Denied(FolderScanner):
        async def scan(self, path: str) -> Any:
            raise PermissionError(13, "Permission denied", f"{path}/src")

    for scanner, path in (
        (FolderScanner(), tmp_path / "nowhere"),
        (FolderScanner(), folder / "a.txt"),
        (Denied(), folder),
    ):
        with pytest.raises(CycleFailed) as caught:
            await RepoScan(scanner).run(RepoScanPayload(path=str(path)), {})
        assert caught.value.code == "plan.cycle_failed"


async def test_a_file_that_may_not_be_read_fails_the_scan(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really_open = os.open

    def denied(path: bytes, flags: int) -> int:
        if path.endswith(b"a.txt"):  # root may read everything, so the system is made to refuse
            raise PermissionError(13, "Permission denied", path)
        return really_open(path, flags)

    monkeypatch.setattr(os, "open", denied)

    with pytest.raises(CycleFailed) as caught:
        await scanned(folder)

    assert "a.txt" in caught.value.why


async def test_what_became_a_pipe_or_a_link_while_it_was_listed_fails_and_nobody_waits(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really_open = os.open

    def swapped(path: bytes, flags: int) -> int:
        Path(os.fsdecode(path)).unlink()
        os.mkfifo(path)
        return really_open(path, flags)

    monkeypatch.setattr(os, "open", swapped)

    with pytest.raises(CycleFailed):
        await scanned(folder)


@pytest.mark.parametrize("payload", [{}, {"path": ""}, {"path": 1}, {"path": "a", "x": 1}])
def test_a_payload_that_is_none_is_refused(payload: dict[str, Any]) -> None:
    with pytest.raises(InvalidRecord):
        RepoScanPayload.model_validate(payload)
