"""How much of what was found fits into a budget of tokens, as `text.estimate` estimates them."""

from collections.abc import Iterable

from memoranda.kernel.errors import InvalidFilter
from memoranda.text.estimate import Count, estimate

__all__ = ["Count", "estimate", "fits"]


def fits(texts: Iterable[str], budget: int, count: Count = estimate) -> int:
    """How many of the first texts take no more than a budget together.

    It ends at the first that does not fit, even if a shorter one follows: what is better ranked is
    never left out for what is worse. A larger budget never fits fewer. Nothing beyond is counted.
    """
    if type(budget) is not int or budget < 0:
        raise InvalidFilter("$.tokenBudget", "a budget is a whole number of tokens, from 0")
    fitting, left = 0, budget
    for text in texts:
        tokens = count(text)
        if type(tokens) is not int or tokens < 0:
            raise InvalidFilter("$.tokenBudget", f"a text can't take {tokens!r} tokens")
        left -= tokens
        if left < 0:
            break
        fitting += 1
    return fitting
