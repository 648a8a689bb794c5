//! To and from the crate `ndarray`.

use mip_core::{BatchLayout, ImageBuffer, ImageDesc, ImageError, Layout, PixelFormat, Sample};
use ndarray::{Array3, ArrayView3, Axis, ShapeBuilder as _};

use super::taken;
use crate::Error;

/// An array of height x width x channels, taken over without a copy where its rows are contiguous (any padding between
/// them); others are copied once. The number of channels must be that of `format`.
///
/// ```
/// use mini_image_pipe::convert::ndarray::{as_array, from_array};
/// use mini_image_pipe::prelude::*;
///
/// # fn main() -> mini_image_pipe::Result<()> {
/// let photo = ndarray::Array3::<u8>::from_elem((48, 64, 3), 200);
/// let edges = Pipeline::parse("resize width=32 ! sobel")?.run(&from_array(photo, PixelFormat::Rgb)?)?;
/// let edges = as_array::<u8>(&edges)?;
/// assert_eq!((edges.dim(), edges.sum()), ((24, 32, 1), 0));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When the number of channels is another, or the array is empty.
pub fn from_array<T: Sample>(array: Array3<T>, format: PixelFormat) -> Result<ImageBuffer, Error> {
    let (height, width, channels) = array.dim();
    let side = |side: usize| u32::try_from(side).map_err(|_| too_large(width, height));
    let desc = ImageDesc::new(side(width)?, side(height)?, format, T::DTYPE)?;
    if channels != desc.channels() {
        return Err(Error::Usage(format!(
            "an array of {height} x {width} x {channels} is no {format} image, which has {} channels: \
             height x width x channels",
            desc.channels()
        )));
    }
    let pixels = [Axis(1), Axis(2)].map(|axis| array.stride_of(axis));
    let row = array.stride_of(Axis(0));
    let contiguous = (width == 1 || pixels[0] == channels as isize) && (channels == 1 || pixels[1] == 1);
    let array = if contiguous && (height == 1 || row >= (width * channels) as isize) {
        array
    } else {
        array.as_standard_layout().into_owned()
    };
    let row_stride = match height {
        1 => desc.row_bytes(),
        _ => array.stride_of(Axis(0)) as usize * size_of::<T>(),
    };
    let plane = row_stride * desc.height() as usize;
    let layout = BatchLayout { desc, batch_size: 1, row_stride, plane_stride: plane, batch_stride: plane };
    let (samples, offset) = array.into_raw_vec_and_offset();
    taken(layout, samples, offset.unwrap_or(0))
}

/// The samples as an array, lent without a copy: height x width x channels, of planar images channels x height x width.
///
/// # Errors
/// When they are of another type than `T`, or the buffer holds a batch.
pub fn as_array<T: Sample>(image: &ImageBuffer) -> Result<ArrayView3<'_, T>, Error> {
    let (desc, layout) = (image.desc(), image.layout());
    if desc.dtype() != T::DTYPE {
        return Err(Error::Usage(format!(
            "this image is {desc}, but was asked for as {}; add `cast to={}` to the pipeline",
            T::DTYPE,
            T::DTYPE
        )));
    }
    if image.batch_size() != 1 {
        let text =
            format!("an array is lent of one image, but this buffer holds {}; use frame", image.batch_size());
        return Err(Error::Usage(text));
    }
    let (height, width, channels) = (desc.height() as usize, desc.width() as usize, desc.channels());
    let size = size_of::<T>();
    let row = layout.row_stride / size;
    let (shape, strides) = match desc.layout() {
        Layout::Chw => ((channels, height, width), (layout.plane_stride / size, row, 1)),
        Layout::Hwc => ((height, width, channels), (row, channels, 1)),
    };
    let samples = bytemuck::try_cast_slice(image.view().data())
        .map_err(|error| Error::Usage(format!("the samples of this image are not aligned ({error})")))?;
    Ok(ArrayView3::from_shape(shape.strides(strides), samples).expect("as the layout of the image says"))
}

fn too_large(width: usize, height: usize) -> ImageError {
    let side = |side: usize| u32::try_from(side).unwrap_or(u32::MAX);
    ImageError::TooLarge { what: "an image".to_owned(), width: side(width), height: side(height) }
}

#[cfg(test)]
mod tests {
    use mip_core::DType;

    use super::*;

    fn ramp(height: usize, width: usize, channels: usize) -> Array3<u16> {
        Array3::from_shape_fn((height, width, channels), |(y, x, c)| (y * 1000 + x * 10 + c) as u16)
    }

    #[test]
    fn arrays_are_taken_over_and_lent_where_they_lie() {
        let array = ramp(3, 5, 3);
        let (at, kept) = (array.as_ptr(), array.clone());
        let image = from_array(array, PixelFormat::Bgr).unwrap();
        assert_eq!(image.desc().to_string(), "5x3 bgr u16");
        let lent = as_array::<u16>(&image).unwrap();
        assert_eq!((lent.as_ptr(), lent), (at, kept.view()));
    }

    #[test]
    fn slices_and_turned_arrays_give_their_own_pixels() {
        let mut inner = ramp(4, 6, 3);
        inner.slice_axis_inplace(Axis(0), (1..3).into());
        inner.slice_axis_inplace(Axis(1), (2..5).into());
        let at = inner.as_ptr();
        let expected = inner.clone();
        let image = from_array(inner, PixelFormat::Rgb).unwrap();
        assert_eq!(as_array::<u16>(&image).unwrap(), expected);
        assert_eq!(as_array::<u16>(&image).unwrap().as_ptr(), at, "a part of a larger array is not copied");
        for turned in [ramp(4, 6, 3).reversed_axes(), ramp(3, 4, 6).permuted_axes([1, 2, 0])] {
            let expected = turned.to_owned();
            if turned.dim().2 == 3 {
                assert_eq!(
                    as_array::<u16>(&from_array(turned, PixelFormat::Rgb).unwrap()).unwrap(),
                    expected
                );
            } else {
                assert!(from_array(turned, PixelFormat::Rgb).is_err());
            }
        }
        let mut upside_down = ramp(4, 6, 3);
        upside_down.invert_axis(Axis(0));
        let expected = upside_down.clone();
        assert_eq!(as_array::<u16>(&from_array(upside_down, PixelFormat::Rgb).unwrap()).unwrap(), expected);
    }

    #[test]
    fn planes_are_an_axis_of_their_own() {
        let desc = ImageDesc::new(5, 3, PixelFormat::Rgb, DType::F32).unwrap().with_layout(Layout::Chw);
        let image = ImageBuffer::with_layout(BatchLayout::pitched(desc, 1, 64).unwrap()).unwrap();
        let array = as_array::<f32>(&image).unwrap();
        assert_eq!((array.dim(), array.strides()), ((3, 3, 5), &[48, 16, 1][..]));
        assert!(as_array::<u8>(&image).unwrap_err().to_string().contains("cast to=u8"));
    }
}
