"""The stand-alone verifier finds what was done to an export, and never breaks on it."""

import io
import json
import math
import re
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

import memoranda_verify
from memoranda_verify import Anchor, Malformed, Report, parse_checkpoint, parse_key
from tests.verify.damages import (
    DAMAGES,
    FORGER,
    OTHER,
    Damage,
    Finding,
    lengthened,
    rewritten,
    shortened,
)
from tests.verify.journals import Journal, Signer, canonical, memory, sample

SCRIPT = Path(memoranda_verify.__file__)
SIGNER = Signer()


def verified(
    export: bytes,
    *,
    notes: Sequence[str] = (),
    signers: Sequence[Signer] = (),
    require_signature: bool = False,
) -> Report:
    return memoranda_verify.verify(
        io.BytesIO(export),
        anchors=[Anchor(f"note {n}", parse_checkpoint(note)) for n, note in enumerate(notes)],
        keys=[parse_key(signer.vkey) for signer in signers],
        require_signature=require_signature,
    )


def found(report: Report) -> list[Finding]:
    return [(finding.check, finding.seq) for finding in report.findings]


# ---------------------------------------------------------------------------------- what is right


def test_a_journal_with_all_that_one_can_have_is_right() -> None:
    journal = sample()

    report = verified(journal.export())

    assert found(report) == []
    assert (report.origin, report.scope) == (journal.origin, journal.scope)
    assert (report.size, report.erased) == (12, 2)


@pytest.mark.parametrize("size", range(70))
def test_a_journal_of_any_size_has_its_root_at_every_size(size: int) -> None:
    journal = Journal()
    for number in range(size):
        journal.add("maintenance", {"type": "Tick", "number": number})

    report = verified(journal.export(), notes=[journal.note(at) for at in range(size + 1)])

    assert found(report) == []
    assert [anchor.verdict for anchor in report.anchors] == ["agrees"] * (size + 1)


def test_a_line_may_be_written_in_another_way_if_it_says_the_same() -> None:
    lines = [json.loads(line) for line in sample().lines()]
    other = [
        json.dumps(dict(reversed(line.items()))).encode() + b"\r\n"  # noqa: TID251
        for line in lines
    ]

    assert found(verified(b"".join(other))) == []


def test_an_actor_may_have_characters_that_are_escaped() -> None:
    journal = Journal()
    for actor in ('human:"', "human:\\", "human:\n\t\x00\x1f", "human:\U0001f600é\u2028", "a:b:c"):
        journal.add("maintenance", {"type": "Tick"}, actor=actor)

    assert found(verified(journal.export())) == []


def test_an_object_may_be_erased_and_used_again_and_erased_again() -> None:
    journal, digest = Journal(), ""
    tombstone = {"status": "erased", "reason": "asked for"}
    for version in range(1, 8):
        more = {"supersedes": "sha256:" + digest} if digest else {}
        if version in (3, 6):
            digest = journal.add("archive", memory("a", version, **more, **tombstone))
            journal.erase(*range(version - 1))
        else:
            digest = journal.add("create", memory("a", version, **more))
        assert found(verified(journal.export())) == []

    assert [one.body is None for one in journal.kept] == [True] * 5 + [False] * 2


def test_an_object_may_have_all_that_it_can_be_found_by() -> None:
    journal = Journal()
    for members in (
        {"timestamp": "2024-02-29T23:59:59.999Z", "valid_from": None, "valid_to": None},
        {"valid_from": "0001-01-01T00:00:00Z", "valid_to": "9999-12-31T23:59:59Z"},
        {"created_ms": -5, "updated_ms": 2**53 - 1, "subject": None, "tags": None, "inputs": None},
        {"subject": "kim", "tags": ["a"], "inputs": [{"id": "b", "version": "1"}]},
        {"embed": ["$.text", "leads nowhere"], "subject": None},
        {"format": "text", "statement": "{not JSON"},
        {"format": "json", "statement": '{"a":[1,2.5,"\U0001f600"]}'},
        {"format": "json", "statement": "[" * 128 + "]" * 128},
    ):
        journal.add("create", memory(str(len(journal.kept)), 1, **members))

    assert found(verified(journal.export())) == []


def test_an_erased_body_stands_for_one_version_only() -> None:
    journal = Journal()
    digest = journal.add("create", memory("a", 1))
    journal.add(
        "archive", memory("a", 3, supersedes="sha256:" + digest, status="erased", reason="r")
    )
    journal.erase(0)

    assert found(verified(journal.export())) == [("object", 1)]


