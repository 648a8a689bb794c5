//! Runs single kernels on a GPU and compares their bytes with the CPU device's; and times them.
//!
//! ```text
//! parity [--sizes 1x1,33x1,640x480] [--batch 1,3] [--strides tight,pitched,odd] [--filter TEXT] [--every N]
//!        [--device N] [--threads N]          compare; exit 1 if anything differs
//! parity --time [--size 1920x1080] [--batch 1,32] [--filter TEXT]    time each operator, and copies
//! parity --copies                            time copies only, by number of threads
//! parity --groups [--time]                   the same for groups of several stages: one launch, and unfused
//! launches parity --prepare 90 ...                    only compile into the kernel cache; needs NVRTC, no
//! GPU
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program")]

#[path = "../testing/cases.rs"]
#[allow(dead_code, unreachable_pub, missing_docs, clippy::pedantic, reason = "shared with tests")]
mod cases;
#[path = "parity/compare.rs"]
mod compare;
#[path = "parity/copies.rs"]
mod copies;
#[path = "../testing/groups.rs"]
#[allow(dead_code, unreachable_pub, missing_docs, clippy::pedantic, reason = "shared with tests")]
mod group_cases;
#[path = "parity/groups.rs"]
mod groups;
#[path = "parity/rig.rs"]
mod rig;
#[path = "parity/timing.rs"]
mod timing;

use std::process::ExitCode;

use cases::{Case, Strides, matrix};
use mip_cuda::{CudaDevice, CudaOptions};

/// What to do.
pub(crate) struct Options {
    sizes: Vec<(u32, u32)>,
    batches: Vec<usize>,
    strides: Vec<Strides>,
    filter: String,
    every: usize,
    device: usize,
    threads: usize,
    time: bool,
    copies: bool,
    groups: bool,
    prepare: Option<(u32, u32)>,
}

fn parse_size(text: &str) -> Result<(u32, u32), String> {
    let wrong = || format!("'{text}' is no size such as 640x480");
    let (w, h) = text.split_once('x').ok_or_else(wrong)?;
    Ok((w.parse().map_err(|_| wrong())?, h.parse().map_err(|_| wrong())?))
}

fn list<T>(text: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    text.split(',').map(parse).collect()
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("'{text}' is no number"))
}

fn parse_strides(text: &str) -> Result<Strides, String> {
    match text {
        "tight" => Ok(Strides::Tight),
        "pitched" => Ok(Strides::Pitched),
        "odd" => Ok(Strides::Odd),
        _ => Err(format!("'{text}' is none of tight, pitched, odd")),
    }
}

fn options() -> Result<Options, String> {
    let sides = [1, 2, 3, 5, 15, 17, 31, 33];
    let mut sizes: Vec<(u32, u32)> = sides.iter().map(|&n| (n, n)).collect();
    sizes.extend([(1, 77), (77, 1), (130, 9), (640, 480), (1919, 1077)]);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut options = Options {
        sizes,
        batches: Vec::new(),
        strides: vec![Strides::Tight, Strides::Pitched, Strides::Odd],
        filter: String::new(),
        every: 1,
        device: 0,
        threads,
        time: false,
        copies: false,
        groups: false,
        prepare: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{name} needs a value"));
        match name.as_str() {
            "--sizes" | "--size" => options.sizes = list(&value()?, parse_size)?,
            "--batch" => options.batches = list(&value()?, number)?,
            "--strides" => options.strides = list(&value()?, parse_strides)?,
            "--filter" => options.filter = value()?,
            "--every" => options.every = number(&value()?)?.max(1),
            "--device" => options.device = number(&value()?)?,
            "--threads" => options.threads = number(&value()?)?.max(1),
            "--time" => options.time = true,
            "--groups" => options.groups = true,
            "--copies" => options.copies = true,
            "--prepare" => options.prepare = Some(number(&value()?).map(|n| (n as u32 / 10, n as u32 % 10))?),
            _ => return Err(format!("unknown option {name}")),
        }
    }
    Ok(options)
}

/// The cases of one size that the options ask for.
pub(crate) fn chosen(options: &Options, (w, h): (u32, u32)) -> Vec<Case> {
    matrix(w, h).into_iter().filter(|c| c.name.contains(&options.filter)).step_by(options.every).collect()
}

fn run(options: &Options) -> Result<bool, String> {
    if let Some(capability) = options.prepare {
        return compare::prepare(options, capability).map(|()| true);
    }
    let device = CudaDevice::open(options.device, CudaOptions::default()).map_err(|e| e.to_string())?;
    let found = device.probe();
    println!(
        "cuda:{} {} (compute capability {}.{})",
        found.index, found.name, found.capability.0, found.capability.1
    );
    if options.groups {
        let result = if options.time {
            groups::time(&device, options).map(|()| true)
        } else {
            groups::compare(&device, options)
        };
        return result.map_err(|e| e.to_string());
    }
    if options.time || options.copies {
        let timed = if options.time { timing::time(&device, options) } else { Ok(()) };
        let timed = timed.and_then(|()| copies::copies(&device, options.device));
        return timed.map(|()| true).map_err(|e| e.to_string());
    }
    compare::compare(&device, options).map_err(|e| e.to_string())
}

fn main() -> ExitCode {
    match options() {
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
        Ok(options) => match run(&options) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        },
    }
}
