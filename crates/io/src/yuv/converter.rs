use mip_core::{DType, ImageDesc, ImageView, ImageViewMut, Layout, PixelFormat};

use super::coefficients::{FromRgb, ToRgb, gray_of_luma, luma_of_gray};
use super::{Matrix, Planes, Range, Sampling, from_rgb, to_rgb};

/// Turns planes into images and back, for one matrix and range. See the [module](super) for the definitions.
#[derive(Debug, Clone)]
pub struct YuvConverter {
    to_rgb: ToRgb,
    from_rgb: FromRgb,
    gray_of_luma: [u8; 256],
    luma_of_gray: [u8; 256],
}

impl YuvConverter {
    /// A converter.
    pub fn new(matrix: Matrix, range: Range) -> Self {
        Self {
            to_rgb: ToRgb::new(matrix, range),
            from_rgb: FromRgb::new(matrix, range),
            gray_of_luma: gray_of_luma(range),
            luma_of_gray: luma_of_gray(range),
        }
    }

    /// The format that planes become: gray without chroma, else interleaved rgb, of 8 bits.
    pub const fn format(sampling: Sampling) -> PixelFormat {
        match sampling {
            Sampling::Mono => PixelFormat::Gray,
            _ => PixelFormat::Rgb,
        }
    }

    /// Whether an image can be written as planes: 8 bits, gray, or rgb or bgr where there is chroma.
    ///
    /// # Errors
    /// Why not, and what to do, as half a sentence.
    pub fn check(desc: &ImageDesc, sampling: Sampling) -> Result<(), &'static str> {
        match (desc.dtype, desc.format, sampling) {
            (DType::U16 | DType::I16 | DType::F16 | DType::F32, ..) => {
                Err("video here has 8 bits; add `cast to=u8` at the end")
            }
            (_, PixelFormat::Rgba | PixelFormat::Bgra, _) => {
                Err("video has no alpha; add `color_convert to=rgb` at the end")
            }
            (_, PixelFormat::Rgb | PixelFormat::Bgr, Sampling::Mono) => {
                Err("mono has no colours; add `color_convert to=gray` at the end, or write 420")
            }
            _ => Ok(()),
        }
    }

    /// Converts a frame.
    ///
    /// # Panics
    /// When `image` is not one tight or padded image of the planes' size and of [`YuvConverter::format`].
    pub fn read(&self, planes: &Planes, image: &mut ImageViewMut<'_>) {
        let (width, height) = planes.sizes().luma;
        let desc = image.layout().desc;
        let fits = (desc.width as usize, desc.height as usize) == (width, height)
            && (desc.dtype, desc.layout) == (DType::U8, Layout::Hwc)
            && desc.format == Self::format(planes.sampling());
        assert!(fits, "an image that does not fit the planes: {desc}");
        if planes.sampling() == Sampling::Mono {
            let [luma, ..] = planes.split();
            for (y, luma) in luma.chunks_exact(width).enumerate() {
                translate(&self.gray_of_luma, luma, image.row_mut(0, 0, y));
            }
        } else {
            pulp::Arch::new().dispatch(ReadJob { factors: &self.to_rgb, planes, image });
        }
    }

    /// Converts an image.
    ///
    /// # Panics
    /// When [`YuvConverter::check`] refuses it, or its size is not that of the planes.
    pub fn write(&self, image: &ImageView<'_>, planes: &mut Planes) {
        let (width, height) = planes.sizes().luma;
        let desc = image.layout().desc;
        let fits = (desc.width as usize, desc.height as usize) == (width, height)
            && Self::check(&desc, planes.sampling()).is_ok();
        assert!(fits, "an image that does not fit the planes: {desc}");
        if desc.format == PixelFormat::Gray {
            let [luma, u, v] = planes.split_mut();
            for (y, luma) in luma.chunks_exact_mut(width).enumerate() {
                translate(&self.luma_of_gray, image.row(0, 0, y), luma);
            }
            u.fill(128);
            v.fill(128);
        } else {
            pulp::Arch::new().dispatch(WriteJob { factors: &self.from_rgb, image, planes });
        }
    }
}

/// [`to_rgb::convert`] with the instructions there are: a type of its own, because a closure that only borrows may be
/// compiled without them.
struct ReadJob<'a, 'i> {
    factors: &'a ToRgb,
    planes: &'a Planes,
    image: &'a mut ImageViewMut<'i>,
}

impl pulp::WithSimd for ReadJob<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        to_rgb::convert(self.factors, self.planes, self.image);
    }
}

/// The same for [`from_rgb::convert`].
struct WriteJob<'a, 'i> {
    factors: &'a FromRgb,
    image: &'a ImageView<'i>,
    planes: &'a mut Planes,
}

impl pulp::WithSimd for WriteJob<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        from_rgb::convert(self.factors, self.image, self.planes);
    }
}

fn translate(table: &[u8; 256], from: &[u8], to: &mut [u8]) {
    if table[16] == 16 {
        // Only the full range leaves everything as it is.
        to.copy_from_slice(from);
        return;
    }
    for (to, &from) in to.iter_mut().zip(from) {
        *to = table[usize::from(from)];
    }
}
