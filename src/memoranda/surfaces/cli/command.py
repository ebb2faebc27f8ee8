"""What all commands have in common, said once: `@command` makes one of a plain function.

The function takes a handle (``memory``) or a `Place` (``place``) and options as annotated
parameters, and returns a result. Around it there are: the common options, the handle, ids by their
prefix, values as Python has them, JSON or words, and the exit code. A parameter
``**options: Unpack[SomeOptions]`` stands for the members of that TypedDict; only those that were
given are handed over, as the verbs of the handle take them.
"""

import inspect
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, Final, Required, get_args, get_origin, get_type_hints

import typer
from typer.models import OptionInfo, ParameterInfo

from memoranda.outside.embedders import embedder_from_environment
from memoranda.surfaces.cli.code import CodeOptions, code
from memoranda.surfaces.cli.help import Plain, metavar, opt
from memoranda.surfaces.cli.ids import IdKind, whole_id
from memoranda.surfaces.cli.place import Place
from memoranda.surfaces.cli.present import print_json, print_line, show
from memoranda.surfaces.cli.shown import exit_status, in_words
from memoranda.surfaces.cli.values import Value

PANEL: Final = "Common options"

_JSON = Annotated[bool, opt("Print JSON.", "--json", rich_help_panel=PANEL)]
_COMMON: Final[Mapping[str, Any]] = {
    "database": Annotated[
        str | None,
        opt(
            "Which database; else MEMORANDA_DATABASE_URL, then memoranda.db.",
            "--database",
            "-d",
            metavar="URL|FILE",
            rich_help_panel=PANEL,
        ),
    ],
    "scope": Annotated[
        str | None,
        opt(
            "Which scope; else MEMORANDA_SCOPE, then 'default'.",
            "--scope",
            "-s",
            metavar="NAME",
            rich_help_panel=PANEL,
        ),
    ],
    "scopes": Annotated[
        list[str] | None,
        opt(
            "Only this scope; may be repeated. Else all.",
            "--scope",
            "-s",
            metavar="NAME",
            rich_help_panel=PANEL,
        ),
    ],
    "actor": Annotated[
        str | None,
        opt(
            "Who acts; else MEMORANDA_ACTOR, then human:uid-NUMBER.",
            "--actor",
            metavar="KIND:ID",
            rich_help_panel=PANEL,
        ),
    ],
}
OF_A_SCOPE: Final = ("database", "scope", "actor")
OF_SCOPES: Final = ("database", "scopes", "actor")


@dataclass(frozen=True, slots=True)
class Command:
    """A command that is not in a group yet."""

    name: str
    run: Callable[..., None]

    def add_to(self, group: typer.Typer, panel: str | None = None) -> None:
        """Put it into a group."""
        paragraphs = (inspect.getdoc(self.run) or "").split("\n\n")
        text = "\n\n".join(" ".join(one.split()) for one in paragraphs)
        group.command(self.name, cls=Plain, rich_help_panel=panel, help=text)(self.run)


def command(
    name: str | None = None,
    *,
    common: tuple[str, ...] = OF_A_SCOPE,
    makes: bool = False,
    reads: bool | Callable[[Mapping[str, Any]], bool] = False,
    runs: type[CodeOptions] | None = None,
    embeds: Callable[[Mapping[str, Any]], bool] = lambda _: False,
    done: str = "",
    nothing: str = "",
) -> Callable[[Callable[..., Any]], Command]:
    """Make a command of a function.

    Only one that `makes` something makes a database; one that only `reads` changes nothing. With
    `runs` it takes code of the user's own; where `embeds` says so it opens an embedder. `done` is
    what its receipt says, and `nothing` what is said of an empty result.
    """

    def decorate(function: Callable[..., Any]) -> Command:
        parameters = _parameters(function, common, runs)
        takes = list(inspect.signature(function).parameters)

        @wraps(function)
        def run(**given: Any) -> None:
            as_json = given.pop("json")
            place = Place(**{one: given.pop(one) for one in common if one in given})
            own = None if runs is None else code(**_taken(given, runs))
            arguments = {
                name: parameters[name].read(value, f"--{name.replace('_', '-')}")
                for name, value in given.items()
                if not parameters[name].is_left_out(value)
            }
            if "json" in takes:
                arguments["json"] = as_json
            if takes[:1] == ["memory"]:

                async def act(memory: Any) -> Any:
                    for one, value in arguments.items():
                        if one in parameters and (kind := parameters[one].id_kind) is not None:
                            arguments[one] = await whole_id(memory, value, kind)
                    return await function(memory, **arguments)

                result = place.run(
                    act,
                    makes=makes,
                    reads=reads(given) if callable(reads) else reads,
                    code=own,
                    embedder=embedder_from_environment() if embeds(given) else None,
                )
            else:
                result = function(*[place] * (takes[:1] == ["place"]), **arguments)
            _tell(result, as_json=as_json, done=done, nothing=nothing)

        run.__signature__ = _signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {name: one.annotation for name, one in parameters.items()}
        return Command(name or function.__name__.strip("_").replace("_", "-"), run)

    return decorate


def _tell(result: Any, *, as_json: bool, done: str, nothing: str) -> None:
    if result is None:  # it has told all of it
        return
    if as_json:
        print_json(result)
    elif nothing and not len(result):
        print_line(nothing)
    else:
        show(in_words(result, done))
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
    for number, one in enumerate(inspect.signature(function).parameters.values()):
        if one.kind is inspect.Parameter.VAR_KEYWORD:
            found |= _members(get_args(one.annotation)[0])
        elif number == 0 and one.name in ("memory", "place"):
            takes_place = True
        elif one.name != "json":
            found[one.name] = _parameter(one.name, one.annotation, one.default)
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
    value = next((one for one in extras if isinstance(one, Value)), None)
    id_kind = next((one for one in extras if isinstance(one, IdKind)), None)
    info = copy(next(one for one in extras if isinstance(one, ParameterInfo)))
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
                default=one.default,
                annotation=one.annotation,
            )
            for name, one in parameters.items()
        ]
    )


def _taken(given: dict[str, Any], options: type[Any]) -> dict[str, Any]:
    return {name: given.pop(name) for name in get_type_hints(options)}
