"""Shops to act on from the command line: that of the example, and others written by a test."""

from pathlib import Path
from typing import Any

from memoranda.kernel.json import parse
from tests.surfaces.cli.command import Command

SHOP = ("--domain", "examples.refunds.shop:shop")
DECIDED = ("--authority", "examples.refunds.shop:authority")
KNOWN = ("--provider", "examples.refunds.shop:Preferences")
LEE = ("--actor", "human:lee")
SMALL = '{"ticket": "t1", "customer": "ann", "amount": 20}'
LARGE = '{"ticket": "t2", "customer": "kim", "amount": 250}'

CHANGED = """
from memoranda.worlds.action import Merge
from memoranda.worlds.domain import Domain
from examples.refunds.shop import Books, Refund

shop = Domain("shop", "1", state=Books)

@shop.action(input=Refund)
async def refund(ctx):
    asked = ctx.input
    how = "voucher" if ctx.memory else "card"
    paid = {"customer": asked.customer, "amount": asked.amount, "how": how}
    receipt = await ctx.effect("pay", print, **paid)
    print("this is for standard error")
    return Merge("paid", {asked.ticket: {**paid, "receipt": receipt.upper()}})
"""


def acted(memoranda: Command, given: str, *more: str, status: int = 0) -> Any:
    """Run a refund; what the bank says goes to standard error."""
    result = memoranda("act", "refund", "--input", given, *SHOP, *DECIDED, *KNOWN, *more, "--json")
    assert result.exit_code == status, result.output
    return parse(result.stdout)


def wrote(memoranda: Command, name: str, text: str) -> Path:
    """A module in the folder where the command is started."""
    file = memoranda.folder / "data" / f"{name}.py"
    file.write_text(text)
    return file
