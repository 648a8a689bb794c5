//! The definitions of all kernels, carried out sample by sample in the documented order: slow, and what backends are
//! compared with. The null device runs every pipeline with it.

mod resample;
mod warp;
mod whole;
mod window;

pub use whole::{RowBands, RowScratch, WholeRows, whole_frame};

use std::ops::Range;

use mip_core::{DType, ImageDesc, ImageView, ImageViewMut, Layout, Sample, f16};

use crate::{Border, Channel, CustomError, Expr, Kernel, Offset, Results, Warp};

/// Computes every frame of `output` from `inputs` as the kernel's documentation says. Images and uniforms are those that
/// [`Kernel::check`] accepts, with any strides.
///
/// # Errors
/// What a user's own kernel says.
pub fn evaluate(
    kernel: &Kernel,
    uniforms: &[f32],
    inputs: &[ImageView<'_>],
    output: &mut ImageViewMut<'_>,
) -> Result<(), CustomError> {
    let layout = *output.layout();
    for frame in 0..layout.batch_size {
        let images: Vec<Image<'_, '_>> = inputs.iter().map(|view| Image { view, frame }).collect();
        match kernel {
            Kernel::Custom(custom) => return custom.run(inputs, uniforms, output),
            Kernel::Point(k) if k.is_copy(&descs(inputs), &layout.desc) => {
                moved(output, frame, &inputs[0], |x, y| (x, y));
            }
            // It reads nothing outside.
            Kernel::Point(k) => expression(&k.expr, Border::Replicate, uniforms, &images, frame, output),
            Kernel::Gather(k) => moved(output, frame, &inputs[0], |x, y| (k.x.map(x), k.y.map(y))),
            Kernel::Warp(Warp::Transposed { x: column, y: row }) => {
                moved(output, frame, &inputs[0], |x, y| (column.map(y), row.map(x)));
            }
            Kernel::Warp(Warp::Sampled(k)) => {
                pixels(output, frame, |x, y, pixel| warp::pixel(k, uniforms, &images, (x, y), pixel));
            }
            Kernel::Warp(Warp::Crops(k)) => {
                let width = layout.desc.width();
                pixels(output, frame, |x, y, pixel| warp::crop(*k, width, &images, (x, y), pixel));
            }
            Kernel::Resample(k) => {
                pixels(output, frame, |x, y, pixel| resample::pixel(k, images[0], (x, y), pixel));
            }
            Kernel::Separable(k) => {
                pixels(output, frame, |x, y, pixel| window::separable(k, uniforms, images[0], (x, y), pixel));
            }
            Kernel::Whole(k) => whole_frame(k, uniforms, inputs, frame, output),
            Kernel::Stencil(k) => expression(&k.expr, k.border, uniforms, &images, frame, output),
        }
    }
    Ok(())
}

/// A frame of an input.
#[derive(Clone, Copy)]
struct Image<'a, 'v> {
    view: &'a ImageView<'v>,
    frame: usize,
}

impl Image<'_, '_> {
    /// A sample, widened: exact, but of i32 the nearest binary32.
    fn at(&self, x: u32, y: u32, channel: usize) -> f32 {
        self.view.sample(self.frame, x as usize, y as usize, channel) as f32
    }

    fn size(&self) -> (u32, u32) {
        let desc = self.view.layout().desc;
        (desc.width(), desc.height())
    }

    /// The channel of alpha, if there is one.
    fn alpha(&self) -> Option<usize> {
        self.view.layout().desc.format().has_alpha().then_some(3)
    }

    /// A sample as sums take it: colours premultiplied where there is alpha.
    fn premultiplied(&self, x: u32, y: u32, channel: usize) -> f32 {
        match self.alpha() {
            Some(alpha) if channel != alpha => self.at(x, y, channel) * self.at(x, y, alpha),
            _ => self.at(x, y, channel),
        }
    }
}

/// What sums of premultiplied samples stand for: colours divided by alpha, 0 where nothing is left of it.
fn straight(pixel: &mut [f32], alpha: Option<usize>) {
    let Some(alpha) = alpha.map(|index| pixel[index]) else { return };
    for value in &mut pixel[..3] {
        *value = if alpha > 0.0 { *value / alpha } else { 0.0 };
    }
}

fn descs(views: &[ImageView<'_>]) -> Vec<ImageDesc> {
    views.iter().map(|view| view.layout().desc).collect()
}

/// The pixels `from(x, y)` of an image of the same dtype and format as they are, bit by bit.
fn moved(
    output: &mut ImageViewMut<'_>,
    frame: usize,
    image: &ImageView<'_>,
    from: impl Fn(u32, u32) -> (u32, u32),
) {
    let (source, desc) = (image.layout().desc, output.layout().desc);
    for y in 0..desc.height() {
        for x in 0..desc.width() {
            let (column, row) = from(x, y);
            for channel in 0..desc.channels() {
                let ((plane, to), (other, at)) = (place(&desc, x, channel), place(&source, column, channel));
                let sample = &image.row(frame, other, row as usize)[at];
                output.row_mut(frame, plane, y as usize)[to].copy_from_slice(sample);
            }
        }
    }
}

/// The plane of a sample, and its bytes in a row of that.
fn place(desc: &ImageDesc, x: u32, channel: usize) -> (usize, Range<usize>) {
    let (plane, index) = match desc.layout() {
        Layout::Hwc => (0, x as usize * desc.channels() + channel),
        Layout::Chw => (channel, x as usize),
    };
    let size = desc.dtype().size();
    (plane, index * size..(index + 1) * size)
}

/// Quantises the pixels that `compute(x, y, pixel)` makes into a frame.
fn pixels(output: &mut ImageViewMut<'_>, frame: usize, mut compute: impl FnMut(u32, u32, &mut [f32])) {
    let desc = output.layout().desc;
    let channels = desc.channels();
    let mut pixel = [0.0; 4];
    for y in 0..desc.height() {
        for x in 0..desc.width() {
            compute(x, y, &mut pixel[..channels]);
            for (channel, &value) in pixel[..channels].iter().enumerate() {
                let (plane, index) = match desc.layout() {
                    Layout::Hwc => (0, x as usize * channels + channel),
                    Layout::Chw => (channel, x as usize),
                };
                let y = y as usize;
                match desc.dtype() {
                    DType::U8 => output.row_as_mut::<u8>(frame, plane, y)[index] = u8::from_f32(value),
                    DType::U16 => output.row_as_mut::<u16>(frame, plane, y)[index] = u16::from_f32(value),
                    DType::I16 => output.row_as_mut::<i16>(frame, plane, y)[index] = i16::from_f32(value),
                    DType::I32 => output.row_as_mut::<i32>(frame, plane, y)[index] = i32::from_f32(value),
                    DType::F16 => output.row_as_mut::<f16>(frame, plane, y)[index] = Sample::from_f32(value),
                    DType::F32 => output.row_as_mut::<f32>(frame, plane, y)[index] = value,
                }
            }
        }
    }
}

fn expression(
    expr: &Expr,
    border: Border,
    uniforms: &[f32],
    images: &[Image<'_, '_>],
    frame: usize,
    output: &mut ImageViewMut<'_>,
) {
    let inputs: Vec<_> = images.iter().map(|image| image.view.layout().desc).collect();
    let resolved = expr.resolve(&inputs, &output.layout().desc).expect("a checked kernel");
    let Results::Channels(results) = resolved.results() else { unreachable!("a resolved expression") };
    let mut values = Vec::new();
    pixels(output, frame, |x, y, pixel| {
        let input = |slot: u8, channel: Channel, at: Offset| {
            let Channel::Index(channel) = channel else { unreachable!("a resolved expression") };
            let place = (i64::from(x) + i64::from(at.dx), i64::from(y) + i64::from(at.dy));
            window::around(images[usize::from(slot)], border, place, usize::from(channel), false)
        };
        resolved.evaluate((x, y), input, uniforms, &mut values);
        pixel.iter_mut().zip(results).for_each(|(sample, &r)| *sample = values[usize::from(r)]);
    });
}
