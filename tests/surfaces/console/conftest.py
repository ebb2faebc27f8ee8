"""The console over the demo story, in this process and as a server of its own."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from memoranda.app.doorkeeper import Service
from memoranda.surfaces import sample
from memoranda.surfaces.console.routes import console_routes
from memoranda.surfaces.story import MANAGER
from tests.surfaces.http.serving import BASE, Served, process, served

FROM_HERE = {"origin": BASE}


@dataclass(frozen=True)
class Pages:
    """The console of a server in this process."""

    door: Served
    told: sample.Sample | None = None

    @property
    def service(self) -> Service:
        return self.door.service

    async def get(self, path: str, **options: Any) -> httpx2.Response:
        return await self.door.ask("GET", path, **options)

    async def shown(self, path: str, **options: Any) -> str:
        """The text of a page that is well."""
        answer = await self.get(path, **options)
        assert answer.status_code == 200, (path, answer.status_code, answer.text[:2000])
        return answer.text

    async def post(self, path: str, form: dict[str, str], **options: Any) -> httpx2.Response:
        given = {"headers": FROM_HERE, **options}
        return await self.door.ask("POST", path, data=form, **given)


def tell(url: str) -> sample.Sample:
    """Tell the story, whatever loop runs on this thread: the browser's driver has one."""
    with ThreadPoolExecutor(1) as other:
        return other.submit(asyncio.run, sample.tell(url)).result()


@pytest.fixture
async def pages(fresh_url: str) -> AsyncIterator[Pages]:
    """The console of an empty database."""
    options: dict[str, Any] = {"mounts": console_routes, "app_of": sample.app_of}
    async with served(fresh_url, scope=sample.SCOPE, **options) as door:
        yield Pages(door)


@pytest.fixture
async def full(fresh_url: str) -> AsyncIterator[Pages]:
    """The console of a database that was told the story."""
    told = await sample.tell(fresh_url)
    options: dict[str, Any] = {"mounts": console_routes, "app_of": sample.app_of}
    async with served(fresh_url, scope=sample.SCOPE, **options) as door:
        yield Pages(door, told)


@pytest.fixture(scope="session")
def told_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the story, and with the forged copy."""
    file = tmp_path_factory.mktemp("console") / "memoranda.db"
    tell(f"sqlite:///{file}")
    sample.forge(file)
    return file


@pytest.fixture(scope="session")
def address(told_file: Path) -> Iterator[str]:
    """A server of that file, as `memoranda start` runs it."""
    arguments = (
        "-s",
        sample.SCOPE,
        "--actor",
        MANAGER,
        "--app",
        "memoranda.surfaces.sample:app_of",
    )
    with process(f"sqlite:///{told_file}", *arguments, folder=told_file.parent) as (found, _):
        yield found
