use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::device::null::{CommandKind, Execution};
use crate::testing::{FnKernel, Work};

fn fail(bench: &Bench, group: usize) {
    bench.device.inject(Site::Run(CommandKind::Launch(group)), boom());
}

#[test]
fn descendants_fail_without_running_and_other_branches_finish() {
    let bench = Bench::new(NullOptions::default(), diamond());
    fail(&bench, 0);
    let report = bench.run();
    let expected = [
        "top failed because of 0",
        "left failed because of 0",
        "right failed because of 0",
        "side completed",
        "join failed because of 0",
    ];
    assert_eq!(states(&report), expected);
    assert_eq!(invocations(&report), [1, 0, 0, 1, 0]);
    assert_eq!((head(&report, 0), head(&report, 1), head(&report, 2)), (None, Some([16, 17]), None));
    assert_eq!(bench.reported(), ["top"]);
    let text = report.error.unwrap().to_string();
    assert_eq!(text, "task 'top' (affine) failed: injected failure: boom");

    bench.device.clear_faults();
    let report = bench.run();
    assert_eq!((report.error, bench.reported().len()), (None, 0));
    assert_eq!(report.outputs.iter().flatten().count(), 3, "the session stays usable");
}

#[test]
fn two_failures_are_told_once_each_and_the_first_is_the_cause() {
    for seed in 0..20 {
        let execution = Execution::Shuffled { seed };
        let bench = Bench::new(NullOptions { execution, ..NullOptions::default() }, diamond());
        fail(&bench, 1);
        fail(&bench, 2);
        let report = bench.run();
        assert_eq!(states(&report)[4], "join failed because of 1");
        let mut reported = bench.reported();
        reported.sort();
        assert_eq!(reported, ["left", "right"]);
        assert!(report.error.unwrap().to_string().starts_with("task 'left'"), "seed {seed}");
    }
}

fn fused(kernel_fails: &'static str) -> Bench {
    let work = |name: &'static str| {
        if name == kernel_fails {
            return Work::custom(FnKernel::failing(name, "no luck"));
        }
        Work::affine(1.0, 1.0)
    };
    let mut builder = PlanBuilder::new(1);
    let input = builder.input("input", gray(5, 3));
    let works = ["first", "second", "third"].map(|name| (name, work(name)));
    let fused = builder.chain(0, &works, &[input]);
    let after = builder.task("after", 0, Work::affine(1.0, 1.0), &[fused]);
    builder.output(after);
    Bench::new(NullOptions::default(), builder.build())
}

#[test]
fn a_fused_group_fails_as_a_whole_and_is_attributed_to_the_task_whose_kernel_failed() {
    let bench = fused("second");
    let report = bench.run();
    let because = |name: &str| format!("{name} failed because of 1");
    assert_eq!(states(&report), ["first", "second", "third", "after"].map(because));
    assert_eq!((bench.reported(), invocations(&report)), (vec!["second".to_owned()], vec![1, 1, 1, 0]));
    let text = report.error.unwrap().to_string();
    assert_eq!(text, "task 'second' (custom) failed: kernel 'second' failed: no luck");
}

#[test]
fn a_fused_group_whose_failure_names_no_kernel_is_attributed_to_its_first_task() {
    let bench = fused("");
    fail(&bench, 0);
    assert!(states(&bench.run()).iter().all(|state| state.ends_with("failed because of 0")));
    assert_eq!(bench.reported(), ["first"]);
}

#[test]
fn waiting_for_the_memory_of_a_failed_task_is_no_reason_to_fail() {
    let mut builder = PlanBuilder::new(1);
    let input = builder.input("input", gray(5, 3));
    let failing = builder.task("failing", 0, Work::affine(1.0, 1.0), &[input]);
    let _user = builder.task("user", 0, Work::affine(1.0, 1.0), &[failing]);
    let heir = builder.task("heir", 1, Work::affine(1.0, 2.0), &[input]);
    let last = builder.task("last", 1, Work::affine(1.0, 4.0), &[heir]);
    builder.wait(2, 1).output(last);
    let mut plan = (*builder.build()).clone();
    plan.groups[2].depends_on = vec![1];
    plan.buffers[heir].place = plan.buffers[failing].place;
    let bench = Bench::new(NullOptions::default(), Arc::new(plan));
    fail(&bench, 0);
    let report = bench.run();
    assert_eq!(states(&report)[2..], ["heir completed", "last completed"]);
    assert_eq!(head(&report, 0), Some([6, 7]));
}

