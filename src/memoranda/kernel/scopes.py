"""A scope is the tenant, agent or project that a handle is opened for.

It is bound once, when the handle is opened, and is never an argument that a model could fill in.
"""

from memoranda.kernel.errors import InvalidScope

MAX_LENGTH = 128


def check_scope(scope: object) -> str:
    """The scope itself, if it is a short printable string; InvalidScope otherwise."""
    if not isinstance(scope, str):
        raise InvalidScope(scope, "it is not a string")
    if not scope:
        raise InvalidScope(scope, "it is empty")
    if len(scope) > MAX_LENGTH:
        raise InvalidScope(scope[:32] + "…", f"it has {len(scope)} characters")
    if not scope.isprintable():
        raise InvalidScope(scope, "it holds a character that can't be printed")
    if scope != scope.strip():
        raise InvalidScope(scope, "it begins or ends with a space")
    return scope
