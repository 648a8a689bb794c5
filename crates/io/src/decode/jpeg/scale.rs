/// How large the picture of a JPEG file is decoded.
///
/// A scaled picture takes less time and memory than a whole one that is resized: each block of 8 x 8 samples becomes one of 4, 2 or 1
/// across and down by a smaller transform. Sides are rounded up. The pixels are those of libjpeg (`scale_denom`), and so of Pillow's
/// `draft` and OpenCV's `IMREAD_REDUCED_COLOR_2`, `_4` and `_8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum JpegScale {
    /// As it is.
    #[default]
    Full,
    /// Half as wide and high.
    Half,
    /// A quarter as wide and high.
    Quarter,
    /// An eighth as wide and high.
    Eighth,
}

impl JpegScale {
    /// Every scale, from the largest picture to the smallest.
    pub const ALL: [Self; 4] = [Self::Full, Self::Half, Self::Quarter, Self::Eighth];

    /// What sides are divided by: 1, 2, 4 or 8.
    pub const fn divisor(self) -> usize {
        match self {
            Self::Full => 1,
            Self::Half => 2,
            Self::Quarter => 4,
            Self::Eighth => 8,
        }
    }

    /// A side of a picture, scaled.
    pub(in crate::decode) const fn of(self, side: usize) -> usize {
        side.div_ceil(self.divisor())
    }

    /// Samples across and down that a block of a component with these sampling factors becomes. One with the largest factors
    /// becomes the scale's; others are made larger by their transform as far as that goes, as libjpeg does (`jdmaster.c`).
    pub(in crate::decode) fn block_side(self, [h, v]: [usize; 2], [h_max, v_max]: [usize; 2]) -> usize {
        let least = 8 / self.divisor();
        let mut side = least;
        while side < 8
            && (h_max * least).is_multiple_of(2 * h * side)
            && (v_max * least).is_multiple_of(2 * v * side)
        {
            side *= 2;
        }
        side
    }
}
