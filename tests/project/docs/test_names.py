"""What is public: modules of nothing but imports, listed whole, and used alone by the documents."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import memoranda.errors
import memoranda.kernel.errors
from tests.project.docs import names
from tests.project.docs.test_snippets import DOCUMENTS, ROOT, SNIPPET

FACES = [f"memoranda.{name}" for name in ("errors", "formats", "models", "policies", "selectors",
                                          "types", "plans")]  # fmt: skip
PRIVATE = re.compile(
    r"\bmemoranda\.(kernel|identity|text|records|ledger|worlds|recall|journeys|stores|outside|app"
    r"|surfaces|plans\.[a-z])"
)


def imported(code: str) -> Iterator[str]:
    """The modules of ours that code imports, or reaches into."""
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom(str(module)):
                yield module
            case ast.Attribute():
                yield ast.unparse(node)


def sources() -> list[object]:
    snippets = [
        pytest.param(found["code"], id=f"{document.relative_to(ROOT)}-{number}")
        for document in DOCUMENTS
        for number, found in enumerate(SNIPPET.finditer(document.read_text()), 1)
    ]
    examples = sorted((ROOT / "examples").rglob("*.py"))
    return [*snippets, *(pytest.param(one.read_text(), id=one.name) for one in examples)]


@pytest.mark.parametrize("code", sources())
def test_snippets_and_examples_import_public_modules_alone(code: str) -> None:
    assert [one for one in imported(code) if PRIVATE.match(one)] == []


@pytest.mark.parametrize(
    "code",
    [
        "from memoranda.kernel.errors import RecordNotFound",
        "import memoranda.stores.sqlite",
        "from memoranda.plans.steps import x",
        "import memoranda\nmemoranda.recall.policies",
    ],
)
def test_a_private_import_is_noticed(code: str) -> None:
    assert any(PRIVATE.match(one) for one in imported(code))


@pytest.mark.parametrize("name", FACES)
def test_a_public_module_has_imports_and_names_and_nothing_else(name: str) -> None:
    module = importlib.import_module(name)
    doc, *body = ast.parse(inspect.getsource(module)).body
    kinds = (ast.ImportFrom, ast.If, ast.Assign)
    imports = [
        one
        for node in body
        for one in (node.body if isinstance(node, ast.If) else [node])
        if isinstance(one, ast.ImportFrom) and one.module not in {"typing", "memoranda.kernel.lazy"}
    ]

    assert isinstance(doc, ast.Expr)
    assert all(isinstance(one, kinds) for one in body)
    taken = [alias.asname or alias.name for one in imports for alias in one.names]
    assert sorted(taken) == sorted(module.__all__)


@pytest.mark.parametrize("name", names.MODULES)
def test_a_public_module_has_and_lists_the_names_that_it_promises(name: str) -> None:
    module = importlib.import_module(name)

    assert set(getattr(module, "__all__", ())) <= set(dir(module))
    with pytest.raises(AttributeError):
        module.no_such_name  # noqa: B018 - it is the asking that is tested


@pytest.mark.parametrize("name", names.MODULES)
def test_every_public_name_says_what_it_is(name: str) -> None:
    rows = names.public(importlib.import_module(name))

    assert [one.name for one in rows if not one.what] == []
    assert all(len(one.what) <= 400 for one in rows)


def test_the_table_of_names_is_current() -> None:
    assert names.PAGE.read_text() == names.page(), "write it anew: make names"


def test_every_error_is_public() -> None:
    kernel = memoranda.kernel.errors
    errors = [
        name
        for name, one in vars(kernel).items()
        if inspect.isclass(one) and issubclass(one, kernel.MemorandaError)
    ]

    assert sorted(errors) == sorted(memoranda.errors.__all__)


def test_every_module_beside_the_public_ones_is_known_to_be_private() -> None:
    folder = Path(memoranda.__file__).parent
    rooms = set(re.findall(r"[a-z]+", PRIVATE.pattern.partition("(")[2].partition("plans")[0]))
    shown = {name.rpartition(".")[2] for name in names.MODULES}

    found = {one.stem for one in folder.iterdir() if one.name[0] not in "_." and one.stem != "py"}
    assert found - rooms - shown == set()
