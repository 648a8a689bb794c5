use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::super::Kind;

/// What happened while a profile was recorded. Times are distances from the start of the recording.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    /// The device.
    pub device: String,
    /// What spans lie on: the host's threads, then the streams.
    pub rows: Vec<Row>,
    /// In the order of their begin; of those that begin together, the longest first.
    pub spans: Vec<Span>,
    /// In order.
    pub marks: Vec<Mark>,
    /// Spans that are missing: beyond the most that a profile holds, or their times could not be taken.
    pub dropped: u64,
}

/// A line of the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What it is.
    pub place: Place,
    /// For people.
    pub name: String,
}

/// What a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A thread of the host, numbered as they were first seen.
    Thread(usize),
    /// A stream of a session. Sessions are numbered as they first ran.
    Stream {
        /// Number of the session.
        session: usize,
        /// Stream of its plan.
        stream: usize,
    },
}

/// A stretch of time in which something was going on.
#[derive(Debug, Clone)]
pub struct Span {
    /// Index into [`Profile::rows`].
    pub row: usize,
    /// What it tells of.
    pub kind: Kind,
    /// What it is about: a group's tasks, an input, an output.
    pub name: Arc<str>,
    /// When it began.
    pub begin: Duration,
    /// When it ended.
    pub end: Duration,
    /// Copies to and from a device with memory of its own: for how long the stream had got there while an earlier
    /// copy in the same direction was going on, which they share one connection with. Not within the span.
    pub waited: Duration,
    /// The run, counted by the recording's scheduler.
    pub run: Option<u64>,
    /// The same number on the command's span on the host and the one on its stream.
    pub flow: Option<u64>,
    /// What a command works on.
    pub work: Option<Arc<Work>>,
}

impl Span {
    /// How long it took.
    pub fn duration(&self) -> Duration {
        self.end.saturating_sub(self.begin)
    }
}

/// What a command works on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Work {
    /// The tasks computed, more than one where they were fused; none for copies.
    pub tasks: Vec<String>,
    /// Bytes that it has to move at least: each buffer that it reads or writes, padding left out. A copy's count once.
    pub bytes: u64,
    /// Shapes of what it reads.
    pub reads: Vec<String>,
    /// Shapes of what it writes.
    pub writes: Vec<String>,
    /// Frames at once.
    pub batch: usize,
}

/// Something that happened at one moment: why a captured graph was given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Index into [`Profile::rows`].
    pub row: usize,
    /// What.
    pub name: String,
    /// When.
    pub at: Duration,
}

impl Profile {
    /// The spans of a kind.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &Span> {
        self.spans.iter().filter(move |span| span.kind == kind)
    }

    /// Puts spans in order, drops rows without any, and takes out of copies the time in which another one had
    /// the connection, where copies are exclusive.
    pub(super) fn settle(mut self, exclusive_copies: bool) -> Self {
        if exclusive_copies {
            self.take_turns(Kind::Upload);
            self.take_turns(Kind::Download);
        }
        self.spans.sort_by_key(|span| (span.begin, std::cmp::Reverse(span.end)));
        self.marks.sort_by_key(|mark| mark.at);
        let used = |index: usize| {
            self.spans.iter().any(|span| span.row == index) || self.marks.iter().any(|mark| mark.row == index)
        };
        let mut order: Vec<usize> = (0..self.rows.len()).filter(|&index| used(index)).collect();
        order.sort_by_key(|&index| self.rows[index].place);
        let mut moved = vec![0; self.rows.len()];
        for (to, &from) in order.iter().enumerate() {
            moved[from] = to;
        }
        self.rows = order.iter().map(|&index| self.rows[index].clone()).collect();
        self.spans.iter_mut().for_each(|span| span.row = moved[span.row]);
        self.marks.iter_mut().for_each(|mark| mark.row = moved[mark.row]);
        self
    }

    /// A stream gets to a copy and takes the time; the copy itself begins when those before it in its direction
    /// have ended.
    fn take_turns(&mut self, kind: Kind) {
        let mut copies: Vec<&mut Span> = self.spans.iter_mut().filter(|span| span.kind == kind).collect();
        copies.sort_by_key(|span| span.end);
        let mut free = Duration::ZERO;
        for copy in copies {
            let begin = copy.begin.max(free.min(copy.end));
            copy.waited = begin.saturating_sub(copy.begin);
            copy.begin = begin;
            free = copy.end;
        }
    }
}
