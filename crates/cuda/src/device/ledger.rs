use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mip_plan::GroupId;
use mip_runtime::device::{DeviceError, LaunchObserver};

/// What the commands queued on one stream still hold, in stream order.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    waiting: VecDeque<Entry>,
    /// Entries ever made: the position of the next one.
    made: u64,
}

#[derive(Debug)]
struct Entry {
    /// Told when the command has ended.
    observer: Option<(Arc<dyn LaunchObserver>, GroupId)>,
    /// Let go when the command has ended.
    kept: Box<dyn Any + Send>,
}

impl Ledger {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes down a command that was queued.
    pub(super) fn add(&self, observer: Option<(Arc<dyn LaunchObserver>, GroupId)>, kept: impl Any + Send) {
        let mut entries = self.lock();
        entries.waiting.push_back(Entry { observer, kept: Box::new(kept) });
        entries.made += 1;
    }

    /// The position after everything queued so far.
    pub(super) fn position(&self) -> u64 {
        self.lock().made
    }

    /// Number of commands not settled.
    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Everything before `position` has ended, well or with an error.
    pub(super) fn settle(&self, position: u64, result: &Result<(), DeviceError>) {
        loop {
            // One at a time, so that observers are called without the lock and still in order.
            let entry = {
                let mut entries = self.lock();
                let first = entries.made - entries.waiting.len() as u64;
                if first >= position { None } else { entries.waiting.pop_front() }
            };
            let Some(Entry { observer, kept }) = entry else { return };
            drop(kept); // before the observer is told: it may hand the memory on
            if let Some((observer, group)) = observer {
                observer.end(group, result.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use mip_runtime::device::Verdict;

    use super::*;

    #[derive(Debug, Default)]
    struct Told(Mutex<Vec<(GroupId, bool)>>);

    impl LaunchObserver for Told {
        fn begin(&self, _group: GroupId) -> Verdict {
            Verdict::Run
        }

        fn end(&self, group: GroupId, result: Result<(), DeviceError>) {
            self.0.lock().unwrap().push((group, result.is_ok()));
        }
    }

    #[test]
    fn settling_tells_in_order_and_lets_go_only_of_what_has_ended() {
        let (ledger, told, memory) = (Ledger::default(), Arc::new(Told::default()), Arc::new(()));
        let observer = |group| Some((told.clone() as Arc<dyn LaunchObserver>, group));
        ledger.add(observer(0), memory.clone());
        ledger.add(None, memory.clone());
        let position = ledger.position();
        ledger.add(observer(2), memory.clone());
        ledger.settle(position, &Ok(()));
        assert_eq!((told.0.lock().unwrap().clone(), Arc::strong_count(&memory)), (vec![(0, true)], 2));
        ledger.settle(position, &Ok(()));
        ledger.settle(ledger.position(), &Err(DeviceError::Lost("gone".to_owned())));
        assert_eq!(told.0.lock().unwrap().last(), Some(&(2, false)));
        assert_eq!((ledger.waiting(), Arc::strong_count(&memory)), (0, 1));
    }
}
