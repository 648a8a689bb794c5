//! Commands the device refuses: the failure belongs to a task, the order of all others still holds.

use super::*;
use crate::device::null::{CommandKind, Execution};
use crate::testing::Work;

fn shuffled(seed: u64, unified_memory: bool) -> NullOptions {
    NullOptions { execution: Execution::Shuffled { seed }, unified_memory, ..NullOptions::default() }
}

/// `late` (stream 1) is waited for by `waiting` (stream 0); `implied`, behind `waiting`, needs it too, but
/// has no wait of its own because that of `waiting` implies it.
fn implied_wait() -> Arc<Plan> {
    let mut builder = PlanBuilder::new(1);
    let input = builder.input("input", gray(5, 3));
    let early = builder.task("early", 1, Work::affine(1.0, 1.0), &[input]);
    let late = builder.task("late", 1, Work::affine(1.0, 1.0), &[early]);
    let waiting = builder.task("waiting", 0, Work::affine(1.0, 1.0), &[late]);
    let implied = builder.task("implied", 0, Work::affine(1.0, 1.0), &[late]);
    builder.wait(2, 1).output(waiting).output(implied);
    builder.build()
}

#[test]
fn a_refused_launch_fails_its_task_alone() {
    for seed in 0..20 {
        let bench = Bench::new(shuffled(seed, true), diamond());
        bench.device.inject(Site::Submit(CommandKind::Launch(2)), boom());
        let report = bench.run();
        let reported = bench.reported();
        assert_eq!(states(&report)[1..4], ["left completed", "right failed because of 2", "side completed"]);
        assert_eq!((reported, invocations(&report)), (vec!["right".to_owned()], vec![1, 1, 0, 1, 0]));
        bench.device.clear_faults();
        assert_eq!(head(&bench.run(), 0), Some([8, 10]));
    }
}

#[test]
fn a_refused_wait_fails_its_task_and_unorders_nothing() {
    for seed in 0..50 {
        let bench = Bench::new(shuffled(seed, true), implied_wait());
        bench.device.inject(Site::Submit(CommandKind::Wait), boom());
        let report = bench.run();
        assert_eq!(states(&report)[2..], ["waiting failed because of 2", "implied completed"]);
        assert_eq!(head(&report, 1), Some([3, 4]), "seed {seed}");
        assert_eq!(bench.reported(), ["waiting"]);
    }
}

#[test]
fn a_refused_record_fails_its_task_and_what_reads_it() {
    for seed in 0..50 {
        let bench = Bench::new(shuffled(seed, true), implied_wait());
        bench.device.inject(Site::Submit(CommandKind::Record), boom());
        let report = bench.run();
        let expected = [
            "early completed",
            "late failed because of 1",
            "waiting failed because of 1",
            "implied failed because of 1",
        ];
        assert_eq!(
            (states(&report), bench.reported()),
            (expected.map(String::from).to_vec(), vec!["late".into()])
        );
    }
}

/// `heir` only takes over the memory that `first` and `reader` use.
#[test]
fn a_refused_record_keeps_the_order_of_memory_hand_overs() {
    let mut builder = PlanBuilder::new(1);
    let input = builder.input("input", gray(5, 3));
    let first = builder.task("first", 0, Work::affine(1.0, 1.0), &[input]);
    builder.task("reader", 0, Work::affine(1.0, 1.0), &[first]);
    let heir = builder.task("heir", 1, Work::affine(1.0, 2.0), &[input]);
    let last = builder.task("last", 1, Work::affine(1.0, 4.0), &[heir]);
    builder.wait(2, 1).output(last);
    let mut plan = (*builder.build()).clone();
    plan.groups[2].depends_on = vec![1];
    plan.buffers[heir].place = plan.buffers[first].place;
    let plan = Arc::new(plan);
    for seed in 0..50 {
        let bench = Bench::new(shuffled(seed, true), plan.clone());
        bench.device.inject(Site::Submit(CommandKind::Record), boom());
        let report = bench.run();
        assert_eq!(states(&report)[1..3], ["reader failed because of 1", "heir completed"]);
        assert_eq!(head(&report, 0), Some([6, 7]), "seed {seed}");
    }
}

#[test]
fn a_refused_record_of_an_upload_fails_the_tasks_that_read_the_input() {
    let bench = Bench::new(shuffled(1, false), diamond());
    bench.device.inject(Site::Submit(CommandKind::Record), boom());
    let report = bench.run();
    assert_eq!(bench.reported(), ["top", "side"]);
    let text = report.error.unwrap().to_string();
    assert_eq!(text, "task 'top' failed: input 'input' could not be uploaded: injected failure: boom");
    bench.device.clear_faults();
    assert_eq!(bench.run().error, None);
}

#[test]
fn an_output_that_cannot_be_read_back_is_missing_and_named() {
    for site in [Site::Run(CommandKind::Download), Site::Submit(CommandKind::Download)] {
        let bench = Bench::new(shuffled(3, false), implied_wait());
        bench.device.inject(site, boom());
        let report = bench.run();
        assert!(report.tasks.iter().all(|task| task.state == TaskState::Completed));
        assert!(report.outputs.iter().all(Option::is_none));
        let text = report.error.unwrap().to_string();
        assert_eq!(text, "output 'waiting' could not be read back: injected failure: boom");
        bench.device.clear_faults();
        assert_eq!(head(&bench.run(), 1), Some([3, 4]));
    }
}

#[test]
fn nothing_is_copied_out_of_what_is_known_to_fail() {
    let options = NullOptions { unified_memory: false, ..NullOptions::default() };
    let bench = Bench::new(options, diamond());
    bench.device.inject(Site::Submit(CommandKind::Launch(0)), boom());
    let report = bench.run();
    assert_eq!((head(&report, 0), head(&report, 1), head(&report, 2)), (None, Some([16, 17]), None));
    let downloads = bench.commands().iter().filter(|line| line.contains("download")).count();
    assert_eq!(downloads, 1, "only the independent branch's output");
}
