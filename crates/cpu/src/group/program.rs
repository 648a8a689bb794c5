use std::ops::Range;
use std::sync::Arc;

use mip_core::{ALIGNMENT, BatchLayout, ImageDesc};
use mip_plan::{CustomKernel, Group, Kernel, Operand};

use super::steps::Steps;
use super::{capacity, merge};
use crate::rows::{Chain, Input, Lowering, RowShape, RowStage, Taps, is_fast_chroma, lower, lower_chroma};

/// A group made ready: what to compute for each row and how the scratch memory of a worker is laid out.
#[derive(Debug)]
pub(super) enum Program {
    /// Row stages.
    Rows(Rows),
    /// Stages one after the other, since some of them see whole images.
    Steps(Steps),
    /// A user's kernel over whole images.
    Custom { kernel: Arc<dyn CustomKernel>, inputs: Vec<usize> },
}

/// A group of row stages.
#[derive(Debug)]
pub(super) struct Rows {
    /// In topological order.
    pub(super) stages: Vec<RowStage>,
    /// Where each stage's rows are kept.
    pub(super) caches: Vec<Cache>,
    /// Results, in the order of [`Group::writes`].
    pub(super) roots: Vec<Root>,
    /// Entries of the table of tags: see [`Cache`].
    pub(super) tags: usize,
    /// Scratch bytes a worker needs, a multiple of [`ALIGNMENT`].
    pub(super) worker_bytes: usize,
    /// Samples that all stages compute for a frame: a measure of the work.
    pub(super) samples: usize,
}

/// A result that leaves the group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Root {
    /// The row stage.
    pub(super) stage: usize,
    /// Rows.
    pub(super) height: u32,
    /// Whether other stages read it too, so that its rows go through the cache; otherwise they are computed
    /// straight into the output.
    pub(super) shared: bool,
}

/// A cache of a few rows (a line buffer), direct-mapped where it can be: each line is tagged with the row it
/// holds and the time of its last use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cache {
    /// Rows it can hold, a power of two; 0 for results nobody in the group reads.
    pub(super) lines: usize,
    /// What a row looks like.
    pub(super) shape: RowShape,
    /// Start of the lines in the worker's row memory; scratch follows them.
    pub(super) offset: usize,
    /// Start of the scratch.
    pub(super) scratch: usize,
    /// Bytes of scratch.
    pub(super) scratch_bytes: usize,
    /// Index of the first line's tag: `lines` row numbers, then `lines` times.
    pub(super) tags: usize,
}

