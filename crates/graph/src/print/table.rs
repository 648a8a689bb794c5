use mip_core::text::padded;

/// Lays rows out in columns, two blanks apart and two in; nothing behind the last word of a line.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|r| r.get(column)).map(|c| c.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|c| width(c).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("  {}", padded(cell, width)));
        let line: String = cells.collect();
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
