"""Where a model is, and which environment variable holds its key."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit

from memoranda.kernel.errors import ModelFailed

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_KEY: Final = re.compile(r"[!-~]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address that was looked at; the key itself is never held here."""

    url: str
    key_variable: str | None
    is_loopback: bool
    _environment: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(
        cls,
        base_url: str,
        model: str,
        key_variable: str | None,
        environment: Mapping[str, str],
        below: str = "chat/completions",
    ) -> "Endpoint":
        """The endpoint below an address such as ``https://api.example.org/v1``.

        1. it is http or https, with a host, and without a user, a query or a fragment
        2. a key is named by its variable, and never sent unencrypted to another machine
        """
        # 1.
        try:
            parts = urlsplit(base_url)
            parts.port  # noqa: B018 - says whether it is one
        except ValueError:
            raise ModelFailed(model, "its address is not a URL") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ModelFailed(model, "its address does not begin with http:// or https://")
        if parts.username is not None or parts.query or parts.fragment:
            raise ModelFailed(model, "its address holds a user, a query or a fragment")
        # 2.
        if key_variable is not None and not _VARIABLE.fullmatch(key_variable):
            raise ModelFailed(model, "what is to name its key is no name of a variable")
        is_loopback = _is_loopback(parts)
        if key_variable is not None and parts.scheme == "http" and not is_loopback:
            raise ModelFailed(model, "its key would be sent unencrypted: use https://")
        path = f"{parts.path.rstrip('/')}/{below}"
        url = parts._replace(path=path).geturl()  # its scheme in lower case
        return cls(url, key_variable, is_loopback, environment)

    @property
    def is_encrypted(self) -> bool:
        """Whether what is sent can't be read on the way."""
        return self.url.startswith("https:")

    def key(self, model: str) -> str | None:
        """The key, as the environment has it now; None if the model needs none."""
        if self.key_variable is None:
            return None
        key = self._environment.get(self.key_variable, "").strip()
        if not key:
            raise ModelFailed(model, f"its key is not set: put it into {self.key_variable}")
        if not _KEY.fullmatch(key):
            raise ModelFailed(model, f"what is in {self.key_variable} can't be a key")
        return key


def _is_loopback(parts: SplitResult) -> bool:
    host = parts.hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
