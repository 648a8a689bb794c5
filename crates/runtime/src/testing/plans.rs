use std::sync::Arc;

use mip_core::{ALIGNMENT, BatchLayout, DType, ImageDesc, PixelFormat};
use mip_plan::{
    Buffer, BufferId, Group, GroupId, Kernel, Operand, Place, Plan, PlanInput, PlanOutput, PlanTask, Point,
    Stage, TaskId, Uniforms, Wait, Workspace,
};

/// A gray u8 image.
///
/// # Panics
/// For a side of 0.
pub fn gray(width: u32, height: u32) -> ImageDesc {
    ImageDesc::new(width, height, PixelFormat::Gray, DType::U8).expect("a valid test image")
}

/// Rows `padding` bytes longer than needed, aligned to nothing.
///
/// # Panics
/// For sizes that overflow.
pub fn padded(desc: ImageDesc, batch_size: usize, padding: usize) -> BatchLayout {
    let row_stride = desc.row_bytes() + padding;
    let plane_stride = row_stride * desc.height() as usize;
    let batch_stride = plane_stride * desc.planes();
    let layout = BatchLayout { desc, batch_size, row_stride, plane_stride, batch_stride };
    layout.check().expect("a small test image");
    layout
}

/// What a hand-made task computes. The result has the shape of the first input.
#[derive(Debug, Clone)]
pub struct Work {
    /// Operator name.
    pub op: String,
    /// The kernel.
    pub kernel: Kernel,
    /// Its initial uniforms.
    pub uniforms: Uniforms,
}

impl Work {
    /// `scale * v + offset` in every channel of a gray image.
    pub fn affine(scale: f32, offset: f32) -> Self {
        let uniforms = Arc::new([scale, offset]);
        Self { op: "affine".to_owned(), kernel: Kernel::Point(Point::affine(PixelFormat::Gray)), uniforms }
    }

    /// `wa * a + wb * b`.
    pub fn blend(wa: f32, wb: f32) -> Self {
        let uniforms = Arc::new([wb, wa]);
        Self { op: "blend".to_owned(), kernel: Kernel::Point(Point::blend(PixelFormat::Gray)), uniforms }
    }

    /// A custom kernel.
    pub fn custom(kernel: Kernel) -> Self {
        Self { op: "custom".to_owned(), kernel, uniforms: Arc::new([]) }
    }
}

/// Builds small plans by hand: a group a task (or a chain of tasks), streams and waits as given, no memory
/// shared.
#[derive(Debug)]
pub struct PlanBuilder {
    plan: Plan,
}

impl PlanBuilder {
    /// A plan over batches of `batch` frames.
    pub fn new(batch: usize) -> Self {
        let plan = Plan {
            batch,
            streams: 0,
            inputs: Vec::new(),
            outputs: Vec::new(),
            tasks: Vec::new(),
            groups: Vec::new(),
            buffers: Vec::new(),
            waits: Vec::new(),
            arena_bytes: 0,
            fusion: Vec::new(),
        };
        Self { plan }
    }

    /// A pipeline input.
    pub fn input(&mut self, name: &str, desc: ImageDesc) -> BufferId {
        let place = Place::Input(self.plan.inputs.len());
        let buffer = self.buffer(format!("@{name}"), desc, place, None);
        self.plan.inputs.push(PlanInput { name: name.to_owned(), buffer });
        buffer
    }

    /// A task in a group of its own; its result, in the arena.
    pub fn task(&mut self, name: &str, stream: u32, work: Work, inputs: &[BufferId]) -> BufferId {
        self.chain(stream, &[(name, work)], inputs)
    }

    /// Tasks one after the other in one group; the last result.
    ///
    /// # Panics
    /// Without works or inputs.
    pub fn chain(&mut self, stream: u32, works: &[(&str, Work)], inputs: &[BufferId]) -> BufferId {
        let group = self.plan.groups.len();
        let output = self.plan.buffers[inputs[0]].layout.desc;
        let store = self.buffer(works.last().expect("a task").0.to_owned(), output, arena(0), Some(group));
        for &input in inputs {
            let consumers = &mut self.plan.buffers[input].consumers;
            if consumers.last() != Some(&group) {
                consumers.push(group);
            }
        }
        let first_task = self.plan.tasks.len();
        let mut stages: Vec<Stage> = Vec::new();
        for (name, work) in works {
            let task = first_task + stages.len();
            let producers = if stages.is_empty() { self.producers(inputs) } else { vec![task - 1] };
            let operands = match stages.len() {
                0 => inputs.iter().map(|&b| Operand::Buffer(b)).collect(),
                n => vec![Operand::Stage(n - 1)],
            };
            let (name, op) = (Arc::from(*name), Arc::from(&*work.op));
            self.plan.tasks.push(PlanTask { name, op, producers, output, derived: Vec::new(), group });
            let (kernel, uniforms) = (work.kernel.clone(), work.uniforms.clone());
            let store = (stages.len() + 1 == works.len()).then_some(store);
            stages.push(Stage { kernel, uniforms, inputs: operands, output, store, task });
        }
        let mut depends_on: Vec<GroupId> =
            inputs.iter().filter_map(|&b| self.plan.buffers[b].producer).collect();
        depends_on.sort_unstable();
        depends_on.dedup();
        let tasks = (first_task..self.plan.tasks.len()).collect();
        self.plan.groups.push(Group { tasks, stages, stream, depends_on, workspace: None });
        self.plan.streams = self.plan.streams.max(stream + 1);
        store
    }

