"""A store that breaks a promise fails the tests about that promise, and no others."""

import pytest

from tests import suites

Failures = dict[str, set[str]]

BROKEN = (
    "ForgetfulStore",
    "LeakyStore",
    "FlippedStore",
    "CarelessStore",
    "SilentStore",
    "BoastfulStore",
)

# Whether these find what is broken is up to chance, except where almost every example shows it.
RANDOM = {
    "test_random_changes_leave_what_a_dict_would_hold",
    "test_random_filters_find_what_the_pure_definition_says",
}

MODULE = """
import pytest
from memoranda.testkit.records import *
from tests.testkit.broken import {store}
from tests.testkit.toy import opening

@pytest.fixture
def open_store():
    return opening({store})
"""


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> Failures:
    """The tests that failed, by store: one run for all of them."""
    modules = {store: MODULE.format(store=store) for store in BROKEN}
    return suites.failures(tmp_path_factory.mktemp("broken"), modules)


def test_a_store_that_forgets_an_update_fails_the_tests_that_update(failures: Failures) -> None:
    assert failures["ForgetfulStore"] - RANDOM == {
        "test_a_cancelled_update_or_delete_leaves_the_store_usable",
        "test_a_json_value_in_a_patch_comes_back_as_it_went_in",
        "test_a_patch_is_merged_one_level_deep",
        "test_an_unusual_id_is_an_id_like_any_other",
        "test_an_update_is_seen_by_get_and_query",
        "test_an_update_moves_updated_at_and_nothing_else",
        "test_an_updated_record_is_the_newest_by_update",
        "test_data_that_is_no_object_is_replaced",
        "test_nothing_done_to_what_was_given_reaches_the_store",
        "test_one_id_may_be_used_in_every_scope",
        "test_patches_add_up",
        "test_two_handles_on_one_scope_see_the_same_records",
        "test_updates_of_one_record_at_once_lose_nothing",
    }


def test_a_store_that_returns_another_scopes_rows_fails_the_tests_of_scopes(
    failures: Failures,
) -> None:
    assert failures["LeakyStore"] - RANDOM == {
        "test_another_scope_finds_nothing_of_this_one",
        "test_clear_empties_this_scope_only",
        "test_one_id_may_be_used_in_every_scope",
        "test_scopes_that_look_alike_are_not_the_same",
    }


def test_a_store_that_breaks_ties_of_order_fails_the_test_of_ties(failures: Failures) -> None:
    assert failures["FlippedStore"] - RANDOM == {
        "test_ties_are_in_the_order_of_writing_reversed_where_the_order_is",
        "test_a_change_keeps_a_record_in_its_place_and_a_new_life_gives_it_a_new_one",
    }


def test_a_store_that_leaks_disagrees_with_the_pure_definition(failures: Failures) -> None:
    assert "test_random_filters_find_what_the_pure_definition_says" in failures["LeakyStore"]


def test_a_store_that_ignores_an_unknown_filter_key_fails_the_test_of_that(
    failures: Failures,
) -> None:
    assert failures["CarelessStore"] == {"test_a_key_that_no_store_knows_is_an_error"}


def test_a_store_that_declares_nothing_fails_the_test_of_that(failures: Failures) -> None:
    assert failures["SilentStore"] == {"test_a_store_declares_what_it_can_do"}


def test_a_store_that_declares_too_much_fails_the_test_of_that(failures: Failures) -> None:
    assert failures["BoastfulStore"] == {
        "test_every_declared_ability_has_its_methods",
        "test_delete_many_deletes_what_is_there",
        "test_delete_many_with_an_id_that_is_refused_deletes_nothing",
    }
