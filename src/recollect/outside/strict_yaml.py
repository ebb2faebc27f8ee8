"""YAML that means one thing: the safe loader of PyYAML, with what has two meanings refused."""

from collections.abc import Hashable
from typing import Any, Final

import yaml

_MERGE: Final = "tag:yaml.org,2002:merge"


class _StrictLoader(yaml.SafeLoader):
    """Refuses an alias, a merge, a key that is no text and a key that stands twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "an alias is not allowed", mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key, _ in node.value:
            name = None if key.tag == _MERGE else self.construct_object(key, deep=True)
            if not isinstance(name, str):
                raise _refused("a key must be a text", key)
            if name in seen:
                raise _refused(f"the key {name!r} stands twice in one object", key)
            seen.add(name)
        return super().construct_mapping(node, deep=deep)


def _refused(why: str, node: Any) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, why, node.start_mark)


def load(text: str) -> Any:
    """The one document of a text, or a ValueError that says where and why there is none."""
    try:
        return yaml.load(text, _StrictLoader)  # noqa: S506 - a safe loader, made stricter
    except yaml.YAMLError as refused:
        raise ValueError(str(refused)) from None
