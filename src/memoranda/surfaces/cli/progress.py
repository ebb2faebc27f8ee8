"""Progress bars: on standard error, and only for somebody who watches."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from memoranda.surfaces.cli.present import plain


@contextmanager
def bars() -> Iterator[Callable[[str], Callable[[str, int, int], None]]]:
    """Bars, one for each walk over a scope; they are gone when the next scope has its turn."""
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:

        def of(scope: str) -> Callable[[str, int, int], None]:
            tasks: dict[str, TaskID] = {}
            for before in progress.tasks:  # a database may have more scopes than a screen lines
                progress.update(before.id, visible=False)

            def tell(what: str, done: int, total: int) -> None:
                if what not in tasks:
                    name = plain(scope) or "directory"
                    tasks[what] = progress.add_task(f"{name}: {what}", total=total)
                progress.update(tasks[what], completed=done, total=max(done, total))

            return tell

        yield of
