use super::*;
use crate::device::null::Execution;

fn shuffled(seed: u64) -> NullOptions {
    NullOptions { execution: Execution::Shuffled { seed }, ..NullOptions::default() }
}

#[test]
fn only_edges_across_streams_cost_an_event_and_a_wait() {
    let bench = Bench::new(NullOptions::default(), diamond());
    bench.run();
    let expected = [
        "stream 0: launch group 0",
        "stream 0: record e0",
        "stream 0: launch group 1",
        "stream 1: wait e0",
        "stream 1: launch group 2",
        "stream 1: record e1",
        "stream 2: launch group 3",
        "stream 0: wait e1",
        "stream 0: launch group 4",
    ];
    assert_eq!(bench.commands(), expected);
    bench.run();
    let stats = bench.session.scheduler().stats();
    let counted = (stats.runs, stats.launches, stats.events_recorded, stats.waits, stats.commands);
    assert_eq!(counted, (2, 10, 4, 4, 18));
}

#[test]
fn a_chain_needs_no_events_at_all() {
    let bench = Bench::new(NullOptions::default(), PlanBuilder::adding_chain(1, gray(5, 3)).build());
    assert_eq!(head(&bench.run(), 0), Some([7, 8]));
    let launches = ["stream 0: launch group 0", "stream 0: launch group 1", "stream 0: launch group 2"];
    assert_eq!(bench.commands(), launches);
}

#[test]
fn any_order_the_device_may_choose_gives_the_same_pixels() {
    for seed in 0..200 {
        for unified_memory in [true, false] {
            let bench = Bench::new(NullOptions { unified_memory, ..shuffled(seed) }, diamond());
            for _ in 0..2 {
                let report = bench.run();
                assert_eq!(report.error, None, "seed {seed}");
                let heads: Vec<_> = (0..3).map(|i| head(&report, i).unwrap()).collect();
                assert_eq!(heads, [[8, 10], [16, 17], [5, 6]], "seed {seed}");
            }
        }
    }
}

/// Proves that the test above can fail.
#[test]
fn a_plan_with_a_wait_missing_is_caught() {
    for missing in 0..2 {
        let mut plan = (*diamond()).clone();
        plan.waits.remove(missing);
        let plan = Arc::new(plan);
        let wrong = (0..50).any(|seed| {
            let report = Bench::new(shuffled(seed), plan.clone()).run();
            (0..3).map(|i| head(&report, i).unwrap()).ne([[8, 10], [16, 17], [5, 6]])
        });
        assert!(wrong, "wait {missing} was not needed");
    }
}

#[test]
fn an_input_read_on_two_streams_is_uploaded_once() {
    let bench = Bench::new(NullOptions { unified_memory: false, ..NullOptions::default() }, diamond());
    bench.run();
    let commands = bench.commands();
    let count = |what: &str| commands.iter().filter(|line| line.contains(what)).count();
    assert_eq!(count("upload 5x3 gray u8 (batch of 1)"), 1);
    assert_eq!((count("record"), count("wait"), count("download")), (3, 3, 3));
    let stats = bench.session.scheduler().stats();
    assert_eq!((stats.uploads, stats.downloads), (1, 3));
}
