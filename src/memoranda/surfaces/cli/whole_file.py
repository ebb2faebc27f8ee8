"""A file that is written whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from memoranda.outside.files import sync_folder
from memoranda.surfaces.cli.errors import wrong_use


@contextmanager
def whole_file(path: Path, *, replace: bool) -> Iterator[BinaryIO]:
    """A file to be written; it has its name when all of it is on the disk, and never before.

    Only its owner can read it: whatever is exported is somebody's memory.
    """
    target = path.resolve()  # where a link leads, so that the link stays
    if target.exists() and not target.is_file():
        raise wrong_use(f"{path} is not a plain file.")
    if target.exists() and not replace:
        raise wrong_use(f"{path} is already there. Name another, or add --replace.")
    if not target.parent.is_dir():
        raise wrong_use(f"There is no folder {path.parent}.")
    descriptor, name = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.name}.", suffix=".part"
    )
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if replace:
            part.replace(target)
        else:
            os.link(part, target)  # fails if another was faster
    except FileExistsError:
        raise wrong_use(f"{path} is already there. Name another, or add --replace.") from None
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
    sync_folder(target.parent)
