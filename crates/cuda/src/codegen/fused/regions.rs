use mip_plan::{AxisMap, AxisTaps, Kernel, Operand};

use super::roles::Roles;
use super::setting::{STRIP, Setting, ceil, window};

/// Most blocks along an axis for which regions are worked out.
const MOST_BLOCKS: usize = 1 << 15;

/// Where a patch lies along one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    /// Its first coordinate in each block.
    pub first: Vec<i64>,
    /// Its extent, the same in all blocks.
    pub len: i64,
}

impl Span {
    /// The distance from the block's own first output, if it is the same in all blocks.
    pub(super) fn offset(&self, step: i64) -> Option<i64> {
        let offset = *self.first.first()?;
        self.first.iter().zip(0..).all(|(&first, block)| first == block * step + offset).then_some(offset)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Axis {
    X,
    Y,
}

/// One axis of a group whose blocks each make `step` outputs.
pub(super) struct AxisRegions {
    /// Number of blocks.
    pub blocks: i64,
    /// By patch.
    pub patches: Vec<Span>,
}

/// Lowest and one past the highest coordinate.
type Range = (i64, i64);

fn union(a: Option<Range>, b: Range) -> Range {
    a.map_or(b, |a| (a.0.min(b.0), a.1.max(b.1)))
}

impl AxisRegions {
    /// # Errors
    /// More blocks than regions are worked out for.
    pub(super) fn of(setting: &Setting<'_>, roles: &Roles, axis: Axis, step: i64) -> Result<Self, String> {
        let last = setting.stage(setting.stages() - 1).output;
        let extent = i64::from(if axis == Axis::X { last.width } else { last.height });
        let blocks = ceil(extent, step) as usize;
        if blocks > MOST_BLOCKS {
            return Err(format!("{last} would take {blocks} blocks along one axis"));
        }
        let mut patches: Vec<Span> =
            roles.patches.iter().map(|_| Span { first: vec![0; blocks], len: 0 }).collect();
        let unit = |patch: usize| {
            let (columns, rows) = roles.patches[patch].exact.map_or((STRIP, 1), |e| e.ratio.unit());
            if axis == Axis::X { columns } else { rows }
        };
        let n = setting.stages();
        let mut needs: Vec<Vec<Option<Range>>> = vec![vec![None; blocks]; n];
        let mut of_buffers: Vec<(Operand, Vec<Option<Range>>)> = Vec::new();
        for s in (0..n).rev() {
            let stage = setting.stage(s);
            if stage.store.is_some() {
                for (block, need) in needs[s].iter_mut().enumerate() {
                    let first = block as i64 * step;
                    *need = Some(union(*need, (first, first + step)));
                }
            }
            let own: Vec<Option<Range>> = match roles.patch_of(Operand::Stage(s)) {
                Some(patch) => settle(&mut patches[patch], &needs[s], unit(patch)),
                None => needs[s].clone(),
            };
            for &input in &stage.inputs {
                let mapped = own.iter().map(|r| r.map(|r| reads(&stage.kernel, axis, r)));
                let into = match input {
                    Operand::Stage(earlier) => &mut needs[earlier],
                    Operand::Buffer(_) => {
                        if !of_buffers.iter().any(|(b, _)| *b == input) {
                            of_buffers.push((input, vec![None; blocks]));
                        }
                        &mut of_buffers.iter_mut().find(|(b, _)| *b == input).expect("just made").1
                    }
                };
                for (need, range) in into.iter_mut().zip(mapped) {
                    *need = range.map_or(*need, |r| Some(union(*need, r)));
                }
            }
        }
        for (buffer, needs) in &of_buffers {
            if let Some(patch) = roles.patch_of(*buffer) {
                settle(&mut patches[patch], needs, unit(patch));
            }
        }
        Ok(Self { blocks: blocks as i64, patches })
    }
}

/// Gives a patch the region that covers its needs: whole strips, the same extent in all blocks.
fn settle(span: &mut Span, needs: &[Option<Range>], unit: i64) -> Vec<Option<Range>> {
    for (first, need) in span.first.iter_mut().zip(needs) {
        let (low, high) = need.unwrap_or((0, 1));
        *first = low.div_euclid(unit) * unit;
        span.len = span.len.max(ceil(high - *first, unit) * unit);
    }
    span.first.iter().map(|&first| Some((first, first + span.len))).collect()
}

/// The source coordinates that a range of a kernel's outputs reads.
fn reads(kernel: &Kernel, axis: Axis, (low, high): Range) -> Range {
    if let Some((rx, ry, _)) = window(kernel) {
        let radius = i64::from(if axis == Axis::X { rx } else { ry });
        return (low - radius, high + radius);
    }
    match kernel {
        Kernel::Gather(k) => gathered(if axis == Axis::X { k.x } else { k.y }, (low, high)),
        Kernel::Resample(k) => sampled(if axis == Axis::X { &k.x } else { &k.y }, (low, high)),
        _ => (low, high),
    }
}

fn gathered(map: AxisMap, (low, high): Range) -> Range {
    match map {
        AxisMap::Offset { first } => (low + i64::from(first), high + i64::from(first)),
        AxisMap::Flip { last } => (i64::from(last) - high + 1, i64::from(last) - low + 1),
        AxisMap::Nearest { output, .. } => {
            let inside = |i: i64| i.clamp(0, i64::from(output) - 1) as u32;
            (i64::from(map.map(inside(low))), i64::from(map.map(inside(high - 1))) + 1)
        }
    }
}

/// The source coordinates of a range of outputs, those outside taken for the nearest inside.
pub(super) fn sampled(taps: &AxisTaps, (low, high): Range) -> Range {
    let start = |i: i64| i64::from(taps.starts()[i.clamp(0, taps.outputs() as i64 - 1) as usize]);
    (start(low), start(high - 1) + taps.taps() as i64)
}
