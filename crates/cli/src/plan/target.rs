use mini_image_pipe::{Pipeline, PipelineConfig};
use mip_core::ImageDesc;
use mip_cpu::CpuConfig;
use mip_cuda::tiles::{self, ASSUMED_MULTIPROCESSORS};
use mip_graph::{GraphError, PlanRequest};
use mip_plan::{Plan, Tiling};

use crate::args::DeviceArg;
use crate::failure::Failure;

/// The device that a plan is made for. A GPU is asked for no more than its number of multiprocessors, so plans for one
/// can be made where there is none.
#[derive(Debug)]
pub(crate) struct Target {
    /// As `--device` takes it.
    pub(crate) id: String,
    /// For a heading.
    pub(crate) name: String,
    /// Nothing for the CPU.
    multiprocessors: Option<u32>,
}

impl Target {
    /// `auto` takes what [`DeviceArg::open`] would take.
    pub(crate) fn of(device: DeviceArg) -> Result<Self, Failure> {
        let index = match device {
            DeviceArg::Cpu => return Ok(Self::cpu()),
            DeviceArg::Auto => 0,
            DeviceArg::Cuda(index) => index,
        };
        match mip_cuda::probe().usable(index) {
            Ok(found) => {
                let count = found.multiprocessors;
                let name = format!("cuda:{index} ({}, {count} multiprocessors)", found.name);
                Ok(Self { id: format!("cuda:{index}"), name, multiprocessors: Some(count) })
            }
            Err(_) if device == DeviceArg::Auto => Ok(Self::cpu()),
            Err(missing) if index > 0 => {
                Err(Failure::Running(missing.to_string()).about(format_args!("--device {device}")))
            }
            Err(missing) => {
                let count = ASSUMED_MULTIPROCESSORS;
                let name = format!("a GPU of {count} multiprocessors (assumed: {})", missing.problem);
                Ok(Self { id: format!("cuda:{index}"), name, multiprocessors: Some(count) })
            }
        }
    }

    fn cpu() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let plural = if threads == 1 { "" } else { "s" };
        Self {
            id: "cpu".to_owned(),
            name: format!("the CPU ({threads} thread{plural})"),
            multiprocessors: None,
        }
    }

    /// The plan for inputs of these shapes.
    pub(crate) fn plan(
        &self,
        pipeline: &Pipeline,
        inputs: &[ImageDesc],
        batch: usize,
    ) -> Result<Plan, Failure> {
        let Some(multiprocessors) = self.multiprocessors else {
            return Ok(pipeline.plan_for(inputs, batch)?);
        };
        let PipelineConfig { num_streams, fuse, memory_limit, .. } = *pipeline.config();
        let request = PlanRequest {
            inputs,
            batch,
            streams: num_streams,
            fuse,
            horizontal_fusion: true,
            memory_limit,
            workspace: &|group, layouts| tiles::workspace_bytes(group, layouts, multiprocessors),
        };
        let plan = mip_graph::plan(pipeline.task_graph(), &request);
        Ok(plan.map_err(|error: GraphError| mini_image_pipe::Error::from(error))?)
    }

    /// How the device divides the work of each group; or why it cannot run it.
    pub(crate) fn tilings(&self, plan: &Plan) -> Vec<Result<Tiling, String>> {
        let tiling = |group| match self.multiprocessors {
            Some(count) => tiles::tiling(plan, group, count),
            None => mip_cpu::tiling(plan, group, &CpuConfig::default()).map_err(|e| e.to_string()),
        };
        (0..plan.groups.len()).map(tiling).collect()
    }
}
