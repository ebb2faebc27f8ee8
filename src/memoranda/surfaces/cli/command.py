"""What all commands have in common, said once: `@command` makes one of a plain function.

The function takes a handle (``memory``) or a `Target` (``target``) and options as annotated
parameters, and returns a result. Around it there are: the common options, the handle, ids by their
prefix, values as Python has them, JSON or words, and the exit code. A parameter
``**options: Unpack[SomeOptions]`` stands for the members of that TypedDict; only those that were
given are handed over, as the verbs of the handle take them.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial, wraps
from typing import Annotated, Any, Final, Required, get_args, get_origin, get_type_hints

import typer
from typer.models import OptionInfo, ParameterInfo

from memoranda import models, types
from memoranda.surfaces.cli.groups import as_typer, metavar, opt
from memoranda.surfaces.cli.options import IdKind, Value, whole_id
from memoranda.surfaces.cli.present import (
    Output,
    exit_status,
    in_words,
    print_json,
    print_line,
    show,
)
from memoranda.surfaces.cli.target import CodeOptions, Target, app_of

PANEL: Final = "Common options"


def _common(help: str, *names: str, kind: Any = str | None, **more: Any) -> Any:  # noqa: A002
    return Annotated[kind, opt(help, *names, rich_help_panel=PANEL, **more)]


_JSON = _common("Print JSON.", "--json", kind=bool)
_COMMON: Final[Mapping[str, Any]] = {
    "database": _common(
        "Which database; else MEMORANDA_DATABASE_URL, then memoranda.db.",
        *("--database", "-d"),
        metavar="URL|FILE",
    ),
    "scope": _common(
        "Which scope; else MEMORANDA_SCOPE, then 'default'.", "--scope", "-s", metavar="NAME"
    ),
    "scopes": _common(
        "Only this scope; may be repeated. Else all.",
        *("--scope", "-s"),
        kind=list[str] | None,
        metavar="NAME",
    ),
    "actor": _common(
        "Who acts; else MEMORANDA_ACTOR, then human:uid-NUMBER.", "--actor", metavar="KIND:ID"
    ),
}
OF_A_SCOPE: Final = ("database", "scope", "actor")
OF_SCOPES: Final = ("database", "scopes", "actor")


def command(
    name: str | None = None,
    *,
    common: tuple[str, ...] = OF_A_SCOPE,
    create: bool = False,
    read_only: bool | Callable[[Mapping[str, Any]], bool] = False,
    runs: type[CodeOptions] | None = None,
    embeds: bool = False,
    done: str = "",
    nothing: str = "",
) -> Callable[[Callable[..., Any]], typer.Typer]:
    """Make a command of a function.

    Only with `create` a database may be made; with `read_only` nothing is changed. With
    `runs` it takes code of the user's own; with `embeds` it uses the embedder that the environment
    names. `done` is what its receipt says, and `nothing` what is said of an empty result.
    """

    def decorate(function: Callable[..., Any]) -> typer.Typer:
        parameters = _parameters(function, common, runs)
        takes = list(inspect.signature(function).parameters)

        @wraps(function)
        def run(**given: Any) -> None:
            as_json = given.pop("json")
            target = Target(**{text: given.pop(text) for text in common if text in given})
            own = None if runs is None else app_of(**_taken(given, runs))
            arguments = {
                name: parameters[name].read(value, f"--{name.replace('_', '-')}")
                for name, value in given.items()
                if not parameters[name].is_left_out(value)
            }
            if "json" in takes:
                arguments["json"] = as_json
            if takes[:1] == ["memory"]:
                result = target.run(
                    partial(_run, function, parameters, arguments),
                    create=create,
                    read_only=read_only(given) if callable(read_only) else read_only,
                    app=own,
                    embedder=(models.embedder_from_environment() if embeds else None) or "default",
                )
            else:
                result = function(*[target] * (takes[:1] == ["target"]), **arguments)
            if result is not None:  # else the command has printed all of it
                _present(result, as_json=as_json, done=done, nothing=nothing)

        run.__signature__ = _signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {name: parameter.annotation for name, parameter in parameters.items()}
        return as_typer(run, name or function.__name__.strip("_").replace("_", "-"))

    return decorate


async def _run(
    function: Callable[..., Any],
    parameters: Mapping[str, "_Parameter"],
    arguments: dict[str, Any],
    memory: Any,
) -> Any:
    """Call a command with a handle, with ids for their beginnings."""
    for name, value in arguments.items():
        if name in parameters and (kind := parameters[name].id_kind) is not None:
            arguments[name] = await whole_id(memory, value, kind)
    return await function(memory, **arguments)


def _present(result: Any, *, as_json: bool, done: str, nothing: str) -> None:
    words = partial(in_words, result)
    if not isinstance(result, Output):  # the presenters load the type of every result
        from memoranda.surfaces.cli import show_actions, show_audits, show_records  # noqa: F401, PLC0415

        several = result if isinstance(result, Sequence) else [result]
        written = [each for each in several if done and isinstance(each, types.Receipt)]
        words = partial(show_records.receipts, done, written) if written else words
    if as_json:
        print_json(result)
    elif nothing and not len(result):
        print_line(nothing)
    else:
        show(words())
    if status := exit_status(result):
        raise typer.Exit(status)


# ------------------------------------------------------------------------- signatures


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A parameter as the command line takes it, and as the function does."""

    annotation: Any
    default: Any
    value: Value | None
    id_kind: IdKind | None
    is_optional: bool
    """Whether the function does without it where it was not given."""

    def is_left_out(self, given: Any) -> bool:
        """Whether nothing was given."""
        return self.is_optional and (given is self.default or given == [])

    def read(self, given: Any, option: str) -> Any:
        """What was given, as the function takes it."""
        return given if self.value is None or given is None else self.value.read(given, option)


