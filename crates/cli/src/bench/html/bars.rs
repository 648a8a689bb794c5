use maud::{Markup, html};

use super::super::document::Row;
use super::super::text::{micros, share};
use super::colour;

const WIDTH: f64 = 560.0;
const LEFT: f64 = 120.0;
/// For the numbers behind the longest bar.
const RIGHT: f64 = 165.0;
const STEP: f64 = 30.0;
const BAR: f64 = 18.0;
const TOP: f64 = 24.0;

/// Time a frame of each mode, beside the floor.
pub(super) fn bars(case: &[Row]) -> Markup {
    let longest = case.iter().map(|row| row.median_high_us).fold(f64::MIN_POSITIVE, f64::max);
    let x = |value: f64| LEFT + value / longest * (WIDTH - LEFT - RIGHT);
    let height = TOP + STEP * case.len() as f64 + 8.0;
    let floor = case.first().and_then(|row| row.floor_us);
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label="time a frame of each mode" {
            @for (index, row) in case.iter().enumerate() {
                @let y = TOP + STEP * index as f64;
                @let middle = y + BAR / 2.0;
                text.name x=(LEFT - 8.0) y=(middle + 4.0) { (row.mode.name()) }
                rect.bar x=(LEFT) y=(y) width=(format!("{:.1}", x(row.median_us) - LEFT)) height=(BAR)
                    fill=(colour(row.mode)) {}
                path.noise d=(format!("M{:.1} {middle}H{:.1}", x(row.median_low_us), x(row.median_high_us))) {}
                text.value x=(format!("{:.1}", x(row.median_high_us) + 6.0)) y=(middle + 4.0) {
                    (micros(row.median_us)) " us, " (share(row.copy_fraction)) " of copy"
                }
            }
            @if let Some(floor) = floor {
                path.floor d=(format!("M{:.1} {:.1}V{:.1}", x(floor), TOP - 6.0, height - 4.0)) {}
                text.mark x=(format!("{:.1}", x(floor))) y=(TOP - 10.0) { "floor " (micros(floor)) " us" }
            }
        }
    }
}