def test_many_objects_keep_their_versions_apart() -> None:
    journal, digests = Journal(), [""] * 3000
    for version in (1, 2):
        for id in range(3000):
            more = {"supersedes": "sha256:" + digests[id]} if version > 1 else {}
            digests[id] = journal.add("create", memory(str(id), version, **more))

    assert found(verified(journal.export())) == []


# ---------------------------------------------------------------------------------- what is wrong


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.name)
def test_damage_is_found_with_its_check_and_its_place(damage: Damage) -> None:
    assert found(verified(damage.make())) == damage.findings


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.name)
def test_a_checkpoint_that_was_kept_turns_no_damage_into_a_truth(damage: Damage) -> None:
    report = verified(damage.make(), notes=[sample().note()], signers=[SIGNER])

    assert not report.ok


def test_a_line_that_is_too_long_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = sample().lines()
    lines[4] = lines[4].replace(b"a said", b"a said" * 500_000)
    monkeypatch.setattr(memoranda_verify, "LONGEST_LINE", 2**20)

    report = verified(b"".join(lines))

    assert found(report) == [("form", 3), ("root", None)]


def test_a_body_of_sixteen_mebibytes_is_fine() -> None:
    journal = Journal()
    journal.add("maintenance", {"type": "Large", "text": 'said "no" ' * (2**24 // 12)})

    assert found(verified(journal.export())) == []


def test_one_edit_in_many_entries_is_one_finding() -> None:
    journal = Journal()
    for number in range(1000):
        journal.add("maintenance", {"type": "Tick", "number": number})
    lines = journal.lines()
    del lines[500]

    report = verified(b"".join(lines))

    assert found(report) == [("seq", 499), ("previous", 499), ("size", None), ("root", None)]


def test_all_of_many_findings_are_kept() -> None:
    journal = Journal()
    for number in range(10_000):
        journal.add("maintenance", {"type": "Tick", "number": number})
    lines = [line.replace(b"Tick", b"Tock") for line in journal.lines()]

    report = verified(b"".join(lines))

    assert found(report) == [("body", place) for place in range(10_000)]


def test_a_million_empty_lines_are_one_finding() -> None:
    header, *lines = sample().lines()

    report = verified(header + b"\n" * 1_000_000 + b"".join(lines))

    assert found(report) == [("form", 0)]


def test_a_file_of_a_million_empty_lines_is_no_export() -> None:
    report = verified(b"\n" * 1_000_000)

    assert found(report) == [("form", None), ("form", 0), ("form", None)]


def test_a_scope_that_is_no_text_is_not_that_of_its_origin() -> None:
    header, *lines = sample().lines()
    members = json.loads(header) | {"scope": "\ud800"}

    report = verified(json.dumps(members).encode() + b"\n" + b"".join(lines))  # noqa: TID251

    assert found(report) == [("form", None)]


# ------------------------------------------------------------------------ checkpoints from outside


def test_a_journal_rewritten_as_a_whole_is_told_only_by_a_checkpoint_from_outside() -> None:
    forged = rewritten().export()

    assert found(verified(forged)) == []
    report = verified(forged, notes=[sample().note(n) for n in (7, 8, 12)])
    assert [anchor.verdict for anchor in report.anchors] == ["agrees", "forked", "forked"]
    assert found(report) == [("anchor", None)] * 2


def test_a_journal_cut_off_as_a_whole_is_told_only_by_a_checkpoint_from_outside() -> None:
    cut = shortened().export()

    assert found(verified(cut)) == []
    report = verified(cut, notes=[sample().note(9), sample().note()])
    assert [anchor.verdict for anchor in report.anchors] == ["agrees", "rolled back"]
    assert found(report) == [("anchor", None)]


def test_a_journal_that_went_on_agrees_with_what_was_kept_before() -> None:
    report = verified(lengthened().export(), notes=[sample().note()])

    assert report.ok


def test_a_checkpoint_of_another_journal_is_no_proof_of_this_one() -> None:
    report = verified(sample().export(), notes=[OTHER.note()])

    assert [anchor.verdict for anchor in report.anchors] == ["other origin"]
    assert found(report) == [("anchor", None)]


def test_without_an_entry_there_is_no_root_to_compare() -> None:
    lines = sample().lines()
    lines[4] = b"{}\n"

    report = verified(b"".join(lines), notes=[sample().note(3), sample().note(4)])

    assert [anchor.verdict for anchor in report.anchors] == ["agrees", "unreadable"]
    assert found(report) == [("form", 3), ("root", None), ("anchor", None)]


# -------------------------------------------------------------------------------------- signatures


def test_a_signature_of_a_known_key_is_named() -> None:
    export = sample().export([SIGNER])

    report = verified(export, signers=[SIGNER], require_signature=True)

    assert report.ok
    assert report.end is not None
    assert report.end.by == [f"{SIGNER.name}+{SIGNER.key_id.hex()}"]


def test_a_signature_of_an_unknown_key_counts_for_nothing() -> None:
    export = sample().export([SIGNER])

    report = verified(export, signers=[FORGER])

    assert report.ok
    assert str(report.end) == "foreign"
    required = verified(export, signers=[FORGER], require_signature=True)
    assert found(required) == [("signature", None)]


def test_one_of_the_keys_that_are_asked_for_is_enough() -> None:
    export = sample().export([SIGNER, Signer("witness.example/w", b"w" * 32)])

    report = verified(export, signers=[FORGER, SIGNER], require_signature=True)

    assert report.ok


def test_an_unsigned_checkpoint_is_not_enough_when_a_signature_is_asked_for() -> None:
    report = verified(sample().export(), signers=[SIGNER], require_signature=True)

    assert found(report) == [("signature", None)]


@pytest.mark.parametrize("required", [False, True])
def test_a_signature_of_a_known_key_over_another_text_is_wrong(required: bool) -> None:
    journal = rewritten()
    stolen = sample().note(signers=[SIGNER]).split("\n\n")[1]
    end = (
        b"".join(journal.lines()[:-1])
        + json.dumps(  # noqa: TID251
            {"type": "end", "checkpoint": journal.note() + stolen}
        ).encode()
    )

    report = verified(end + b"\n", signers=[SIGNER], require_signature=required)

    assert set(found(report)) == {("signature", None)}
    assert str(report.end) == "failed"


def test_a_kept_checkpoint_with_a_wrong_signature_is_not_believed() -> None:
    note = sample().note(5).split("\n\n")[0] + "\n\n" + sample().note(6, [SIGNER]).split("\n\n")[1]

    report = verified(sample().export(), notes=[note], signers=[SIGNER])

    assert [anchor.verdict for anchor in report.anchors] == ["not believed"]
    assert found(report) == [("signature", None)]


@pytest.mark.parametrize(
    "note",
    [
        "",
        "a\n1\n" + "A" * 43 + "=\n",
        "a\n1\n\n",
        "\n1\n" + "A" * 43 + "=\n\n",
        "a\n01\n" + "A" * 43 + "=\n\n",
        "a\n+1\n" + "A" * 43 + "=\n\n",
        "a\n\u0661\n" + "A" * 43 + "=\n\n",
        "a\n1\n" + "A" * 42 + "B=\n\n",
        "a\n1\n" + "A" * 43 + "\n\n",
        "a\n1\n" + "A" * 44 + "\n\n",
        "a\r\n1\n" + "A" * 43 + "=\n\n",
        "a\n1\n" + "A" * 43 + "=\n\n\n",
        "a\n1\n" + "A" * 43 + "=\n\n— b AAAAAAAA",
        "a\n1\n" + "A" * 43 + "=\n\n— b AAAAAA==\n",
        "a\n1\n" + "A" * 43 + "=\n\n- b AAAAAAAA\n",
        "a\n1\n" + "A" * 43 + "=\n\n— b+ AAAAAAAA\n",
        "a\n1\n" + "A" * 43 + "=\n\n— b c AAAAAAAA\n",
        "a\n1\n" + "A" * 43 + "=\n\n" + "— b AAAAAAAA\n" * 101,
    ],
)
def test_what_could_be_read_in_two_ways_is_no_checkpoint(note: str) -> None:
    with pytest.raises(Malformed):
        parse_checkpoint(note)


def test_the_checkpoint_of_the_specification_is_read() -> None:
    read = parse_checkpoint(
        "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n"
        "— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zh"
        "cyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
    )

    assert (read.origin, read.size) == ("example.com/behind-the-sofa", 20852163)
    assert read.signatures[0].key_id.hex() == "033de0ae"


@pytest.mark.parametrize(
    "key", ["", "a", "a+b+c", "a+00000000+AQ==", SIGNER.vkey[:-3], SIGNER.vkey.replace("me", "ma")]
)
def test_a_key_with_a_slip_of_the_pen_is_refused(key: str) -> None:
    with pytest.raises(Malformed):
        parse_key(key)


# ----------------------------------------------------------------------------------- any one byte

SIGNED = sample().export([SIGNER])
SIGNATURE = range(SIGNED.rindex("— ".encode()), SIGNED.rindex(b'"'))


def says(export: bytes) -> object:
    """What an export says, however its lines are written; itself when it can't be read."""
    try:
        return [
            json.loads(line.decode(), object_pairs_hook=sorted) for line in export.splitlines(True)
        ]
    except (ValueError, RecursionError):
        return export


@given(
    place=st.integers(0, len(SIGNED) - 1),
    change=st.sampled_from(["replace", "insert", "delete"]),
    byte=st.integers(0, 255),
)
@example(SIGNATURE[0] + 30, "replace", ord("A"))
def test_no_change_of_one_byte_is_accepted(place: int, change: str, byte: int) -> None:
    tail = SIGNED[place + (change != "insert") :]
    export = SIGNED[:place] + (b"" if change == "delete" else bytes([byte])) + tail
    if says(export) == says(SIGNED) and export.endswith(b"\n"):
        return  # another way to write the same: a space between members, an escape

    assert not verified(
        export, notes=[sample().note()], signers=[SIGNER], require_signature=True
    ).ok
    if place not in SIGNATURE:  # what no known key signed is covered by nothing
        assert not verified(export, notes=[sample().note()]).ok


def test_no_bit_of_an_export_can_be_turned() -> None:
    for place in range(0, len(SIGNED), 3):
        for bit in (0x01, 0x20):
            turned = bytes([SIGNED[place] ^ bit])
            export = SIGNED[:place] + turned + SIGNED[place + 1 :]
            if says(export) != says(SIGNED):
                report = verified(export, signers=[SIGNER], require_signature=True)
                assert not report.ok, (place, bit)


@given(st.lists(st.one_of(st.sampled_from(sample().lines()), st.binary(max_size=40)), max_size=20))
def test_any_lines_give_a_report(lines: list[bytes]) -> None:
    report = verified(b"".join(lines), notes=[sample().note()], signers=[SIGNER])

    assert not report.ok or b"".join(lines) == sample().export()


# ---------------------------------------------------------------------------------- canonical JSON

VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**53) + 1, 2**53 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(),
    ),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), VALUES))