def _parameters(
    function: Callable[..., Any], common: tuple[str, ...], runs: type[CodeOptions] | None
) -> dict[str, _Parameter]:
    found: dict[str, _Parameter] = {}
    takes_place = False
    for number, parameter in enumerate(inspect.signature(function).parameters.values()):
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            found |= _members(get_args(parameter.annotation)[0])
        elif number == 0 and parameter.name in ("memory", "target"):
            takes_place = True
        elif parameter.name != "json":
            found[parameter.name] = _parameter(
                parameter.name, parameter.annotation, parameter.default
            )
    if runs is not None:
        found |= _members(runs)
    for name in common if takes_place else ():
        found[name] = _parameter(name, _COMMON[name], None)
    return {**found, "json": _parameter("json", _JSON, default=False)}


def _members(options: type[Any]) -> dict[str, _Parameter]:
    needed: frozenset[str] = options.__required_keys__
    return {
        name: _parameter(
            name, hint, inspect.Parameter.empty if name in needed else None, is_optional=True
        )
        for name, hint in get_type_hints(options, include_extras=True).items()
    }


def _parameter(
    name: str, annotation: Any, default: Any, *, is_optional: bool = False
) -> _Parameter:
    if get_origin(annotation) is Required:
        (annotation,) = get_args(annotation)
    kind, *extras = get_args(annotation)
    value = next((extra for extra in extras if isinstance(extra, Value)), None)
    id_kind = next((extra for extra in extras if isinstance(extra, IdKind)), None)
    info = copy(next(extra for extra in extras if isinstance(extra, ParameterInfo)))
    kind = kind if value is None else value.given_as
    if info.metavar is None:
        info.metavar = metavar(kind)
    if kind is bool and info.default is ...:
        info.param_decls = (f"--{name.replace('_', '-')}",)  # and no second one for its contrary
    if kind is bool and default is None:
        default = None if _has_both(info) else False
        kind = bool | None if _has_both(info) else bool
    return _Parameter(Annotated[kind, info], default, value, id_kind, is_optional)


def _has_both(info: ParameterInfo) -> bool:
    """Whether an option has a name for yes and one for no."""
    return isinstance(info, OptionInfo) and "/" in str(info.default)


def _signature(parameters: Mapping[str, _Parameter]) -> inspect.Signature:
    return inspect.Signature(
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=parameter.default,
                annotation=parameter.annotation,
            )
            for name, parameter in parameters.items()
        ]
    )


def _taken(given: dict[str, Any], options: type[Any]) -> dict[str, Any]:
    return {name: given.pop(name) for name in get_type_hints(options)}
