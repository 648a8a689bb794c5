//! Numbers as text.

/// Three or more significant digits.
pub(crate) fn micros(value: f64) -> String {
    match value {
        v if v < 10.0 => format!("{v:.2}"),
        v if v < 1000.0 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

/// Percent, if known.
pub(crate) fn share(fraction: Option<f64>) -> String {
    fraction.map_or_else(|| "-".to_owned(), |f| format!("{:.1}%", f * 100.0))
}
