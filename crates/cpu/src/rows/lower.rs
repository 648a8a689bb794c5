//! From kernels to row stages.

use std::sync::Arc;

use mip_core::{DType, ImageDesc, f16};
use mip_plan::{AxisTaps, Border, ChannelMap, Kernel, Known, Point, Stencil, Warp};

#[cfg(target_arch = "x86_64")]
use super::median;
use super::row::RowShape;
use super::{
    RowKernel, Taps, blend, byte_blur, color, crops, expr, from_rgb, gather, gray, inside, merge, point,
    resample, resample_u8, sampled, separable, signed_alpha, sobel, warp, yuv,
};

/// Where a row stage reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// A buffer: index among those the group reads.
    Buffer(usize),
    /// An earlier row stage.
    Stage(usize),
}

/// One step of a group's work: rows of some inputs to one row.
#[derive(Debug, Clone)]
pub(crate) struct RowStage {
    /// The computation.
    pub(crate) kernel: Arc<dyn RowKernel>,
    /// Rows read of each input.
    pub(crate) taps: Taps,
    /// Passes over a row.
    pub(crate) passes: usize,
    /// Rows to compute at a time: see [`RowKernel::together`].
    pub(crate) together: usize,
    /// Inputs in the kernel's order.
    pub(crate) inputs: Vec<Input>,
    /// Index of the plan's stage, whose uniforms it takes.
    pub(crate) uniforms: usize,
    /// What a row looks like.
    pub(crate) shape: RowShape,
    /// Number of rows.
    pub(crate) height: u32,
}

/// What lowering a stage needs to know.
pub(crate) struct Lowering<'a> {
    /// The kernel.
    pub(crate) kernel: &'a Kernel,
    /// Its index in the group.
    pub(crate) stage: usize,
    /// Shapes of its inputs.
    pub(crate) descs: &'a [ImageDesc],
    /// Where they are.
    pub(crate) inputs: &'a [Input],
    /// Number of its uniforms.
    pub(crate) uniforms: usize,
    /// Shape of its result.
    pub(crate) output: ImageDesc,
}

/// Calls a generic constructor for the dtype that a value of [`DType`] names; of i32, which is only moved and computed with in
/// expressions, there is none.
macro_rules! by_type {
    ($dtype:expr, $T:ident => $make:expr) => {
        match $dtype {
            DType::U8 => by_type!(@ $T = u8, $make),
            DType::U16 => by_type!(@ $T = u16, $make),
            DType::I16 => by_type!(@ $T = i16, $make),
            DType::F16 => by_type!(@ $T = f16, $make),
            DType::F32 => by_type!(@ $T = f32, $make),
            DType::I32 => return Err("i32 has no rows of this kind".to_owned()),
        }
    };
    (@ $T:ident = $sample:ty, $make:expr) => {{
        type $T = $sample;
        Arc::new($make) as Arc<dyn RowKernel>
    }};
}

/// The same for kernels that only move samples: one of a size stands for all of that size.
macro_rules! by_size {
    ($dtype:expr, $T:ident => $make:expr) => {
        match $dtype {
            DType::U8 => by_type!(@ $T = u8, $make),
            DType::U16 | DType::I16 | DType::F16 => by_type!(@ $T = u16, $make),
            DType::I32 | DType::F32 => by_type!(@ $T = u32, $make),
        }
    };
}

