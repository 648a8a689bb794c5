//! To and from the crate `image`.

use image::{DynamicImage, GrayImage, ImageBuffer as Pixels, Pixel, Rgb, RgbImage, RgbaImage};
use mip_core::{BatchLayout, DType, ImageBuffer, ImageDesc, Layout, PixelFormat, Sample};

use super::taken;
use crate::Error;

/// An image of the crate `image`, taken over without a copy. Gray with alpha becomes rgba, which copies.
///
/// ```
/// use mini_image_pipe::convert::image::{from_image, to_image};
/// use mini_image_pipe::prelude::*;
///
/// # fn main() -> mini_image_pipe::Result<()> {
/// let photo = image::DynamicImage::new_rgb8(64, 48);
/// let edges = Pipeline::parse("resize width=32 ! sobel")?.run(&from_image(photo)?)?;
/// assert_eq!(to_image(&edges)?.color(), image::ColorType::L8);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// An image without pixels, or of a type that `image` adds later.
pub fn from_image(image: DynamicImage) -> Result<ImageBuffer, Error> {
    let (width, height) = (image.width(), image.height());
    let layout = |format, dtype| BatchLayout::tight(ImageDesc::new(width, height, format, dtype)?, 1);
    match image {
        DynamicImage::ImageLuma8(i) => taken(layout(PixelFormat::Gray, DType::U8)?, i.into_raw(), 0),
        DynamicImage::ImageRgb8(i) => taken(layout(PixelFormat::Rgb, DType::U8)?, i.into_raw(), 0),
        DynamicImage::ImageRgba8(i) => taken(layout(PixelFormat::Rgba, DType::U8)?, i.into_raw(), 0),
        DynamicImage::ImageLuma16(i) => taken(layout(PixelFormat::Gray, DType::U16)?, i.into_raw(), 0),
        DynamicImage::ImageRgb16(i) => taken(layout(PixelFormat::Rgb, DType::U16)?, i.into_raw(), 0),
        DynamicImage::ImageRgba16(i) => taken(layout(PixelFormat::Rgba, DType::U16)?, i.into_raw(), 0),
        DynamicImage::ImageRgb32F(i) => taken(layout(PixelFormat::Rgb, DType::F32)?, i.into_raw(), 0),
        DynamicImage::ImageRgba32F(i) => taken(layout(PixelFormat::Rgba, DType::F32)?, i.into_raw(), 0),
        gray @ DynamicImage::ImageLumaA8(_) => {
            taken(layout(PixelFormat::Rgba, DType::U8)?, gray.into_rgba8().into_raw(), 0)
        }
        gray @ DynamicImage::ImageLumaA16(_) => {
            taken(layout(PixelFormat::Rgba, DType::U16)?, gray.into_rgba16().into_raw(), 0)
        }
        other => Err(Error::Usage(format!(
            "an image of {:?} has no counterpart here; convert it to rgb8, rgb16 or rgb32f first",
            other.color()
        ))),
    }
}

/// A copy as an image of the crate `image`, which owns its pixels: gray, rgb and rgba of u8, u16 and (rgb, rgba) f32.
/// [`as_image`] lends them without a copy.
///
/// # Errors
/// When the image is of another format or dtype, planar, or a batch; with the operator that converts it.
pub fn to_image(image: &ImageBuffer) -> Result<DynamicImage, Error> {
    let desc = single(image)?;
    let (width, height) = (desc.width(), desc.height());
    let made = match (desc.format(), desc.dtype()) {
        (PixelFormat::Gray, DType::U8) => GrayImage::from_raw(width, height, packed(image)).map(Into::into),
        (PixelFormat::Rgb, DType::U8) => RgbImage::from_raw(width, height, packed(image)).map(Into::into),
        (PixelFormat::Rgba, DType::U8) => RgbaImage::from_raw(width, height, packed(image)).map(Into::into),
        (PixelFormat::Gray, DType::U16) => {
            Pixels::from_raw(width, height, packed(image)).map(DynamicImage::ImageLuma16)
        }
        (PixelFormat::Rgb, DType::U16) => {
            Pixels::from_raw(width, height, packed(image)).map(DynamicImage::ImageRgb16)
        }
        (PixelFormat::Rgba, DType::U16) => {
            Pixels::from_raw(width, height, packed(image)).map(DynamicImage::ImageRgba16)
        }
        (PixelFormat::Rgb, DType::F32) => {
            Pixels::<Rgb<f32>, _>::from_raw(width, height, packed(image)).map(DynamicImage::ImageRgb32F)
        }
        (PixelFormat::Rgba, DType::F32) => {
            Pixels::from_raw(width, height, packed(image)).map(DynamicImage::ImageRgba32F)
        }
        (PixelFormat::Bgra, _) => return refused(desc, "color_convert to=rgba"),
        (PixelFormat::Gray | PixelFormat::Rgb | PixelFormat::Rgba, DType::I16 | DType::I32 | DType::F16) => {
            return refused(desc, "cast to=u16 or f32");
        }
        _ => return refused(desc, "color_convert to=rgb"),
    };
    Ok(made.expect("as many samples as the description says"))
}

