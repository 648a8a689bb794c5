//! Whether a kernel fits its inputs, output and uniforms.

use mip_core::{ImageDesc, PixelFormat};
use mip_plan::{AxisMap, AxisTaps, Kernel, MapKernel};

/// What does not fit, in words; `None` when everything does.
pub(crate) fn stage_fault(
    kernel: &Kernel,
    uniforms: &[f32],
    inputs: &[ImageDesc],
    output: ImageDesc,
) -> Option<String> {
    if inputs.len() != kernel.input_count() {
        return Some(format!("{} input(s) instead of {}", inputs.len(), kernel.input_count()));
    }
    if let Err(error) = output.check() {
        return Some(error.to_string());
    }
    if let Some(count) = uniform_count(kernel, inputs)
        && uniforms.len() != count
    {
        return Some(format!("{} uniform(s) instead of {count}", uniforms.len()));
    }
    let fits = match (kernel, inputs) {
        // A user's kernel may have any inputs and any output.
        (Kernel::Custom(_), _) => true,
        (Kernel::Map(MapKernel::Blend), [a, b]) => {
            same_size(a, &output) && same_samples(a, &output) && same_size(a, b) && same_samples(a, b)
        }
        (Kernel::Map(map), [input]) => same_size(input, &output) && map_fits(map, input, &output),
        (Kernel::Gather(k), [input]) => {
            same_samples(input, &output)
                && input.layout == output.layout
                && map_stays_inside(k.x, input.width, output.width)
                && map_stays_inside(k.y, input.height, output.height)
        }
        (Kernel::Resample(k), [input]) => {
            same_samples(input, &output)
                && input.layout == output.layout
                && taps_stay_inside(&k.x, input.width, output.width)
                && taps_stay_inside(&k.y, input.height, output.height)
        }
        (Kernel::Separable(_), [input]) => *input == output,
        (Kernel::Sobel(_), [input]) => {
            input.format == PixelFormat::Gray && same_samples(input, &output) && same_size(input, &output)
        }
        _ => false,
    };
    (!fits).then(|| {
        let inputs: Vec<String> = inputs.iter().map(ToString::to_string).collect();
        format!("the kernel cannot make {output} of {}", inputs.join(" and "))
    })
}

/// How many uniforms a kernel takes; `None` when that is its own business.
fn uniform_count(kernel: &Kernel, inputs: &[ImageDesc]) -> Option<usize> {
    match kernel {
        Kernel::Map(map) => inputs.first().map(|input| map.uniform_count(input)),
        Kernel::Separable(k) => Some(k.radius_x as usize + k.radius_y as usize + 2),
        Kernel::Gather(_) | Kernel::Resample(_) | Kernel::Sobel(_) => Some(0),
        Kernel::Custom(_) => None,
    }
}

fn map_fits(map: &MapKernel, input: &ImageDesc, output: &ImageDesc) -> bool {
    match map {
        MapKernel::Copy => same_samples(input, output),
        MapKernel::ColorConvert => input.dtype == output.dtype,
        MapKernel::Affine | MapKernel::Threshold => input.format == output.format,
        // Takes two inputs, which the caller has handled.
        MapKernel::Blend => false,
    }
}

fn same_size(a: &ImageDesc, b: &ImageDesc) -> bool {
    (a.width, a.height) == (b.width, b.height)
}

fn same_samples(a: &ImageDesc, b: &ImageDesc) -> bool {
    (a.format, a.dtype) == (b.format, b.dtype)
}

fn map_stays_inside(map: AxisMap, input: u32, output: u32) -> bool {
    match map {
        AxisMap::Offset { first } => first.checked_add(output).is_some_and(|end| end <= input),
        AxisMap::Flip { last } => last < input && output <= last + 1,
        AxisMap::Nearest { input: from, output: to } => (from, to) == (input, output),
    }
}

fn taps_stay_inside(taps: &AxisTaps, input: u32, output: u32) -> bool {
    let inside = |start: &u32| *start as usize + taps.taps() <= input as usize;
    taps.outputs() == output as usize && taps.starts().iter().all(inside)
}
