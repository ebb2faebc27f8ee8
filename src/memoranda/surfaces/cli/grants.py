"""``memoranda grants``: the rights of a PostgreSQL role, as SQL."""

from typing import Annotated

from memoranda.app.surfaces import grants as granted
from memoranda.surfaces.cli.command import command
from memoranda.surfaces.cli.groups import arg, opt
from memoranda.surfaces.cli.present import Output, print_line


@command()
def grants(
    role: Annotated[str, arg("ROLE", "A role of PostgreSQL that is there already.")],
    json: bool,
    reader: Annotated[bool, opt("It may only read, as an auditor.")] = False,
) -> Output | None:
    """Print the SQL that lets a PostgreSQL role in, for its owner to run.

    Run it again after each upgrade. Such as: memoranda grants app | psql -d notes -U owner
    """
    sql = granted(role, reads_only=reader)
    if json:
        return Output({"role": role, "sql": sql}, sql)
    print_line(sql.rstrip())
    return None
