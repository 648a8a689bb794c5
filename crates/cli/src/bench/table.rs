//! Results as a table for reading.

use mip_core::text::padded;

use super::compare::{Change, Comparison};
use super::document::{Document, Row};
use super::text::{micros, share};

const HEAD: [&str; 15] = [
    "workload",
    "batch",
    "mode",
    "us/frame",
    "noise",
    "speed",
    "alone p50",
    "p99",
    "w. copies",
    "launches",
    "waits",
    "GB/s",
    "of copy",
    "first ms",
    "allocs",
];

/// Header, a line for each measurement, what the columns mean.
pub(crate) fn render(document: &Document, comparison: Option<&Comparison>) -> Vec<String> {
    let environment = &document.environment;
    let mut lines = vec![format!(
        "{}, driver {}, mip {} at {}, {}",
        environment.device_name,
        environment.driver.as_deref().unwrap_or("none"),
        environment.version,
        environment.commit,
        environment.date
    )];
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    for case in document.cases() {
        rows.extend(case.iter().map(|row| cells(row, &case[0])));
    }
    lines.extend(aligned(&rows, 3));
    lines.extend(document.failures.iter().map(|f| format!("{} batch {}: {}", f.workload, f.batch, f.error)));
    lines.push(String::new());
    lines.extend(legend(document));
    if let Some(comparison) = comparison {
        lines.push(String::new());
        lines.extend(changes(comparison));
    }
    lines
}

fn cells(row: &Row, first: &Row) -> Vec<String> {
    vec![
        row.workload.clone(),
        row.batch.to_string(),
        row.mode.name().to_owned(),
        micros(row.median_us),
        format!("{:.0}%", row.center().noise_percent()),
        format!("{:.2}x", first.median_us / row.median_us),
        micros(row.p50_us),
        micros(row.p99_us),
        row.with_copies_us.map_or_else(|| "-".to_owned(), micros),
        count(row.launches),
        count(row.waits),
        micros(row.gb_per_s),
        share(row.copy_fraction),
        format!("{:.1}", row.first_run_ms),
        row.driver_allocations.to_string(),
    ]
}

fn legend(document: &Document) -> Vec<String> {
    let in_flight = document.timed.in_flight;
    let copies: Vec<f64> = document.results.iter().filter_map(|row| row.copy_gb_per_s).collect();
    let range = |pick: fn(f64, f64) -> f64| copies.iter().copied().reduce(pick).unwrap_or(0.0);
    let copy = match &document.timed.copy_problem {
        Some(problem) => format!("of copy    not measured: {problem}"),
        None => format!(
            "of copy    share of the rate of plain copies in the same run, {:.0} to {:.0} GB/s (read and written)",
            range(f64::min),
            range(f64::max)
        ),
    };
    let mut lines = vec![
        format!(
            "us/frame   images stay on the device; executions one after the other, {in_flight} under way at once; median"
        ),
        "noise      how far that median wandered while measuring".to_owned(),
        "speed      against the first mode of the workload".to_owned(),
        "alone      one execution, from submission until the host knows that it is done, divided by its frames".to_owned(),
        "w. copies  alone, from pinned host memory and back into it".to_owned(),
        "GB/s       inputs read once and outputs written once".to_owned(),
        copy,
        "first ms   from the pipeline's text to the first result, nothing compiled before".to_owned(),
        "allocs     allocations that reached the driver while it was measured".to_owned(),
    ];
    lines.extend(first_runs(document));
    lines
}