impl Program {
    /// Prepares a group; `layout(id)` tells shape and batch of a buffer.
    ///
    /// # Errors
    /// The name of the kernel and why it cannot be run.
    pub(super) fn new(
        group: &Group,
        layout: impl Fn(usize) -> BatchLayout,
    ) -> Result<Self, (String, String)> {
        if group.stages.iter().any(|stage| matches!(stage.kernel, Kernel::Whole(_))) {
            return Steps::new(group, &layout).map(Self::Steps);
        }
        let desc = |id: usize| -> ImageDesc { layout(id).desc };
        let reads = group.reads();
        let buffer = |id| reads.iter().position(|&r| r == id).expect("reads() lists every buffer operand");
        if let Some(stage) = group.stages.iter().find(|s| matches!(s.kernel, Kernel::Custom(_))) {
            let Kernel::Custom(kernel) = &stage.kernel else { unreachable!("just matched") };
            let named = |why: &str| Err((kernel.name().to_owned(), why.to_owned()));
            if group.stages.len() > 1 {
                return named("a custom kernel must have a group of its own");
            }
            let mut inputs = Vec::new();
            for operand in &stage.inputs {
                let Operand::Buffer(id) = *operand else { return named("it reads a stage, not a buffer") };
                inputs.push(buffer(id));
            }
            return Ok(Self::Custom { kernel: kernel.clone(), inputs });
        }
        let mut stages: Vec<RowStage> = Vec::new();
        let mut results: Vec<usize> = Vec::new();
        let merged = merge::find(group);
        let mut chroma = merge::find_chroma(group);
        let shape = |operand| match operand {
            Operand::Buffer(id) => desc(id),
            Operand::Stage(s) => group.stages[s].output,
        };
        // Only where there is a fast way are the gathers left out, and not where a pair does the stage's work.
        for (index, (stage, found)) in group.stages.iter().zip(&mut chroma).enumerate() {
            let paired = merged.iter().flatten().any(|pair| pair.first == index);
            let is_fast = |found: &merge::Chroma| {
                let pixels = stage.inputs.len();
                !paired && is_fast_chroma(&stage.kernel, pixels, shape(found.source), stage.output)
            };
            *found = found.take().filter(is_fast);
        }
        let left_out = |index: usize| {
            merged.iter().flatten().any(|pair| pair.first == index)
                || chroma.iter().flatten().any(|chroma| chroma.gathers.contains(&index))
        };
        for (index, stage) in group.stages.iter().enumerate() {
            if left_out(index) {
                // Read by nobody but another stage, which does its work.
                results.push(usize::MAX);
                continue;
            }
            let (first, kernel) = match &merged[index] {
                Some(pair) => (pair.first, &pair.kernel),
                None => (index, &stage.kernel),
            };
            let direct = chroma[index].as_ref();
            let operands =
                direct.map_or(&group.stages[first].inputs[..], |chroma| std::slice::from_ref(&chroma.source));
            let input = |operand: &Operand| match *operand {
                Operand::Buffer(id) => Input::Buffer(buffer(id)),
                Operand::Stage(s) => Input::Stage(results[s]),
            };
            let inputs: Vec<_> = operands.iter().map(input).collect();
            let descs: Vec<_> = operands.iter().map(|&operand| shape(operand)).collect();
            let uniforms = group.stages[first].uniforms.len();
            let from = Lowering {
                kernel,
                stage: first,
                descs: &descs,
                inputs: &inputs,
                uniforms,
                output: stage.output,
            };
            let lowered = match direct {
                Some(chroma) => lower_chroma(stage.inputs.len(), chroma.down, &from, &mut stages),
                None => lower(&from, &mut stages),
            };
            lowered.map_err(|why| (kernel.name().to_owned(), why))?;
            results.push(stages.len() - 1);
        }
        let read = |stage| stages.iter().any(|s| s.inputs.contains(&Input::Stage(stage)));
        let roots: Vec<Root> = group
            .stages
            .iter()
            .zip(&results)
            .filter(|(stage, _)| stage.store.is_some())
            .map(|(stage, &result)| Root {
                stage: result,
                height: stage.output.height(),
                shared: read(result),
            })
            .collect();
        let (stages, roots) = chain(stages, roots);
        Ok(Self::Rows(Rows::new(stages, roots)))
    }
}

impl Rows {
    fn new(mut stages: Vec<RowStage>, roots: Vec<Root>) -> Self {
        forbid_waste(&mut stages);
        let lines = capacity::lines(&stages, &roots);
        let (mut caches, mut tags, mut offset, mut samples) = (Vec::new(), 0, 0, 0);
        for (stage, lines) in stages.iter().zip(lines) {
            // A power of two, so that a row's number tells its line.
            let lines = if lines == 0 { 0 } else { lines.next_power_of_two().max(stage.together) };
            let scratch = offset + lines * stage.shape.slot();
            let scratch_bytes = stage.kernel.scratch_bytes();
            caches.push(Cache { lines, shape: stage.shape, offset, scratch, scratch_bytes, tags });
            tags += 2 * lines;
            offset = (scratch + scratch_bytes).next_multiple_of(ALIGNMENT);
            samples += stage.shape.planes * stage.shape.bytes * stage.height as usize;
        }
        let worker_bytes = tag_bytes(tags) + offset;
        Self { stages, caches, roots, tags, worker_bytes, samples }
    }