/// Appends the row stages that compute a kernel to `stages`; the last one is its result.
///
/// # Errors
/// When the shapes do not fit the kernel (which a checked plan never has), or the kernel has no rows.
pub(crate) fn lower(from: &Lowering<'_>, stages: &mut Vec<RowStage>) -> Result<(), String> {
    // The plan's checker has asked the same.
    from.kernel.check(from.uniforms, from.descs, from.output)?;
    let (input, output) = (from.descs[0], from.output);
    let stage = |kernel: Arc<dyn RowKernel>, taps: Taps, inputs: &[Input], dtype, desc: ImageDesc| RowStage {
        together: kernel.together(),
        kernel,
        passes: taps.passes(),
        taps,
        inputs: inputs.to_vec(),
        uniforms: from.stage,
        shape: RowShape::new(&desc, dtype),
        height: desc.height(),
    };
    let dtype = output.dtype();
    match from.kernel {
        Kernel::Point(kernel) => {
            stages.push(stage(point(kernel, from)?, Taps::Same, from.inputs, dtype, output));
        }
        Kernel::Gather(k) => {
            let kernel = by_size!(dtype, T => gather::Gather::<T>::new(&output, k.x));
            stages.push(stage(kernel, Taps::Mapped(k.y), from.inputs, dtype, output));
        }
        Kernel::Warp(k) => {
            if from.inputs.iter().any(|input| matches!(input, Input::Stage(_))) {
                return Err("a warp reads a whole image, which must be in a buffer".to_owned());
            }
            let kernel = match *k {
                Warp::Transposed { x, y } => {
                    by_size!(dtype, T => warp::Transposed::<T>::new(&output, x, y))
                }
                Warp::Crops(k) => by_type!(dtype, T => crops::Crops::<T>::new(k, input, output.width())),
                Warp::Sampled(k) => by_type!(dtype, T => sampled::Sampled::<T>::new(k, input)),
            };
            stages.push(stage(kernel, Taps::Whole, from.inputs, dtype, output));
        }
        Kernel::Resample(k) if k.is_wide(&input) => {
            let wide =
                signed_alpha::sums_desc(&output, input.height()).ok_or("a row too long for its sums")?;
            let rows = by_type!(dtype, T => signed_alpha::Horizontal::<T>::new(&input, k.x.clone()));
            stages.push(stage(rows, Taps::Same, from.inputs, DType::F32, wide));
            let sums = by_type!(dtype, T => signed_alpha::Vertical::<T>::new(output, k.y.clone()));
            let from = [Input::Stage(stages.len() - 1)];
            stages.push(stage(sums, Taps::Range(k.y.clone()), &from, dtype, output));
        }
        Kernel::Resample(k) => {
            if dtype == DType::U8
                && let Some(integer) = resample_u8::IntegerResample::new(k, &input)
            {
                let taps = Taps::Range(k.y.clone());
                stages.push(stage(Arc::new(integer), taps, from.inputs, dtype, output));
                return Ok(());
            }
            let wide = output.with_size(output.width(), input.height()).map_err(|e| e.to_string())?;
            let rows = by_type!(dtype, T => resample::Horizontal::<T>::new(input, k.x.clone()));
            stages.push(stage(rows, Taps::Same, from.inputs, DType::F32, wide));
            let sums = by_type!(dtype, T => resample::Vertical::<T>::new(output, k.y.clone()));
            let from = [Input::Stage(stages.len() - 1)];
            stages.push(stage(sums, Taps::Range(k.y.clone()), &from, dtype, output));
        }
        Kernel::Separable(k) => {
            let taps = Taps::Window { radius: k.radius_y, border: k.border, height: output.height() };
            let blur = (dtype == DType::U8)
                .then(|| byte_blur::ByteBlur::new(output, [k.radius_x, k.radius_y], k.border));
            if let Some(blur) = blur.flatten() {
                let sums = RowStage {
                    shape: blur.sums(),
                    ..stage(
                        Arc::new(byte_blur::Horizontal(blur.clone())),
                        Taps::Same,
                        from.inputs,
                        DType::F32,
                        output,
                    )
                };
                stages.push(sums);
                let from = [Input::Stage(stages.len() - 1)];
                stages.push(stage(Arc::new(byte_blur::Vertical(blur)), taps, &from, dtype, output));
                return Ok(());
            }
            let rows = by_type!(dtype, T => separable::Horizontal::<T>::new(output, k.radius_x, k.border));
            stages.push(stage(rows, Taps::Same, from.inputs, DType::F32, output));
            let sums =
                by_type!(dtype, T => separable::Vertical::<T>::new(output, k.radius_x, k.radius_y, k.border));
            let from = [Input::Stage(stages.len() - 1)];
            stages.push(stage(sums, taps, &from, dtype, output));
        }
        Kernel::Stencil(k) => {
            let radius = k.expr.reach().1;
            let gray_sobel = k.is_gray_sobel(&input, &output).then(|| sobel_of(output, k.border)).flatten();
            let kernel = gray_sobel.map_or_else(|| stencil(k, input, output), Ok)?;
            let taps = Taps::Window { radius, border: k.border, height: output.height() };
            stages.push(stage(kernel, taps, from.inputs, dtype, output));
        }
        Kernel::Whole(k) => return Err(format!("{} has no rows of its own", k.name())),
        Kernel::Custom(k) => return Err(format!("custom kernel '{}' has no rows", k.name())),
    }
    Ok(())
}

