"""How a demonstration is told: numbered sentences, and below each what came of it."""

from rich.console import Console
from rich.text import Text

from memoranda.surfaces.cli.present import item


class Story:
    """Tells a story on a console."""

    def __init__(self, out: Console) -> None:
        self.out = out
        self._number = 0

    def title(self, sentence: str) -> None:
        """What it is about."""
        self.out.print(Text(sentence, style="bold"))

    def say(self, sentence: str) -> None:
        """The next step of the story."""
        self._number += 1
        self.out.print()
        self.out.print(item(f"{self._number}. ", sentence, "bold"))

    def show(self, line: str) -> None:
        """What came of it."""
        self.out.print(item("   ", line))
