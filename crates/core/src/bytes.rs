/// A number of bytes for a person: `7 bytes`, `1.50 GiB`.
pub fn byte_text(bytes: usize) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let unit = (bytes.max(1).ilog2() / 10) as usize;
    match unit.checked_sub(1).and_then(|unit| UNITS.get(unit)) {
        None => format!("{bytes} byte{}", if bytes == 1 { "" } else { "s" }),
        Some(name) => format!("{:.2} {name}", bytes as f64 / (1_u64 << (10 * unit)) as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_follow_the_size() {
        let text = [0, 1, 1023, 1024, 3 << 29, usize::MAX].map(byte_text);
        assert_eq!(text, ["0 bytes", "1 byte", "1023 bytes", "1.00 KiB", "1.50 GiB", "16.00 EiB"]);
    }
}
