use maud::{Markup, html};

use super::super::document::Row;
use super::super::text::micros;
use super::colour;

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 152.0;
const LEFT: f64 = 36.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 26.0;
/// Drawn up to this percentile: one outlier would squeeze all else.
const LAST: usize = 99;

/// For each mode, how many single executions took at most so long.
pub(super) fn distribution(case: &[Row]) -> Markup {
    let drawn = |row: &Row| row.percentiles_us.iter().take(LAST + 1).copied().collect::<Vec<f64>>();
    let all: Vec<f64> = case.iter().flat_map(drawn).collect();
    let (low, high) = all.iter().fold((f64::MAX, 0.0_f64), |(low, high), &v| (low.min(v), high.max(v)));
    if all.is_empty() {
        return html! {};
    }
    let span = (high - low).max(high * 0.01).max(f64::MIN_POSITIVE);
    let x = |value: f64| LEFT + (value - low) / span * (WIDTH - LEFT - RIGHT);
    let y = |percent: f64| TOP + (1.0 - percent / 100.0) * (HEIGHT - TOP - BOTTOM);
    let curve = |row: &Row| {
        let points = drawn(row).into_iter().enumerate();
        points.map(|(p, v)| format!("{:.1},{:.1}", x(v), y(p as f64))).collect::<Vec<_>>().join(" ")
    };
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label="distribution of single executions" {
            @for percent in [0.0, 50.0, 99.0] {
                path.grid d=(format!("M{LEFT} {:.1}H{:.1}", y(percent), WIDTH - RIGHT)) {}
                text.name x=(LEFT - 6.0) y=(format!("{:.1}", y(percent) + 4.0)) { (percent) "%" }
            }
            @for (value, anchor) in [(low, "start"), (low + span / 2.0, "middle"), (low + span, "end")] {
                text.tick x=(format!("{:.1}", x(value))) y=(HEIGHT - 8.0) text-anchor=(anchor) { (micros(value)) " us" }
            }
            @for row in case { polyline points=(curve(row)) stroke=(colour(row.mode)) {} }
        }
    }
}
