"""How long a test waits for what must come, before it says that it hangs."""

from typing import Final

PATIENCE: Final = 200.0
"""Seconds. No result depends on them but that of a test which would never end: they are many
times what a busy machine takes, and fewer than pytest's own limit, which ends the whole run."""
