"""YAML that means one thing: the safe loader of PyYAML, with what has two meanings refused.

PyYAML reads YAML 1.1, where ``yes`` is true, ``010`` is 8, ``12:30`` is 750 and ``1e5`` is a text;
to a reader of YAML 1.2 they are others, and to people too. So a number, true, false and null are
written as JSON writes them, and whatever JSON has not is refused.
"""

import re
from collections.abc import Hashable, Mapping
from typing import Any, Final

import yaml

_TAG: Final = "tag:yaml.org,2002:"
_INTEGER: Final = r"-?(?:0|[1-9][0-9]*)"
_NUMBER: Final = re.compile(_INTEGER + r"(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", re.ASCII)
_WRITTEN: Final[Mapping[str, re.Pattern[str]]] = {
    _TAG + "int": re.compile(_INTEGER, re.ASCII),
    _TAG + "float": _NUMBER,
    _TAG + "bool": re.compile("true|false"),
    _TAG + "null": re.compile("null|~|"),
}
"""How each kind of scalar is written."""


class _StrictLoader(yaml.SafeLoader):
    """Refuses an alias, a merge, what JSON has not, a key that is no text or stands twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "an alias is not allowed", mark)
        node = super().compose_node(parent, index)
        if not _means_one_thing(node):
            raise _refused("it is not written as JSON would: put a text into quotes", node)
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key, _ in node.value:
            name = self.construct_object(key, deep=True)
            if not isinstance(name, str):
                raise _refused("a key must be a text", key)
            if name in seen:
                raise _refused(f"the key {name!r} stands twice in one object", key)
            seen.add(name)
        return super().construct_mapping(node, deep=deep)


def _means_one_thing(node: Any) -> bool:
    """Whether it is a list, an object, a text, or another scalar that is written as JSON would."""
    match node:
        case yaml.MappingNode():
            return bool(node.tag == _TAG + "map")
        case yaml.SequenceNode():
            return bool(node.tag == _TAG + "seq")
    if node.tag == _TAG + "str":  # a text without quotes must not look like a number
        return node.style is not None or _NUMBER.fullmatch(node.value) is None
    written = _WRITTEN.get(node.tag)
    return written is not None and written.fullmatch(node.value) is not None


def _refused(why: str, node: Any) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, why, node.start_mark)


def load(text: str) -> Any:
    """The document of a text; a ValueError says where and why it can't be read."""
    try:
        return yaml.load(text, _StrictLoader)  # noqa: S506 - a safe loader, made stricter
    except yaml.YAMLError as refused:
        raise ValueError(str(refused)) from None
