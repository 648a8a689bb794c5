use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use mini_image_pipe::{Backends, Device, Pipeline, PipelineConfig};

use super::LimitArgs;
use crate::failure::Failure;

/// What shapes a plan.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Streams that independent tasks may use at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    streams: u32,
    /// Run every operator as its own launch
    #[arg(long)]
    no_fuse: bool,
}

/// How a pipeline runs. None of it changes a result.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Where to run: auto, cpu, cuda or cuda:N; several, to share the work: cuda:0,cuda:1, cuda:all, or all
    #[arg(long, value_name = "DEVICES", default_value_t = DevicesArg::AUTO)]
    device: DevicesArg,
    #[command(flatten)]
    plan: PlanArgs,
    /// Capture the work once and replay it
    #[arg(long)]
    graph: bool,
    /// How device memory is allocated
    #[arg(long, value_enum, value_name = "MODE", default_value_t = AllocatorArg::Pooled)]
    allocator: AllocatorArg,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// `--allocator`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AllocatorArg {
    /// From a pool of blocks.
    Pooled,
    /// By the driver in stream order, where the device can.
    StreamOrdered,
}

impl PlanArgs {
    pub(crate) fn config(&self) -> PipelineConfig {
        PipelineConfig { num_streams: self.streams, fuse: !self.no_fuse, ..PipelineConfig::default() }
    }
}

impl RunArgs {
    fn config_without_devices(&self, batch: usize) -> PipelineConfig {
        PipelineConfig {
            max_batch_size: batch,
            enable_graph_replay: self.graph,
            memory_budget: Some(self.limits.budget()),
            prefer_async_allocator: self.allocator == AllocatorArg::StreamOrdered,
            ..self.plan.config()
        }
    }

    pub(crate) fn config(&self, batch: usize) -> Result<PipelineConfig, Failure> {
        let config = self.config_without_devices(batch);
        let devices = self.device.open()?;
        let all_gpus = devices.len() > 1 && !self.device.names_the_cpu();
        let standby = all_gpus.then(Device::cpu);
        Ok(PipelineConfig { standby, ..config }.on_devices(devices)?)
    }

    /// As [`RunArgs::config`]. Where `auto` may take a GPU it is opened, and compiled for, in the background, and the CPU works until
    /// it is ready.
    pub(crate) fn starting_config(&self, batch: usize) -> Result<PipelineConfig, Failure> {
        if self.device != DevicesArg::AUTO || !mip_cuda::driver_is_installed() {
            return self.config(batch);
        }
        let config = PipelineConfig {
            standby: Some(Device::cpu()),
            start_in_background: true,
            ..self.config_without_devices(batch)
        };
        Ok(config.on_devices([Device::cuda(0)])?)
    }

    /// Refuses several devices, for a command that looks at one.
    pub(crate) fn one_device(&self, command: &str) -> Result<(), Failure> {
        match &*self.device.0 {
            [DeviceName::One(_)] => Ok(()),
            _ => Err(Failure::Request(format!(
                "{command} looks at one device, but --device names several: {}",
                self.device
            ))),
        }
    }

    /// What is said of a device behind its name where `auto` had no GPU.
    pub(crate) fn no_gpu(&self, pipeline: &Pipeline) -> &'static str {
        let missing = if pipeline.config().start_in_background {
            pipeline.device_reports().iter().any(|report| report.unusable.is_some() && report.left)
        } else {
            self.device_note().is_some()
        };
        if missing { " (no GPU; `mip devices` says why)" } else { "" }
    }

    /// Whether the pipeline runs on one GPU and nothing else, as far as can be told before it is opened.
    pub(crate) fn is_on_one_gpu(&self) -> bool {
        match &*self.device.0 {
            [DeviceName::One(DeviceArg::Auto)] => {
                mip_cuda::driver_is_installed() && self.device_note().is_none()
            }
            [DeviceName::One(DeviceArg::Cuda(_))] => true,
            _ => false,
        }
    }

    /// Why this device, when it was chosen for the user.
    pub(crate) fn device_note(&self) -> Option<String> {
        (self.device == DevicesArg::AUTO)
            .then(|| mip_cuda::probe().usable(0).err())
            .flatten()
            .map(|m| format!("cuda: {m}"))
    }
}

/// `--device`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeviceArg {
    Auto,
    Cpu,
    Cuda(usize),
}

impl DeviceArg {
    /// Opens the device. One that was asked for and is not there is a failure of the machine (exit code 1), with
    /// the reason and the remedy; `auto` takes the CPU then.
    pub(crate) fn open(self) -> Result<Device, Failure> {
        Ok(self.open_with_reason()?.0)
    }