/// An expression of neighbours, or what it is known to be.
fn stencil(kernel: &Stencil, input: ImageDesc, output: ImageDesc) -> Result<Arc<dyn RowKernel>, String> {
    let rows = expr::stencil(kernel, input, output)?;
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! median {
            ($T:ty, $side:literal) => {
                median::Median::<$T, $side>::new(kernel.border, output, &rows).map(|rows| Arc::new(rows) as _)
            };
        }
        let side = kernel.median_side().filter(|_| input == output);
        let median: Option<Arc<dyn RowKernel>> = match (side, output.dtype()) {
            (Some(3), DType::U8) => median!(u8, 3),
            (Some(5), DType::U8) => median!(u8, 5),
            _ => None,
        };
        if let Some(median) = median {
            return Ok(median);
        }
    }
    Ok(rows)
}

/// Whether there is a fast way to make chroma straight of an image whose pixels share its samples, so many at a time.
pub(crate) fn is_fast_chroma(kernel: &Kernel, pixels: usize, input: ImageDesc, output: ImageDesc) -> bool {
    shared_chroma(kernel, pixels, input, output, 0).is_some()
}

fn shared_chroma(
    kernel: &Kernel,
    pixels: usize,
    input: ImageDesc,
    output: ImageDesc,
    down: u32,
) -> Option<from_rgb::SharedChroma> {
    let Kernel::Point(kernel) = kernel else { return None };
    let picked = vec![input.with_size(output.width(), output.height()).ok()?; pixels];
    let sample = kernel.yuv_sample(&picked, &output).filter(|_| output.dtype() == DType::U8)?;
    from_rgb::SharedChroma::new(sample, input, down)
}

/// Appends the row stage that does so; `down`: rows that share a sample, as a power of two; columns are two.
///
/// # Errors
/// When there is no fast way.
pub(crate) fn lower_chroma(
    pixels: usize,
    down: u32,
    from: &Lowering<'_>,
    stages: &mut Vec<RowStage>,
) -> Result<(), String> {
    let (input, output) = (from.descs[0], from.output);
    let rows = shared_chroma(from.kernel, pixels, input, output, down).ok_or("chroma of other images")?;
    let taps = if down == 0 {
        Taps::Same
    } else {
        let both = (0..i64::from(output.height())).map(|y| [(2 * y, 0.5), (2 * y + 1, 0.5)]);
        Taps::Range(AxisTaps::from_contributions(input.height(), both))
    };
    stages.push(RowStage {
        together: 1,
        kernel: Arc::new(rows),
        passes: taps.passes(),
        taps,
        inputs: from.inputs.to_vec(),
        uniforms: from.stage,
        shape: RowShape::new(&output, output.dtype()),
        height: output.height(),
    });
    Ok(())
}

