//! From kernels to row stages.

use std::sync::Arc;

use mip_core::{DType, ImageDesc};
use mip_plan::{Kernel, MapKernel};

use super::row::RowShape;
use super::{
    RowKernel, Taps, blend, byte_blur, color, gather, gray, point, resample, resample_u8, separable, sobel,
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
    /// Rows to compute at a time: 1 or [`super::TOGETHER`].
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
    /// Shape of its result.
    pub(crate) output: ImageDesc,
}

/// Calls a generic constructor for the sample type that a value of [`DType`] names.
macro_rules! by_type {
    ($dtype:expr, $T:ident => $make:expr) => {
        match $dtype {
            DType::U8 => by_type!(@ $T = u8, $make),
            DType::U16 => by_type!(@ $T = u16, $make),
            DType::F32 => by_type!(@ $T = f32, $make),
        }
    };
    (@ $T:ident = $sample:ty, $make:expr) => {{
        type $T = $sample;
        Arc::new($make) as Arc<dyn RowKernel>
    }};
}

/// Appends the row stages that compute a kernel to `stages`; the last one is its result.
///
/// # Errors
/// When the shapes do not fit the kernel (which a checked plan never has), or the kernel has no rows.
pub(crate) fn lower(from: &Lowering<'_>, stages: &mut Vec<RowStage>) -> Result<(), String> {
    check(from)?;
    let (input, output) = (from.descs[0], from.output);
    let stage = |kernel: Arc<dyn RowKernel>, taps: Taps, inputs: &[Input], dtype, desc: ImageDesc| RowStage {
        together: if kernel.together() { super::TOGETHER } else { 1 },
        kernel,
        passes: taps.passes(),
        taps,
        inputs: inputs.to_vec(),
        uniforms: from.stage,
        shape: RowShape::new(&desc, dtype),
        height: desc.height,
    };
    let dtype = output.dtype;
    match from.kernel {
        Kernel::Map(kernel) => {
            stages.push(stage(map(kernel, from), Taps::Same, from.inputs, dtype, output));
        }
        Kernel::Gather(k) => {
            let kernel = by_type!(dtype, T => gather::Gather::<T>::new(&output, k.x));
            stages.push(stage(kernel, Taps::Mapped(k.y), from.inputs, dtype, output));
        }
        Kernel::Resample(k) => {
            if dtype == DType::U8
                && let Some(exact) = resample_u8::Exact::new(k, &input)
            {
                let taps = Taps::Range(k.y.clone());
                stages.push(stage(Arc::new(exact), taps, from.inputs, dtype, output));
                return Ok(());
            }
            let wide = output.with_size(output.width, input.height);
            let rows = by_type!(dtype, T => resample::Horizontal::<T>::new(input, k.x.clone()));
            stages.push(stage(rows, Taps::Same, from.inputs, DType::F32, wide));
            let sums = by_type!(dtype, T => resample::Vertical::<T>::new(output, k.y.clone()));
            let from = [Input::Stage(stages.len() - 1)];
            stages.push(stage(sums, Taps::Range(k.y.clone()), &from, dtype, output));
        }
        Kernel::Separable(k) => {
            let taps = Taps::Window { radius: k.radius_y, border: k.border, height: output.height };
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
        Kernel::Sobel(k) => {
            let kernel = by_type!(dtype, T => sobel::Sobel::<T>::new(output, k.border));
            let taps = Taps::Window { radius: 1, border: k.border, height: output.height };
            stages.push(stage(kernel, taps, from.inputs, dtype, output));
        }
        Kernel::Custom(k) => return Err(format!("custom kernel '{}' has no rows", k.name())),
    }
    Ok(())
}

fn map(kernel: &MapKernel, from: &Lowering<'_>) -> Arc<dyn RowKernel> {
    let (input, output) = (from.descs[0], from.output);
    match kernel {
        MapKernel::Copy => by_type!(output.dtype, T => point::Copy::<T>::new(input, output)),
        MapKernel::ColorConvert => {
            let to_gray = output.dtype == DType::U8 && output.channels() == 1;
            match to_gray.then(|| gray::Gray::new(&input)).flatten() {
                Some(gray) => Arc::new(gray),
                None => by_type!(output.dtype, T => color::Color::<T>::new(input, output)),
            }
        }
        MapKernel::Threshold => by_type!(output.dtype, T => point::Threshold::<T>::new(input, output)),
        MapKernel::Blend => {
            by_type!(output.dtype, T => blend::Blend::<T>::new([input, from.descs[1]], output))
        }
        MapKernel::Affine => match input.dtype {
            DType::U8 => by_type!(output.dtype, T => point::Affine::<u8, T>::new(input, output)),
            DType::U16 => by_type!(output.dtype, T => point::Affine::<u16, T>::new(input, output)),
            DType::F32 => by_type!(output.dtype, T => point::Affine::<f32, T>::new(input, output)),
        },
    }
}

/// The assumptions that row kernels make about shapes, in one place.
fn check(from: &Lowering<'_>) -> Result<(), String> {
    let output = from.output;
    let ensure = |holds: bool, rule: &str| {
        let shapes: Vec<String> = from.descs.iter().map(ToString::to_string).collect();
        let name = from.kernel.name();
        if holds { Ok(()) } else { Err(format!("{name} from {} to {output}: {rule}", shapes.join(", "))) }
    };
    ensure(from.descs.len() == from.kernel.input_count(), "wrong number of inputs")?;
    let input = from.descs[0];
    let same_size = from.descs.iter().all(|d| d.width == output.width && d.height == output.height);
    let same_type = from.descs.iter().all(|d| d.dtype == output.dtype);
    let same_format = from.descs.iter().all(|d| d.format == output.format);
    if !matches!(from.kernel, Kernel::Map(MapKernel::Affine) | Kernel::Custom(_)) {
        ensure(same_type, "the sample type must stay")?;
    }
    if !matches!(from.kernel, Kernel::Map(MapKernel::ColorConvert) | Kernel::Custom(_)) {
        ensure(same_format, "the format must stay")?;
    }
    match from.kernel {
        Kernel::Map(_) => ensure(same_size, "the size must stay"),
        Kernel::Custom(_) => Ok(()),
        _ => ensure(input.layout == output.layout, "the memory order must stay"),
    }?;
    match from.kernel {
        Kernel::Separable(k) => {
            ensure(same_size, "the size must stay")?;
            ensure(k.radius_x <= 15 && k.radius_y <= 15, "radius above 15")
        }
        Kernel::Sobel(_) => {
            ensure(same_size, "the size must stay")?;
            ensure(output.channels() == 1, "only gray images have a gradient magnitude")
        }
        Kernel::Gather(k) => {
            let inside = |map: mip_plan::AxisMap, outputs: u32, input: u32| {
                let reaches = |map: mip_plan::AxisMap| match map {
                    mip_plan::AxisMap::Offset { first } => {
                        first.checked_add(outputs).is_some_and(|end| end <= input)
                    }
                    mip_plan::AxisMap::Flip { last } => last < input && outputs <= last + 1,
                    mip_plan::AxisMap::Nearest { input: i, output } => i <= input && outputs <= output,
                };
                reaches(map)
            };
            ensure(inside(k.x, output.width, input.width), "columns outside the source")?;
            ensure(inside(k.y, output.height, input.height), "rows outside the source")
        }
        Kernel::Resample(k) => {
            let inside = |taps: &mip_plan::AxisTaps, outputs: u32, input: u32| {
                taps.outputs() == outputs as usize
                    && taps.starts().iter().all(|&s| s as usize + taps.taps() <= input as usize)
            };
            ensure(inside(&k.x, output.width, input.width), "columns outside the source")?;
            ensure(inside(&k.y, output.height, input.height), "rows outside the source")
        }
        Kernel::Map(_) | Kernel::Custom(_) => Ok(()),
    }
}
