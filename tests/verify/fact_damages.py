"""What can be done to a journal of facts, and what both verifiers must find first.

Each takes the sample of facts.py and gives a journal; `rewritten` means that every hash was made
anew, so that only what the bodies themselves say can tell.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.verify.damages import Damage, Finding
from tests.verify.facts import (
    BEGUN,
    BRANCH,
    DECISION,
    ERASED,
    ERASURE,
    FAILED,
    FAILING,
    FINISHED,
    FIRST,
    FORK,
    NEXT,
    PROPOSAL,
    SEALED,
    WORLD,
    facts_sample,
    hex_of,
    snapshot,
)
from tests.verify.journals import Journal

FACT_DAMAGES: list[Damage] = []
Change = Callable[[dict[str, Any]], Any]


def keep(name: str, make: Callable[[], Journal], *findings: Finding) -> None:
    FACT_DAMAGES.append(Damage(name, lambda: make().export(), list(findings)))


def rewritten(name: str, at: int, change: Change, *findings: Finding) -> None:
    """One body changed, all hashes made anew."""
    keep(name, lambda: facts_sample().with_body(at, lambda body: _done(change, body)), *findings)


def _done(change: Change, body: dict[str, Any]) -> None:
    change(body)


def edited(name: str, at: int, old: str, new: str) -> None:
    """One body changed, and nothing made anew: found by its digest."""

    def make() -> Journal:
        journal = facts_sample()
        body = str(journal.kept[at].body)
        assert old in body
        journal.kept[at] = replace(journal.kept[at], body=body.replace(old, new, 1))
        return journal

    keep(name, make, ("body", at))


def gone(name: str, *seqs: int) -> None:
    """Bodies taken away, and no erasure says so."""

    def make() -> Journal:
        journal = facts_sample()
        journal.erase(*seqs)
        return journal

    keep(name, make, ("body", seqs[0]))


def says(**members: Any) -> Change:
    return lambda body: body.update(members)


def lacks(name: str) -> Change:
    return lambda body: body.pop(name)


def keeps(**members: Any) -> Change:
    return lambda body: body["snapshot"].update(members)


# --------------------------------------------------------------------------------- bodies

edited("a_proposal_edited", PROPOSAL, '"p1"', '"p9"')
edited("a_decision_edited", DECISION, '"p1"', '"p9"')
edited("a_beginning_edited", BEGUN, "false", "true")
edited("an_effect_edited", FINISHED, "2.5", "3.5")
edited("a_snapshot_edited", SEALED, '["set",["data","count"],1]', '["set",["data","count"],2]')
edited("a_branch_pointed_elsewhere", FORK, '"head":"', '"head":"0')
edited("an_erasure_edited", ERASURE, "asked for", "not asked")
gone("a_proposal_gone", PROPOSAL)
gone("a_decision_gone", DECISION)
gone("an_effect_gone", FINISHED)
gone("the_end_of_an_execution_gone", FAILING)
gone("an_erasure_gone", ERASURE)


def _restored() -> Journal:
    """A body that was erased comes back from a backup, and fits its digest."""
    journal = facts_sample()
    journal.kept[ERASED[1]] = facts_sample(erased=False).kept[ERASED[1]]
    return journal


keep("an_erased_fact_comes_back", _restored, ("object", ERASURE))

# ----------------------------------------------------------------------------------- form

FORMS: dict[str, tuple[int, Change]] = {
    "a_type_of_another_kind": (DECISION, says(type="Proposal")),
    "a_type_of_no_kind": (PROPOSAL, says(type="Suggestion")),
    "a_decision_that_says_it_is_an_erasure": (DECISION, says(type="Erasure")),
    "marks_that_are_no_array": (PROPOSAL, says(marks="proposal/p1")),
    "a_mark_that_is_no_text": (PROPOSAL, says(marks=["proposal/p1", 1])),
    "an_empty_mark": (PROPOSAL, says(marks=[""])),
    "a_mark_twice": (PROPOSAL, says(marks=["a", "a"])),
    "marks_that_are_null": (PROPOSAL, says(marks=None)),
    "inputs_that_are_no_names": (BEGUN, says(inputs=[None])),
    "an_input_twice": (BEGUN, says(inputs=["a", "a"])),
    "inputs_without_an_output": (BEGUN, lacks("output")),
    "an_output_without_inputs": (BEGUN, lacks("inputs")),
    "an_empty_output": (BEGUN, says(output="")),
    "an_unmark_of_an_entry_after_it": (DECISION, says(unmarks=[["open/p1", DECISION]])),
    "an_unmark_of_no_entry": (DECISION, says(unmarks=[["open/p1", -1]])),
    "an_unmark_the_other_way_round": (DECISION, says(unmarks=[[PROPOSAL, "open/p1"]])),
    "an_unmark_twice": (DECISION, says(unmarks=[["open/p1", 2], ["open/p1", 2]])),
    "an_unmark_of_three": (DECISION, says(unmarks=[["open/p1", 2, 2]])),
    "unmarks_that_are_an_object": (DECISION, says(unmarks={})),
    "an_erasure_without_a_reason": (ERASURE, lacks("reason")),
    "an_erasure_with_a_blank_reason": (ERASURE, says(reason=" \u3000")),
    "an_erasure_whose_reason_is_a_number": (ERASURE, says(reason=5)),
    "an_erasure_without_a_cause": (ERASURE, lacks("cause")),
    "an_erasure_of_nothing": (ERASURE, says(erased=[])),
    "an_erasure_that_does_not_say_of_what": (ERASURE, lacks("erased")),
    "an_erasure_of_an_entry_after_it": (ERASURE, says(erased=[[17, "0" * 64]])),
    "an_erasure_of_an_entry_that_is_there": (ERASURE, says(erased=[[FORK, "0" * 64]])),
    "an_erasure_with_another_digest": (
        ERASURE,
        lambda body: body["erased"].__setitem__(0, [ERASED[0], "0" * 64]),
    ),
    "an_erasure_of_an_entry_twice": (
        ERASURE,
        lambda body: body["erased"].append(body["erased"][0]),
    ),
    "an_erasure_that_names_an_object": (
        ERASURE,
        lambda body: body["erased"].append([15, "0" * 64]),
    ),
}
for _name, (_at, _change) in FORMS.items():
    rewritten(_name, _at, _change, ("object", _at))

rewritten(
    "an_erasure_that_leaves_one_out",
    ERASURE,
    lambda body: body["erased"].pop(),
    ("body", ERASED[2]),
)

# --------------------------------------------------------------------------------- worlds


def _whole(value: Any) -> Change:
    return lambda body: body.update(snapshot={"sha256": hex_of(value), "full": value})


def _changed(changes: Any) -> Change:
    """Other changes, with a digest that can't be right."""
    return keeps(changes=changes, sha256="0" * 64)


