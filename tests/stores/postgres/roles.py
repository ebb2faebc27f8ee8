"""The roles of docs/postgres.md, made from its own text."""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from memoranda.stores.postgres.database import PostgresDatabase
from tests.stores.postgres.server import PostgresServer

DOCS = Path(__file__).parents[3] / "docs" / "postgres.md"


def block(name: str, language: str = "sql") -> str:
    """The block of the page that opens with this line."""
    found = re.findall(rf"^```{language}\n(.*?)^```", DOCS.read_text(), re.MULTILINE | re.DOTALL)
    (text,) = [text for text in found if text.startswith(name)]
    return str(text)


@dataclass(frozen=True)
class Roles:
    """One database, by three URLs."""

    superuser: str
    owner: str
    app: str

    def named(self, text: str) -> str:
        """A text of the page with the names of these roles: roles belong to a whole server."""
        names = {"memoranda_owner": self.owner, "memoranda_app": self.app}
        return re.sub("|".join(names), lambda found: urlsplit(names[found[0]]).username or "", text)

    def as_owner(self, statements: str) -> None:
        """Run statements as the owner."""
        run(self.owner, self.named(statements))


def run(url: str, statements: str) -> None:
    """Run statements in one transaction."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statements.encode())


async def make_roles(server: PostgresServer, url: str, *, migrated: bool = True) -> Roles:
    """Follow the page: roles and schema, one opening as the owner, grants."""
    roles = Roles(url, server.create_app_role(url), server.create_app_role(url))
    # The server made the roles, with passwords: what is left of the block is the schema.
    schema = [line for line in block("-- roles").splitlines() if "CREATE ROLE" not in line]
    run(url, roles.named("\n".join(schema)))
    if migrated:
        await (await PostgresDatabase.open(roles.owner, 0, create=True)).close()
        roles.as_owner(block("-- grants"))
    return roles
