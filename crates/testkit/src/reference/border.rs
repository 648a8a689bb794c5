use crate::golden::Params;

/// What a filter reads outside the image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Border {
    /// `fedcb|abcdef|edcba`.
    Reflect101,
    /// `edcba|abcdef|fedcb`.
    Reflect,
    /// `aaaaa|abcdef|fffff`.
    Replicate,
    /// `bcdef|abcdef|abcde`.
    Wrap,
    /// A pixel with this value in every channel, in sample units.
    Constant(f64),
}

impl Border {
    /// One of each kind.
    pub const ALL: [Self; 5] =
        [Self::Reflect101, Self::Reflect, Self::Replicate, Self::Wrap, Self::Constant(100.0)];

    /// The name in pipeline files; the constant's value is a parameter of its own.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reflect101 => "reflect101",
            Self::Reflect => "reflect",
            Self::Replicate => "replicate",
            Self::Wrap => "wrap",
            Self::Constant(_) => "constant",
        }
    }

    /// The border that parameters name.
    pub(super) fn of(params: &Params) -> Self {
        Self::or(params, "reflect101")
    }

    /// The same of an operator with another default.
    pub(super) fn or(params: &Params, default: &str) -> Self {
        let constant = Self::Constant(params.number("border_value").unwrap_or(0.0));
        let all = [Self::Reflect101, Self::Reflect, Self::Replicate, Self::Wrap, constant];
        let name = params.word("border").unwrap_or(default);
        all.into_iter().find(|b| b.name() == name).unwrap_or_else(|| panic!("no border '{name}'"))
    }

    /// The coordinate inside `0..n` that `i` stands for; `None` for the constant.
    ///
    /// Walks there step by step, as one would with a finger: bounce at an edge, or jump to the other one, until
    /// inside.
    pub fn resolve(self, mut i: i64, n: usize) -> Option<usize> {
        let n = n as i64;
        while i < 0 || i >= n {
            i = match self {
                Self::Constant(_) => return None,
                Self::Replicate => i.clamp(0, n - 1),
                Self::Wrap => i + if i < 0 { n } else { -n },
                Self::Reflect => {
                    if i < 0 {
                        -1 - i
                    } else {
                        2 * n - 1 - i
                    }
                }
                // A single pixel has no neighbour to bounce to.
                Self::Reflect101 if n == 1 => 0,
                Self::Reflect101 => {
                    if i < 0 {
                        -i
                    } else {
                        2 * (n - 1) - i
                    }
                }
            };
        }
        Some(i as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(border: Border, n: usize) -> String {
        let letter = |i| border.resolve(i, n).map_or('.', |k| char::from(b'a' + k as u8));
        (-5..n as i64 + 5).map(letter).collect()
    }

    #[test]
    fn test_images() {
        assert_eq!(row(Border::Reflect101, 6), "fedcbabcdefedcba");
        assert_eq!(row(Border::Reflect, 6), "edcbaabcdeffedcb");
        assert_eq!(row(Border::Replicate, 6), "aaaaaabcdeffffff");
        assert_eq!(row(Border::Wrap, 6), "bcdefabcdefabcde");
        assert_eq!(row(Border::Constant(1.0), 6), ".....abcdef.....");
    }

    #[test]
    fn far_outside_small_images() {
        assert_eq!(row(Border::Reflect101, 1), "aaaaaaaaaaa");
        assert_eq!(row(Border::Reflect101, 2), "babababababa");
        assert_eq!(row(Border::Reflect, 2), "aabbaabbaabb");
        assert_eq!(row(Border::Wrap, 3), "bcabcabcabcab");
    }
}
