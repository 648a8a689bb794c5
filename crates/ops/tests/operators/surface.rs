//! What users write in files, as one page: a change of a name, a range or a default shows in review.

use std::fmt::Write as _;

use mip_ops::{Change, operators};

#[test]
fn names_ranges_and_defaults() {
    let mut page = String::new();
    for spec in operators() {
        writeln!(page, "{}({}): {}", spec.name, spec.inputs.join(", "), spec.summary).unwrap();
        for param in spec.params {
            let default = match (param.required, param.default) {
                (true, _) => "required",
                (false, default) => default.unwrap_or("optional"),
            };
            let change = if param.change == Change::Uniform { "uniform" } else { "structural" };
            writeln!(page, "  {} [{default}, {change}]: {}", param.name, param.kind).unwrap();
        }
    }
    insta::assert_snapshot!(page);
}