    /// Bytes in front of a worker's row memory.
    pub(super) const fn tag_bytes(&self) -> usize {
        tag_bytes(self.tags)
    }

    /// Rows of a root in band `band` of `bands`.
    pub(super) fn band(root: &Root, band: usize, bands: usize) -> Range<u32> {
        let at = |s: usize| (s as u64 * u64::from(root.height) / bands as u64) as u32;
        at(band)..at(band + 1)
    }
}

/// Joins stages with the one that alone reads them, where both go row by row.
fn chain(stages: Vec<RowStage>, mut roots: Vec<Root>) -> (Vec<RowStage>, Vec<Root>) {
    let mut readers = vec![0; stages.len()];
    for &input in stages.iter().flat_map(|stage| &stage.inputs) {
        if let Input::Stage(input) = input {
            readers[input] += 1;
        }
    }
    for root in &roots {
        readers[root.stage] += 1;
    }
    // Stages that are left, none where one has been joined with its reader; and where each stage has gone.
    let mut left: Vec<Option<RowStage>> = Vec::new();
    for stage in stages {
        let joined = match stage.inputs[..] {
            [Input::Stage(input)] if readers[input] == 1 => {
                let first = left[input].as_ref().expect("joined with its only reader, which this is");
                Chain::join(first, &stage).map(|joined| (input, joined))
            }
            _ => None,
        };
        match joined {
            Some((input, joined)) => {
                left[input] = None;
                left.push(Some(joined));
            }
            None => left.push(Some(stage)),
        }
    }
    let mut places = Vec::new();
    let mut next = 0;
    for stage in &left {
        places.push(next);
        next += usize::from(stage.is_some());
    }
    let mut stages: Vec<RowStage> = left.into_iter().flatten().collect();
    for input in stages.iter_mut().flat_map(|stage| &mut stage.inputs) {
        if let Input::Stage(stage) = input {
            *stage = places[*stage];
        }
    }
    for root in &mut roots {
        root.stage = places[root.stage];
    }
    (stages, roots)
}

/// Lets stages compute several rows at a time only where all these rows will be asked for.
fn forbid_waste(stages: &mut [RowStage]) {
    let mut sparse = vec![false; stages.len()];
    for index in (0..stages.len()).rev() {
        let stage = &mut stages[index];
        if sparse[index] {
            stage.together = 1;
        }
        let skips = sparse[index] || !matches!(stage.taps, Taps::Same | Taps::Window { .. });
        for &input in &stage.inputs {
            if let Input::Stage(input) = input {
                sparse[input] |= skips;
            }
        }
    }
}

const fn tag_bytes(tags: usize) -> usize {
    (tags * size_of::<u32>()).next_multiple_of(ALIGNMENT)
}

/// The rows of a result to compute when `for_each_row` comes to `row`; `None` when they are there already.
pub(super) fn together(stage: &RowStage, range: &Range<u32>, row: u32) -> Option<Range<u32>> {
    let count = stage.together as u32;
    (count == 1 || (row - range.start).is_multiple_of(count)).then(|| row..range.end.min(row + count))
}

/// Visits the rows of several results in step, so that results of different heights stay close together:
/// `visit(result, row)`.
pub(super) fn for_each_row(ranges: &[Range<u32>], mut visit: impl FnMut(usize, u32)) {
    let longest = ranges.iter().map(|r| r.len() as u64).max().unwrap_or(0);
    if ranges.iter().all(|r| r.len() as u64 == longest) {
        // The usual case, without divisions.
        for step in 0..longest as u32 {
            ranges.iter().enumerate().for_each(|(result, range)| visit(result, range.start + step));
        }
        return;
    }
    for step in 0..longest {
        for (result, range) in ranges.iter().enumerate() {
            let done = |step: u64| range.start + (step * range.len() as u64 / longest) as u32;
            for row in done(step)..done(step + 1) {
                visit(result, row);
            }
        }
    }
}
