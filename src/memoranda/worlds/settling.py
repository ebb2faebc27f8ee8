"""What of a policy is still open once a proposal was judged: all that is written down with it.

A verdict by rules, or by a function of the user's own, is made once, when the proposal is made.
What is left is whoever has to answer: plain data, which anybody can judge by later.
"""

from collections.abc import Sequence

from memoranda.worlds.authority import Asked, AuthorityPolicy, Pending
from memoranda.worlds.combining import AllOf, AnyOf, ForActor, SeparateApprover
from memoranda.worlds.policies import PolicyRules


def still_open(policy: AuthorityPolicy, asked: Asked) -> AuthorityPolicy:
    """The part of a policy that has to be satisfied yet; the policy must have judged Pending.

    Once a policy has decided, more votes change nothing: of several, the ones that have decided
    are left out, and what they said is kept by what is left.
    """
    match policy:
        case PolicyRules(escalate_to=behind) if behind is not None:
            return still_open(behind, asked)
        case ForActor():
            return still_open(policy.policy_for(asked), asked)
        case SeparateApprover(policy=inner):
            return SeparateApprover(still_open(inner, asked))
        case AllOf(policies=policies, authority_id=name):
            return AllOf(_waiting(policies, asked), name)
        case AnyOf(policies=policies, authority_id=name):
            return AnyOf(_waiting(policies, asked), name)
    return policy


def _waiting(policies: Sequence[AuthorityPolicy], asked: Asked) -> list[AuthorityPolicy]:
    return [still_open(one, asked) for one in policies if isinstance(one.judge(asked), Pending)]
