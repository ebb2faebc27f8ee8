"""docs/http.md, made of the table of operations: `python -m tests.project.docs.operations`."""

from pathlib import Path

from memoranda.app.service.operations import NOT_OFFERED, OPERATIONS
from memoranda.surfaces.errors import STATUSES
from memoranda.surfaces.http.routes import PREFIX
from memoranda.surfaces.mcp.tools import TOOLS
from tests.project.docs.names import without_rules

PAGE = Path(__file__).parents[3] / "docs" / "http.md"


def rendered() -> str:
    """The page as it should be."""
    tools = {used.name: f"`{tool.name}`" for tool in TOOLS.values() for used in tool.operations}
    rows = [
        f"| `{operation.method} {PREFIX}{operation.path}` | `{name}` | {operation.right} | "
        f"{tools.get(name, '')} | "
        f"{operation.effect}{', repeatable' if operation.is_idempotent else ''} | "
        f"{without_rules(operation.summary).replace('|', ',')} |"
        for name, operation in OPERATIONS.items()
    ]
    statuses = [
        f"| {status} | {', '.join(f'`{kind.__name__}`' for kind in kinds)} |"
        for status in sorted(set(STATUSES.values()))
        for kinds in [[kind for kind, found in STATUSES.items() if found == status]]
    ]
    left_out = [f"- `{name}`: {why}." for name, why in NOT_OFFERED.items()]
    return "\n".join(
        [
            "# Every operation, through every door",
            "",
            "The table is made from the code by `make names`. How a server is run, and who may ask",
            "it, is in [server.md](server.md); the same for programs is at `/openapi.json`.",
            "",
            "It is the matrix of operation, right and door, too: over HTTP, and so through the",
            "client and the command line with a URL, every operation is offered; as an MCP tool",
            "those that have one. At each door the same row says which right it needs, and tests",
            "call it there with every key that must be refused.",
            "",
            "| route | operation | right | MCP tool | effect | what it does |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
            "## Not over a door",
            "",
            *left_out,
            "",
            "## Problems",
            "",
            "A refusal is `application/problem+json` (RFC 9457): `type`, `title`, `status`,",
            "`detail`, the stable `code` of the error, and in `members` what it says by name. Its",
            "status is that of the nearest class here, up the tree of `memoranda.errors`.",
            "",
            "| status | errors |",
            "|---|---|",
            *statuses,
            "",
        ]
    )


if __name__ == "__main__":
    PAGE.write_text(rendered())
