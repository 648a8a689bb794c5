//! Colours of bytes that are sums of the three colours with factors: matrices, saturation.

use std::ops::Range;

use mip_core::{DType, ImageDesc, Layout};
use mip_plan::{Channel, Expr, Offset, Results};

use super::program::{Node, Number, Start, nodes};
use super::sums;
use crate::rows::merge::interleave;
use crate::rows::row::RowMut;
use crate::rows::{Job, RowKernel};
use crate::simd::{Block, Vector, chunks, chunks_mut};

/// Pixels computed at once: their planes stay in the first-level cache.
const BLOCK: usize = 1024;

/// A result: what the sum starts from, and the factors of the pixel's three bytes.
type Sum = (Number, [Number; 3]);

/// Three sums of three bytes, which all add them up in the same order.
#[derive(Debug)]
pub(super) struct Linear {
    sums: [Sum; 3],
    /// From the last byte of a pixel to the first.
    backwards: bool,
}

impl Linear {
    /// `None` when it is another expression, or other pixels.
    pub(super) fn new(expr: &Expr, inputs: &[ImageDesc], output: ImageDesc) -> Result<Option<Self>, String> {
        let fits =
            |desc: &ImageDesc| (desc.channels(), desc.dtype(), desc.layout()) == (3, DType::U8, Layout::Hwc);
        if !matches!(inputs, [input] if fits(input) && fits(&output)) {
            return Ok(None);
        }
        let expr = expr.resolve(inputs, &output)?;
        let Results::Channels(results) = expr.results() else { return Ok(None) };
        let results: Vec<usize> = results.iter().map(|&result| usize::from(result)).collect();
        let nodes = sums::fused(nodes(&expr, &results), &results);
        Ok([false, true].into_iter().find_map(|backwards| {
            let sums: Option<Vec<Sum>> =
                results.iter().map(|&result| sum(&nodes, result, backwards)).collect();
            Some(Self { sums: sums?.try_into().ok()?, backwards })
        }))
    }
}

/// A result as such a sum, if it adds bytes up in that order. What it lacks gets the factor 0, which changes nothing but a zero's sign.
fn sum(nodes: &[Node], result: usize, backwards: bool) -> Option<Sum> {
    let Node::Sum { start: Start::Number(start), terms } = &nodes[result] else { return None };
    let mut factors = [Number::Const(0.0); 3];
    let mut before = None;
    for (term, factor) in terms {
        let Node::Tap { slot: 0, channel: Channel::Index(channel), at: Offset::NONE } = nodes[*term] else {
            return None;
        };
        let place = if backwards { 2_u8.checked_sub(channel)? } else { channel };
        if before.is_some_and(|before| place <= before) {
            return None;
        }
        before = Some(place);
        *factors.get_mut(usize::from(channel))? = *factor;
    }
    Some((*start, factors))
}

impl RowKernel for Linear {
    fn scratch_bytes(&self) -> usize {
        3 * BLOCK
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        let number = |number: Number| number.get(job.uniforms);
        let sums = self.sums.map(|(start, [a, b, c])| [start, a, b, c].map(number));
        let (pixels, _) = job.own(0).plane::<u8>(0).as_chunks::<3>();
        for (pixels, out) in pixels.chunks(BLOCK).zip(out.plane::<u8>(0).chunks_mut(3 * BLOCK)) {
            let (a, rest) = scratch.split_at_mut(BLOCK);
            let (b, rest) = rest.split_at_mut(BLOCK);
            let to = [a, b, &mut rest[..BLOCK]].map(|plane| &mut plane[..pixels.len()]);
            job.level.drive(Colors { pixels, backwards: self.backwards, sums, to }, pixels.len());
            let mut planes = scratch.chunks_exact(BLOCK).map(|plane| &plane[..pixels.len()]);
            let planes = std::array::from_fn(|_| planes.next().unwrap_or_default());
            interleave(job.level, planes, out);
        }
    }
}

/// A block of pixels, each result in a plane of its own.
struct Colors<'a> {
    pixels: &'a [[u8; 3]],
    backwards: bool,
    /// Start and factors of each result.
    sums: [[f32; 4]; 3],
    to: [&'a mut [u8]; 3],
}

impl Block for Colors<'_> {
    #[inline(always)]
    fn blocks<const N: usize, V: Vector<N>>(&mut self, v: V, range: Range<usize>) {
        let [a, b, c] = &mut self.to;
        let pixels = chunks::<_, N>(self.pixels, range.clone());
        let (a, b, c) = (chunks_mut(a, range.clone()), chunks_mut(b, range.clone()), chunks_mut(c, range));
        // What a sum starts from, and the factors in the order in which they are used.
        let [of_a, of_b, of_c] = self.sums.map(|[start, first, middle, last]| {
            let factors = if self.backwards { [last, middle, first] } else { [first, middle, last] };
            [start, factors[0], factors[1], factors[2]]
        });
        for (pixels, (a, (b, c))) in pixels.iter().zip(a.iter_mut().zip(b.iter_mut().zip(c))) {
            let [first, middle, last] = v.split_u8(pixels);
            let bytes = if self.backwards { [last, middle, first] } else { [first, middle, last] };
            v.store_u8(added(v, bytes, of_a), a);
            v.store_u8(added(v, bytes, of_b), b);
            v.store_u8(added(v, bytes, of_c), c);
        }
    }
}

#[inline(always)]
fn added<const N: usize, V: Vector<N>>(
    v: V,
    [x, y, z]: [V::F; 3],
    [start, of_x, of_y, of_z]: [f32; 4],
) -> V::F {
    let sum = v.fma(x, v.splat(of_x), v.splat(start));
    v.fma(z, v.splat(of_z), v.fma(y, v.splat(of_y), sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mip_core::PixelFormat;
    use mip_plan::ExprBuilder;

    /// Whether sums of three bytes in that order of red, green and blue are such a matrix, of an image of that format.
    fn is_found(order: [Channel; 3], format: PixelFormat) -> bool {
        let desc = ImageDesc::new(5, 2, format, DType::U8).unwrap();
        let mut e = ExprBuilder::default();
        let results = [0.25, 1.0, -3.0].map(|start| {
            order.iter().fold(e.constant(start), |sum, &channel| {
                let (byte, factor) = (e.input(0, channel), e.uniform("factor"));
                e.fma(byte, factor, sum)
            })
        });
        let expr = e.finish(&Results::Channels(results.to_vec())).unwrap();
        Linear::new(&expr, &[desc], desc).unwrap().is_some()
    }

    #[test]
    fn sums_from_one_end_of_a_pixel_to_the_other_are_found() {
        use Channel::{Blue, Green, Red};
        for format in [PixelFormat::Rgb, PixelFormat::Bgr] {
            assert!(is_found([Red, Green, Blue], format));
            assert!(is_found([Blue, Green, Red], format));
            // Rounding would tell.
            assert!(!is_found([Green, Red, Blue], format));
            assert!(!is_found([Red, Green, Red], format));
        }
        assert!(!is_found([Red, Green, Blue], PixelFormat::Rgba));
    }
}
