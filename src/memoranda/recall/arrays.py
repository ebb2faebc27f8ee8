"""numpy, loaded with the first array: whoever never searches does not wait for it."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    NDArray = list  # it stands in annotations alone

    class _Numpy:
        def __getattr__(self, name: str) -> object:
            found = getattr(import_module("numpy"), name)
            setattr(self, name, found)
            return found

    np = _Numpy()

__all__ = ["NDArray", "np"]
