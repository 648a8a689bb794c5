use mip_core::DType;
use mip_plan::{AxisMap, Border, Kernel, Operand};

use super::integer_reduction::IntegerReduction;
use super::pulled::pulls;
use super::setting::{Setting, copies_raw, is_sample};

/// A result (or an input) that a block keeps in shared memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SharedTile {
    pub source: Operand,
    /// What windows read outside the image.
    pub border: Option<Border>,
    /// Held as binary32: widened once instead of by every reader.
    pub as_f32: bool,
    /// How it is computed in integers, if it can be.
    pub integer: Option<IntegerReduction>,
}

/// How each value of a group comes to those who read it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Roles {
    /// In the order in which they are made.
    pub tiles: Vec<SharedTile>,
    /// By stage: its result goes to the window that reads it through registers, by warp shuffles between
    /// lanes.
    pub shuffled: Vec<bool>,
}

impl Roles {
    /// # Errors
    /// Why the group cannot be one kernel.
    pub(super) fn of(setting: &Setting<'_>) -> Result<Self, String> {
        let shuffled: Vec<bool> = (0..setting.stages()).map(|s| by_shuffle(setting, s)).collect();
        let mut kept: Vec<bool> =
            (0..setting.stages()).map(|s| !shuffled[s] && needs_tile(setting, Operand::Stage(s))).collect();
        // What is expensive is computed in one pass only.
        while let Some(stage) = computed_twice(setting, &kept, &shuffled) {
            kept[stage] = true;
        }
        let buffers = setting.group.reads().into_iter().map(Operand::Buffer);
        let buffers = buffers.filter(|&b| needs_tile(setting, b));
        let stages = (0..setting.stages()).filter(|&s| kept[s]).map(Operand::Stage);
        let tiles = buffers.chain(stages).map(|source| tile(setting, source));
        Ok(Self { tiles: tiles.collect::<Result<_, _>>()?, shuffled })
    }

    pub(super) fn tile_of(&self, source: Operand) -> Option<usize> {
        self.tiles.iter().position(|p| p.source == source)
    }
}

fn tile(setting: &Setting<'_>, source: Operand) -> Result<SharedTile, String> {
    let desc = setting.desc(source);
    let mut border = None;
    for consumer in setting.consumers(source) {
        let Some(own) = setting.stage(consumer).kernel.window().map(|w| w.border) else { continue };
        if border.is_some_and(|b| b != own) {
            return Err("windows with different borders read one image".to_owned());
        }
        border = Some(own);
    }
    let exact = border.is_none_or(|b| is_sample(b, desc.dtype()));
    let as_f32 = desc.dtype() != DType::F32 && (!exact || desc.channels() == 1);
    Ok(SharedTile { source, border, as_f32, integer: IntegerReduction::of(setting, source) })
}

/// Whether a value is read at more than its reader's own pixel.
fn needs_tile(setting: &Setting<'_>, source: Operand) -> bool {
    let in_vain = |consumer: &usize| pulls(setting, *consumer, source);
    setting.consumers(source).filter(|c| !in_vain(c)).any(|consumer| {
        match (&setting.stage(consumer).kernel, source) {
            (Kernel::Separable(_) | Kernel::Stencil(_), _) | (Kernel::Resample(_), Operand::Stage(_)) => true,
            // Interleaved images are copied as they are; see `Raw`.
            (Kernel::Resample(_), Operand::Buffer(_)) => !copies_raw(&setting.desc(source)),
            (Kernel::Gather(k), Operand::Stage(s)) => {
                let table = |map| {
                    matches!(map, AxisMap::Nearest { .. } | AxisMap::Step { .. } | AxisMap::Extend { .. })
                };
                let upwards = matches!(k.y, AxisMap::Flip { .. }) && slides(setting, s);
                table(k.x) || table(k.y) || setting.stage(s).kernel.window().is_some() || upwards
            }
            (Kernel::Point(_) | Kernel::Warp(_) | Kernel::Whole(_) | Kernel::Custom(_), _)
            | (Kernel::Gather(_), Operand::Buffer(_)) => false,
        }
    })
}

/// Whether a window computes a value, at its own place or behind pointwise kernels: its rows are kept from one to the
/// next, so they have to come from top to bottom.
fn slides(setting: &Setting<'_>, stage: usize) -> bool {
    let stage = setting.stage(stage);
    let behind = |input: &Operand| matches!(*input, Operand::Stage(s) if slides(setting, s));
    match stage.kernel {
        Kernel::Point(_) | Kernel::Gather(_) => stage.inputs.iter().any(behind),
        Kernel::Separable(_) | Kernel::Stencil(_) => true,
        Kernel::Warp(_) | Kernel::Resample(_) | Kernel::Whole(_) | Kernel::Custom(_) => false,
    }
}

/// Whether a result goes through warp shuffles: a filter of one channel read by one small window with the
/// same mirroring border. The mirror image of a symmetric filter's result is the filter's result on the
/// mirror image, so that the result may be computed outside the image like inside.
fn by_shuffle(setting: &Setting<'_>, index: usize) -> bool {
    let stage = setting.stage(index);
    let Kernel::Separable(own) = &stage.kernel else { return false };
    let mirrors = matches!(own.border, Border::Reflect101 | Border::Reflect);
    let consumers: Vec<usize> = setting.consumers(Operand::Stage(index)).collect();
    let [consumer] = consumers[..] else { return false };
    let reader = &setting.stage(consumer).kernel;
    mirrors
        && stage.store.is_none()
        && stage.output.channels() == 1
        && setting.stencil(consumer).is_none()
        && reader.window().is_some_and(|w| w.radius_x <= 2 && w.border == own.border)
        // Its own producer must lie in a tile: no two shuffles in a row.
        && !matches!(stage.inputs[0], Operand::Stage(s) if setting.stage(s).kernel.window().is_some())
}

/// A resampling or a window that more than one pass would compute.
fn computed_twice(setting: &Setting<'_>, kept: &[bool], shuffled: &[bool]) -> Option<usize> {
    let n = setting.stages();
    // The passes that compute a stage: tiles by number, the last pass as `n`.
    let mut passes: Vec<Vec<usize>> = vec![Vec::new(); n];
    for s in (0..n).rev() {
        if kept[s] {
            passes[s] = vec![s];
            continue;
        }
        let mut all: Vec<usize> =
            setting.consumers(Operand::Stage(s)).flat_map(|c| passes[c].clone()).collect();
        if setting.stage(s).store.is_some() {
            all.push(n);
        }
        all.sort_unstable();
        all.dedup();
        passes[s] = all;
    }
    let expensive = |s: &usize| !matches!(setting.stage(*s).kernel, Kernel::Point(_) | Kernel::Gather(_));
    (0..n).filter(expensive).find(|&s| !shuffled[s] && passes[s].len() > 1)
}
