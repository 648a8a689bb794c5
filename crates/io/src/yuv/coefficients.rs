use super::{Matrix, Range};

/// Bits behind the point. Sums stay below 2^31: the largest is that of an average over four, below 2^30.3.
pub(super) const BITS: u32 = 20;

const ONE: f64 = (1_u32 << BITS) as f64;
const HALF: i32 = 1 << (BITS - 1);

fn fixed(value: f64) -> i32 {
    (value * ONE).round() as i32
}

/// RGB to YUV in fixed point. The factors of each chroma add up to 0, so that gray has none, and those of luma to
/// what white needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct FromRgb {
    /// Factors of red, green and blue.
    pub(super) luma: [i32; 3],
    pub(super) u: [i32; 3],
    pub(super) v: [i32; 3],
    pub(super) luma_offset: i32,
}

impl FromRgb {
    pub(super) fn new(matrix: Matrix, range: Range) -> Self {
        let ((kr, kb), (black, luma, chroma)) = (matrix.weights(), range.levels());
        let (luma, chroma) = (luma / 255.0, chroma / 255.0);
        let balanced = |red: f64, blue: f64, sum: f64| {
            let (red, blue) = (fixed(red), fixed(blue));
            [red, fixed(sum) - red - blue, blue]
        };
        let by_u = chroma / (2.0 * (1.0 - kb));
        let by_v = chroma / (2.0 * (1.0 - kr));
        Self {
            luma: balanced(kr * luma, kb * luma, luma),
            u: balanced(-kr * by_u, (1.0 - kb) * by_u, 0.0),
            v: balanced((1.0 - kr) * by_v, -kb * by_v, 0.0),
            luma_offset: fixed(black) + HALF,
        }
    }
}

/// Luma for each gray of 0 to 255.
pub(super) fn luma_of_gray(range: Range) -> [u8; 256] {
    let (black, luma, _) = range.levels();
    std::array::from_fn(|gray| (black + gray as f64 * luma / 255.0).round_ties_even() as u8)
}
