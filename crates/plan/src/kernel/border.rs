use serde::{Deserialize, Serialize};

/// What a filter reads outside the image. The examples show a row `abcdef`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Border {
    /// `fedcb|abcdef|edcba`: mirrored without repeating the edge (period `2n-2`; `n = 1` gives index 0).
    #[default]
    Reflect101,
    /// `edcba|abcdef|fedcb`: mirrored with the edge repeated (period `2n`).
    Reflect,
    /// `aaaaa|abcdef|fffff`.
    Replicate,
    /// `bcdef|abcdef|abcde`.
    Wrap,
    /// The value, in sample units, in every channel.
    Constant(f32),
}

impl Border {
    /// The index inside `0..n` that stands for `i`, for any distance outside; `None` means the constant.
    ///
    /// # Panics
    /// When `n` is 0 (no image has a side of 0).
    pub const fn index(self, i: i64, n: u32) -> Option<u32> {
        let n = n as i64;
        if 0 <= i && i < n {
            return Some(i as u32);
        }
        let inside = match self {
            Self::Reflect101 => {
                let period = if n == 1 { 1 } else { 2 * n - 2 };
                let r = i.rem_euclid(period);
                if r < n { r } else { period - r }
            }
            Self::Reflect => {
                let r = i.rem_euclid(2 * n);
                if r < n { r } else { 2 * n - 1 - r }
            }
            Self::Replicate => {
                if i < 0 {
                    0
                } else {
                    n - 1
                }
            }
            Self::Wrap => i.rem_euclid(n),
            Self::Constant(_) => return None,
        };
        Some(inside as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(border: Border, n: u32) -> String {
        let letter = |i| border.index(i, n).map_or('.', |k| char::from(b'a' + k as u8));
        (-7..i64::from(n) + 7).map(letter).collect()
    }

    #[test]
    fn the_examples_in_the_documentation_are_true() {
        assert_eq!(row(Border::Reflect101, 6), "defedcb".to_owned() + "abcdef" + "edcbabc");
        assert_eq!(row(Border::Reflect, 6), "ffedcba".to_owned() + "abcdef" + "fedcbaa");
        assert_eq!(row(Border::Replicate, 6), "aaaaaaa".to_owned() + "abcdef" + "fffffff");
        assert_eq!(row(Border::Wrap, 6), "fabcdef".to_owned() + "abcdef" + "abcdefa");
        assert_eq!(row(Border::Constant(0.0), 6), ".......".to_owned() + "abcdef" + ".......");
    }

    #[test]
    fn one_pixel_and_radius_larger_than_the_image() {
        for border in [Border::Reflect101, Border::Reflect, Border::Replicate, Border::Wrap] {
            for i in -40..40 {
                assert_eq!(border.index(i, 1), Some(0), "{border:?} {i}");
                assert!(border.index(i, 2).unwrap() < 2);
            }
        }
    }
}