    /// Hands a task's result to the caller.
    ///
    /// # Panics
    /// For a pipeline input.
    pub fn output(&mut self, buffer: BufferId) -> &mut Self {
        let group = self.plan.buffers[buffer].producer.expect("an output is computed");
        let task = *self.plan.groups[group].tasks.last().expect("a group has tasks");
        self.plan.buffers[buffer].place = Place::Output(self.plan.outputs.len());
        self.plan.outputs.push(PlanOutput { task, buffer });
        self
    }

    /// Makes the stream of `group` wait for `on`.
    pub fn wait(&mut self, group: GroupId, on: GroupId) -> &mut Self {
        self.plan.waits.push(Wait { group, on });
        self
    }

    /// Gives a group scratch memory.
    pub fn workspace(&mut self, group: GroupId, bytes: usize) -> &mut Self {
        self.plan.groups[group].workspace = Some(Workspace { offset: 0, bytes });
        self
    }

    /// The plan, every intermediate and workspace at an offset of its own.
    pub fn build(mut self) -> Arc<Plan> {
        let mut end: usize = 0;
        let mut take = |bytes: usize| {
            let offset = end;
            end = (offset + bytes).next_multiple_of(ALIGNMENT);
            offset
        };
        for buffer in &mut self.plan.buffers {
            if let Place::Arena { offset } = &mut buffer.place {
                *offset = take(buffer.layout.span());
            }
        }
        for workspace in self.plan.groups.iter_mut().filter_map(|g| g.workspace.as_mut()) {
            workspace.offset = take(workspace.bytes);
        }
        self.plan.arena_bytes = end;
        Arc::new(self.plan)
    }

    /// `input -> a -> b -> c` on one stream, adding 1, 2 and 4; `c` is the output.
    pub fn adding_chain(batch: usize, desc: ImageDesc) -> Self {
        let mut builder = Self::new(batch);
        let mut last = builder.input("input", desc);
        for (name, offset) in [("a", 1.0), ("b", 2.0), ("c", 4.0)] {
            last = builder.task(name, 0, Work::affine(1.0, offset), &[last]);
        }
        builder.output(last);
        builder
    }

    /// `input -> top -> {left, right} -> join` with `right` on stream 1, and `side` from the input on stream
    /// 2. Outputs: `join` = 2 * input + 8, `side` = input + 16, `right` = input + 5.
    pub fn diamond(batch: usize, desc: ImageDesc) -> Self {
        let mut builder = Self::new(batch);
        let input = builder.input("input", desc);
        let top = builder.task("top", 0, Work::affine(1.0, 1.0), &[input]);
        let left = builder.task("left", 0, Work::affine(1.0, 2.0), &[top]);
        let right = builder.task("right", 1, Work::affine(1.0, 4.0), &[top]);
        let side = builder.task("side", 2, Work::affine(1.0, 16.0), &[input]);
        let join = builder.task("join", 0, Work::blend(1.0, 1.0), &[left, right]);
        builder.wait(2, 0).wait(4, 2);
        builder.output(join).output(side).output(right);
        builder
    }

    fn producers(&self, inputs: &[BufferId]) -> Vec<TaskId> {
        let group = |&buffer: &BufferId| self.plan.buffers[buffer].producer;
        let task = |group: GroupId| *self.plan.groups[group].tasks.last().expect("a group has tasks");
        inputs.iter().filter_map(group).map(task).collect()
    }

    fn buffer(&mut self, name: String, desc: ImageDesc, place: Place, producer: Option<GroupId>) -> BufferId {
        let layout = match place {
            Place::Input(_) => BatchLayout::tight(desc, self.plan.batch),
            Place::Output(_) | Place::Arena { .. } => BatchLayout::pitched(desc, self.plan.batch, ALIGNMENT),
        };
        let layout = layout.expect("a small test image");
        self.plan.buffers.push(Buffer { name, layout, place, producer, consumers: Vec::new() });
        self.plan.buffers.len() - 1
    }
}

const fn arena(offset: usize) -> Place {
    Place::Arena { offset }
}