@example({"\ufb33": 1, "\U0001f600": 2, "\r": 3, "1": 4, "\x80": 5, "ö": 6, "€": 7, "</script>": 8})
@example({"": [1e16, 2.0**53, 1e21, 1e20, -0.0, 1e-7, 5e-324, 1.7976931348623157e308, 123456.789]})
def test_a_body_is_canonical_when_another_writer_says_so(value: dict[str, Any]) -> None:
    text = rfc8785.dumps(value).decode()

    read, wrong = memoranda_verify.read_body(text)

    assert wrong is None
    assert memoranda_verify.canonical(read) == text
    spaced = text.replace("{", "{ ", 1)
    assert memoranda_verify.read_body(spaced)[1] is not None


@given(st.binary(min_size=8, max_size=8))
def test_a_float_is_written_as_ecmascript_does(double: bytes) -> None:
    (number,) = struct.unpack("d", double)
    if math.isfinite(number):
        assert memoranda_verify.canonical(number) == rfc8785.dumps(number).decode()


# ------------------------------------------------------------------------------------- the command


def run(
    *arguments: str, cwd: Path | None = None, given: str = ""
) -> subprocess.CompletedProcess[str]:
    """The file alone, in an interpreter that sees neither this project nor any package."""
    command = [sys.executable, "-I", "-S", str(SCRIPT), *arguments]
    return subprocess.run(  # noqa: S603
        command, check=False, capture_output=True, encoding="utf-8", cwd=cwd, input=given
    )


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "export.ndjson"
    path.write_bytes(sample().export())
    return path


