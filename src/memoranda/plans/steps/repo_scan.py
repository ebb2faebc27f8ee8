"""RepoScan: which version of a folder's files this turn is about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Protocol

from pydantic import Field

from memoranda.kernel.errors import CycleFailed
from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import STORABLE, WireModel
from memoranda.plans.step import Fails, Limit

NAME: Final = "RepoScan"


@dataclass(frozen=True, slots=True)
class Scan:
    """A version of a folder: the same files have the same id, whenever and wherever they are."""

    version_id: str
    file_count: int


class Scanner(Protocol):
    """Reads a folder; OSError if any of it can't be read, for half a scan is no version."""

    async def scan(self, path: str) -> Scan:
        """The version of the files below a path."""
        ...


class RepoScanPayload(WireModel):
    """Which folder."""

    path: Annotated[str, Field(min_length=1, max_length=4096), STORABLE]


class RepoScanOutput(WireModel):
    """Its version."""

    version_id: str
    file_count: int


class RepoScan:
    """Scans a folder whole, or fails the cycle."""

    name: Final = NAME
    stage: Final = "RepoScan"
    payload: Final = RepoScanPayload
    takes: Final[Mapping[str, Sequence[str]]] = {}
    gives: Final = ("versionId", "fileCount")
    fails: Final[Fails] = "cycle"
    limit: Final[Limit] = "ioMs"

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner

    async def run(
        self, payload: RepoScanPayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        """The version of the folder that the plan names."""
        del inputs
        try:
            scan = await self._scanner.scan(payload.path)
        except OSError as failed:
            why = f"{failed.filename or payload.path}: {failed.strerror or failed}"
            raise CycleFailed(NAME, f"the folder can't be scanned: {why}") from failed
        return RepoScanOutput(version_id=scan.version_id, file_count=scan.file_count).model_dump()
