use std::path::PathBuf;

use mip_core::text::quoted;

use crate::args::DeviceArg;
use crate::console;
use crate::failure::Failure;
use crate::files::Files;
use crate::validate::{Report, Request, run as validate};

/// Checks that a device computes what it should: every operator and way of running, against the CPU and f64 references
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mip validate --device cuda
  mip validate --device cpu --json
  mip validate --device cuda --junit validate.xml

Every comparison is of pixels: byte for byte with the CPU, and with references in f64 by the numeric contract.
Exit code 1 when anything fails, or when the device asked for is not there.")]
pub(crate) struct Args {
    /// What to validate: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value_t = DeviceArg::Auto)]
    device: DeviceArg,
    /// Every format, dtype and layout with every operator, instead of a selection
    #[arg(long)]
    full: bool,
    /// Only checks whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Leave out checks whose name contains this
    #[arg(long, value_name = "TEXT")]
    skip: Option<String>,
    /// Leave out the larger pictures, for runs under a sanitizer
    #[arg(long)]
    small: bool,
    /// Executions of the repeated diamond
    #[arg(long, value_name = "N", default_value_t = 200)]
    repeat: usize,
    /// Random graphs to compare
    #[arg(long, value_name = "N", default_value_t = 40)]
    graphs: usize,
    /// Where the random pictures and graphs start
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Cases to run side by side [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Also write the result as JUnit XML, for CI systems
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let device = args.device.open()?;
    let info = device.info()?;
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let request = Request {
        device,
        full: args.full,
        small: args.small,
        only: args.only.clone().unwrap_or_default(),
        skip: args.skip.clone(),
        repeat: args.repeat,
        graphs: args.graphs,
        seed: args.seed,
        jobs: args.jobs.unwrap_or_else(cores),
    };
    // Opened first: what cannot be written is not worth waiting for.
    let mut files = Files::default();
    let junit = args.junit.as_deref().map(|path| files.create_beside_stdout(path, "--junit")).transpose()?;
    let checks = validate(&request, &mut |check| console::note(format_args!("{check} ...")));
    let report = Report::new(&info, args.seed, checks);
    if report.checks.is_empty() {
        return Err(Failure::Request(format!("no check has '{}' in its name", quoted(&request.only))));
    }
    if let Some(file) = junit {
        let xml =
            report.junit().map_err(|error| Failure::Running(format!("cannot write JUnit XML: {error}")))?;
        file.write_and_keep(xml.as_bytes())?;
    }
    if args.json {
        console::json(&report)?;
    } else {
        for line in report.lines() {
            console::line(line)?;
        }
    }
    if report.failed > 0 { Err(Failure::Reported(1)) } else { Ok(()) }
}
