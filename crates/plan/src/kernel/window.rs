use super::Border;

/// Symmetric separable filter (Gaussian, and later box and others).
///
/// Uniforms: `wx[0..=radius_x]`, then `wy[0..=radius_y]`, from the centre outwards. With `p(i)` the samples of
/// a row at offset i from the output's column (indices outside the image through `border`):
/// `h = wx[0] * p(0)`, then `h = fma(wx[k], p(-k) + p(+k), h)` for k = 1, 2, ...; vertically the same over
/// rows: `v = wy[0] * h(0)`, then `v = fma(wy[k], h(-k) + h(+k), v)`. With [`Border::Constant`] the rows
/// outside hold `h` of a row whose samples all are the constant.
///
/// The whole window is read, also where a weight is so small that it has become 0: an infinity or a NaN in it makes the
/// result infinite or NaN. (A Gaussian is 0 nowhere; only [`super::Resample`] has taps that stand for none.)
///
/// With u = 2^-24, each axis of radius r rounds `r + 1` partial sums of a mean and its weights, and the vertical one its
/// pairs too: in u16 that is less than 0.08 at radius 15. With alpha the bound is relative, `(4 r + 12) u`: in u16 0.125 at radius 5 and 0.282 at
/// radius 15.
///
/// Alpha as in [`super::Resample`]: samples premultiplied before, divided after; a constant border counts as
/// a pixel with that value in every channel, premultiplied like the others. Format, dtype and layout
/// stay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Separable {
    /// Columns to each side, 0 to 15.
    pub radius_x: u32,
    /// Rows above and below, 0 to 15.
    pub radius_y: u32,
    /// What is read outside the image.
    pub border: Border,
}