/// First run, warm first run, second run, peak memory: one line a workload and batch, of the mode that is last.
fn first_runs(document: &Document) -> Vec<String> {
    let mut rows = vec![
        [
            "workload",
            "batch",
            "plan",
            "compile+load",
            "execute",
            "from the disk cache",
            "second",
            "peak on the device",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for row in document.cases().filter_map(<[Row]>::last) {
        let [plan, load, execute] = row.first_run_parts_ms;
        let ms = |value: f64| format!("{value:.2} ms");
        rows.push(vec![
            row.workload.clone(),
            row.batch.to_string(),
            ms(plan),
            ms(load),
            ms(execute),
            ms(row.warm_first_run_ms),
            ms(row.second_run_ms),
            format!("{:.1} MiB", row.peak_device_bytes as f64 / f64::from(1 << 20)),
        ]);
    }
    let mut lines = vec![String::new(), "first runs, fused, from host memory to host memory".to_owned()];
    lines.extend(aligned(&rows, 1));
    lines
}

fn changes(comparison: &Comparison) -> Vec<String> {
    let mut lines = vec!["change of us/frame against the older run".to_owned()];
    lines.extend(comparison.warnings.iter().map(|warning| format!("  beware: {warning}")));
    let row = |c: &Change| {
        vec![
            c.workload.clone(),
            c.batch.to_string(),
            c.mode.name().to_owned(),
            format!("{} -> {}", micros(c.old_us), micros(c.new_us)),
            format!("{:+.1}%", c.percent),
            format!("({:+.1} to {:+.1}%)", c.low_percent, c.high_percent),
            c.outcome.name().to_owned(),
        ]
    };
    lines.extend(aligned(&comparison.changes.iter().map(row).collect::<Vec<_>>(), 3));
    if comparison.only_new + comparison.only_old > 0 {
        lines.push(format!(
            "  not compared: {} only in the new run, {} only in the old",
            comparison.only_new, comparison.only_old
        ));
    }
    lines
}

/// Whole numbers as such.
fn count(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// Columns of equal width: the first `left` to the left, the others to the right.
fn aligned(rows: &[Vec<String>], left: usize) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|r| r.get(column)).map(|c| c.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let cell = |(column, text): (usize, &String)| {
        let width = widths[column];
        // Only the columns to the left hold names.
        if column < left { padded(text, width) } else { format!("{text:>0$}", width.min(80)) }
    };
    let line = |row: &Vec<String>| row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ");
    rows.iter().map(|row| line(row).trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::compare::compare;
    use super::super::document::Mode;
    use super::super::testing::{document, row};
    use super::*;

    #[test]
    fn a_table_with_ratios_and_changes() {
        let [plain, fused, ..] = Mode::ALL;
        let old = document(vec![row("w1", plain, 1), row("w1", fused, 1)]);
        let mut new = old.clone();
        new.results[1].median_us = 25.0;
        (new.results[1].median_low_us, new.results[1].median_high_us) = (24.5, 26.25);
        let comparison = compare(&old, &new);
        let lines = render(&new, Some(&comparison));
        insta::assert_snapshot!(lines.join("\n"), @r"
        a device, driver 580.1, CUDA 13.0, mip 0.1.0 at 0123456789ab, 2026-01-02T03:04:05Z
        workload  batch  mode             us/frame  noise  speed  alone p50    p99  w. copies  launches  waits  GB/s  of copy  first ms  allocs
        w1        1      direct, unfused     100.0     3%  1.00x      110.0  150.0      400.0         4      0  71.4     2.5%     812.5       0
        w1        1      direct, fused        25.0     5%  4.00x      110.0  150.0      400.0         4      0  71.4     2.5%     812.5       0

        us/frame   images stay on the device; executions one after the other, 2 under way at once; median
        noise      how far that median wandered while measuring
        speed      against the first mode of the workload
        alone      one execution, from submission until the host knows that it is done, divided by its frames
        w. copies  alone, from pinned host memory and back into it
        GB/s       inputs read once and outputs written once
        of copy    share of the rate of plain copies in the same run, 2800 to 2800 GB/s (read and written)
        first ms   from the pipeline's text to the first result, nothing compiled before
        allocs     allocations that reached the driver while it was measured

        first runs, fused, from host memory to host memory
        workload  batch     plan  compile+load   execute  from the disk cache   second  peak on the device
        w1            1  0.50 ms     800.00 ms  12.00 ms             21.00 ms  0.60 ms            12.0 MiB

        change of us/frame against the older run
        w1  1  direct, unfused  100.0 -> 100.0   +0.0%    (-4.9 to +5.1%)  within the noise
        w1  1  direct, fused     100.0 -> 25.0  -75.0%  (-76.2 to -73.2%)            faster
        ");
    }
}
