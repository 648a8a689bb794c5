//! Colours of raw images of bytes (a Bayer pattern) as means of the nearest pixels: two columns, which have the same sums, are a
//! word of 16 bits, and all three colours of a row are made in one walk.

use mip_core::{DType, ImageDesc, Layout};
use mip_plan::{Channel, Expr, Offset};

use super::fixed::{self, Root, Setting};
use super::program::{Node, Number, Start};
use super::row_of;
use super::samples::Source;
use super::walk::Reads;
use crate::rows::Job;
use crate::rows::merge::interleave;
use crate::rows::row::RowMut;
use crate::simd::Level;

/// Words computed at once: their planes stay in the first-level cache.
const BLOCK: usize = 256;

/// A colour of a block.
type Plane = [u16; BLOCK];

/// A row around a block: one word to each side.
type Wide = [u16; BLOCK + 2];

/// A mean of the pixels around one, or the pixel itself.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mean {
    Own,
    /// Left and right.
    Across,
    /// Above and below.
    Down,
    /// All four of them.
    Sides,
    Corners,
}

/// A row of pixels that have a colour (red or blue) and green in turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bayer {
    /// Whether the pixels of that colour are in odd columns.
    odd: bool,
    /// The channel of that colour, and the one of the colour that other rows have.
    channels: [usize; 2],
}

impl Bayer {
    /// `None` when the expression makes something else of a row.
    pub(super) fn of(
        expr: &Expr,
        results: &[usize],
        setting: Setting<'_>,
        reads: &Reads,
        output: &ImageDesc,
    ) -> Option<Self> {
        let fits = (output.channels(), output.dtype(), output.layout()) == (3, DType::U8, Layout::Hwc);
        if !fits || !expr.reads_position() || reads.inputs.len() != 1 || reads.inputs[0].channels() != 1 {
            return None;
        }
        let column = |odd: bool| {
            let (nodes, roots) = fixed::nodes(expr, results, Setting { odd_column: Some(odd), ..setting })?;
            let means: Vec<Mean> = roots.iter().map(|root| mean(&nodes, *root)).collect::<Option<_>>()?;
            <[Mean; 3]>::try_from(means).ok()
        };
        let columns = [column(false)?, column(true)?];
        let all =
            [[0, 2], [2, 0]].into_iter().flat_map(|channels| [false, true].map(|odd| Self { odd, channels }));
        all.into_iter().find(|bayer| bayer.columns() == columns)
    }

    /// The means of even and of odd columns.
    fn columns(self) -> [[Mean; 3]; 2] {
        let [own, other] = self.channels;
        let (mut colored, mut green) = ([Mean::Sides; 3], [Mean::Own; 3]);
        (colored[own], colored[other]) = (Mean::Own, Mean::Corners);
        (green[own], green[other]) = (Mean::Across, Mean::Down);
        if self.odd { [green, colored] } else { [colored, green] }
    }

    pub(super) fn run(self, job: &Job<'_>, reads: &Reads, out: &mut RowMut<'_>) {
        let (mut around, mut made) = ([[0; BLOCK + 2]; 3], [[0; BLOCK]; 3]);
        for (block, out) in out.plane::<u8>(0).chunks_mut(3 * 2 * BLOCK).enumerate() {
            let first = (block * 2 * BLOCK) as isize - 2;
            let source = Source::new(&reads.inputs[0], reads, first, out.len() / 3 + 4);
            for (dy, to) in (-1..=1).zip(&mut around) {
                load(job, reads, dy, source, bytemuck::cast_slice_mut(to));
            }
            let (rows, made_of) = (around.each_ref(), made.each_mut());
            if self.odd {
                colors::<true>(job.level, rows, made_of);
            } else {
                colors::<false>(job.level, rows, made_of);
            }
            let [own, green, other] =
                made.each_ref().map(|plane| &bytemuck::cast_slice(plane)[..out.len() / 3]);
            let mut planes = [green; 3];
            (planes[self.channels[0]], planes[self.channels[1]]) = (own, other);
            interleave(job.level, planes, out);
        }
    }
}

/// A row around a block, by the border's rule where it lies outside.
fn load(job: &Job<'_>, reads: &Reads, dy: i8, source: Source, to: &mut [u8]) {
    let Some(row) = row_of(job, reads.around, 0, dy) else { return };
    let src = row.plane::<u8>(0);
    let [left, middle, right] = source.parts(&mut to[..source.count()]);
    source.outside(0, left, |place| src[place], |_| 0);
    source.outside(left.len() + middle.len(), right, |place| src[place], |_| 0);
    middle.copy_from_slice(&src[source.inside()]);
}

