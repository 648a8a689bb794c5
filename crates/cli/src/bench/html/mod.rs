//! Results as one page that opens without a network.

mod bars;
mod distribution;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::compare::Comparison;
use super::document::{Document, Mode, Row};
use super::text::{micros, share};

const STYLE: &str = include_str!("style.css");

/// The whole page.
pub(crate) fn render(document: &Document, comparison: Option<&Comparison>) -> String {
    let e = &document.environment;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "mip bench: " (e.device_name) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "mip bench" }
                dl {
                    dt { "device" } dd { (e.device_name) }
                    @if let Some(driver) = &e.driver { dt { "driver" } dd { (driver) } }
                    @if let Some(nvrtc) = &e.nvrtc { dt { "NVRTC" } dd { (nvrtc) } }
                    dt { "host" } dd { (e.host) }
                    dt { "mip" } dd { (e.version) " at " (e.commit) }
                    dt { "date" } dd { (e.date) }
                }
                p.meaning {
                    "Times are for one frame. " b { "Bars" } ": executions one after the other, "
                    (document.timed.in_flight) " under way at once, images on the device; the thin line is how far the \
                     median wandered. The dashed line is the " b { "floor" } ": inputs read once and outputs written \
                     once at the rate of a copy measured in the same run. " b { "Curves" } ": single executions, from \
                     submission until the host knows that they are done; how many of them took at most so long."
                }
                @if let Some(problem) = &document.timed.copy_problem {
                    p.meaning { "No floor: copies could not be measured (" (problem) ")." }
                }
                @for case in document.cases() { (section(case)) }
                @for failed in &document.failures {
                    p.failed { (failed.workload) ", batch " (failed.batch) ": " (failed.error) }
                }
                @if let Some(comparison) = comparison { (changes(comparison)) }
            }
        }
    };
    page.into_string()
}

/// One workload at one batch.
fn section(case: &[Row]) -> Markup {
    let Some(first) = case.first() else { return html! {} };
    html! {
        section {
            h2 { (first.workload) ", batch " (first.batch) }
            div.plots { (bars::bars(case)) (distribution::distribution(case)) }
            table {
                thead { tr {
                    th { "mode" } th { "us/frame" } th { "speed" } th { "alone p50" } th { "p99" }
                    th { "with copies" } th { "launches" } th { "waits" } th { "GB/s" } th { "of copy" }
                    th { "first run" } th { "warm" } th { "driver allocations" } th { "peak MiB" }
                } }
                tbody { @for row in case { (line(row, first)) } }
            }
        }
    }
}

fn line(row: &Row, first: &Row) -> Markup {
    html! { tr {
        td { span.dot style=(format!("background:{}", colour(row.mode))) {} (row.mode.name()) }
        td { (micros(row.median_us)) }
        td { (format!("{:.2}x", first.median_us / row.median_us)) }
        td { (micros(row.p50_us)) }
        td { (micros(row.p99_us)) }
        td { (row.with_copies_us.map_or_else(|| "-".to_owned(), micros)) }
        td { (row.launches) }
        td { (row.waits) }
        td { (format!("{:.1}", row.gb_per_s)) }
        td { (share(row.copy_fraction)) }
        td { (format!("{:.1} ms", row.first_run_ms)) }
        td { (format!("{:.1} ms", row.warm_first_run_ms)) }
        td { (row.driver_allocations) }
        td { (format!("{:.1}", row.peak_device_bytes as f64 / f64::from(1 << 20))) }
    } }
}

fn changes(comparison: &Comparison) -> Markup {
    html! {
        section {
            h2 { "Against the older run" }
            @for warning in &comparison.warnings { p.failed { "Beware: " (warning) } }
            table {
                thead { tr { th { "workload" } th { "batch" } th { "mode" } th { "before" } th { "now" } th { "change" } th {} } }
                tbody { @for c in &comparison.changes { tr {
                    td { (c.workload) } td { (c.batch) } td { (c.mode.name()) }
                    td { (micros(c.old_us)) } td { (micros(c.new_us)) }
                    td { (format!("{:+.1}% ({:+.1} to {:+.1})", c.percent, c.low_percent, c.high_percent)) }
                    td { (c.outcome.name()) }
                } } }
            }
        }
    }
}

/// One for each mode, the same in all plots; told apart by lightness too.
const fn colour(mode: Mode) -> &'static str {
    match (mode.replay, mode.fused) {
        (false, false) => "#9aa5b1",
        (false, true) => "#2f7ed8",
        (true, false) => "#e0a030",
        (true, true) => "#1b9e5a",
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{document, row};
    use super::*;

    #[test]
    fn the_page_escapes_names_and_draws_bars_floor_and_curves() {
        let rows = Mode::ALL.map(|mode| row("<w1> & co", mode, 1)).to_vec();
        let page = render(&document(rows), None);
        assert!(page.contains("&lt;w1&gt; &amp; co") && !page.contains("<w1>"));
        assert_eq!(page.matches("class=\"bar\"").count(), 4);
        assert_eq!(page.matches("class=\"floor\"").count(), 1);
        assert_eq!(page.matches("<polyline").count(), 4);
    }

    #[test]
    fn without_a_copy_rate_there_is_no_floor() {
        let mut row = row("w1", Mode::ALL[0], 1);
        (row.copy_gb_per_s, row.copy_fraction, row.floor_us) = (None, None, None);
        assert_eq!(render(&document(vec![row]), None).matches("class=\"floor\"").count(), 0);
    }
}
