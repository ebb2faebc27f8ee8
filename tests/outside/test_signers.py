"""Signers and their key files: real keys, real files, every crash harmless."""

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memoranda.kernel.errors import DependencyMissing, InvalidKey
from memoranda.ledger.checkpoint import Checkpoint, parse_checkpoint, sign_checkpoint
from memoranda.ledger.keyring import Keyring
from memoranda.ledger.signed_note import SignedNote, VerifierKey, check_signatures
from memoranda.outside import files
from memoranda.outside import keys as key_files
from memoranda.outside.keys import (
    VARIABLE,
    Ed25519Signer,
    Ed25519Verifier,
    check_place,
    create_key,
    enrol_key,
    read_ring,
    retire_keys,
    rotate_key,
    signers_from_environment,
    signers_from_file,
    verifiers,
)

NAME = "example.org/memory"
CHECKPOINT = Checkpoint("memoranda/0193-a", 1, bytes(32))


class Steps:
    """A clock that goes on by a second with each look."""

    def __init__(self) -> None:
        self.now = 1_800_000_000_000

    def now_ms(self) -> int:
        self.now += 1000
        return self.now


class Keys:
    """A key file and its ring, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key, self.ring = folder / "signing.key", folder / "signing.ring"
        self.clock = Steps()

    def create(self) -> VerifierKey:
        return create_key(self.key, self.ring, name=NAME, clock=self.clock)

    def rotate(self) -> key_files.Rotation:
        return rotate_key(self.key, self.ring, clock=self.clock)

    def retire(self) -> tuple[VerifierKey, ...]:
        return retire_keys(self.key, self.ring, clock=self.clock)

    async def sign(self) -> SignedNote:
        return await sign_checkpoint(CHECKPOINT, signers_from_file(self.key))

    def signed_by(self, note: SignedNote) -> list[str]:
        report = check_signatures(note, verifiers(read_ring(self.ring).known()))
        assert not report.failed
        assert not report.unknown
        return [str(one) for one in report.signed]


def label(key: VerifierKey) -> str:
    return f"{key.name}+{key.key_id.hex()}"


def refused(call: Callable[[], object]) -> None:
    with pytest.raises(InvalidKey):
        call()


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys(tmp_path)


# ----------------------------------------------------------------------------- creating


async def test_a_key_that_was_created_signs_and_its_ring_verifies(keys: Keys) -> None:
    key = keys.create()

    assert keys.signed_by(await keys.sign()) == [label(key)]


@pytest.mark.parametrize("umask", [0, 0o777])
def test_a_private_key_is_readable_by_its_owner_only_whatever_the_umask(
    keys: Keys, umask: int
) -> None:
    before = os.umask(umask)
    try:
        keys.create()
        keys.rotate()
    finally:
        os.umask(before)

    assert stat.S_IMODE(keys.key.stat().st_mode) == 0o600
    assert stat.S_IMODE(keys.ring.stat().st_mode) == 0o644
    assert sorted(path.name for path in keys.folder.iterdir()) == ["signing.key", "signing.ring"]


def test_a_key_that_is_there_is_never_overwritten(keys: Keys) -> None:
    keys.create()
    before = keys.key.read_bytes(), keys.ring.read_bytes()

    with pytest.raises(InvalidKey) as caught:
        keys.create()

    assert caught.value.code == "input.key"
    assert (keys.key.read_bytes(), keys.ring.read_bytes()) == before


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\u200bb", "a\nb"])
def test_a_name_that_no_line_could_hold_makes_no_key(keys: Keys, name: str) -> None:
    with pytest.raises(InvalidKey):
        create_key(keys.key, keys.ring, name=name)

    assert list(keys.folder.iterdir()) == []


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidKey) as caught:
        create_key(tmp_path / "key", tmp_path / "nowhere" / "ring", name=NAME)

    assert caught.value.where.endswith("ring")


@pytest.mark.parametrize("key", ["nowhere/key", "ring"])
def test_a_private_key_that_has_no_place_of_its_own_leaves_no_ring(
    tmp_path: Path, key: str
) -> None:
    refused(lambda: create_key(tmp_path / key, tmp_path / "ring", name=NAME))

    assert list(tmp_path.iterdir()) == []


# ----------------------------------------------------------------------------- reading


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o644, 0o666])
def test_a_key_that_others_can_touch_is_refused(keys: Keys, mode: int) -> None:
    keys.create()
    keys.key.chmod(mode)

    with pytest.raises(InvalidKey) as caught:
        signers_from_file(keys.key)

    assert f"{mode:04o}" in caught.value.why


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_key_of_ours_alone_is_read(keys: Keys, mode: int) -> None:
    key = keys.create()
    keys.key.chmod(mode)

    assert [signer.key for signer in signers_from_file(keys.key)] == [key]


@pytest.mark.parametrize("text", ["", "\n", "nonsense", "\x00\x01", "PRIVATE+KEY+a+00000000+AAAA"])
def test_a_file_that_holds_no_key_is_refused(keys: Keys, text: str) -> None:
    keys.key.write_text(text)
    keys.key.chmod(0o600)

    with pytest.raises(InvalidKey) as caught:
        signers_from_file(keys.key)

    assert caught.value.where == str(keys.key)


def test_bytes_that_are_no_text_are_refused(keys: Keys) -> None:
    keys.key.write_bytes(b"\xff\xfe")
    keys.key.chmod(0o600)

    with pytest.raises(InvalidKey):
        signers_from_file(keys.key)


def test_keys_of_several_names_in_one_file_are_refused(keys: Keys) -> None:
    mixed = [Ed25519Signer.generate(name).secret_text() for name in ("a", "b")]
    keys.key.write_text("\n".join(mixed))
    keys.key.chmod(0o600)

    with pytest.raises(InvalidKey):
        signers_from_file(keys.key)


@pytest.mark.parametrize("where", ["nothing", "folder"])
def test_what_is_no_file_is_refused(keys: Keys, where: str) -> None:
    (keys.folder / "folder").mkdir(mode=0o700)

    with pytest.raises(InvalidKey):
        signers_from_file(keys.folder / where)


def test_a_key_in_the_environment_is_read_and_none_is_none() -> None:
    old, new = Ed25519Signer.generate("a"), Ed25519Signer.generate("a")
    both = {VARIABLE: f"{new.secret_text()} {old.secret_text()}\n"}

    assert [signer.key for signer in signers_from_environment(both)] == [new.key, old.key]
    assert signers_from_environment({}) == signers_from_environment({VARIABLE: " "}) == ()


def test_a_wrong_key_in_the_environment_is_refused_without_showing_it() -> None:
    text = Ed25519Signer.generate("a").secret_text()[:-1]

    with pytest.raises(InvalidKey) as caught:
        signers_from_environment({VARIABLE: text})

    assert caught.value.where == VARIABLE
    secret = text.split("+", 4)[4]  # what it is in base64, which may have a "+" itself
    assert len(secret) > 40
    assert secret[:6] not in str(caught.value)


def test_a_key_in_the_databases_folder_is_refused_by_every_door(keys: Keys) -> None:
    keys.create()
    database = keys.folder / "memory.db"

    refused(lambda: check_place(keys.key, database))
    refused(lambda: signers_from_file(keys.key, database=database))
    refused(lambda: create_key(keys.folder / "b", keys.ring, name="b", database=database))
    refused(lambda: rotate_key(keys.key, keys.ring, database=database))
    refused(lambda: retire_keys(keys.key, keys.ring, database=database))
    assert not (keys.folder / "b").exists()


def test_links_do_not_hide_where_a_key_lies(tmp_path: Path) -> None:
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    data.mkdir()
    elsewhere.mkdir()
    (elsewhere / "to data").symlink_to(data)
    (data / "to elsewhere").symlink_to(elsewhere)

    with pytest.raises(InvalidKey):
        check_place(elsewhere / "to data" / "key", data / "memory.db")
    check_place(data / "to elsewhere" / "key", data / "memory.db")
    check_place(elsewhere / "key", data / "memory.db")
    check_place(elsewhere / "key", None)


# ----------------------------------------------------------------------------- rotating


async def test_the_first_checkpoint_after_a_rotation_carries_both_signatures(keys: Keys) -> None:
    old = keys.create()
    rotation = keys.rotate()

    assert rotation.old == old
    assert keys.signed_by(await keys.sign()) == [label(rotation.new), label(old)]


async def test_after_retiring_only_the_new_key_signs_and_the_old_one_stays_known(
    keys: Keys,
) -> None:
    old = keys.create()
    before = await keys.sign()
    new = keys.rotate().new

    assert keys.retire() == (old,)
    assert keys.signed_by(await keys.sign()) == [label(new)]
    assert keys.signed_by(before) == [label(old)]
    assert len(keys.key.read_text().splitlines()) == 1


async def test_the_ring_says_when_each_key_was_in_use(keys: Keys) -> None:
    old = keys.create()
    created = keys.clock.now
    new = keys.rotate().new
    rotated = keys.clock.now
    keys.retire()
    retired = keys.clock.now
    first, second = read_ring(keys.ring).entries

    assert (first.key, first.since, first.until) == (old, created, retired)
    assert (second.key, second.since, second.until) == (new, rotated, None)


async def test_a_rotation_before_the_last_one_was_retired_keeps_all_signatures(
    keys: Keys,
) -> None:
    first = keys.create()
    second = keys.rotate().new
    third = keys.rotate().new

    assert keys.signed_by(await keys.sign()) == [label(third), label(second), label(first)]
    assert keys.retire() == (first, second)


def test_retiring_with_nothing_to_retire_changes_nothing(keys: Keys) -> None:
    keys.create()
    before = keys.key.read_bytes(), keys.ring.read_bytes()

    assert keys.retire() == ()
    assert (keys.key.read_bytes(), keys.ring.read_bytes()) == before


def test_a_rotation_with_another_ring_is_refused(keys: Keys) -> None:
    keys.create()

    with pytest.raises(InvalidKey):
        rotate_key(keys.key, keys.folder / "other.ring")

    assert not (keys.folder / "other.ring").exists()


async def test_a_lost_key_is_followed_by_a_new_one_and_the_old_signatures_still_verify(
    keys: Keys,
) -> None:
    lost = keys.create()
    before = await keys.sign()
    keys.key.unlink()

    new = keys.create()

    assert keys.signed_by(before) == [label(lost)]
    assert keys.signed_by(await keys.sign()) == [label(new)]
    assert keys.retire() == (lost,)


def test_a_key_of_a_key_service_joins_the_ring(keys: Keys) -> None:
    key = Ed25519Signer.generate("kms.example/memory").key
    enrol_key(keys.ring, key, clock=keys.clock)

    assert read_ring(keys.ring).known() == (key,)
    with pytest.raises(InvalidKey):
        enrol_key(keys.ring, key, clock=keys.clock)


@pytest.mark.parametrize("mode", [0o666, 0o664, 0o646])
def test_a_ring_that_others_may_write_is_refused(keys: Keys, mode: int) -> None:
    keys.create()
    assert read_ring(keys.ring).known()
    keys.ring.chmod(mode)

    with pytest.raises(InvalidKey) as caught:
        read_ring(keys.ring)

    assert "chmod 644" in caught.value.why
    refused(keys.rotate)


def test_a_ring_that_is_damaged_is_left_as_it_is(keys: Keys) -> None:
    keys.create()
    keys.ring.write_text("nonsense")

    for door in (keys.rotate, keys.retire, lambda: read_ring(keys.ring)):
        with pytest.raises(InvalidKey):
            door()
    assert keys.ring.read_text() == "nonsense"


# ------------------------------------------------------------------------------ crashes


class PowerCut(BaseException):
    """The machine stops: nothing that follows runs."""


@pytest.mark.parametrize("act", ["create", "rotate", "retire"])
@pytest.mark.parametrize("at", range(4))
async def test_a_crash_at_any_write_leaves_keys_that_sign_and_verify(
    keys: Keys, monkeypatch: pytest.MonkeyPatch, act: str, at: int
) -> None:
    if act != "create":
        keys.create()
    if act == "retire":
        keys.rotate()
    writes = 0
    real = files.write_whole

    def cut(path: Path, text: str, mode: int, *, replace: bool) -> None:
        nonlocal writes
        if writes == at // 2 and at % 2 == 0:
            raise PowerCut
        real(path, text, mode, replace=replace)
        if writes == at // 2:
            raise PowerCut
        writes += 1

    with monkeypatch.context() as patched:
        patched.setattr(key_files, "write_whole", cut)
        with pytest.raises(PowerCut):
            getattr(keys, act)()

    if act == "create" and not keys.key.exists():
        keys.create()
    assert keys.signed_by(await keys.sign()), "what is signed, the ring verifies"
    keys.rotate()
    keys.retire()
    assert len(keys.signed_by(await keys.sign())) == 1
    open_keys = [entry.key for entry in read_ring(keys.ring).entries if entry.until is None]
    assert open_keys == [signer.key for signer in signers_from_file(keys.key)]


def test_a_file_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("before")

    def fails(_: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fails)
        with pytest.raises(OSError, match="Input/output error"):
            files.write_whole(path, "after", 0o600, replace=True)

    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_the_draft_of_a_killed_process_is_no_obstacle(keys: Keys) -> None:
    (keys.folder / ".signing.key.draft").write_text("half a k")

    keys.create()

    assert sorted(path.name for path in keys.folder.iterdir()) == ["signing.key", "signing.ring"]


# --------------------------------------------------------------------- without the extra


@pytest.fixture
def without_cryptography(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)


@pytest.mark.usefixtures("without_cryptography")
def test_without_the_extra_signing_says_what_to_install(keys: Keys) -> None:
    for call in (
        keys.create,
        lambda: Ed25519Signer("a", bytes(32)),
        lambda: Ed25519Verifier(VerifierKey("a", bytes(32))),
    ):
        with pytest.raises(DependencyMissing) as caught:
            call()
        assert "pip install 'memoranda[sign]'" in str(caught.value)
    assert list(keys.folder.iterdir()) == []


@pytest.mark.usefixtures("without_cryptography")
async def test_without_the_extra_checkpoints_are_made_and_read_unsigned() -> None:
    note = await sign_checkpoint(CHECKPOINT, signers_from_environment({}))

    assert check_signatures(parse_checkpoint(str(note)).note, []).standing == "unsigned"
    assert Keyring.parse(str(Keyring())) == Keyring()
