use mip_core::{ALIGNMENT, BatchLayout, ImageView, ImageViewMut};
use mip_plan::{Group, Kernel, Operand, Stage, Uniforms, Whole};

use super::program::{Program, Rows};
use super::run::{ThreadTeam, run};
use super::whole::run_whole;
use crate::simd::Level;

/// A group that runs stage by stage, each on all threads, with whole images between them in the workspace.
#[derive(Debug)]
pub(super) struct Steps {
    steps: Vec<Step>,
    /// Of the results that stay in the group.
    between: Vec<BatchLayout>,
}

#[derive(Debug)]
struct Step {
    work: Work,
    inputs: Vec<Source>,
    result: Place,
}

#[derive(Debug)]
enum Work {
    Rows(Rows),
    Whole(Whole),
}

/// Where an image comes from.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// What the group reads, by its place in [`Group::reads`].
    Read(usize),
    /// An image between steps.
    Between(usize),
}

/// Where a step's result goes.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// The next image between steps.
    Between(usize),
    /// What the group writes, by its place in [`Group::writes`].
    Output(usize),
}

impl Steps {
    /// As [`Program::new`].
    pub(super) fn new(
        group: &Group,
        layout: &dyn Fn(usize) -> BatchLayout,
    ) -> Result<Self, (String, String)> {
        let reads = group.reads();
        let failed = |stage: &Stage, why: String| (stage.kernel.name().to_owned(), why);
        let mut steps: Vec<Step> = Vec::new();
        let mut between: Vec<BatchLayout> = Vec::new();
        let mut outputs = 0;
        for stage in &group.stages {
            let source = |operand: &Operand| match *operand {
                Operand::Buffer(id) => {
                    let read = reads.iter().position(|&r| r == id);
                    Ok((Source::Read(read.expect("reads() lists every buffer operand")), layout(id)))
                }
                Operand::Stage(earlier) => match steps[earlier].result {
                    Place::Between(made) => Ok((Source::Between(made), between[made])),
                    Place::Output(_) => Err("it reads in its own group what leaves it".to_owned()),
                },
            };
            let sources: Result<Vec<_>, _> = stage.inputs.iter().map(source).collect();
            let (inputs, layouts): (Vec<Source>, Vec<BatchLayout>) =
                sources.map_err(|why| failed(stage, why))?.into_iter().unzip();
            let work = match &stage.kernel {
                Kernel::Whole(kernel) => Work::Whole(*kernel),
                Kernel::Point(_)
                | Kernel::Gather(_)
                | Kernel::Warp(_)
                | Kernel::Resample(_)
                | Kernel::Separable(_)
                | Kernel::Stencil(_)
                | Kernel::Custom(_) => match Program::new(&alone(group, stage), |id| {
                    layouts.get(id).copied().unwrap_or(layouts[0])
                })? {
                    Program::Rows(rows) => Work::Rows(rows),
                    Program::Steps(_) | Program::Custom { .. } => {
                        return Err(failed(stage, "it must have a group of its own".to_owned()));
                    }
                },
            };
            let result = if stage.store.is_some() {
                outputs += 1;
                Place::Output(outputs - 1)
            } else {
                let batch = layouts[0].batch_size;
                let made = BatchLayout::pitched(stage.output, batch, ALIGNMENT);
                between.push(made.map_err(|error| failed(stage, error.to_string()))?);
                Place::Between(between.len() - 1)
            };
            steps.push(Step { work, inputs, result });
        }
        Ok(Self { steps, between })
    }

    /// Bytes of the images between steps, and of the scratch of so many threads.
    pub(super) fn workspace_bytes(&self, threads: usize) -> usize {
        let rows = self.steps.iter().filter_map(|step| match &step.work {
            Work::Rows(rows) => Some(rows.worker_bytes),
            Work::Whole(_) => None,
        });
        let images = self.between.iter().map(space).fold(0, usize::saturating_add);
        images.saturating_add(rows.max().unwrap_or(0).saturating_mul(threads))
    }

    /// Computes the results for all frames.
    pub(super) fn run(
        &self,
        level: Level,
        team: ThreadTeam<'_>,
        (inputs, outputs): (&[ImageView<'_>], &mut [ImageViewMut<'_>]),
        uniforms: &[Uniforms],
        workspace: &mut [u8],
    ) {
        let mut rest = workspace;
        let mut between: Vec<ImageViewMut<'_>> = Vec::new();
        for layout in &self.between {
            let (image, behind) = rest.split_at_mut(space(layout));
            between.push(ImageViewMut::new(*layout, image).expect("as many bytes as its layout spans"));
            rest = behind;
        }
        for (index, step) in self.steps.iter().enumerate() {
            let made = match step.result {
                Place::Between(made) => made,
                Place::Output(_) => between.len(),
            };
            let (before, behind) = between.split_at_mut(made);
            let view = |source: &Source| match *source {
                Source::Read(read) => inputs[read],
                Source::Between(earlier) => before[earlier].as_view(),
            };
            let inputs: Vec<ImageView<'_>> = step.inputs.iter().map(view).collect();
            let own = &uniforms[index..=index];
            match step.result {
                Place::Between(_) => step.run(level, team, (&inputs, &mut behind[0]), own, rest),
                Place::Output(output) => step.run(level, team, (&inputs, &mut outputs[output]), own, rest),
            }
        }
    }
}

impl Step {
    fn run(
        &self,
        level: Level,
        team: ThreadTeam<'_>,
        (inputs, output): (&[ImageView<'_>], &mut ImageViewMut<'_>),
        uniforms: &[Uniforms],
        scratch: &mut [u8],
    ) {
        let output = std::slice::from_mut(output);
        match &self.work {
            Work::Rows(rows) => run(rows, level, team, (inputs, output), uniforms, scratch),
            Work::Whole(kernel) => run_whole(kernel, team, (inputs, output), &uniforms[0]),
        }
    }
}

/// Bytes that an image takes in the workspace.
fn space(layout: &BatchLayout) -> usize {
    layout.span().next_multiple_of(ALIGNMENT)
}

/// A stage as a group of its own, whose inputs are buffers 0, 1, ...
fn alone(group: &Group, stage: &Stage) -> Group {
    let inputs = (0..stage.inputs.len()).map(Operand::Buffer).collect();
    let stage = Stage { inputs, store: Some(stage.inputs.len()), ..stage.clone() };
    let stages = vec![stage];
    Group { tasks: group.tasks.clone(), stages, stream: 0, depends_on: Vec::new(), workspace: None }
}