def test_the_file_needs_nothing_beside_it(export: Path) -> None:
    told = run(str(export))

    assert (told.returncode, told.stderr) == (0, "")
    assert "Nothing is wrong." in told.stdout
    assert "not signed: anyone could have written it" in told.stdout
    assert "can't be told from a true one" in told.stdout


def test_a_key_needs_a_package_and_says_so(export: Path) -> None:
    told = run(str(export), "--key", SIGNER.vkey)

    assert told.returncode == 2
    assert "pip install cryptography" in told.stderr


def test_damage_ends_with_1(export: Path) -> None:
    export.write_bytes(export.read_bytes().replace(b"a said", b"a sang"))

    told = run(str(export))

    assert told.returncode == 5
    assert re.search(r"body +3 x  entry 1: ", told.stdout)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nowhere.ndjson"],
        ["."],
        ["{}", "--checkpoint", "nowhere.txt"],
        ["{}", "--checkpoint", "{}"],
        ["{}", "--require-signature"],
        ["{}", "--keyring", "nowhere.ring"],
        ["{}", "--keyring", "{}"],
        ["{}", "--nonsense"],
    ],
)
def test_what_cannot_be_verified_ends_with_2(arguments: list[str], export: Path) -> None:
    told = run(*(argument.format(export) for argument in arguments), cwd=export.parent)

    assert told.returncode == 2
    assert "Traceback" not in told.stderr


