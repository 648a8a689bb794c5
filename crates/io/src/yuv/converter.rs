use mip_core::{DType, ImageDesc, ImageView, PixelFormat};

use super::coefficients::{FromRgb, luma_of_gray};
use super::{Matrix, Planes, Range, Sampling, from_rgb};

/// Turns images into planes, for one matrix and range. See the [module](super) for the definitions.
#[derive(Debug, Clone)]
pub struct YuvConverter {
    from_rgb: FromRgb,
    luma_of_gray: [u8; 256],
}

impl YuvConverter {
    /// A converter.
    pub fn new(matrix: Matrix, range: Range) -> Self {
        Self { from_rgb: FromRgb::new(matrix, range), luma_of_gray: luma_of_gray(range) }
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

/// [`from_rgb::convert`] with the instructions there are: a type of its own, because a closure that only borrows may be
/// compiled without them.
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
