//! The table of cases.

use cove_testkit::{Case, cases};

use super::{bounds, history, races, releases, sandboxes, sessions};
use crate::testkit::TestStore;

pub(super) const ALL: &[Case<TestStore>] = cases![
    sandboxes::a_sandbox_comes_with_its_cargo_and_goes_with_it,
    sandboxes::owners_do_not_see_each_other,
    sandboxes::pages_are_exact,
    sandboxes::time_is_added_once_and_only_where_there_is_an_end,
    sandboxes::a_cargo_in_use_stays,
    sandboxes::a_shared_managed_cargo_goes_with_its_last_user,
    sandboxes::answers_are_kept_for_their_time,
    sandboxes::a_failed_request_leaves_its_key_free,
    sandboxes::quotas_count_what_is_alive,
    sandboxes::the_deleted_are_forgotten_in_time,
    sessions::a_session_from_start_to_end,
    sessions::dead_bays_lose_their_sessions,
    sessions::a_session_that_was_taken_over_writes_nothing,
    sessions::a_secret_is_made_once_for_all,
    sessions::what_is_over_is_found,
    sessions::warm_sandboxes_are_counted_claimed_and_dropped,
    history::entries_are_written_found_and_filtered,
    history::tags_match_whole,
    history::notes_are_added_and_the_rest_stays,
    history::the_oldest_go,
    history::nul_bytes_and_odd_texts_are_kept,
    history::blobs_are_kept_within_bounds,
    bounds::an_owners_history_is_bounded_in_sum,
    bounds::an_owners_cargos_are_bounded,
    bounds::an_owners_blobs_are_bounded,
    bounds::an_owners_skills_are_bounded,
    bounds::what_is_only_remembered_is_bounded,
    releases::of_two_active_releases_one_stays,
    races::one_key_makes_one_sandbox,
    races::warm_sandboxes_are_never_claimed_twice,
    races::one_starter,
    races::a_start_is_never_told_that_its_sandbox_is_gone,
    races::extensions_add_up,
    races::a_quota_holds_under_pressure,
    races::a_cargo_is_deleted_or_used_never_both,
    races::versions_count_without_a_gap,
    races::two_stores_start_at_once,
];
