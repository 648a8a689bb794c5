use mip_core::{DType, ImageBuffer, ImageDesc, ImageViewMut, Layout, f16};

/// One image of real numbers in sample units (a u8 image holds 0 to 255), channels interleaved.
///
/// Four channels always mean colour and straight alpha, alpha last, as in every format of [`mip_core`].
#[derive(Debug, Clone, PartialEq)]
pub struct Real {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Samples a pixel: 1, 3 or 4.
    pub channels: usize,
    /// `data[(y * width + x) * channels + c]`.
    pub data: Vec<f64>,
}

impl Real {
    /// An image whose samples are `sample(x, y, channel)`.
    pub fn from_fn(
        width: usize,
        height: usize,
        channels: usize,
        mut sample: impl FnMut(usize, usize, usize) -> f64,
    ) -> Self {
        let mut data = Vec::with_capacity(width * height * channels);
        for y in 0..height {
            for x in 0..width {
                for c in 0..channels {
                    data.push(sample(x, y, c));
                }
            }
        }
        Self { width, height, channels, data }
    }

    /// The first image of a batch, from any dtype, layout and padding.
    pub fn from_buffer(image: &ImageBuffer) -> Self {
        Self::from_frame(image, 0)
    }

    /// One image of a batch.
    pub fn from_frame(image: &ImageBuffer, frame: usize) -> Self {
        let desc = image.desc();
        let view = image.view();
        Self::from_fn(desc.width() as usize, desc.height() as usize, desc.channels(), |x, y, c| {
            view.sample(frame, x, y, c)
        })
    }

    /// The sample at a pixel and channel.
    pub fn at(&self, x: usize, y: usize, channel: usize) -> f64 {
        assert!(x < self.width && y < self.height && channel < self.channels);
        self.data[(y * self.width + x) * self.channels + channel]
    }

    /// Whether the last channel is alpha.
    pub const fn has_alpha(&self) -> bool {
        self.channels == 4
    }

    /// Every sample through `f`.
    #[must_use]
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self { data: self.data.iter().map(|&v| f(v)).collect(), ..*self }
    }

    /// Every sample rounded to `dtype` as at an operator's end, still as real numbers.
    #[must_use]
    pub fn rounded(&self, dtype: DType) -> Self {
        self.map(|v| round_to(v, dtype))
    }

    /// The image in memory, rounded to the description's dtype.
    ///
    /// # Panics
    /// When width, height or channels differ from `desc`.
    pub fn to_buffer(&self, desc: ImageDesc) -> ImageBuffer {
        let shape = (desc.width() as usize, desc.height() as usize, desc.channels());
        assert_eq!((self.width, self.height, self.channels), shape, "shape of {desc}");
        let mut image = ImageBuffer::new(desc).expect("a valid description");
        write_frame(&mut image.view_mut(), 0, |x, y, c| self.at(x, y, c));
        image
    }
}

/// `value` as a dtype holds it. Integers: the nearest, ties to even, saturated, NaN 0. f16, f32: the nearest
/// binary16 or binary32.
pub(crate) fn round_to(value: f64, dtype: DType) -> f64 {
    match dtype {
        DType::U8 | DType::U16 | DType::I16 | DType::I32 if value.is_nan() => 0.0,
        DType::U8 | DType::U16 => value.round_ties_even().clamp(0.0, dtype.full_scale()),
        DType::I16 => value.round_ties_even().clamp(-32768.0, 32767.0),
        DType::I32 => value.round_ties_even().clamp(-2_147_483_648.0, 2_147_483_647.0),
        DType::F16 => nearest_half(value),
        DType::F32 => f64::from(value as f32),
    }
}

/// Not by a library: that of `half` looks at the upper half of a binary64 number only, and takes what lies just beside a tie
/// for one.
fn nearest_half(value: f64) -> f64 {
    if !value.is_finite() {
        return value;
    }
    // The last of eleven bits; of subnormal numbers 2^-24.
    let unit = 2.0_f64.powi((value.abs().max(2.0_f64.powi(-14)).log2().floor() as i32) - 10);
    let rounded = (value / unit).round_ties_even() * unit;
    if rounded.abs() > 65504.0 { f64::INFINITY.copysign(value) } else { rounded }
}

/// Writes one frame sample by sample, rounding to the image's type; padding is left alone.
pub(crate) fn write_frame(
    image: &mut ImageViewMut<'_>,
    frame: usize,
    mut sample: impl FnMut(usize, usize, usize) -> f64,
) {
    let desc = image.layout().desc;
    for y in 0..desc.height() as usize {
        for x in 0..desc.width() as usize {
            for c in 0..desc.channels() {
                let (plane, index) = match desc.layout() {
                    Layout::Hwc => (0, x * desc.channels() + c),
                    Layout::Chw => (c, x),
                };
                let size = desc.dtype().size();
                let bytes = &mut image.row_mut(frame, plane, y)[index * size..][..size];
                let value = round_to(sample(x, y, c), desc.dtype());
                match desc.dtype() {
                    DType::U8 => bytes[0] = value as u8,
                    DType::U16 => bytes.copy_from_slice(&(value as u16).to_ne_bytes()),
                    DType::I16 => bytes.copy_from_slice(&(value as i16).to_ne_bytes()),
                    DType::I32 => bytes.copy_from_slice(&(value as i32).to_ne_bytes()),
                    DType::F16 => bytes.copy_from_slice(&f16::from_f64(value).to_ne_bytes()),
                    DType::F32 => bytes.copy_from_slice(&(value as f32).to_ne_bytes()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mip_core::PixelFormat;

    #[test]
    fn every_type_and_order_survives_the_round_trip() {
        for dtype in DType::ALL {
            for layout in Layout::ALL {
                for format in PixelFormat::PICTURES {
                    let desc = ImageDesc::new(5, 3, format, dtype).unwrap().with_layout(layout);
                    let real = Real::from_fn(5, 3, desc.channels(), |x, y, c| (x + 10 * y + 50 * c) as f64);
                    assert_eq!(Real::from_buffer(&real.to_buffer(desc)), real, "{desc}");
                }
            }
        }
    }

    #[test]
    fn rounding_is_ties_to_even_saturated_and_nan_is_zero() {
        let cases = [(0.5, 0.0), (1.5, 2.0), (-0.4, 0.0), (254.5, 254.0), (300.0, 255.0), (f64::NAN, 0.0)];
        for (value, expected) in cases {
            assert_eq!(round_to(value, DType::U8), expected, "{value}");
        }
        assert_eq!(round_to(65534.5, DType::U16), 65534.0);
        assert_eq!(round_to(16_777_217.5, DType::I32), 16_777_218.0);
        assert_eq!(round_to(3e9, DType::I32), 2_147_483_647.0);
        assert_eq!(round_to(0.1, DType::F32), f64::from(0.1_f32));
        let beside_a_tie = 1.0 + 2.0_f64.powi(-11);
        assert_eq!(round_to(beside_a_tie, DType::F16), 1.0);
        assert_eq!(round_to(beside_a_tie + 2.0_f64.powi(-40), DType::F16), 1.0 + 2.0_f64.powi(-10));
        assert_eq!(round_to(65519.9, DType::F16), 65504.0);
        assert_eq!(round_to(-65520.0, DType::F16), f64::NEG_INFINITY);
        assert_eq!(round_to(2.0_f64.powi(-25), DType::F16), 0.0);
        assert_eq!(round_to(1.0 - 2.0_f64.powi(-13), DType::F16), 1.0);
    }
}