/// The mean that a result is.
fn mean(nodes: &[Node], root: Root) -> Option<Mean> {
    let tap = |node: usize| match nodes[node] {
        Node::Tap { slot: 0, channel: Channel::Own | Channel::Index(0), at } => Some(at),
        _ => None,
    };
    let places: Vec<Offset> = match &nodes[root.node] {
        Node::Sum { start: Start::Number(Number::Const(0.0)), terms } => {
            let one = |(node, factor): &(usize, Number)| {
                (*factor == Number::Const(1.0)).then(|| tap(*node)).flatten()
            };
            terms.iter().map(one).collect::<Option<_>>()?
        }
        _ => vec![tap(root.node)?],
    };
    // In any order: sums of bytes are exact.
    let are = |expected: &[(i8, i8)]| {
        let one = |&(dx, dy): &(i8, i8)| places.contains(&Offset { dx, dy });
        places.len() == expected.len() && expected.iter().all(one)
    };
    match root.exponent {
        0 => are(&[(0, 0)]).then_some(Mean::Own),
        1 if are(&[(-1, 0), (1, 0)]) => Some(Mean::Across),
        1 if are(&[(0, -1), (0, 1)]) => Some(Mean::Down),
        2 if are(&[(-1, 0), (1, 0), (0, -1), (0, 1)]) => Some(Mean::Sides),
        2 if are(&[(-1, -1), (1, -1), (-1, 1), (1, 1)]) => Some(Mean::Corners),
        _ => None,
    }
}

/// The row's own colour, green and the other colour of a block; `ODD`: the pixels of that colour are in odd columns.
fn colors<const ODD: bool>(
    level: Level,
    [above, here, below]: [&Wide; 3],
    [own, green, other]: [&mut Plane; 3],
) {
    level.vectorize(
        #[inline(always)]
        || {
            let (own, green, other) = (own, green, other);
            // The words that hold the pixels to the left and to the right of one of the row's colour, and of a green one.
            let (near, far) = if ODD { ([1, 2], [0, 1]) } else { ([0, 1], [1, 2]) };
            for i in 0..BLOCK {
                let beside = near.map(|n| greens::<ODD>(here[i + n]));
                let across = far.map(|n| colored::<ODD>(here[i + n]));
                let middle = [above[i + 1], below[i + 1]];
                let corners = near.map(|n| greens::<ODD>(above[i + n]) + greens::<ODD>(below[i + n]));
                let sides = beside[0] + beside[1] + colored::<ODD>(middle[0]) + colored::<ODD>(middle[1]);
                let down = greens::<ODD>(middle[0]) + greens::<ODD>(middle[1]);
                let kept = here[i + 1];
                own[i] = word::<ODD>(colored::<ODD>(kept), half(across[0] + across[1]));
                green[i] = word::<ODD>(quarter(sides), greens::<ODD>(kept));
                other[i] = word::<ODD>(quarter(corners[0] + corners[1]), half(down));
            }
        },
    );
}

/// Of two columns the pixel in those of the row's colour.
#[inline(always)]
const fn colored<const ODD: bool>(word: u16) -> u16 {
    if ODD { u16::from_le(word) >> 8 } else { u16::from_le(word) & 0xFF }
}

/// The one in the other columns.
#[inline(always)]
const fn greens<const ODD: bool>(word: u16) -> u16 {
    if ODD { u16::from_le(word) & 0xFF } else { u16::from_le(word) >> 8 }
}

/// To the nearest whole number, ties to even.
#[inline(always)]
const fn half(sum: u16) -> u16 {
    (sum + (sum >> 1 & 1)) >> 1
}

/// As [`half`].
#[inline(always)]
const fn quarter(sum: u16) -> u16 {
    (sum + 1 + (sum >> 2 & 1)) >> 2
}

#[inline(always)]
const fn word<const ODD: bool>(colored: u16, green: u16) -> u16 {
    (if ODD { green | colored << 8 } else { colored | green << 8 }).to_le()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::expr::Around;
    use mip_core::PixelFormat;
    use mip_ops::{BayerPattern, Demosaic, DemosaicMethod, Operator};
    use mip_plan::{Kernel, Results};

    /// What even and odd rows are found to be.
    fn rows(operator: &Demosaic) -> [Option<Bayer>; 2] {
        let image = ImageDesc::new(7, 5, PixelFormat::Gray, DType::U8).unwrap();
        let step = operator.lower(&[image]).unwrap().steps.remove(0);
        let Kernel::Stencil(stencil) = step.kernel else { panic!("{:?}", step.kernel) };
        let reads = Reads { inputs: vec![image], flat: false, around: Some(Around::of(&stencil)) };
        let expr = stencil.expr.resolve(&[image], &step.output).unwrap();
        let Results::Channels(results) = expr.results() else { panic!("three colours") };
        let results: Vec<usize> = results.iter().map(|&result| usize::from(result)).collect();
        [false, true].map(|odd_row| {
            let setting = Setting { uniforms: &[], outside: None, size: [7, 5], odd_row, odd_column: None };
            Bayer::of(&expr, &results, setting, &reads, &step.output)
        })
    }

    #[test]
    fn rows_of_every_pattern_are_found() {
        let bayer = |odd, own: usize| Some(Bayer { odd, channels: [own, 2 - own] });
        for (pattern, expected) in [
            (BayerPattern::Rggb, [bayer(false, 0), bayer(true, 2)]),
            (BayerPattern::Bggr, [bayer(false, 2), bayer(true, 0)]),
            (BayerPattern::Grbg, [bayer(true, 0), bayer(false, 2)]),
            (BayerPattern::Gbrg, [bayer(true, 2), bayer(false, 0)]),
        ] {
            assert_eq!(rows(&Demosaic::new(pattern)), expected, "{pattern:?}");
            assert_eq!(rows(&Demosaic::new(pattern).method(DemosaicMethod::Malvar)), [None; 2]);
        }
    }
}