/// The pixels, lent as an image of the crate `image` without a copy. `None` where `P` is not what they are, or rows are
/// padded, which the type cannot say: then [`to_image`] copies.
///
/// Channels are matched by number and type: of bgr images the first one is blue, whatever `P` calls it.
pub fn as_image<P>(image: &ImageBuffer) -> Option<Pixels<P, &[P::Subpixel]>>
where
    P: Pixel,
    P::Subpixel: Sample,
{
    let desc = single(image).ok()?;
    if desc.dtype() != P::Subpixel::DTYPE || desc.channels() != usize::from(P::CHANNEL_COUNT) {
        return None;
    }
    if !image.layout().is_tight() {
        return None;
    }
    let samples = bytemuck::try_cast_slice(image.view().data()).ok()?;
    Pixels::from_raw(desc.width(), desc.height(), samples)
}

/// The description of a single interleaved image.
fn single(image: &ImageBuffer) -> Result<&ImageDesc, Error> {
    let desc = image.desc();
    if image.batch_size() != 1 {
        let text = format!(
            "an image of the crate `image` is one, but this buffer holds {}; use frame",
            image.batch_size()
        );
        return Err(Error::Usage(text));
    }
    if desc.layout() == Layout::Chw && desc.channels() > 1 {
        return refused(desc, "layout to=hwc");
    }
    Ok(desc)
}

fn refused<T>(desc: &ImageDesc, remedy: &str) -> Result<T, Error> {
    Err(Error::Usage(format!("the crate `image` has no {desc}; add `{remedy}` at the end of the pipeline")))
}

fn packed<T: Sample>(image: &ImageBuffer) -> Vec<T> {
    bytemuck::pod_collect_to_vec(&image.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_taken_over_where_they_lie_and_lent_where_they_are() {
        let photo = RgbImage::from_fn(5, 3, |x, y| Rgb([x as u8, y as u8, 7]));
        let at = photo.as_raw().as_ptr();
        let image = from_image(photo.clone().into()).unwrap();
        assert_eq!(image.desc().to_string(), "5x3 rgb u8");
        assert_ne!(image.view().data().as_ptr(), at, "of the clone");
        let (kept, at) = (photo.clone(), photo.as_raw().as_ptr());
        let image = from_image(photo.into()).unwrap();
        assert_eq!(image.view().data().as_ptr(), at, "no copy in");
        let lent = as_image::<Rgb<u8>>(&image).unwrap();
        assert_eq!(lent.as_raw().as_ptr(), at, "no copy out");
        assert_eq!(to_image(&image).unwrap(), DynamicImage::from(kept));
        assert!(as_image::<image::Luma<u8>>(&image).is_none() && as_image::<Rgb<u16>>(&image).is_none());
    }

    #[test]
    fn every_type_comes_back_as_it_went_in() {
        let images = [
            DynamicImage::new_luma8(3, 2),
            DynamicImage::new_rgb8(3, 2),
            DynamicImage::new_rgba8(3, 2),
            DynamicImage::new_luma16(3, 2),
            DynamicImage::new_rgb16(3, 2),
            DynamicImage::new_rgba16(3, 2),
            DynamicImage::new_rgb32f(3, 2),
            DynamicImage::new_rgba32f(3, 2),
        ];
        for image in images {
            assert_eq!(to_image(&from_image(image.clone()).unwrap()).unwrap(), image);
        }
        let with_alpha = from_image(DynamicImage::new_luma_a16(3, 2)).unwrap();
        assert_eq!(with_alpha.desc().to_string(), "3x2 rgba u16");
    }

    #[test]
    fn what_the_crate_does_not_have_names_the_operator_that_helps() {
        let of = |format, dtype, layout| {
            let desc = ImageDesc::new(3, 2, format, dtype).unwrap().with_layout(layout);
            to_image(&ImageBuffer::new(desc).unwrap()).unwrap_err().to_string()
        };
        assert!(of(PixelFormat::Bgr, DType::U8, Layout::Hwc).contains("color_convert to=rgb"));
        assert!(of(PixelFormat::Rgb, DType::F16, Layout::Hwc).contains("cast to=u16 or f32"));
        assert!(of(PixelFormat::Rgb, DType::U8, Layout::Chw).contains("layout to=hwc"));
    }
}
