"""Power cuts, in short form: `make adversity` simulates thousands."""

from pathlib import Path

import pytest

from tests.campaigns.adversity.chance import Random
from tests.campaigns.adversity.power import Disk, PowerCuts
from tests.campaigns.adversity.vfs import Operation


@pytest.mark.parametrize("seed", [1, 2])
def test_a_power_cut_loses_no_acknowledged_write_and_damages_nothing(
    tmp_path: Path, seed: int
) -> None:
    counts = PowerCuts(tmp_path, Random(seed)).run(4)

    assert counts.broken == {}, counts.texts
    assert counts["cuts"] > 20
    assert counts["unknown"] > 0, "some cuts fell into a write"


def test_with_synchronous_normal_a_power_cut_loses_acknowledged_writes(tmp_path: Path) -> None:
    counts = PowerCuts(tmp_path, Random(1), "NORMAL").run(3)

    assert counts["cuts that lost a write"] > 0
    assert counts["damaged"] == 0


def test_an_fsync_that_lies_damages_files(tmp_path: Path) -> None:
    counts = PowerCuts(tmp_path, Random(1), "lying fsync").run(3)

    assert counts["cuts that damaged a file"] > 0


# ------------------------------------------------------------------- the disk itself


def images(disk: Disk, file: str) -> set[bytes | None]:
    return {disk.image(Random(seed)).get(file) for seed in range(200)}


def test_what_was_synced_survives_every_cut(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.watch(Operation("write", "f", b"safe"))
    disk.watch(Operation("sync", "f"))

    assert images(disk, "f") == {b"safe"}


def test_what_was_not_synced_may_be_there_or_not_sector_by_sector(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.watch(Operation("write", "f", b"a" * 1024))
    disk.watch(Operation("sync", "f"))
    disk.watch(Operation("write", "f", b"b" * 1024))

    old, new = b"a" * 512, b"b" * 512
    assert images(disk, "f") == {old + old, old + new, new + old, new + new}


def test_unsynced_writes_of_one_place_arrive_in_any_order(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    for content in (b"1", b"2"):
        disk.watch(Operation("write", "f", content))

    assert images(disk, "f") == {None, b"1", b"2"}


def test_a_deleted_file_may_come_back_until_its_folder_is_synced(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.watch(Operation("write", "f-journal", b"old"))
    disk.watch(Operation("sync", "f-journal"))
    disk.watch(Operation("delete", "f-journal"))
    assert images(disk, "f-journal") == {None, b"old"}

    disk.watch(Operation("open", "f-wal"))
    disk.watch(Operation("sync", "f-wal"))
    assert images(disk, "f-journal") == {None}


def test_a_disk_that_lies_keeps_nothing_for_sure(tmp_path: Path) -> None:
    disk = Disk(tmp_path, lies=True)
    disk.watch(Operation("write", "f", b"x"))
    disk.watch(Operation("sync", "f"))

    assert images(disk, "f") == {None, b"x"}
