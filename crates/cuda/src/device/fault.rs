use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use super::in_flight::{Candidate, InFlight, has_passed};

/// Which launch a fault of the device came from.
///
/// The driver tells a fault to whoever asks next, and nothing about whose it was. But each stream marks the end of
/// each launch in the host's memory, and events say what waited for what: of all launches, those that had begun and not
/// ended may have caused it. If there is one, it did.
#[derive(Debug, Default)]
pub(super) struct Streams {
    known: Mutex<Vec<Known>>,
    attribution: OnceLock<Attribution>,
}

type ReadMark = Box<dyn Fn() -> Option<u32> + Send + Sync>;

struct Known {
    in_flight: Weak<InFlight>,
    mark: ReadMark,
}

/// Who may have caused a fault.
#[derive(Debug, Default)]
pub(super) struct Attribution {
    /// With the stream's in-flight list.
    candidates: Vec<(Weak<InFlight>, Candidate)>,
}

impl Streams {
    /// Watches a stream; `mark` reads how far it is, if it has a mark.
    pub(super) fn add(
        &self,
        in_flight: &Arc<InFlight>,
        mark: impl Fn() -> Option<u32> + Send + Sync + 'static,
    ) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|known| known.in_flight.strong_count() > 0);
        known.push(Known { in_flight: Arc::downgrade(in_flight), mark: Box::new(mark) });
    }

    /// Whether nothing is queued on any stream but this one's.
    pub(super) fn are_idle_but(&self, own: &Arc<InFlight>) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let others: Vec<_> = known.iter().filter_map(|known| known.in_flight.upgrade()).collect();
        drop(known); // before a list that nobody else has any more is dropped with what it holds
        others.iter().filter(|other| !Arc::ptr_eq(other, own)).all(|other| other.waiting() == 0)
    }

    /// Who may have caused the fault that the device is lost to. Found when first asked, before anything that the
    /// fault took with it is settled.
    pub(super) fn attribution(&self) -> &Attribution {
        self.attribution.get_or_init(|| {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let mark_of = |in_flight: &Arc<InFlight>| {
                let of =
                    known.iter().find(|known| std::ptr::eq(known.in_flight.as_ptr(), &raw const **in_flight));
                of.and_then(|known| (known.mark)())
            };
            let candidates_of = |known: &Known| {
                let in_flight = known.in_flight.upgrade()?;
                let candidates = in_flight.candidates((known.mark)(), mark_of);
                Some(
                    candidates
                        .into_iter()
                        .map(|candidate| (known.in_flight.clone(), candidate))
                        .collect::<Vec<_>>(),
                )
            };
            Attribution { candidates: known.iter().filter_map(candidates_of).flatten().collect() }
        })
    }
}

impl Attribution {
    /// The kernels of the launch that did it, if it can have been only one.
    pub(super) fn cause(&self) -> Option<&str> {
        match &self.candidates[..] {
            [(_, candidate)] if !candidate.replayed => Some(&candidate.kernel),
            _ => None,
        }
    }

    /// Whether the one that did it is the launch before a position of an in-flight list.
    pub(super) fn is_on(&self, in_flight: &InFlight, end: u64) -> bool {
        let on = |(of, candidate): &(Weak<InFlight>, Candidate)| {
            std::ptr::eq(of.as_ptr(), &raw const *in_flight) && candidate.end == end
        };
        self.cause().is_some() && self.candidates.iter().any(on)
    }

    /// Where it happened, for an error's text; empty when nothing is known.
    pub(super) fn place(&self) -> String {
        const MAX: usize = 8;
        if let Some(kernel) = self.cause() {
            return format!(" in kernel '{kernel}'");
        }
        let quoted = |(_, candidate): &(Weak<InFlight>, Candidate)| format!("'{}'", candidate.kernel);
        let mut names: Vec<_> = self.candidates.iter().take(MAX).map(quoted).collect();
        if names.is_empty() {
            return String::new();
        }
        if self.candidates.len() > MAX {
            names.push("others".to_owned());
        }
        format!(" in one of the kernels that may have been running: {}", names.join(", "))
    }
}

/// Whether a stream's mark says that the launch before a position ended well.
pub(super) fn ended_well(mark: Option<u32>, end: u64) -> bool {
    mark.is_some_and(|mark| has_passed(mark, end))
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Known").field("mark", &(self.mark)()).finish_non_exhaustive()
    }
}
