use std::thread;

use super::*;

fn shuffled(unified_memory: bool) -> NullOptions {
    NullOptions { execution: Execution::Shuffled { seed: 5 }, unified_memory, ..NullOptions::default() }
}

fn first_byte(report: &RunReport) -> u8 {
    report.outputs[0].as_ref().unwrap().to_bytes()[0]
}

#[test]
fn sessions_and_tickets_go_between_threads() {
    fn check<T: Send>() {}
    check::<Session>();
    check::<Ticket>();
    check::<RunReport>();
    let session = Arc::new(session(&interpreting_device(shuffled(true)), &chain()));
    let workers: Vec<_> = (0..4)
        .map(|worker| {
            let session = session.clone();
            thread::spawn(move || {
                for round in 0..10 {
                    let ticket = session.submit(RunRequest::new(vec![ramp(1, worker * 40 + round)])).unwrap();
                    assert_eq!(first_byte(&ticket.wait()), worker * 40 + round + 7);
                }
            })
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
}

#[test]
fn a_second_run_waits_for_the_first() {
    for unified_memory in [true, false] {
        let device = interpreting_device(shuffled(unified_memory));
        let session = session(&device, &chain());
        let tickets: Vec<Ticket> =
            (0..3).map(|i| session.submit(RunRequest::new(vec![ramp(1, i * 50)])).unwrap()).collect();
        let reports: Vec<u8> = tickets.into_iter().map(|ticket| first_byte(&ticket.wait())).collect();
        assert_eq!(reports, [7, 57, 107]);
    }
}

/// Nothing but the second run's wait keeps its `top` from overwriting what the first run's `right` reads.
#[test]
fn a_second_run_leaves_the_arena_to_the_first() {
    let mut builder = PlanBuilder::new(1);
    let input = builder.input("input", gray(5, 3));
    let top = builder.task("top", 0, Work::affine(1.0, 1.0), &[input]);
    let right = builder.task("right", 1, Work::affine(1.0, 2.0), &[top]);
    builder.wait(1, 0).output(right);
    let plan = builder.build();
    for seed in 0..20 {
        let execution = Execution::Shuffled { seed };
        let device = interpreting_device(NullOptions { execution, ..NullOptions::default() });
        let session = session(&device, &plan);
        let [first, second] = [0, 50].map(|i| session.submit(RunRequest::new(vec![ramp(1, i)])).unwrap());
        assert_eq!((first_byte(&second.wait()), first_byte(&first.wait())), (53, 3), "seed {seed}");
    }
}

#[test]
fn a_ticket_outlives_its_session() {
    for unified_memory in [true, false] {
        let device = interpreting_device(shuffled(unified_memory));
        let session = session(&device, &chain());
        let ticket = session.submit(RunRequest::new(vec![ramp(1, 0)])).unwrap();
        drop(session);
        assert_eq!(first_byte(&ticket.wait()), 7);
        assert_eq!(device.allocated(), 0);
    }
}

#[test]
fn results_nobody_waits_for_go_back_to_the_pool() {
    let device = interpreting_device(shuffled(true));
    let session = session(&device, &chain());
    let run = || session.submit(RunRequest::new(vec![ramp(1, 0)])).unwrap();
    drop(run());
    let kept = run();
    assert_eq!(first_byte(&kept.wait()), 7);
    let arena = session.plan().arena_bytes;
    assert_eq!(session.manager().stats().device.in_use, arena);
    drop((run(), session));
    assert_eq!(device.allocated(), 0);
}

#[test]
fn sessions_of_one_manager_share_what_is_unused() {
    let device = interpreting_device(NullOptions::default());
    let manager = MemoryManager::new(device.clone() as Arc<dyn Device>, ManagerOptions::default());
    let (a, b) = (try_session(&device, &manager, &chain()), try_session(&device, &manager, &chain()));
    for session in [a.unwrap(), b.unwrap()] {
        session.execute(RunRequest::new(vec![ramp(1, 0)])).unwrap();
    }
    assert_eq!(manager.stats().device.driver_allocations, 3, "two arenas, one output");
}

#[test]
fn an_input_nobody_reads_is_not_uploaded() {
    // Two inputs, one of them read by nobody.
    let mut builder = PlanBuilder::new(1);
    let (left, _right) = (builder.input("left", gray(5, 3)), builder.input("right", gray(5, 3)));
    let only = builder.task("only", 0, Work::affine(1.0, 1.0), &[left]);
    builder.output(only);
    let session = session(&interpreting_device(shuffled(false)), &builder.build());
    let report = session.execute(RunRequest::new(vec![ramp(1, 0), ramp(1, 0)])).unwrap();
    assert_eq!(first_byte(&report), 1);
}
