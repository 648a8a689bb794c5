//! The kernels' documentation, sample by sample, in the order written there.

use mip_core::{DType, ImageDesc};
use mip_plan::{AxisTaps, Border, ChannelMap, Kernel, MapKernel, Plan, Resample};

use crate::images::Picture;

/// Runs a one-group plan of single frames stage by stage; returns the result of every stage.
pub(crate) fn run(plan: &Plan, inputs: &[&Picture]) -> Vec<Picture> {
    let mut results: Vec<Picture> = Vec::new();
    for stage in &plan.groups[0].stages {
        let operands: Vec<&Picture> = stage
            .inputs
            .iter()
            .map(|operand| match *operand {
                mip_plan::Operand::Buffer(id) => inputs[id],
                mip_plan::Operand::Stage(s) => &results[s],
            })
            .collect();
        let result = kernel(&stage.kernel, &stage.uniforms, &operands, stage.output);
        results.push(result);
    }
    results
}

/// Applies a kernel.
pub(crate) fn kernel(kernel: &Kernel, uniforms: &[f32], inputs: &[&Picture], output: ImageDesc) -> Picture {
    let mut result = Picture::poisoned(output, 1, false);
    let input = inputs[0];
    let at = |x: usize, y: usize, c: usize| input.get(0, x, y, c);
    match kernel {
        Kernel::Map(map) => {
            let channels = ChannelMap::of(input.layout.desc.format, output.format);
            result.fill(|_, x, y, c| match map {
                MapKernel::Copy => at(x, y, c),
                MapKernel::ColorConvert => match channels[c] {
                    ChannelMap::Input(i) => at(x, y, i),
                    ChannelMap::Opaque => output.dtype.full_scale() as f32,
                    ChannelMap::Luma(rgb) => luma(output.dtype, rgb.map(|i| at(x, y, i))),
                },
                MapKernel::Affine => at(x, y, c).mul_add(uniforms[c], uniforms[output.channels() + c]),
                MapKernel::Threshold if output.format.has_alpha() && c == 3 => at(x, y, c),
                MapKernel::Threshold => {
                    if at(x, y, c) > uniforms[0] {
                        uniforms[1]
                    } else {
                        0.0
                    }
                }
                MapKernel::Blend => inputs[1].get(0, x, y, c).mul_add(uniforms[1], at(x, y, c) * uniforms[0]),
            });
        }
        Kernel::Gather(k) => {
            result.fill(|_, x, y, c| at(k.x.map(x as u32) as usize, k.y.map(y as u32) as usize, c));
        }
        Kernel::Resample(k) => {
            let [long_x, long_y] = [&k.x, &k.y].map(|axis| axis.taps() > Resample::longest_chain(&output));
            let row =
                |x: usize, j: usize, c: usize| weighted(&k.x, x, long_x, |sx| premultiplied(input, sx, j, c));
            result.fill(|_, x, y, c| {
                unpremultiplied(output, c, |c| weighted(&k.y, y, long_y, |sy| row(x, sy, c)))
            });
        }
        Kernel::Separable(k) => {
            let (wx, wy) = uniforms.split_at(k.radius_x as usize + 1);
            let outside = |c: usize| {
                let Border::Constant(v) = k.border else { unreachable!("only constants are outside") };
                if output.format.has_alpha() && c != 3 { v * v } else { v }
            };
            let row = |x: usize, j: Option<u32>, c: usize| {
                mirrored(wx, |i| {
                    let column = k.border.index(x as i64 + i, output.width);
                    match (j, column) {
                        (Some(j), Some(column)) => premultiplied(input, column as usize, j as usize, c),
                        _ => outside(c),
                    }
                })
            };
            result.fill(|_, x, y, c| {
                unpremultiplied(output, c, |c| {
                    mirrored(wy, |j| row(x, k.border.index(y as i64 + j, output.height), c))
                })
            });
        }
        Kernel::Sobel(k) => {
            result.fill(|_, x, y, _| {
                let p = |j: i64, i: i64| {
                    let row = k.border.index(y as i64 + j, output.height);
                    let column = k.border.index(x as i64 + i, output.width);
                    match (row, column, k.border) {
                        (Some(row), Some(column), _) => at(column as usize, row as usize, 0),
                        (_, _, Border::Constant(v)) => v,
                        _ => unreachable!("only constants are outside"),
                    }
                };
                let d = |j| p(j, 1) - p(j, -1);
                let s = |j| p(j, 0).mul_add(2.0, p(j, -1) + p(j, 1));
                let gx = 2.0_f32.mul_add(d(0), d(-1) + d(1));
                let gy = s(1) - s(-1);
                gx.mul_add(gx, gy * gy).sqrt()
            });
        }
        Kernel::Custom(_) => unreachable!("tested elsewhere"),
    }
    result
}

