use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use super::ledger::{Ledger, Suspect, has_passed};

/// Which launch a fault of the device came from.
///
/// The driver tells a fault to whoever asks next, and nothing about whose it was. But each stream marks the end of
/// each launch in the host's memory, and events say what waited for what: of all launches, those that had begun and not
/// ended may have caused it. If there is one, it did.
#[derive(Debug, Default)]
pub(super) struct Streams {
    known: Mutex<Vec<Known>>,
    blame: OnceLock<Blame>,
}

type ReadMark = Box<dyn Fn() -> Option<u32> + Send + Sync>;

struct Known {
    ledger: Weak<Ledger>,
    mark: ReadMark,
}

/// Who may have caused a fault.
#[derive(Debug, Default)]
pub(super) struct Blame {
    /// With the stream's ledger.
    suspects: Vec<(Weak<Ledger>, Suspect)>,
}

impl Streams {
    /// Watches a stream; `mark` reads how far it is, if it has a mark.
    pub(super) fn add(&self, ledger: &Arc<Ledger>, mark: impl Fn() -> Option<u32> + Send + Sync + 'static) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|known| known.ledger.strong_count() > 0);
        known.push(Known { ledger: Arc::downgrade(ledger), mark: Box::new(mark) });
    }

    /// Who may have caused the fault that the device is lost to. Found when first asked, before anything that the
    /// fault took with it is settled.
    pub(super) fn blame(&self) -> &Blame {
        self.blame.get_or_init(|| {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let mark_of = |ledger: &Arc<Ledger>| {
                let of = known.iter().find(|known| std::ptr::eq(known.ledger.as_ptr(), &raw const **ledger));
                of.and_then(|known| (known.mark)())
            };
            let suspects_of = |known: &Known| {
                let ledger = known.ledger.upgrade()?;
                let suspects = ledger.suspects((known.mark)(), mark_of);
                Some(suspects.into_iter().map(|suspect| (known.ledger.clone(), suspect)).collect::<Vec<_>>())
            };
            Blame { suspects: known.iter().filter_map(suspects_of).flatten().collect() }
        })
    }
}

impl Blame {
    /// The kernels of the launch that did it, if it can have been only one.
    pub(super) fn culprit(&self) -> Option<&str> {
        match &self.suspects[..] {
            [(_, suspect)] if !suspect.replayed => Some(&suspect.kernel),
            _ => None,
        }
    }

    /// Whether the one that did it is the launch before a position of a ledger.
    pub(super) fn is_on(&self, ledger: &Ledger, end: u64) -> bool {
        let on = |(of, suspect): &(Weak<Ledger>, Suspect)| {
            std::ptr::eq(of.as_ptr(), &raw const *ledger) && suspect.end == end
        };
        self.culprit().is_some() && self.suspects.iter().any(on)
    }

    /// Where it happened, for an error's text; empty when nothing is known.
    pub(super) fn place(&self) -> String {
        const MOST: usize = 8;
        if let Some(kernel) = self.culprit() {
            return format!(" in kernel '{kernel}'");
        }
        let quoted = |(_, suspect): &(Weak<Ledger>, Suspect)| format!("'{}'", suspect.kernel);
        let mut names: Vec<_> = self.suspects.iter().take(MOST).map(quoted).collect();
        if names.is_empty() {
            return String::new();
        }
        if self.suspects.len() > MOST {
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
