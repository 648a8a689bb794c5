use std::sync::Arc;
use std::time::Duration;

use mip_plan::GroupId;

use super::super::{Kind, Timed};
use super::labels::Labels;
use super::probe::{HostSpan, Open};
use super::profile::Span;
use super::profiler::Profiler;
use crate::LoadedPlan;
use crate::device::{Command, Timestamp};
use crate::scheduler::GroupTimestamps;

/// A run as its profile sees it: which timestamps are to be read when it has ended.
#[derive(Debug, Default)]
pub(crate) struct RunProbe(Option<Box<Running>>);

#[derive(Debug)]
struct Running {
    profiler: Arc<Profiler>,
    labels: Arc<Labels>,
    run: u64,
    /// By stream.
    rows: Vec<usize>,
    pending: Vec<Pending>,
}

#[derive(Debug)]
struct Pending {
    row: usize,
    what: Timed,
    flow: Option<u64>,
    begin: Arc<dyn Timestamp>,
    end: Arc<dyn Timestamp>,
}

/// A command that is being queued between its timestamps.
#[derive(Debug)]
pub(crate) struct TimedCommand {
    pending: Pending,
    profiler: Arc<Profiler>,
    kind: Kind,
    name: Arc<str>,
    run: u64,
}

impl TimedCommand {
    /// To be queued before and after it.
    pub(crate) fn timestamps(&self) -> [Command; 2] {
        [&self.pending.begin, &self.pending.end].map(|timestamp| Command::Timestamp(timestamp.clone()))
    }

    /// The host's part.
    pub(crate) fn host_span(&self) -> HostSpan {
        let mut open = Open::new(&self.profiler, self.kind, self.name.clone());
        (open.run, open.flow) = (Some(self.run), self.pending.flow);
        HostSpan::of(open)
    }
}

impl RunProbe {
    pub(super) fn new(profiler: &Arc<Profiler>, loaded: &LoadedPlan) -> Self {
        Self(Some(Box::new(Running {
            profiler: profiler.clone(),
            labels: loaded.labels.get(loaded.plan()),
            run: profiler.next_run(),
            rows: profiler.rows_of(&loaded.streams),
            pending: Vec::new(),
        })))
    }

    #[inline]
    pub(crate) const fn is_recording(&self) -> bool {
        self.0.is_some()
    }

    /// A span of the host's time within this run.
    #[inline]
    pub(crate) fn span(&self, kind: Kind, name: &str) -> HostSpan {
        self.0.as_ref().map_or_else(HostSpan::none, |running| running.span(kind, name))
    }

    /// Timestamps for a command that is about to be queued on a stream.
    pub(crate) fn begin(&mut self, loaded: &LoadedPlan, stream: usize, what: Timed) -> Option<TimedCommand> {
        self.0.as_ref().map(|running| running.begin(loaded, stream, what))?
    }

    /// The command has been queued, and its timestamps.
    pub(crate) fn end(&mut self, command: TimedCommand) {
        if let Some(running) = &mut self.0 {
            running.pending.push(command.pending);
        }
    }

    /// A graph was queued that has timestamps of its own.
    pub(crate) fn replayed(&mut self, loaded: &LoadedPlan, timestamps: &[GroupTimestamps]) {
        let Some(running) = &mut self.0 else { return };
        for timestamps in timestamps {
            let stream = loaded.plan().groups[timestamps.group].stream as usize;
            let (begin, end) = (timestamps.begin.clone(), timestamps.end.clone());
            let what = Timed::Group(timestamps.group);
            running.pending.push(Pending { row: running.rows[stream], what, flow: None, begin, end });
        }
    }

    /// All streams have been waited for. Groups that did not run have no span.
    #[inline]
    pub(crate) fn finish(&mut self, ran: impl Fn(GroupId) -> bool) {
        if let Some(running) = &mut self.0 {
            running.finish(ran);
        }
    }
}

impl Running {
    #[cold]
    fn span(&self, kind: Kind, name: &str) -> HostSpan {
        let mut open = Open::new(&self.profiler, kind, name.into());
        open.run = Some(self.run);
        HostSpan::of(open)
    }

    fn begin(&self, loaded: &LoadedPlan, stream: usize, what: Timed) -> Option<TimedCommand> {
        let flow = self.profiler.next_flow();
        let kind = if what == Timed::Graph { Kind::Replay } else { Kind::Queue };
        let label = self.labels.of(what);
        let queue = &loaded.streams[stream];
        let timestamps = queue.create_timestamp().and_then(|begin| Ok((begin, queue.create_timestamp()?)));
        let Ok((begin, end)) = timestamps else {
            self.profiler.drop_one();
            return None;
        };
        let name: Arc<str> = match what {
            Timed::Upload(_) => format!("upload {}", label.name).into(),
            Timed::Group(_) => format!("launch {}", label.name).into(),
            Timed::Download(_) => format!("download {}", label.name).into(),
            Timed::Graph => "".into(),
        };
        let pending = Pending { row: self.rows[stream], what, flow: Some(flow), begin, end };
        let profiler = self.profiler.clone();
        Some(TimedCommand { pending, profiler, kind, name, run: self.run })
    }

    #[cold]
    fn finish(&mut self, ran: impl Fn(GroupId) -> bool) {
        for pending in std::mem::take(&mut self.pending) {
            if !matches!(pending.what, Timed::Group(group) if !ran(group)) {
                self.read(&pending);
            }
        }
    }

    fn read(&self, pending: &Pending) {
        let times = pending.begin.time().and_then(|begin| Ok((begin, pending.end.time()?)));
        let Ok((Some(begin), Some(end))) = times else {
            self.profiler.drop_one();
            return;
        };
        let label = self.labels.of(pending.what);
        self.profiler.add(Span {
            row: pending.row,
            kind: match pending.what {
                Timed::Upload(_) => Kind::Upload,
                Timed::Group(_) => Kind::Compute,
                Timed::Download(_) => Kind::Download,
                Timed::Graph => Kind::Graph,
            },
            name: label.name.clone(),
            begin: self.profiler.since_start(begin),
            end: self.profiler.since_start(end),
            waited: Duration::ZERO,
            run: Some(self.run),
            flow: pending.flow,
            work: Some(label.work.clone()),
        });
    }
}
