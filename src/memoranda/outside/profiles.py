"""Plans and profiles in files: YAML, read as strictly as JSON; or JSON, in a file ``.json``.

What could be read in two ways is refused: a key that stands twice, an alias (what it stands for is
elsewhere, and may be huge), a date or anything else that JSON has not, ``yes`` and ``010``
(`strict_yaml`), a second document.

A profile is a folder with ``modes.yaml``, and, where it has them, ``triggers.yaml`` and
``bundles.yaml``, or the same as JSON; its name is the name of the profile.
"""

from pathlib import Path
from typing import Final

from memoranda.kernel.errors import DependencyMissing, InvalidJson, InvalidPlan
from memoranda.kernel.json import JsonValue, check, parse
from memoranda.plans.policy import Profile

MAX_FILE: Final = 1_000_000
"""Bytes of a plan or of a part of a profile."""

PARTS: Final = ("modes", "triggers", "bundles")
"""The files of a profile, without their endings; the first one must be there."""

CHAT: Final = Path(__file__).parent / "shipped" / "chat"
"""The folder of the profile that memoranda brings along."""

_JSON: Final = ".json"
"""The ending of a file that is JSON: not all of that is YAML to PyYAML, such as a tab."""


def read_document(path: str | Path) -> JsonValue:
    """The document in a YAML or JSON file; InvalidPlan if it can't be read strictly."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE + 1)
        if len(raw) > MAX_FILE:
            raise InvalidPlan((f"{path.name}: it has more than {MAX_FILE:,} bytes",))
        if path.suffix.lower() == _JSON:
            return _parsed(raw, path.name)
        return parse_yaml(raw.decode(), path.name)
    except UnicodeDecodeError:
        raise InvalidPlan((f"{path.name}: it is not UTF-8",)) from None
    except OSError as refused:
        raise InvalidPlan((f"{path.name}: {refused.strerror or refused}",)) from None


def read_profile(folder: str | Path) -> Profile:
    """The profile in a folder; InvalidPlan with all that is wrong in it."""
    folder = Path(folder)
    document: dict[str, JsonValue] = {"id": folder.resolve().name}
    for part in PARTS:
        path = folder / f"{part}.yaml"
        as_json = path.with_suffix(_JSON)
        if as_json.exists():
            if path.exists():
                raise InvalidPlan((f"{path.name}: {as_json.name} is there too; keep one of them",))
            path = as_json
        if part == PARTS[0] or path.exists():
            document[part] = _part(read_document(path), part, path.name)
    return Profile.from_wire(document)


def chat_profile() -> Profile:
    """The profile that memoranda brings along: a chat that recalls, answers and learns.

    It needs no extra. Its plan says how much is recalled at most: five items and five records.
    """
    return read_profile(CHAT)


def parse_yaml(text: str, where: str = "$") -> JsonValue:
    """The JSON value of a YAML text; DependencyMissing without the extra ``plans``."""
    try:
        from memoranda.outside.strict_yaml import load  # noqa: PLC0415 - it needs an extra
    except ImportError as missing:
        raise DependencyMissing("PyYAML", "plans") from missing
    try:
        value = load(text)
    except (ValueError, RecursionError) as refused:  # say an integer of 5,000 digits
        raise InvalidPlan((f"{where}: {' '.join(str(refused).split())}",)) from None
    try:
        check(value)
    except InvalidJson as refused:
        raise InvalidPlan((f"{where}: {refused.why}, at {refused.where}",)) from None
    return value


def _parsed(raw: bytes, where: str) -> JsonValue:
    try:
        return parse(raw)
    except InvalidJson as refused:
        raise InvalidPlan((f"{where}: {refused.why}, at {refused.where}",)) from None


def _part(document: JsonValue, part: str, where: str) -> JsonValue:
    if not isinstance(document, dict) or set(document) != {"version", part}:
        raise InvalidPlan((f"{where}: it must have version and {part}, and nothing else",))
    if document["version"] != "1":
        raise InvalidPlan((f"{where}: its version is not '1'",))
    return document[part]
