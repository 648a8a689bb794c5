use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mip_core::threads;
use mip_plan::{BufferId, GroupId, Kernel, Place, Plan};

use super::attribution;
use crate::RuntimeError;
use crate::device::{Device, Event, Executable, Stream};
use crate::profiling::{Kind, PlanLabels, Probe};

/// Results of `load` for 0 to `count`, in order, worked out on so many threads, or as many as there are; of several errors
/// the first in order.
fn side_by_side<T: Send, E: Send>(
    max: usize,
    count: usize,
    load: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let extra = max.min(count).saturating_sub(1);
    if extra == 0 {
        return (0..count).map(load).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&index| index < count);
        std::iter::from_fn(take).map(|index| (index, load(index))).collect::<Vec<_>>()
    };
    let mut done: Vec<_> = std::thread::scope(|scope| {
        let spawn = |_| threads::spawn_scoped(scope, "mip-load", "load kernels", work).ok();
        // The calling thread works as well, so that fewer threads, or none, take longer and change nothing.
        let workers: Vec<_> = (0..extra).map_while(spawn).collect();
        let mut done = work();
        for worker in workers {
            done.extend(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    done.sort_by_key(|&(index, _)| index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// A plan made ready for a device: its streams, an event for each group that others wait for, every
/// group loaded. Nothing is created later.
#[derive(Debug)]
pub struct LoadedPlan {
    plan: Arc<Plan>,
    pub(crate) streams: Vec<Arc<dyn Stream>>,
    /// By group; present where some group waits for it.
    pub(super) events: Vec<Option<Arc<dyn Event>>>,
    /// By plan input; present where groups on several streams read it.
    pub(super) upload_events: Vec<Option<Arc<dyn Event>>>,
    pub(super) executables: Vec<Arc<dyn Executable>>,
    /// By group: what it reads and what it writes, which every run asks for.
    buffers: Vec<(Vec<BufferId>, Vec<BufferId>)>,
    #[cfg_attr(not(feature = "profiling"), expect(dead_code, reason = "read by profiles"))]
    pub(crate) labels: PlanLabels,
}

impl LoadedPlan {
    /// Creates what the plan needs on the device.
    ///
    /// # Errors
    /// [`RuntimeError::Load`] when a group cannot be prepared, [`RuntimeError::Device`] when the device
    /// refuses a stream or an event.
    pub fn new(device: &dyn Device, plan: Arc<Plan>) -> Result<Self, RuntimeError> {
        Self::probed(device, plan, &Probe::default())
    }

    /// [`LoadedPlan::new`], with a span for each group.
    pub(crate) fn probed(device: &dyn Device, plan: Arc<Plan>, probe: &Probe) -> Result<Self, RuntimeError> {
        let loaded = Self::with_executables(device, plan, Vec::new())?;
        let names = |group: usize| {
            let tasks = loaded.plan.groups[group].tasks.iter();
            tasks.map(|&task| loaded.plan.tasks[task].name.as_ref()).collect::<Vec<_>>().join("+")
        };
        let load = |group| {
            let _span = probe.span(Kind::Load, || names(group));
            let executable = device.load(&loaded.plan, group);
            executable.map_err(|error| attribution::load_error(&loaded.plan, group, error))
        };
        let executables = side_by_side(device.load_threads(), loaded.plan.groups.len(), load)?;
        Ok(Self { executables, ..loaded })
    }

    /// The same plan with the same loaded groups, on streams and events of its own: both can be under way at once.
    ///
    /// # Errors
    /// [`RuntimeError::Device`] when the device refuses a stream or an event.
    pub fn sibling(&self, device: &dyn Device) -> Result<Self, RuntimeError> {
        Self::with_executables(device, self.plan.clone(), self.executables.clone())
    }

    /// Fresh streams and events.
    fn with_executables(
        device: &dyn Device,
        plan: Arc<Plan>,
        executables: Vec<Arc<dyn Executable>>,
    ) -> Result<Self, RuntimeError> {
        let stream = |index: u32| {
            let stream = device.create_stream(&format!("stream {index}"));
            stream.map_err(|error| RuntimeError::Device { what: format!("creating stream {index}"), error })
        };
        let event = |needed: bool, what: String| {
            let create = || {
                let event = device.create_event();
                event.map_err(|error| RuntimeError::Device {
                    what: format!("creating an event for {what}"),
                    error,
                })
            };
            needed.then(create).transpose()
        };
        let waited_for = |group: usize| plan.waits.iter().any(|wait| wait.on == group);
        Ok(Self {
            streams: (0..plan.streams).map(stream).collect::<Result<_, _>>()?,
            events: (0..plan.groups.len())
                .map(|group| event(waited_for(group), format!("group {group}")))
                .collect::<Result<_, _>>()?,
            upload_events: (plan.inputs.iter())
                .map(|input| event(spans_streams(&plan, input.buffer), format!("input '{}'", input.name)))
                .collect::<Result<_, _>>()?,
            executables,
            buffers: plan.groups.iter().map(|group| (group.reads(), group.writes())).collect(),
            plan,
            labels: PlanLabels::default(),
        })
    }

    /// The plan.
    pub const fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The buffers that a group reads, as [`mip_plan::Group::reads`] tells.
    pub(super) fn reads(&self, group: GroupId) -> &[BufferId] {
        &self.buffers[group].0
    }

    /// The buffers that a group writes, as [`mip_plan::Group::writes`] tells.
    pub(super) fn writes(&self, group: GroupId) -> &[BufferId] {
        &self.buffers[group].1
    }

    /// Whether an operator asks for its run to be captured anew each time.
    pub(super) fn wants_recapture(&self) -> bool {
        let mut stages = self.plan.groups.iter().flat_map(|group| &group.stages);
        stages.any(|stage| match &stage.kernel {
            Kernel::Custom(kernel) => kernel.wants_recapture(),
            _ => false,
        })
    }

    /// Index of the input that a buffer stands for.
    pub(super) fn input_of(&self, buffer: usize) -> Option<usize> {
        match self.plan.buffers[buffer].place {
            Place::Input(index) => Some(index),
            Place::Output(_) | Place::Arena { .. } => None,
        }
    }
}

/// Whether groups on more than one stream read a buffer.
fn spans_streams(plan: &Plan, buffer: usize) -> bool {
    let mut streams = plan.buffers[buffer].consumers.iter().map(|&group| plan.groups[group].stream);
    let first = streams.next();
    streams.any(|stream| Some(stream) != first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_threads_gives_the_same_in_order() {
        for allowed in 0..4 {
            let load = |index: usize| if index < 17 { Ok(index * index) } else { Err(index) };
            let squares = threads::with_at_most(allowed, || side_by_side(4, 17, load));
            assert_eq!(squares, Ok((0..17).map(|i| i * i).collect()), "{allowed}");
            assert_eq!(threads::with_at_most(allowed, || side_by_side(4, 40, load)), Err(17));
        }
    }
}
