use mini_image_pipe::Device;
use serde::Serialize;

use crate::args::NO_CUDA;
use crate::console;
use crate::failure::Failure;

/// Lists the devices, and why one is not there
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mip devices\n  mip devices --json")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A device as listed.
#[derive(Debug, Serialize)]
struct Entry {
    /// What `--device` takes.
    device: &'static str,
    available: bool,
    name: Option<String>,
    /// Cores that are used.
    cores: Option<usize>,
    total_memory: Option<u64>,
    /// Why it is not available.
    reason: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let entries = [cpu(), cuda()];
    if args.json {
        return console::json(&entries);
    }
    for entry in entries {
        let name = entry.name.unwrap_or_default();
        match entry.reason {
            Some(reason) => console::line(format_args!("{:6}not available: {reason}", entry.device))?,
            None => console::line(format_args!("{:6}{name}", entry.device))?,
        }
    }
    Ok(())
}

fn cpu() -> Entry {
    let info = Device::cpu().info();
    Entry {
        device: "cpu",
        available: info.is_ok(),
        cores: std::thread::available_parallelism().ok().map(usize::from),
        total_memory: info.as_ref().ok().and_then(|i| i.total_memory),
        reason: info.as_ref().err().map(ToString::to_string),
        name: info.ok().map(|i| i.name),
    }
}

const fn no_device(device: &'static str) -> Entry {
    Entry { device, available: false, name: None, cores: None, total_memory: None, reason: None }
}

fn cuda() -> Entry {
    Entry { reason: Some(format!("CUDA is {NO_CUDA}")), ..no_device("cuda") }
}