fn luma(dtype: DType, [r, g, b]: [f32; 3]) -> f32 {
    if dtype == DType::F32 {
        return 0.114_f32.mul_add(b, 0.587_f32.mul_add(g, 0.299 * r));
    }
    let n = 299 * r as u64 + 587 * g as u64 + 114 * b as u64;
    let (q, rest) = (n / 1000, n % 1000);
    let up = rest > 500 || (rest == 500 && q % 2 == 1);
    (q + u64::from(up)) as f32
}

fn premultiplied(input: &Picture, x: usize, y: usize, c: usize) -> f32 {
    let p = input.get(0, x, y, c);
    if input.layout.desc.format.has_alpha() && c != 3 { p * input.get(0, x, y, 3) } else { p }
}

fn unpremultiplied(output: ImageDesc, c: usize, v: impl Fn(usize) -> f32) -> f32 {
    if output.format.has_alpha() && c != 3 {
        let alpha = v(3);
        if alpha > 0.0 { v(c) / alpha } else { 0.0 }
    } else {
        v(c)
    }
}

fn weighted(table: &AxisTaps, output: usize, long: bool, p: impl Fn(usize) -> f32) -> f32 {
    let (start, weights) = (table.starts()[output] as usize, table.weights(output));
    let taps = (0..weights.len()).filter(|&k| weights[k] != 0.0);
    if long {
        let add = |sum: Option<f64>, k: usize| {
            let (w, p) = (table.wide_weights(output)[k], f64::from(p(start + k)));
            Some(sum.map_or(w * p, |sum| w.mul_add(p, sum)))
        };
        return taps.fold(None, add).expect("a tap") as f32;
    }
    let add = |sum: Option<f32>, k: usize| {
        let (w, p) = (weights[k], p(start + k));
        Some(sum.map_or(w * p, |sum| w.mul_add(p, sum)))
    };
    taps.fold(None, add).expect("a tap")
}

fn mirrored(weights: &[f32], p: impl Fn(i64) -> f32) -> f32 {
    let mut sum = weights[0] * p(0);
    for (k, w) in weights.iter().enumerate().skip(1) {
        sum = w.mul_add(p(-(k as i64)) + p(k as i64), sum);
    }
    sum
}

/// Bilinear taps with half-pixel centres, not antialiased.
pub(crate) fn bilinear(input: u32, output: u32) -> AxisTaps {
    let scale = f64::from(input) / f64::from(output);
    let outputs: Vec<Vec<(i64, f64)>> = (0..output)
        .map(|i| {
            let source = (f64::from(i) + 0.5) * scale - 0.5;
            let (first, fraction) = (source.floor(), source - source.floor());
            vec![(first as i64, 1.0 - fraction), (first as i64 + 1, fraction)]
        })
        .collect();
    AxisTaps::from_contributions(input, &outputs)
}

/// Equal weights over the pixels that an output covers (at least one).
pub(crate) fn area(input: u32, output: u32) -> AxisTaps {
    let outputs: Vec<Vec<(i64, f64)>> = (0..u64::from(output))
        .map(|i| {
            let first = i * u64::from(input) / u64::from(output);
            let end = ((i + 1) * u64::from(input) / u64::from(output)).max(first + 1);
            (first..end).map(|k| (k as i64, 1.0 / (end - first) as f64)).collect()
        })
        .collect();
    AxisTaps::from_contributions(input, &outputs)
}
