//! The promises of the agreement (R01 to R19 of docs/promises.md), run over every kind of device.
//!
//! Each function of `fills`, `loss` and `icbs` is a test of one promise, named in its first line, generic over the
//! device. The same state machine runs over all of them (R19): the software device everywhere, `apple` on the software
//! Metal classes of tools/metal-on-linux, and on a Mac its own device, as far as no faults on demand are needed.
#![cfg(not(feature = "model"))]

#[cfg(all(feature = "metal-on-linux", not(target_vendor = "apple")))]
mod apple;
mod backend;
mod fills;
mod icbs;
mod loss;
#[cfg(any(feature = "metal-on-linux", target_vendor = "apple"))]
#[cfg_attr(not(target_vendor = "apple"), allow(dead_code))] // type-checked on Linux, run on a Mac
mod metal;
mod soft;

/// Makes a test of each function for each kind of device.
macro_rules! promises {
    ($($module:ident: $($name:ident),* $(,)?;)*) => {
        #[cfg(all(feature = "metal-on-linux", not(target_vendor = "apple")))]
        mod over_apple {
            $(mod $module { $(#[test] fn $name() { crate::$module::$name::<crate::apple::Apple>(); })* })*
        }

        mod over_soft {
            $(mod $module { $(#[test] fn $name() { crate::$module::$name::<crate::soft::Soft>(); })* })*
        }
    };
}

/// Makes a test of each function for a Mac's own device.
macro_rules! on_a_mac {
    ($($module:ident: $($name:ident),* $(,)?;)*) => {
        #[cfg(target_vendor = "apple")]
        mod over_metal {
            $(mod $module { $(#[test] fn $name() { crate::$module::$name::<crate::metal::Metal>(); })* })*
        }
    };
}

on_a_mac! {
    fills:
        the_record_is_found_under_its_key_by_a_metal_device_only,
        a_c_fill_gets_its_queue_argument_and_value,
        commands_run_in_order_whatever_command_buffer_they_are_in,
        times_are_not_wanted_when_null,
        a_fill_makes_more_command_buffers_than_the_queue_holds,
        split_outside_a_fill_is_refused,
        completion_while_a_fill_encodes_does_not_touch_its_encoder,
        handlers_in_any_order_move_the_word_in_order,
        encoding_checks_what_metal_does_not_report,
        calls_from_a_fill_are_refused,
        many_threads_submit_and_wait;
    loss:
        a_failing_fill_loses_the_device,
        a_fill_that_panics_loses_the_device,
        a_child_of_fork_leaves_everything_untouched,
        memory_stays_flat;
    icbs:
        an_icb_runs_its_dispatches_in_order_on_every_submit,
        an_icb_may_be_empty,
        a_c_fill_runs_an_icb,
        a_fill_changes_a_command_before_its_first_run,
        arguments_start_at_the_offset,
        any_thread_makes_icbs;
}

promises! {
    fills:
        the_record_is_found_under_its_key_by_a_metal_device_only,
        a_c_fill_gets_its_queue_argument_and_value,
        commands_run_in_order_whatever_command_buffer_they_are_in,
        work_begins_and_ends_without_a_later_call,
        the_open_command_buffer_is_committed_at_256_values,
        a_commit_on_demand_begins_work,
        an_empty_submission_completes_after_earlier_work,
        a_split_is_a_boundary_with_times,
        times_cover_earlier_work_in_the_command_buffer,
        times_are_not_wanted_when_null,
        a_fill_makes_more_command_buffers_than_the_queue_holds,
        submits_wait_while_the_queue_is_full,
        split_outside_a_fill_is_refused,
        completion_while_a_fill_encodes_does_not_touch_its_encoder,
        handlers_in_any_order_move_the_word_in_order,
        threadgroup_memory_is_set_by_the_fill,
        encoding_checks_what_metal_does_not_report,
        calls_from_a_fill_are_refused,
        many_threads_submit_and_wait;
    loss:
        a_failing_fill_loses_the_device,
        a_failed_command_buffer_loses_the_device_with_its_reason,
        the_word_stops_below_the_failed_value_in_any_order_of_handlers,
        no_command_buffer_loses_the_device,
        no_encoder_loses_the_device,
        a_failed_split_is_returned_and_loses_the_device,
        a_fill_that_goes_on_after_a_failed_split_loses_the_device,
        a_loss_is_once_and_for_good,
        a_loss_leaves_other_devices_alone,
        a_command_buffer_that_never_completes_ends_waits_at_their_deadline,
        a_wait_beside_a_loss_is_told,
        close_waits_for_no_work_and_lets_it_drain,
        close_ends_a_split_that_waits_for_room,
        a_fill_that_panics_loses_the_device,
        a_child_of_fork_leaves_everything_untouched,
        everything_is_released_in_the_end,
        memory_stays_flat;
    icbs:
        an_icb_runs_its_dispatches_in_order_on_every_submit,
        an_icb_may_be_empty,
        a_c_fill_runs_an_icb,
        an_icb_outlives_its_image,
        a_dropped_icb_is_released_also_after_close,
        a_fill_changes_a_command_before_its_first_run,
        a_change_of_a_command_in_flight_is_found,
        arguments_start_at_the_offset,
        align_is_the_familys,
        refusals_have_reasons,
        misuse_is_invalid_and_changes_nothing,
        a_call_from_a_callback_is_invalid,
        close_waits_for_a_call_in_flight_and_refuses_later_ones,
        any_thread_makes_icbs,
        pipelines_of_icbs_are_made_resident;
}