def _reports(**members: Any) -> Change:
    return _whole(snapshot(FIRST, 1, {**FAILED, **members}))


def _deep() -> Any:
    value: Any = 1
    for _ in range(63):
        value = [value]
    return value


WORLDS: dict[str, tuple[int, Change]] = {
    "a_world_of_another_id": (WORLD, lambda body: body["world"].update(worldId="0" * 64)),
    "a_world_of_another_schema": (WORLD, lambda body: body["world"].update(schemaHash="0" * 64)),
    "a_world_without_a_hash": (WORLD, lambda body: body["world"].pop("snapshotHash")),
    "a_world_that_is_none": (WORLD, says(world=[])),
    "a_snapshot_of_another_digest": (SEALED, keeps(sha256="0" * 64)),
    "a_snapshot_without_a_digest": (SEALED, lambda body: body["snapshot"].pop("sha256")),
    "a_snapshot_that_is_none": (SEALED, says(snapshot=None)),
    "no_snapshot": (SEALED, lacks("snapshot")),
    "a_snapshot_kept_in_both_ways": (SEALED, keeps(full={})),
    "a_snapshot_of_another_state": (SEALED, _whole(snapshot({"count": 9}, 1))),
    "a_snapshot_of_another_schema": (SEALED, says(schemaHash="0" * 64)),
    "a_schema_that_is_no_text": (SEALED, says(schemaHash=5)),
    "an_execution_that_reached_another_world": (FAILING, says(world="0" * 64)),
    "a_branch_of_another_world": (FORK, says(head="0" * 64)),
    "a_branch_of_no_world": (BRANCH, lacks("head")),
    "a_snapshot_that_rests_on_nothing": (NEXT, keeps(on=[])),
    "a_snapshot_that_rests_on_itself": (NEXT, keeps(on=[0, NEXT])),
    "a_snapshot_that_rests_on_a_later_one": (NEXT, keeps(on=[0, FAILING])),
    "a_snapshot_that_rests_in_no_order": (NEXT, keeps(on=[7, 0])),
    "a_snapshot_that_rests_on_one_twice": (NEXT, keeps(on=[0, 7, 7])),
    "a_snapshot_that_rests_on_texts": (NEXT, keeps(on=["0", "7"])),
    "a_snapshot_that_rests_on_truth": (NEXT, keeps(on=[False, 7])),
    "a_snapshot_that_rests_on_a_proposal": (NEXT, keeps(on=[0, PROPOSAL])),
    "a_snapshot_that_rests_on_changes_alone": (NEXT, keeps(on=[SEALED])),
    "a_snapshot_that_leaves_one_out": (NEXT, keeps(on=[0])),
    "changes_that_are_no_array": (NEXT, keeps(changes={})),
    "a_change_that_is_no_array": (NEXT, _changed(["unset"])),
    "a_change_of_no_verb": (NEXT, _changed([["put", ["data"], 1]])),
    "a_change_without_a_value": (NEXT, _changed([["set", ["data"]]])),
    "a_change_with_too_much": (NEXT, _changed([["unset", ["data"], 1]])),
    "a_path_that_is_a_text": (NEXT, _changed([["set", "data", 1]])),
    "a_path_with_a_negative_index": (NEXT, _changed([["set", ["data", "notes", -1], 1]])),
    "a_path_with_true": (NEXT, _changed([["set", ["data", "notes", True], 1]])),
    "a_path_to_nowhere": (NEXT, _changed([["set", ["data", "no", "where"], 1]])),
    "a_path_through_a_number": (NEXT, _changed([["set", ["data", "count", "x"], 1]])),
    "an_index_beyond_the_end": (NEXT, _changed([["set", ["data", "notes", 9], 1]])),
    "an_index_in_an_object": (NEXT, _changed([["set", ["data", 0], 1]])),
    "a_name_in_an_array": (NEXT, _changed([["set", ["data", "notes", "x"], 1]])),
    "an_unset_of_what_is_not_there": (NEXT, _changed([["unset", ["data", "no"]]])),
    "an_unset_of_everything": (NEXT, _changed([["unset", []]])),
    "an_unset_in_an_array": (NEXT, _changed([["unset", ["data", "notes", 0]]])),
    "a_splice_beyond_the_end": (NEXT, _changed([["splice", ["data", "notes"], 2, 2, []]])),
    "a_splice_before_the_start": (NEXT, _changed([["splice", ["data", "notes"], -1, 0, []]])),
    "a_splice_of_an_object": (NEXT, _changed([["splice", ["data"], 0, 0, []]])),
    "a_splice_without_items": (NEXT, _changed([["splice", ["data", "notes"], 0, 0, None]])),
    "a_splice_that_counts_with_true": (
        NEXT,
        _changed([["splice", ["data", "notes"], True, 0, []]]),
    ),
    "a_snapshot_that_is_a_number": (NEXT, keeps(changes=[["set", [], 5]], sha256=hex_of(5))),
    "a_whole_snapshot_that_is_an_array": (SEALED, _whole([])),
    "a_snapshot_without_a_system": (SEALED, _whole({"data": {}})),
    "a_system_without_a_last_error": (SEALED, _whole(snapshot(FIRST, 1, {"errors": []}))),
    "errors_that_are_an_object": (SEALED, _reports(errors={})),
    "an_error_without_a_source": (SEALED, _reports(errors=[{"code": "a"}])),
    "an_error_that_is_a_text": (SEALED, _reports(errors=["action.raised"])),
    "an_error_without_a_code": (
        SEALED,
        _reports(errors=[{"source": {"actionId": "a", "nodePath": ""}}]),
    ),
    "pending_that_is_null": (SEALED, _reports(pendingRequirements=None)),
    "something_pending_without_an_id": (SEALED, _reports(pendingRequirements=[{"id": 5}])),
    "a_snapshot_with_nul": (SEALED, _whole(snapshot({"x": "\0"}, 1))),
    "a_snapshot_that_is_nested_too_deeply": (SEALED, _whole(snapshot(_deep(), 1))),
}
for _name, (_at, _change) in WORLDS.items():
    rewritten(_name, _at, _change, ("world", _at))


def _half_erased() -> Journal:
    """An erasure that leaves what was made from it."""
    journal = facts_sample()
    journal.erase(SEALED)
    digest = journal.kept[SEALED].members["body_digest"]
    return journal.with_body(ERASURE, lambda body: body["erased"].insert(0, [SEALED, digest]))


keep("an_execution_erased_without_what_rests_on_it", _half_erased, ("world", NEXT))
