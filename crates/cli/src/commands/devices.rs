use std::fmt::{Display, Write as _};

use mini_image_pipe::Device;
use mip_cuda::{CudaDeviceProbe, CudaStatus};
use serde::Serialize;
use serde_json::json;

use crate::console;
use crate::failure::Failure;

/// Lists the devices, and why one is not there
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mip devices\n  mip devices --json")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// A device as listed.
#[derive(Debug, Default, Serialize)]
struct Entry {
    /// What `--device` takes.
    device: String,
    available: bool,
    name: Option<String>,
    /// Cores that are used.
    cores: Option<usize>,
    total_memory: Option<u64>,
    compute_capability: Option<String>,
    /// CUDA version the driver supports.
    driver: Option<String>,
    nvrtc: Option<String>,
    /// The decoder of JPEG files (`--decode gpu`), where it is there.
    nvjpeg: Option<String>,
    /// Why it is not there, and what to do.
    nvjpeg_reason: Option<String>,
    /// Whether NVDEC, the decoder of video (`--decode gpu`), can be used.
    nvdec: Option<bool>,
    /// Why it cannot, and what to do.
    nvdec_reason: Option<String>,
    /// Whether stream-ordered allocation is supported.
    stream_ordered: Option<bool>,
    /// The node of the host's memory that pinned memory of a GPU is taken from, where the driver knows one.
    numa_node: Option<u32>,
    /// Why it is not available, and what to do.
    reason: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut entries = vec![cpu()];
    entries.extend(cuda(&mip_cuda::probe()));
    if args.json {
        return console::json(&json!({ "devices": entries }));
    }
    for entry in &entries {
        console::line(entry.text())?;
    }
    Ok(())
}

impl Entry {
    fn text(&self) -> String {
        if let Some(reason) = &self.reason {
            return format!("{:8} not available: {reason}", self.device);
        }
        let mut text = format!("{:8} {}", self.device, self.name.as_deref().unwrap_or_default());
        let mut add = |what: &str, value: Option<&dyn Display>| {
            if let Some(value) = value {
                let _ = write!(text, ", {what}{value}");
            }
        };
        let memory = self.total_memory.map(|bytes| format!("{} GiB", bytes >> 30));
        add("compute capability ", self.compute_capability.as_ref().map(|v| v as _));
        add("", memory.as_ref().map(|v| v as _));
        add("driver for CUDA ", self.driver.as_ref().map(|v| v as _));
        add("NVRTC ", self.nvrtc.as_ref().map(|v| v as _));
        add("nvJPEG ", self.nvjpeg.as_ref().map(|v| v as _));
        let no_nvjpeg = self.nvjpeg_reason.as_ref().map(|reason| format!("no nvJPEG ({reason})"));
        add("", no_nvjpeg.as_ref().map(|v| v as _));
        let nvdec = self.nvdec.map(|yes| if yes { "NVDEC" } else { "no NVDEC" });
        let no_nvdec = self.nvdec_reason.as_ref().map_or(String::new(), |reason| format!(" ({reason})"));
        let nvdec = nvdec.map(|text| format!("{text}{no_nvdec}"));
        add("", nvdec.as_ref().map(|v| v as _));
        let ordered = self.stream_ordered.map(|yes| if yes { "yes" } else { "no" });
        add("stream-ordered allocation: ", ordered.as_ref().map(|v| v as _));
        add("NUMA node ", self.numa_node.as_ref().map(|v| v as _));
        text
    }
}

fn cpu() -> Entry {
    let info = Device::cpu().info();
    Entry {
        device: "cpu".to_owned(),
        available: info.is_ok(),
        cores: std::thread::available_parallelism().ok().map(usize::from),
        total_memory: info.as_ref().ok().and_then(|i| i.total_memory),
        reason: info.as_ref().err().map(ToString::to_string),
        name: info.ok().map(|i| i.name),
        ..Entry::default()
    }
}

/// One entry for each GPU; a single one with the reason when there is none.
fn cuda(status: &CudaStatus) -> Vec<Entry> {
    let version = |found: &Result<mip_cuda::CudaVersion, mip_cuda::Missing>| {
        found.as_ref().ok().map(ToString::to_string)
    };
    let (driver, nvrtc) = (version(&status.driver), version(&status.nvrtc));
    // Of use with a device only.
    let nvjpeg = (!status.devices.is_empty()).then(mip_cuda::jpeg::probe_nvjpeg);
    let no_nvjpeg = nvjpeg.as_ref().and_then(|found| found.as_ref().err()).map(ToString::to_string);
    let nvjpeg = nvjpeg.and_then(Result::ok).map(|version| version.to_string());
    let nvdec = (!status.devices.is_empty()).then(mip_cuda::video::probe_nvdec);
    let entry = |index: usize| {
        let reason = status.usable(index).err().map(|missing| missing.to_string());
        let found: Option<&CudaDeviceProbe> = status.devices.get(index).and_then(|d| d.as_ref().ok());
        Entry {
            device: if status.devices.is_empty() { "cuda".to_owned() } else { format!("cuda:{index}") },
            available: reason.is_none(),
            name: found.map(|d| d.name.clone()),
            total_memory: found.map(|d| d.total_memory),
            compute_capability: found.map(|d| format!("{}.{}", d.capability.0, d.capability.1)),
            driver: driver.clone(),
            nvrtc: nvrtc.clone(),
            nvjpeg: nvjpeg.clone(),
            nvjpeg_reason: no_nvjpeg.clone(),
            nvdec: nvdec.as_ref().map(Result::is_ok),
            nvdec_reason: nvdec.as_ref().and_then(|found| found.as_ref().err()).map(ToString::to_string),
            stream_ordered: found.map(|d| d.stream_ordered),
            numa_node: found.and_then(|d| d.numa_node),
            reason,
            ..Entry::default()
        }
    };
    (0..status.devices.len().max(1)).map(entry).collect()
}
