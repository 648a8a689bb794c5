//! Profiles as Chrome's trace events, which Perfetto reads too.

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

use super::probe::text;
use super::profile::{Place, Profile, Span};

/// Process that holds the host's threads.
const HOST: u32 = 1;
/// Process that holds the streams.
const DEVICE: u32 = 2;

/// An event of the format. Times are microseconds.
#[derive(Serialize)]
struct Event<'a, A: Serialize> {
    name: &'a str,
    cat: &'a str,
    ph: &'a str,
    pid: u32,
    tid: usize,
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    /// Flows: an arrow ends at the span around its time. Instants: how far they reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<A>,
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct Sorted {
    sort_index: usize,
}

/// What is shown beside a span.
#[derive(Serialize)]
struct Details<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waited_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gb_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<usize>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    tasks: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    reads: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    writes: &'a [String],
}

fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

impl Profile {
    /// Writes the profile in Chrome's trace event format, for [Perfetto](https://ui.perfetto.dev) or
    /// `chrome://tracing`: one process for the host with a row for each thread, one for the device with a row
    /// for each stream; arrows lead from where a command was queued to where it ran.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write_chrome_trace(&self, to: impl Write) -> io::Result<()> {
        let mut trace = Trace { to, first: true };
        write!(trace.to, "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
        self.write_rows(&mut trace)?;
        for span in &self.spans {
            self.write_span(&mut trace, span)?;
        }
        for mark in &self.marks {
            let (pid, tid) = self.place(mark.row);
            trace
                .event(&Event::<()> { s: Some("p"), ..event(&mark.name, "mark", "i", pid, tid, mark.at) })?;
        }
        writeln!(trace.to, "\n]}}")?;
        trace.to.flush()
    }

    fn write_rows(&self, trace: &mut Trace<impl Write>) -> io::Result<()> {
        let zero = Duration::ZERO;
        for (pid, name) in [(HOST, "host"), (DEVICE, self.device.as_str())] {
            let of_process = |name| event(name, "", "M", pid, 0, zero);
            trace.event(&Event { args: Some(Named { name }), ..of_process("process_name") })?;
        }
        for (index, row) in self.rows.iter().enumerate() {
            let (pid, tid) = self.place(index);
            let args = Some(Named { name: &row.name });
            trace.event(&Event { args, ..event("thread_name", "", "M", pid, tid, zero) })?;
            let args = Some(Sorted { sort_index: index });
            trace.event(&Event { args, ..event("thread_sort_index", "", "M", pid, tid, zero) })?;
        }
        Ok(())
    }

    fn write_span(&self, trace: &mut Trace<impl Write>, span: &Span) -> io::Result<()> {
        let (pid, tid) = self.place(span.row);
        let name = if span.kind.is_on_device() && span.work.as_ref().is_some_and(|w| !w.tasks.is_empty()) {
            span.name.to_string()
        } else {
            text(span.kind, &span.name)
        };
        let work = span.work.as_deref();
        let seconds = span.duration().as_secs_f64();
        let args = Details {
            run: span.run,
            waited_us: (!span.waited.is_zero()).then(|| micros(span.waited)),
            bytes: work.map(|work| work.bytes),
            gb_per_s: work.filter(|_| seconds > 0.0).map(|work| work.bytes as f64 / seconds / 1e9),
            batch: work.map(|work| work.batch),
            tasks: work.map_or(&[], |work| &work.tasks),
            reads: work.map_or(&[], |work| &work.reads),
            writes: work.map_or(&[], |work| &work.writes),
        };
        let (dur, category) = (Some(micros(span.duration())), span.kind.name());
        trace.event(&Event { dur, args: Some(args), ..event(&name, category, "X", pid, tid, span.begin) })?;
        let Some(flow) = span.flow else { return Ok(()) };
        let arrow = |ph, bp| {
            let at = event::<()>("queued", "flow", ph, pid, tid, span.begin);
            Event { id: Some(flow), bp, ..at }
        };
        trace.event(&if span.kind.is_on_device() { arrow("f", Some("e")) } else { arrow("s", None) })
    }

    /// Process and thread of a row.
    fn place(&self, row: usize) -> (u32, usize) {
        let process = match self.rows[row].place {
            Place::Thread(_) => HOST,
            Place::Stream { .. } => DEVICE,
        };
        (process, row + 1)
    }
}

fn event<'a, A: Serialize>(
    name: &'a str,
    cat: &'a str,
    ph: &'a str,
    pid: u32,
    tid: usize,
    at: Duration,
) -> Event<'a, A> {
    Event { name, cat, ph, pid, tid, ts: micros(at), dur: None, id: None, bp: None, s: None, args: None }
}

struct Trace<W> {
    to: W,
    first: bool,
}

impl<W: Write> Trace<W> {
    fn event(&mut self, event: &impl Serialize) -> io::Result<()> {
        self.to.write_all(if self.first { b"\n" } else { b",\n" })?;
        self.first = false;
        Ok(serde_json::to_writer(&mut self.to, event)?)
    }
}