#[test]
fn cancelling_leaves_out_what_has_not_begun() {
    let cancel = CancelToken::new();
    let token = cancel.clone();
    let cancelling = FnKernel::kernel("cancelling", 1, move |_, _| {
        token.cancel();
        Ok(())
    });
    let mut builder = PlanBuilder::new(1);
    let input = builder.input("input", gray(5, 3));
    let before = builder.task("before", 0, Work::affine(1.0, 1.0), &[input]);
    let during = builder.task("during", 0, Work::custom(cancelling), &[before]);
    let after = builder.task("after", 0, Work::affine(1.0, 1.0), &[during]);
    builder.output(before).output(after);
    let bench = Bench::new(NullOptions::default(), builder.build());

    let request = || RunRequest { cancel: cancel.clone(), ..RunRequest::new(vec![ramp()]) };
    let report = bench.session.execute(request()).unwrap();
    assert_eq!(states(&report), ["before completed", "during completed", "after cancelled"]);
    assert_eq!((head(&report, 0), head(&report, 1)), (Some([1, 2]), None));
    assert_eq!(report.error, Some(RuntimeError::Cancelled { unfinished: 1, tasks: 3 }));

    let report = bench.session.execute(request()).unwrap();
    assert_eq!((invocations(&report), bench.reported().len()), (vec![0; 3], 0));
    let text = report.error.unwrap().to_string();
    assert_eq!(text, "the run was cancelled; 3 of 3 tasks did not run");
}

#[test]
fn a_failed_upload_fails_the_tasks_that_read_the_input() {
    let mut builder = PlanBuilder::new(1);
    let (left, right) = (builder.input("left", gray(5, 3)), builder.input("right", gray(5, 3)));
    let reader = builder.task("reader", 0, Work::affine(1.0, 1.0), &[left]);
    let last = builder.task("last", 0, Work::affine(1.0, 1.0), &[reader]);
    let other = builder.task("other", 1, Work::affine(1.0, 1.0), &[right]);
    builder.output(last).output(other);
    let plan = builder.build();
    for site in [Site::Run(CommandKind::Upload), Site::Submit(CommandKind::Upload)] {
        let bench = Bench::new(NullOptions { unified_memory: false, ..NullOptions::default() }, plan.clone());
        let run = || bench.session.execute(RunRequest::new(vec![ramp(), ramp()])).unwrap();
        bench.device.inject(site, boom());
        let report = run();
        let expected =
            ["reader failed because of 0", "last failed because of 0", "other failed because of 2"];
        assert_eq!(states(&report), expected);
        assert_eq!(bench.reported(), ["reader", "other"]);
        let text = report.error.unwrap().to_string();
        assert_eq!(text, "task 'reader' failed: input 'left' could not be uploaded: injected failure: boom");
        bench.device.clear_faults();
        assert_eq!(head(&run(), 1), Some([1, 2]));
    }
}

#[test]
fn a_lost_device_completes_nothing_on_the_stream_and_says_so() {
    let bench = Bench::new(NullOptions::default(), diamond());
    bench.device.inject(Site::Run(CommandKind::Launch(3)), DeviceError::Lost("unplugged".to_owned()));
    let report = bench.run();
    assert_eq!(states(&report)[3], "side failed because of 3");
    assert_eq!(bench.reported(), ["side"]);
    assert!(report.error.unwrap().to_string().ends_with("the device is lost: unplugged"));
}

#[test]
fn a_panic_in_the_callback_comes_out_where_the_run_is_waited_for() {
    let bench = Bench::new(NullOptions::default(), diamond());
    bench.session.scheduler().set_error_callback(|_, name, _| panic!("cannot bear that {name} failed"));
    fail(&bench, 3);
    let panic = catch_unwind(AssertUnwindSafe(|| bench.run())).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "cannot bear that side failed");
    bench.device.clear_faults();
    assert_eq!(bench.run().error, None);
}

/// A stream that is lost takes what ran on it along, and what depends on that; but the launch on another stream that a
/// device says did it is the cause.
#[test]
fn the_launch_that_cost_the_device_is_the_cause_whichever_stream_is_waited_for_first() {
    for seed in 0..20 {
        let mut builder = PlanBuilder::new(1);
        let input = builder.input("input", gray(5, 3));
        let source = builder.task("source", 0, Work::affine(1.0, 1.0), &[input]);
        let suffers = builder.task("suffers", 0, Work::affine(1.0, 1.0), &[source]);
        let culprit = builder.task("culprit", 1, Work::affine(1.0, 1.0), &[source]);
        builder.output(suffers);
        builder.output(culprit);
        let execution = Execution::Shuffled { seed };
        let bench = Bench::new(NullOptions { execution, ..NullOptions::default() }, builder.build());
        bench.device.inject(Site::Run(CommandKind::Launch(1)), DeviceError::Lost("a fault".to_owned()));
        fail(&bench, 2);
        let text = bench.run().error.unwrap().to_string();
        assert!(text.starts_with("task 'culprit'"), "seed {seed}: {text}");
    }
}
