"""``memoranda keys signer``: keys that sign, and reports that say who signed."""

import sys

import pytest

from tests.surfaces.cli.command import Command

KEY = ["key", "name", "keyId", "since", "until", "signsHere"]


@pytest.fixture
def signing(memoranda: Command) -> Command:
    """A database whose checkpoints are signed."""
    memoranda.setenv("MEMORANDA_SIGNING_KEY_FILE", memoranda.folder / "keys" / "key")
    memoranda.setenv("MEMORANDA_KEYRING", memoranda.folder / "keys" / "ring")
    made = memoranda.json("keys", "signer", "create", "--name", "example.org/memory")
    assert list(made) == ["key", "keyFile", "keyring"]
    memoranda.json("remember", "one")
    return memoranda


def signers(command: Command) -> list[str]:
    found: list[str] = command.json("verify")["scopes"][0]["signedBy"]
    return found


def test_a_key_signs_and_reports_say_so(signing: Command) -> None:
    (key,) = signing.json("keys", "signer", "show")

    assert list(key) == KEY
    assert (key["name"], key["until"], key["signsHere"]) == ("example.org/memory", None, True)
    assert signers(signing) == [f"example.org/memory+{key['keyId']}"]
    assert signing.json("status")[0]["checkpoint"]["standing"] == "signed"
    assert "signed by example.org/memory" in signing.text("verify")
    assert "signed by example.org/memory" in signing.text("status")
    (sentence,) = signing.json("verify")["cannotTell"]
    assert "written anew" not in sentence
    assert "yes" in signing.text("keys", "signer", "show")


def test_after_a_rotation_both_sign_until_the_old_one_retires(signing: Command) -> None:
    rotated = signing.json("keys", "signer", "rotate")
    signing.json("remember", "two")
    retired = signing.json("keys", "signer", "retire")
    signing.json("remember", "three")

    assert retired["retired"] == [rotated["old"]]
    assert len(signers(signing)) == 2
    old, new = signing.json("keys", "signer", "show")
    assert (old["signsHere"], new["signsHere"]) == (False, True)
    assert old["until"] is not None
    assert "no key to retire" in signing.text("keys", "signer", "retire")


def test_without_the_ring_the_signer_is_not_known(signing: Command) -> None:
    signing.environment.delenv("MEMORANDA_KEYRING")

    found = signing.json("verify")
    assert found["scopes"][0]["checkpoints"] == {"foreign": 1}
    assert "MEMORANDA_KEYRING" in signing.text("verify")


def test_a_signature_of_all_entries_can_be_asked_for(signing: Command) -> None:
    (key,) = signing.json("keys", "signer", "show")
    ring = str(signing.folder / "keys" / "ring")
    assert signing.json("verify", "--require-signature")["sound"]

    signing.environment.delenv("MEMORANDA_KEYRING")
    for named in (("--key", key["key"]), ("--keyring", ring)):
        found = signing.json("verify", "--require-signature", *named)
        assert found["scopes"][0]["signedBy"] == [f"example.org/memory+{key['keyId']}"]
    assert "--key or --keyring" in signing.refused("verify", "--require-signature", status=2)
    assert "name+id+key" in signing.refused("verify", "--key", "slip", status=2)


def test_entries_that_no_known_key_has_signed_are_damage_to_who_asks(signing: Command) -> None:
    (key,) = signing.json("keys", "signer", "show")
    signing.environment.delenv("MEMORANDA_SIGNING_KEY_FILE")
    signing.json("remember", "two")

    assert signing.json("verify")["sound"]
    found = signing.json("verify", "--require-signature", status=5)

    (damage,) = found["scopes"][0]["damage"]["found"]
    assert (damage["check"], damage["seq"]) == ("signature", None)
    assert damage["why"].endswith("of all 3 entries: the newest that one has signed is of 2")
    assert found["directory"]["damage"]["counts"] == {"signature": 1}
    signing.environment.delenv("MEMORANDA_KEYRING")
    assert signing.json("verify", "--key", key["key"])["sound"]


def test_a_signature_of_a_key_that_was_not_named_is_none(signing: Command) -> None:
    elsewhere = ("--key-file", "../keys/other-key", "--keyring", "../keys/other-ring")
    signing.json("keys", "signer", "create", "--name", "example.org/memory", *elsewhere)

    found = signing.json(
        "verify", "--require-signature", "--keyring", "../keys/other-ring", status=5
    )

    assert found["scopes"][0]["checkpoints"] == {"foreign": 1}
    assert found["scopes"][0]["damage"]["counts"] == {"signature": 1}


def test_a_key_beside_the_database_is_refused_and_the_words_say_where_not(
    memoranda: Command,
) -> None:
    create = ("keys", "signer", "create", "--name", "n", "-d", "sqlite:///m.db")
    ring = str(memoranda.folder / "keys" / "ring")
    said = memoranda.refused(*create, "--key-file", "key", "--keyring", ring, status=2)
    assert "database's folder" in said
    assert not (memoranda.folder / "keys" / "ring").exists()

    key = str(memoranda.folder / "keys" / "key")
    told = memoranda.text(*create, "--key-file", key, "--keyring", ring)
    assert "not in its backups" in " ".join(told.split())
    memoranda.refused(*create, "--key-file", key, "--keyring", ring, status=2)


def test_the_environment_may_not_name_a_key_or_an_anchor_beside_the_database(
    signing: Command,
) -> None:
    signing.setenv("MEMORANDA_ANCHOR_FILE", "anchor")
    signing.refused("list", status=4)
    signing.environment.delenv("MEMORANDA_ANCHOR_FILE")
    (signing.folder / "keys" / "key").rename(signing.folder / "data" / "key")
    signing.setenv("MEMORANDA_SIGNING_KEY_FILE", signing.folder / "data" / "key")
    signing.refused("list", status=2)


def test_a_private_key_is_never_printed(signing: Command) -> None:
    secret = (signing.folder / "keys" / "key").read_text().strip()

    for verb in (("show",), ("rotate",), ("retire",)):
        for result in (
            signing("keys", "signer", *verb),
            signing("keys", "signer", *verb, "--json"),
        ):
            assert secret not in result.output
            assert "PRIVATE" not in result.output


def test_files_that_are_not_named_are_asked_for(memoranda: Command) -> None:
    said = memoranda.refused("keys", "signer", "show", status=2)
    assert "MEMORANDA_KEYRING" in said


def test_without_cryptography_it_says_what_to_install(memoranda: Command) -> None:
    for name in [one for one in sys.modules if one.partition(".")[0] == "cryptography"]:
        memoranda.environment.delitem(sys.modules, name)
    memoranda.environment.setitem(sys.modules, "cryptography", None)

    create = ("keys", "signer", "create", "--name", "n", "--key-file", "../keys/key")
    said = memoranda.refused(*create, "--keyring", "../keys/ring", status=4)
    assert "pip install 'memoranda[sign]'" in said
