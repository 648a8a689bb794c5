use super::*;
use crate::device::{LaunchDecision, LaunchObserver};
use crate::scheduler::run_state::RunState;

fn state() -> RunState {
    RunState::new(diamond(), CancelToken::new(), None)
}

#[test]
fn queued_is_not_completed() {
    let state = state();
    assert_eq!(state.begin(0), LaunchDecision::Run);
    let report = outcome::of(&state);
    assert!(report.tasks.iter().all(|task| task.state == TaskState::Pending));
    state.end(0, Ok(()));
    assert_eq!(outcome::of(&state).tasks[0].state, TaskState::Completed);
}

#[test]
fn a_launch_whose_end_is_never_reported_has_failed() {
    let state = state();
    state.begin(0);
    state.fail_unreported();
    let report = outcome::of(&state);
    assert_eq!(report.tasks[4].state, TaskState::Failed { cause: 0 });
    assert!(report.error().unwrap().to_string().contains("never reported the end"));
    assert_eq!(report.errors.len(), 2, "top and side");
}

#[test]
fn a_failure_found_late_takes_completion_back() {
    let state = state();
    for group in 0..5 {
        state.begin(group);
        state.end(group, Ok(()));
    }
    state.fail_input(0, &boom());
    let failed = outcome::of(&state).tasks.iter().all(|t| matches!(t.state, TaskState::Failed { .. }));
    assert!(failed);
}

#[test]
fn the_second_report_of_a_failure_is_ignored() {
    let state = state();
    state.begin(0);
    state.end(0, Err(boom()));
    state.fail(0, DeviceError::Lost("later".to_owned()));
    assert_eq!(state.begin(1), LaunchDecision::Skip);
    let report = outcome::of(&state);
    assert_eq!(report.errors.len(), 1);
    assert!(report.error().unwrap().to_string().contains("boom"));
}
