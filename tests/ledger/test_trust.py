"""Trust: its order, what is inherited, who may raise it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import ApprovalRefused
from memoranda.ledger.lifecycle import TRUST, approve, archive, is_at_least, lowest, trust_of
from memoranda.ledger.object import Trust, version_of
from tests.ledger.objects import NONCE, NOW, OTHER_NONCE, a_fact

trusts = st.sampled_from(TRUST)


def test_trust_has_three_steps() -> None:
    assert TRUST == ("untrusted", "unreviewed", "approved")
    assert [is_at_least("unreviewed", wanted) for wanted in TRUST] == [True, True, False]


@given(st.lists(trusts, min_size=1))
def test_the_lowest_is_one_of_them_and_above_none(several: list[Trust]) -> None:
    found = lowest(several)

    assert found in several
    assert all(is_at_least(one, found) for one in several)


@given(trusts, trusts, trusts)
def test_the_lowest_does_not_depend_on_order_or_grouping(a: Trust, b: Trust, c: Trust) -> None:
    assert lowest([a, b]) == lowest([b, a])
    assert lowest([lowest([a, b]), c]) == lowest([a, lowest([b, c])])
    assert lowest([a, a]) == a


@pytest.mark.parametrize("stated", [None, "", "high", 1, ["approved"]])
def test_what_states_no_trust_is_not_trusted(stated: object) -> None:
    assert trust_of(stated) == "untrusted"
    assert lowest([]) == "untrusted"


def test_an_approval_is_a_new_version_by_somebody_else() -> None:
    change = approve(
        a_fact(),
        by="lee",
        contributors={"support", "kim"},
        at=NOW + 1,
        nonce=OTHER_NONCE,
        reason="read and checked",
    )

    document = change.object.thaw()
    assert (document["trust"], version_of(document)) == ("approved", 2)
    assert document["verdict_type"] == "Factual"
    assert change.event_type == "create"


@pytest.mark.parametrize("contributors", [{"kim"}, {"kim", "lee"}, set()])
def test_nobody_approves_what_they_contributed_to(contributors: set[str]) -> None:
    with pytest.raises(ApprovalRefused) as caught:
        approve(a_fact(), by="kim", contributors=contributors, at=NOW, nonce=NONCE, reason="x")

    assert caught.value.code == "record.approval_refused"


def test_an_approval_needs_a_reason_and_an_active_object() -> None:
    gone = archive(a_fact(), reason="x", cause="policy", at=NOW, nonce=NONCE).object

    with pytest.raises(ApprovalRefused):
        approve(a_fact(), by="kim", contributors={"a"}, at=NOW, nonce=NONCE, reason=" ")
    with pytest.raises(ApprovalRefused):
        approve(gone, by="kim", contributors={"a"}, at=NOW, nonce=NONCE, reason="x")
