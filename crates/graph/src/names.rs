use crate::GraphError;

/// Checks a task's or input's name: a letter or `_`, then letters, digits, `_` and `-`.
pub(crate) fn check_name(what: &'static str, name: &str) -> Result<(), GraphError> {
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if first && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
        return Ok(());
    }
    Err(GraphError::Name { what, given: name.to_owned() })
}

/// Names for an error message: `a, b, c`, or `none`.
pub(crate) fn list(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut joined = String::new();
    for name in names {
        if !joined.is_empty() {
            joined.push_str(", ");
        }
        joined.push_str(name.as_ref());
    }
    if joined.is_empty() { "none".to_owned() } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_files_and_lines_can_hold_are_taken_and_no_others() {
        for good in ["a", "_", "Soft-2", "gaussian_blur3"] {
            assert!(check_name("task", good).is_ok(), "{good}");
        }
        for bad in ["", "@input", "2nd", "-a", "a b", "a.b", "a!", "ü", "a\n"] {
            assert!(check_name("task", bad).is_err(), "{bad:?}");
        }
    }
}
