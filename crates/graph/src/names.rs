use crate::GraphError;

/// Bytes of a task's, an input's or a pipeline's name: results are files named after tasks, and 255 bytes is what
/// file systems hold.
pub(crate) const LONGEST_NAME: usize = 200;

/// Names that a message lists.
const LISTED: usize = 20;

/// Checks a task's or input's name: a letter or `_`, then letters, digits, `_` and `-`, in all not too many.
pub(crate) fn check_name(what: &'static str, name: &str) -> Result<(), GraphError> {
    check_length(what, name)?;
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if first && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
        return Ok(());
    }
    Err(GraphError::Name { what, given: name.to_owned() })
}

/// Checks the length of a name.
pub(crate) fn check_length(what: &'static str, name: &str) -> Result<(), GraphError> {
    if name.len() <= LONGEST_NAME {
        return Ok(());
    }
    Err(GraphError::LongName { what, given: name.to_owned(), max: LONGEST_NAME })
}

/// Names for an error message: `a, b, c`, or `none`; of many, the first few and how many there are.
pub(crate) fn list(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut joined = String::new();
    let mut names = names.into_iter();
    for name in names.by_ref().take(LISTED) {
        if !joined.is_empty() {
            joined.push_str(", ");
        }
        joined.push_str(name.as_ref());
    }
    match names.count() {
        0 => {}
        more => joined.extend([" and ", &more.to_string(), " more"]),
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
        assert!(check_name("task", &"a".repeat(LONGEST_NAME)).is_ok());
        let long = check_name("a task", &"a".repeat(65_536)).unwrap_err().to_string();
        assert!(long.contains("65536 bytes") && long.contains("at most 200") && long.len() < 400, "{long}");
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(list(["a", "b"]), "a, b");
        let many = list((0..500).map(|i| format!("t{i}")));
        assert!(many.ends_with("t18, t19 and 480 more"), "{many}");
    }
}