def test_the_report_as_json_has_all_findings(export: Path) -> None:
    export.write_bytes(export.read_bytes().replace(b"a said", b"a sang"))
    kept = export.with_name("kept.txt")
    kept.write_text(sample().note(5), encoding="utf-8")

    told = run(str(export), "--json", "--checkpoint", str(kept))

    report = json.loads(told.stdout)
    assert told.returncode == 5
    assert list(report) == [
        "ok", "origin", "scope", "size", "root", "erased", "signed_by", "anchors", "findings",
        "counts",
    ]  # fmt: skip
    assert (report["ok"], report["size"], report["erased"]) == (False, 12, 2)
    assert [(one["check"], one["seq"]) for one in report["findings"]] == [
        ("body", place) for place in (1, 3, 8)
    ]
    assert report["counts"] == {"body": 3}
    assert [(one["size"], one["verdict"]) for one in report["anchors"]] == [(5, "agrees")]


def test_an_export_may_come_through_a_pipe() -> None:
    told = run("-", "--json", given=sample().export().decode())

    assert told.returncode == 0
    assert json.loads(told.stdout)["ok"]


def test_no_control_character_of_an_export_reaches_the_terminal(export: Path) -> None:
    forged = canonical("memoranda\x1b[2J/" + "x" * 500)[1:-1]
    lines = sample().lines()
    lines[-1] = lines[-1].replace(b"memoranda/", forged.replace("\\", "\\\\").encode())
    export.write_bytes(b"".join(lines))

    assert "\x1b" not in run(str(export)).stdout


def test_the_command_checks_signatures(export: Path, capsys: pytest.CaptureFixture[str]) -> None:
    export.write_bytes(SIGNED)
    kept = export.with_name("kept.txt")
    kept.write_text(sample().note(5, [SIGNER]), encoding="utf-8")
    asked = [str(export), "--checkpoint", str(kept), "--require-signature", "--key"]

    assert memoranda_verify.main([*asked, SIGNER.vkey]) == 0
    assert f"signed by {SIGNER.name}+{SIGNER.key_id.hex()}" in capsys.readouterr().out
    assert memoranda_verify.main([*asked, FORGER.vkey]) == 5
    assert "no such key was given" in capsys.readouterr().out


def test_the_command_knows_the_keys_of_a_ring(
    export: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    times = "2026-11-16T09:00:00.000Z -"
    ring = export.with_name("ring")
    ring.write_text(f"memoranda/keyring/1\n{FORGER.vkey} {times}\n{SIGNER.vkey} {times}\n")
    export.write_bytes(sample().export([SIGNER]))
    asked = [str(export), "--require-signature", "--keyring", str(ring)]

    assert memoranda_verify.main(asked) == 0
    assert f"signed by {SIGNER.name}" in capsys.readouterr().out

    export.write_bytes(sample().export())
    assert memoranda_verify.main(asked) == 5
    assert "signature" in capsys.readouterr().out


@pytest.mark.parametrize(
    "ring",
    [
        "",
        "memoranda/keyring/2\n",
        "memoranda/keyring/1",
        f"memoranda/keyring/1\n{SIGNER.vkey}\n",
        f"memoranda/keyring/1\n{SIGNER.vkey} a b",
        "memoranda/keyring/1\nkey a b\n",
    ],
)
def test_what_is_no_ring_is_refused(ring: str) -> None:
    with pytest.raises(memoranda_verify.Malformed):
        memoranda_verify.parse_ring(ring)
