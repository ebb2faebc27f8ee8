"""The page of operations is the table's."""

import re

from memoranda.app.service.operations import OPERATIONS
from memoranda.kernel.access import RIGHTS
from tests.project.docs.operations import PAGE, rendered

SERVER = PAGE.with_name("server.md")


def test_the_page_of_operations_is_current() -> None:
    assert PAGE.read_text() == rendered(), "run: make names"


def test_every_right_is_explained() -> None:
    said = SERVER.read_text()

    for right in RIGHTS:
        assert re.search(rf"\| `{right}` \|", said), right
    assert len(OPERATIONS) > 60