/// The fast way of what an expression is known to be, or the expression operation by operation.
fn point(kernel: &Point, from: &Lowering<'_>) -> Result<Arc<dyn RowKernel>, String> {
    let (input, output) = (from.descs[0], from.output);
    if from.descs.iter().chain([&output]).any(|desc| desc.dtype() == DType::I32) {
        return Ok(if kernel.is_copy(from.descs, &output) {
            by_size!(output.dtype(), T => point::Copy::<T>::new(input, output))
        } else {
            expr::point(&kernel.expr, from.descs, output)?
        });
    }
    if output.dtype() == DType::U8
        && let Some(factors) = kernel.yuv_factors(from.descs, &output)
        && let Some(rows) = yuv::Yuv::new(factors, output)
    {
        return Ok(Arc::new(rows));
    }
    if output.dtype() == DType::U8
        && let [input] = from.descs
        && let Some(order) = from_rgb::order(input)
        && let Some(sample) = kernel.yuv_sample(from.descs, &output)
    {
        return Ok(Arc::new(from_rgb::FromRgb::new(sample, order)));
    }
    if let Some(rows) = merge::Merge::new(kernel, from.descs, &output) {
        return Ok(Arc::new(rows));
    }
    if kernel.is_inside(from.descs, &output) {
        return Ok(by_type!(output.dtype(), T => inside::Inside::<T>::new(input, output)));
    }
    Ok(match kernel.known(from.descs, &output) {
        Some(Known::Channels(channels)) => {
            let identity = input.format() == output.format()
                && channels.iter().enumerate().all(|(c, &from)| from == ChannelMap::Input(c));
            let to_gray = match channels[..] {
                [ChannelMap::Luma(rgb)] if output.dtype() == DType::U8 => Some(rgb),
                _ => None,
            };
            match to_gray {
                Some(rgb) => Arc::new(gray::Gray::new(&input, rgb)),
                None if identity => by_size!(output.dtype(), T => point::Copy::<T>::new(input, output)),
                None => by_type!(output.dtype(), T => color::Color::<T>::new(input, output, channels)),
            }
        }
        Some(Known::Threshold) => by_type!(output.dtype(), T => point::Threshold::<T>::new(input, output)),
        Some(Known::Blend) => {
            by_type!(output.dtype(), T => blend::Blend::<T>::new([input, from.descs[1]], output))
        }
        Some(Known::Affine(pairs)) if let Some(rows) = affine(input, output, &pairs) => rows,
        Some(Known::Affine(_)) | None => expr::point(&kernel.expr, from.descs, output)?,
    })
}

/// As [`affine`].
fn sobel_of(output: ImageDesc, border: Border) -> Option<Arc<dyn RowKernel>> {
    match output.dtype() {
        DType::U8 => Some(Arc::new(sobel::Sobel::<u8>::new(output, border))),
        DType::U16 => Some(Arc::new(sobel::Sobel::<u16>::new(output, border))),
        DType::F32 => Some(Arc::new(sobel::Sobel::<f32>::new(output, border))),
        DType::I16 | DType::F16 | DType::I32 => None,
    }
}

/// Types that images commonly have; of the others the expression is computed, which saves fifteen of twenty-five copies of the code.
fn affine(input: ImageDesc, output: ImageDesc, pairs: &[usize]) -> Option<Arc<dyn RowKernel>> {
    macro_rules! of {
        ($I:ty, $O:ty) => {
            Some(Arc::new(point::Affine::<$I, $O>::new(input, output, pairs.to_vec())))
        };
    }
    match (input.dtype(), output.dtype()) {
        (DType::U8, DType::U8) => of!(u8, u8),
        (DType::U8, DType::U16) => of!(u8, u16),
        (DType::U8, DType::F16) => of!(u8, f16),
        (DType::U8, DType::F32) => of!(u8, f32),
        (DType::U16, DType::U8) => of!(u16, u8),
        (DType::U16, DType::U16) => of!(u16, u16),
        (DType::U16, DType::F32) => of!(u16, f32),
        (DType::F32, DType::U8) => of!(f32, u8),
        (DType::F32, DType::F16) => of!(f32, f16),
        (DType::F32, DType::F32) => of!(f32, f32),
        _ => None,
    }
}
