use std::fmt::{self, Write as _};

use mini_image_pipe::profiling::{Kind, Summary};
use mip_core::text;

use super::report::Stream;
use super::{FileRow, Report};

/// A time in the unit that suits it.
pub(super) struct Time(pub(super) f64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            us if us < 1e3 => format!("{us:.1} us"),
            us if us < 1e6 => format!("{:.2} ms", us / 1e3),
            us => format!("{:.2} s", us / 1e6),
        };
        f.pad(&text)
    }
}

fn percent(part: f64, whole: f64) -> String {
    format!("{:.1} %", if whole > 0.0 { part / whole * 100.0 } else { 0.0 })
}

fn bytes(bytes: u64) -> String {
    match bytes as f64 {
        b if b < 1e3 => format!("{b} B"),
        b if b < 1e6 => format!("{:.1} kB", b / 1e3),
        b if b < 1e9 => format!("{:.2} MB", b / 1e6),
        b => format!("{:.2} GB", b / 1e9),
    }
}

/// The report for people.
pub(crate) fn render(report: &Report) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, report);
    text
}

fn write(to: &mut String, report: &Report) -> fmt::Result {
    let shapes: Vec<&str> = report.inputs.iter().map(|input| input.shape.as_str()).collect();
    let what = match (&report.stream, report.batch) {
        (Some(stream), _) => format!("frames, {} in flight", stream.frames_in_flight),
        (None, 1) => "runs".to_owned(),
        (None, batch) => format!("runs of {batch} frames"),
    };
    let graph = if report.graph { ", replayed" } else { "" };
    writeln!(to, "{}: {} {what}{graph}, {}", report.device_name, report.repeat, shapes.join(", "))?;
    let noun = if report.stream.is_some() { "frame" } else { "run" };
    let (time, plain) = (Time(report.us_per_run), Time(report.unprofiled_us_per_run));
    writeln!(to, "{plain} a {noun}; {time} while profiled")?;
    preparation(to, &report.preparation)?;
    tables(to, &report.summary)?;
    if let Some(stream) = &report.stream {
        against_stages(to, stream, &report.summary)?;
    }
    files(to, &report.files)?;
    for (mark, count) in &report.summary.marks {
        writeln!(to, "{mark} ({count} x)")?;
    }
    match report.summary.dropped {
        0 => Ok(()),
        dropped => writeln!(to, "{dropped} spans are missing: beyond what a profile holds, or not timed"),
    }
}

/// What tasks, streams and the host did.
pub(super) fn tables(to: &mut String, summary: &Summary) -> fmt::Result {
    tasks(to, summary)?;
    streams(to, summary)?;
    host(to, summary)
}

fn preparation(to: &mut String, before: &Summary) -> fmt::Result {
    let spent = |kind: Kind| before.host.iter().find(|row| row.kind == kind);
    let mut parts = Vec::new();
    if let Some(plan) = spent(Kind::Plan) {
        parts.push(format!("planning {}", Time(plan.total_us)));
    }
    if let Some(capture) = spent(Kind::Capture) {
        parts.push(format!("capturing {}", Time(capture.total_us)));
    }
    if parts.is_empty() { Ok(()) } else { writeln!(to, "before that: {}", parts.join(", ")) }
}

fn tasks(to: &mut String, summary: &Summary) -> fmt::Result {
    let width = summary.tasks.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).clamp(4, 60);
    writeln!(
        to,
        "\n{:9} {:width$} {:>7} {:>10} {:>10} {:>10} {:>8} {:>10} {:>8}",
        "on device", "", "count", "total", "mean", "median", "share", "bytes", "GB/s"
    )?;
    for row in &summary.tasks {
        let share = if row.kind == Kind::Graph { "(whole)".to_owned() } else { percent(row.share, 1.0) };
        writeln!(
            to,
            "{:9} {:width$} {:>7} {:>10} {:>10} {:>10} {share:>8} {:>10} {:>8.1}",
            row.kind.name(),
            row.name,
            row.count,
            Time(row.total_us),
            Time(row.mean_us),
            Time(row.median_us),
            bytes(row.bytes),
            row.gb_per_s,
        )?;
    }
    writeln!(to, "bytes: to be moved at least, each input once and each output once")
}

fn streams(to: &mut String, summary: &Summary) -> fmt::Result {
    writeln!(
        to,
        "\n{:24} {:>8} {:>10} {:>10} {:>8} {:>20}",
        "stream", "commands", "busy", "waiting", "busy", "with others busy too"
    )?;
    for row in &summary.streams {
        writeln!(
            to,
            "{:24} {:>8} {:>10} {:>10} {:>8} {:>20}",
            row.name,
            row.spans,
            Time(row.busy_us),
            Time(row.waiting_us),
            percent(row.busy_us, row.busy_us + row.waiting_us),
            Time(row.overlap_us),
        )?;
    }
    Ok(())
}

fn host(to: &mut String, summary: &Summary) -> fmt::Result {
    writeln!(to, "\n{:9} {:>7} {:>10} {:>10} {:>10}", "on host", "count", "total", "mean", "median")?;
    // Files have a table of their own.
    for row in summary.host.iter().filter(|row| !row.kind.is_of_files()) {
        writeln!(
            to,
            "{:9} {:>7} {:>10} {:>10} {:>10}",
            row.kind.name(),
            row.count,
            Time(row.total_us),
            Time(row.mean_us),
            Time(row.median_us)
        )?;
    }
    let submit = summary.host.iter().find(|row| row.kind == Kind::Submit).map_or(0.0, |row| row.total_us);
    writeln!(
        to,
        "of {}: the device was busy {}, the host submitting {}",
        Time(summary.elapsed_us),
        percent(summary.device_busy_us, summary.elapsed_us),
        percent(submit, summary.elapsed_us)
    )
}

/// What is around executions in `mip run`, each on one thread.
fn files(to: &mut String, rows: &[FileRow]) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = rows.iter().map(|row| text::one_line(&row.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).clamp(4, 60);
    writeln!(to, "\n{:9} {:width$} {:6} {:>10} {:>10}", "files", "", "format", "bytes", "median")?;
    for (row, name) in rows.iter().zip(names) {
        let FileRow { step, format, .. } = row;
        let (size, time) = (bytes(row.bytes as u64), Time(row.median_us));
        writeln!(to, "{step:9} {name:width$} {format:6} {size:>10} {time:>10}")?;
    }
    Ok(())
}

fn against_stages(to: &mut String, stream: &Stream, summary: &Summary) -> fmt::Result {
    let alone: Vec<String> =
        stream.alone.iter().map(|row| format!("{} {}", row.stage.name(), Time(row.median_us))).collect();
    writeln!(to, "\na frame alone: {}", alone.join(", "))?;
    if let (Some(slowest), Some(ratio)) = (&stream.slowest, stream.ratio) {
        let frame = Time(stream.us_per_frame);
        writeln!(
            to,
            "a frame of the stream: {frame}, {ratio:.3} x its slowest stage ({})",
            slowest.stage.name()
        )?;
    }
    let overlap = summary.overlap;
    writeln!(
        to,
        "of {}: two stages under way together {}, all three {}",
        Time(summary.elapsed_us),
        percent(overlap.two_us, summary.elapsed_us),
        percent(overlap.three_us, summary.elapsed_us)
    )
}
