use std::sync::Weak;

use mip_plan::GroupId;
use mip_runtime::device::{Executable, LaunchDecision, LaunchObserver};

use super::super::fault::Streams;
use super::*;

#[derive(Debug, Default)]
struct Completions(Mutex<Vec<(GroupId, bool)>>);

impl LaunchObserver for Completions {
    fn begin(&self, _group: GroupId) -> LaunchDecision {
        LaunchDecision::Run
    }

    fn end(&self, group: GroupId, result: Result<(), DeviceError>) {
        self.0.lock().unwrap().push((group, result.is_ok()));
    }
}

#[derive(Debug)]
struct Nothing;

impl Executable for Nothing {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn launch(completions: &Arc<Completions>, group: GroupId) -> Launch {
    Launch {
        executable: Arc::new(Nothing),
        group,
        inputs: Vec::new(),
        outputs: Vec::new(),
        workspace: None,
        uniforms: [].into(),
        observer: completions.clone(),
    }
}

fn lost() -> Result<(), DeviceError> {
    Err(DeviceError::Lost("gone".to_owned()))
}

#[test]
fn settling_tells_in_order_and_lets_go_only_of_what_has_ended() {
    let (in_flight, completions, memory) =
        (InFlight::default(), Arc::new(Completions::default()), Arc::new(()));
    in_flight.add(Entry::Launch(launch(&completions, 0)));
    let position = in_flight.add(Entry::keep(memory.clone()));
    in_flight.add(Entry::Launch(launch(&completions, 2)));
    in_flight.add(Entry::keep(memory.clone()));
    in_flight.settle(position, |_| Ok(()));
    assert_eq!((completions.0.lock().unwrap().clone(), Arc::strong_count(&memory)), (vec![(0, true)], 2));
    in_flight.settle(position, |_| Ok(()));
    in_flight.settle(in_flight.position(), |end| if end == 3 { lost() } else { Ok(()) });
    assert_eq!(completions.0.lock().unwrap().last(), Some(&(2, false)));
    assert_eq!((in_flight.waiting(), Arc::strong_count(&memory)), (0, 1));
}

#[test]
fn what_a_stream_got_past_has_ended_on_the_others() {
    let (one, two, completions) =
        (Arc::new(InFlight::default()), Arc::new(InFlight::default()), Arc::new(Completions::default()));
    let position = one.add(Entry::Launch(launch(&completions, 0)));
    one.add(Entry::Launch(launch(&completions, 1)));
    two.add(Entry::Wait(Point { in_flight: Arc::downgrade(&one), position }));
    let end = two.add(Entry::Launch(launch(&completions, 2)));
    // A stream that waits for itself, and one that is gone.
    two.add(Entry::Wait(Point { in_flight: Arc::downgrade(&two), position: end }));
    two.add(Entry::Wait(Point { in_flight: Weak::new(), position: 7 }));
    two.reached(two.position());
    assert_eq!(*completions.0.lock().unwrap(), [(0, true), (2, true)]);
    assert_eq!((one.waiting(), two.waiting()), (1, 0));
    two.add(Entry::Wait(Point { in_flight: Arc::downgrade(&one), position: 2 }));
    two.settle(two.position(), |_| lost());
    assert_eq!(one.waiting(), 1, "of a lost device nothing is known of other streams");
}

fn ends(candidates: &[Candidate]) -> Vec<u64> {
    candidates.iter().map(|candidate| candidate.end).collect()
}

#[test]
fn the_first_launch_not_marked_is_suspected() {
    let (in_flight, completions) = (InFlight::default(), Arc::new(Completions::default()));
    for group in 0..4 {
        in_flight.add(Entry::keep(()));
        in_flight.add(Entry::Launch(launch(&completions, group)));
    }
    let candidates = |mark| ends(&in_flight.candidates(mark, |_| None));
    assert_eq!((candidates(Some(0)), candidates(Some(4)), candidates(Some(8))), (vec![2], vec![6], vec![]));
    assert_eq!(candidates(None), [2, 4, 6, 8], "without a mark, any");
    in_flight.settle(4, |_| Ok(()));
    assert_eq!((candidates(Some(4)), candidates(None)), (vec![6], vec![6, 8]));
}

#[test]
fn all_launches_of_a_graph_are_suspected_and_what_comes_after_it() {
    let (in_flight, completions) = (InFlight::default(), Arc::new(Completions::default()));
    in_flight.add(Entry::Replayed(launch(&completions, 0)));
    in_flight.add(Entry::Replayed(launch(&completions, 1)));
    in_flight.add(Entry::Launch(launch(&completions, 2)));
    in_flight.add(Entry::Launch(launch(&completions, 3)));
    assert_eq!(ends(&in_flight.candidates(Some(0), |_| None)), [1, 2, 3]);
    assert_eq!(ends(&in_flight.candidates(Some(3), |_| None)), [4]);
}

#[test]
fn a_launch_that_waits_for_another_stream_is_not_suspected_before_that_is_there() {
    let (one, two, completions) =
        (Arc::new(InFlight::default()), InFlight::default(), Arc::new(Completions::default()));
    let position = one.add(Entry::Launch(launch(&completions, 0)));
    two.add(Entry::Wait(Point { in_flight: Arc::downgrade(&one), position }));
    two.add(Entry::Launch(launch(&completions, 1)));
    one.add(Entry::Launch(launch(&completions, 2)));
    assert_eq!(ends(&two.candidates(Some(0), |_| Some(0))), Vec::<u64>::new(), "the other has not begun");
    assert_eq!(ends(&two.candidates(Some(0), |_| Some(1))), [2], "the point was reached");
    assert_eq!(ends(&two.candidates(Some(0), |_| None)), [2], "it may have been");
    let gone = Entry::Wait(Point { in_flight: Weak::new(), position: 7 });
    let three = InFlight::default();
    three.add(gone);
    three.add(Entry::Launch(launch(&completions, 0)));
    assert_eq!(
        ends(&three.candidates(Some(0), |_| Some(0))),
        [2],
        "streams are past their work when they go"
    );
}

#[test]
fn marks_are_compared_beyond_their_range() {
    assert!(has_passed(5, 5) && has_passed(6, 5) && !has_passed(4, 5));
    assert!(has_passed(2, u64::from(u32::MAX)) && !has_passed(u32::MAX, (1 << 32) + 2));
}

#[test]
fn one_suspect_is_the_culprit_and_several_are_listed() {
    let completions = Arc::new(Completions::default());
    let streams = |two_waits: bool| {
        let (one, two) = (Arc::new(InFlight::default()), Arc::new(InFlight::default()));
        let streams = Streams::default();
        streams.add(&one, || Some(0));
        streams.add(&two, || Some(0));
        let position = one.add(Entry::Launch(launch(&completions, 0)));
        if two_waits {
            two.add(Entry::Wait(Point { in_flight: Arc::downgrade(&one), position }));
        }
        two.add(Entry::Launch(launch(&completions, 1)));
        (streams, one, two)
    };
    let (waiting, one, two) = streams(true);
    let attribution = waiting.attribution();
    assert!(attribution.cause().is_some() && attribution.is_on(&one, 1) && !attribution.is_on(&two, 1));
    assert!(attribution.place().starts_with(" in kernel"), "{}", attribution.place());
    let (both, one, _two) = streams(false);
    assert!(both.attribution().cause().is_none() && !both.attribution().is_on(&one, 1));
    assert!(both.attribution().place().contains("'', ''"), "{}", both.attribution().place());
    assert_eq!(Streams::default().attribution().place(), "");
}