    /// As [`DeviceArg::open`], and why `auto` did not take a GPU.
    pub(crate) fn open_with_reason(self) -> Result<(Device, Option<String>), Failure> {
        let device = match self {
            Self::Auto => return Ok(Device::auto_with_reason()?),
            Self::Cpu => Device::cpu(),
            Self::Cuda(index) => Device::cuda(index),
        };
        device.open().map_err(|e| Failure::from(e).about(format_args!("--device {self}")))?;
        Ok((device, None))
    }
}

impl fmt::Display for DeviceArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(index) => write!(f, "cuda:{index}"),
        }
    }
}

impl FromStr for DeviceArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            let near = mip_ops::suggest(text, ["auto", "cpu", "cuda"]);
            let hint = near.map_or_else(String::new, |n| format!("; did you mean '{n}'?"));
            format!("expected auto, cpu, cuda or cuda:N{hint}")
        };
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            _ => text.strip_prefix("cuda:").and_then(|n| n.parse().ok()).map(Self::Cuda).ok_or_else(wrong),
        }
    }
}

/// `--device` where several may be named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DevicesArg(Cow<'static, [DeviceName]>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeviceName {
    One(DeviceArg),
    /// Every GPU.
    AllGpus,
    /// Every GPU, and the CPU.
    All,
}

impl DevicesArg {
    pub(crate) const AUTO: Self = Self(Cow::Borrowed(&[DeviceName::One(DeviceArg::Auto)]));

    fn names_the_cpu(&self) -> bool {
        self.0.iter().any(|device| matches!(device, DeviceName::All | DeviceName::One(DeviceArg::Cpu)))
    }

    /// Opens all of them, as [`DeviceArg::open`] does.
    fn open(&self) -> Result<Vec<Device>, Failure> {
        if let [DeviceName::One(device)] = &*self.0 {
            return Ok(vec![device.open()?]);
        }
        let about =
            |error: mini_image_pipe::Error| Failure::from(error).about(format_args!("--device {self}"));
        let devices = Backends::default().devices(&self.to_string()).map_err(about)?;
        for device in &devices {
            device.open().map_err(about)?;
        }
        Ok(devices)
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(device) => device.fmt(f),
            Self::AllGpus => f.write_str("cuda:all"),
            Self::All => f.write_str("all"),
        }
    }
}

impl fmt::Display for DevicesArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, device) in self.0.iter().enumerate() {
            write!(f, "{}{device}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl FromStr for DevicesArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let devices = text.split(',').map(|name| match name.trim() {
            "all" if text.contains(',') => Err("all is every device there is: it stands alone".to_owned()),
            "all" => Ok(DeviceName::All),
            "cuda:all" => Ok(DeviceName::AllGpus),
            name => name.parse().map(DeviceName::One),
        });
        let devices = devices.collect::<Result<Vec<_>, _>>()?;
        let twice = |(index, device)| devices[..index].contains(device);
        match devices.iter().enumerate().find(|&place| twice(place)) {
            Some((_, device)) => Err(format!("{device} is named twice")),
            None => Ok(Self(devices.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_names() {
        assert_eq!("cuda".parse(), Ok(DeviceArg::Cuda(0)));
        assert_eq!("cuda:3".parse(), Ok(DeviceArg::Cuda(3)));
        assert!("cdua".parse::<DeviceArg>().unwrap_err().contains("did you mean 'cuda'?"));
        assert!("cuda:x".parse::<DeviceArg>().is_err());
    }

    #[test]
    fn several_devices_are_a_list() {
        let parse = str::parse::<DevicesArg>;
        assert_eq!(parse("auto"), Ok(DevicesArg::AUTO));
        for text in ["cuda:0,cuda:1", "cuda:all", "all", "cuda:1,cpu", "cuda:all,cpu"] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
        assert!(parse("cpu,cpu").unwrap_err().contains("named twice"));
        assert!(parse("cpu,all").unwrap_err().contains("stands alone"));
        assert!(parse("cpu,").unwrap_err().contains("expected auto"));
        let failure = parse("cuda:4000,cpu").unwrap().open().unwrap_err();
        assert!(failure.message().unwrap().contains("--device cuda:4000,cpu"));
    }

    #[test]
    fn a_device_that_is_not_there_says_why_and_what_to_do() {
        // No machine has that many.
        let failure = DeviceArg::Cuda(4000).open().unwrap_err();
        assert_eq!(failure.code(), 1);
        assert!(failure.message().unwrap().contains("--device cuda:4000"));
    }
}
