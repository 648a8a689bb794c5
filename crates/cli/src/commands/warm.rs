use std::any::Any;
use std::path::Path;
use std::time::Instant;

use mini_image_pipe::{Device, Pipeline, PipelineConfig};
use mip_core::text;
use mip_cuda::CudaDevice;
use serde::Serialize;
use serde_json::json;

use crate::args::{PipelineArgs, RunArgs, SizeArgs};
use crate::console;
use crate::failure::Failure;

/// Compiles what a pipeline needs for inputs of a size, so that later runs find it in the cache
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mip warm edges.toml --size 1920x1080 --device cuda:all
  mip warm edges.toml --size 1920x1080,nv12,709,limited --batch 8
  MIP_CACHE_DIR=/opt/kernels mip warm -e 'sobel' --size 640x480

The cache is $MIP_CACHE_DIR, or a folder where this platform keeps caches. It can be copied to machines with GPUs of the
same compute capability and the same version of NVRTC.")]
pub(crate) struct Args {
    #[command(flatten)]
    pipeline: PipelineArgs,
    #[command(flatten)]
    size: SizeArgs,
    /// Images that one execution handles
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    batch: u16,
    #[command(flatten)]
    execution: RunArgs,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// What came of it on a device.
#[derive(Debug, Serialize)]
struct Ready {
    device: String,
    device_name: String,
    launches: usize,
    ms: f64,
    /// Where compiled kernels are kept; nothing where none are compiled, or none kept.
    cache: Option<String>,
    /// Why they could not be kept.
    problem: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let batch = usize::from(args.batch);
    let config = args.execution.config(batch)?;
    let mut pipeline = Pipeline::from_spec(&args.pipeline.load()?, PipelineConfig::default())?;
    pipeline.task_graph().validate()?;
    let inputs = args.size.apply(&mut pipeline)?;
    let mut all = Vec::new();
    for device in config.devices() {
        let config = PipelineConfig { device: device.clone(), more_devices: Vec::new(), ..config.clone() };
        let mut own = Pipeline::from_graph(pipeline.task_graph().clone(), config);
        let start = Instant::now();
        own.warm_up(&inputs, batch)?;
        let ms = start.elapsed().as_secs_f64() * 1e3;
        let launches = own.plan_for(&inputs, batch)?.groups.len();
        all.push(Ready::new(device, launches, ms)?);
    }
    if args.json {
        return console::json(&json!({ "devices": all }));
    }
    all.iter().try_for_each(|ready| console::line(ready.text()))
}

impl Ready {
    fn new(device: &Device, launches: usize, ms: f64) -> Result<Self, Failure> {
        let info = device.info()?;
        let opened = device.open()?;
        let any: &dyn Any = &*opened;
        let cuda = any.downcast_ref::<CudaDevice>();
        let folder = cuda.and_then(CudaDevice::cache_folder);
        Ok(Self {
            device: info.id(),
            device_name: info.name,
            launches,
            ms,
            cache: folder.map(|folder: &Path| text::path(folder).into_owned()),
            problem: cuda.and_then(CudaDevice::cache_problem),
        })
    }

    fn text(&self) -> String {
        let Self { device, device_name, launches, ms, .. } = self;
        let launches = if *launches == 1 { "1 launch".to_owned() } else { format!("{launches} launches") };
        let kept = match (&self.cache, &self.problem) {
            (_, Some(problem)) => format!("compiled kernels are not kept: {problem}"),
            (Some(folder), None) => format!("compiled kernels are kept in {folder}"),
            (None, None) => "nothing is compiled or kept".to_owned(),
        };
        format!("{device}: {launches} ready in {ms:.0} ms on {device_name}; {kept}")
    }
}
