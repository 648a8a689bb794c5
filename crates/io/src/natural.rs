use std::cmp::Ordering;

/// The order people expect of file names: runs of digits compare as numbers (`frame9` before `frame10`),
/// everything else by character. Names that differ only in leading zeros compare as text.
pub(crate) fn compare(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let (Some(l), Some(r)) = (left.chars().next(), right.chars().next()) else {
            return left.len().cmp(&right.len()).then_with(|| a.cmp(b));
        };
        let order = if l.is_ascii_digit() && r.is_ascii_digit() {
            let (x, y) = (take_number(&mut left), take_number(&mut right));
            x.len().cmp(&y.len()).then_with(|| x.cmp(y))
        } else {
            left = &left[l.len_utf8()..];
            right = &right[r.len_utf8()..];
            l.cmp(&r)
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// Takes the leading digits, without their leading zeros.
fn take_number<'a>(text: &mut &'a str) -> &'a str {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    *text = rest;
    number.trim_start_matches('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_as_numbers() {
        let mut names =
            ["f10.png", "f9.png", "f09.png", "f1.png", "a", "f", "f1a", "é2", "f100000000000000000000"];
        names.sort_by(|a, b| compare(a, b));
        assert_eq!(
            names,
            ["a", "f", "f1.png", "f1a", "f09.png", "f9.png", "f10.png", "f100000000000000000000", "é2"]
        );
    }

    #[test]
    fn it_is_a_total_order() {
        let names = ["", "0", "00", "1", "01", "a1b", "a01b", "a1c", "a", "b"];
        for a in names {
            for b in names {
                assert_eq!(compare(a, b), compare(b, a).reverse());
                assert_eq!(compare(a, b).is_eq(), a == b);
            }
        }
    }
}
