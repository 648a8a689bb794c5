//! Compiles generated kernels with NVRTC, without a GPU, for several architectures, and reports registers and
//! spills.
//!
//! ```text
//! cargo run --release -p mip-cuda --example nvrtc_check -- [--full] [--arch 75,80,90,120] [--filter TEXT]
//!     [--every N] [--threads N] [--list] [--keep FOLDER]
//! ```
//!
//! Compiled is one of each, in turns for one of the architectures, whose code differs in little but registers (what has
//! `__CUDA_ARCH__` asks for 800); `--arch` names those that each is compiled for: every operator with every dtype, layout and number of
//! channels, every border, and the sample pipelines. `--full` takes the whole matrix that a GPU is validated with, which
//! takes half an hour. NVRTC is looked for in `MIP_NVRTC_LIB` and where the system looks; without it nothing is checked, and that
//! is said. `--every N` takes every Nth source, `--keep` writes sources and machine code, `--list` prints
//! every kernel.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program")]

#[path = "../testing/cases.rs"]
#[allow(dead_code, unreachable_pub, missing_docs, clippy::pedantic, reason = "shared with tests")]
mod cases;
#[path = "nvrtc_check/report.rs"]
mod report;
#[path = "nvrtc_check/sources.rs"]
mod sources;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use report::{Usage, usage};
use sources::Source;

struct Options {
    archs: Vec<(u32, u32)>,
    /// Each source for the first of them and one of the others, in turns.
    in_turns: bool,
    full: bool,
    filter: String,
    every: usize,
    threads: usize,
    list: bool,
    keep: Option<std::path::PathBuf>,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        archs: vec![(7, 5), (8, 0), (9, 0), (12, 0)],
        in_turns: true,
        full: false,
        filter: String::new(),
        every: 1,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        list: false,
        keep: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{name} needs a value"));
        let number = |text: String| text.parse::<usize>().map_err(|_| format!("'{text}' is no number"));
        match name.as_str() {
            "--arch" => {
                let arch =
                    |text: &str| text.parse::<u32>().map(|n| (n / 10, n % 10)).map_err(|e| e.to_string());
                options.archs = value()?.split(',').map(arch).collect::<Result<_, _>>()?;
                options.in_turns = false;
            }
            "--full" => (options.full, options.in_turns) = (true, false),
            "--filter" => options.filter = value()?,
            "--every" => options.every = number(value()?)?.max(1),
            "--threads" => options.threads = number(value()?)?.max(1),
            "--keep" => options.keep = Some(value()?.into()),
            "--list" => options.list = true,
            _ => return Err(format!("unknown option {name}")),
        }
    }
    Ok(options)
}

/// What one architecture gave.
#[derive(Default)]
struct Tally {
    kernels: usize,
    max_registers: u32,
    spilling: usize,
    failed: usize,
    time: Duration,
}

impl Tally {
    fn add(&mut self, lines: &[Usage]) {
        self.kernels += lines.len();
        self.spilling += lines.iter().filter(|u| u.spilled > 0).count();
        self.max_registers = lines.iter().map(|u| u.registers).chain([self.max_registers]).max().unwrap_or(0);
    }
}

fn keep(folder: &std::path::Path, source: &Source, arch: &str, cubin: &[u8]) -> Result<(), String> {
    let name: String = source.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let write =
        |kind: &str, bytes: &[u8]| std::fs::write(folder.join(format!("{name}.{arch}.{kind}")), bytes);
    std::fs::create_dir_all(folder)
        .and_then(|()| write("cu", source.text.as_bytes()))
        .and_then(|()| write("cubin", cubin))
        .map_err(|e| e.to_string())
}

/// Compiles one source for one architecture and prints what there is to say.
fn check(source: &Source, capability: (u32, u32), options: &Options) -> Result<Vec<Usage>, ()> {
    let arch = format!("sm_{}{}", capability.0, capability.1);
    let compiled = mip_cuda::check::compile(&source.text, capability).and_then(|compiled| {
        if let Some(folder) = &options.keep {
            keep(folder, source, &arch, &compiled.cubin)?;
        }
        Ok(usage(&compiled.log))
    });
    match compiled {
        Ok(lines) => {
            for Usage { name, registers, spilled } in lines.iter().filter(|u| options.list || u.spilled > 0) {
                println!("{arch} {registers:4} registers {spilled:5} bytes spilled  {name}  {}", source.name);
            }
            Ok(lines)
        }
        Err(log) => {
            println!("FAILED {arch} {}\n{log}", source.name);
            Err(())
        }
    }
}

/// Compiles every source for every architecture that it is to be compiled for, on several threads.
fn check_all(sources: &[Source], options: &Options) -> Vec<Tally> {
    let tallies: Vec<Mutex<Tally>> = options.archs.iter().map(|_| Mutex::default()).collect();
    let archs = options.archs.len();
    let chosen = |(n, arch): (usize, usize)| !options.in_turns || arch == n % archs;
    let pairs = sources.iter().enumerate().flat_map(|source| (0..archs).map(move |arch| (source, arch)));
    let jobs: Vec<(&Source, usize)> =
        pairs.filter(|&((n, _), arch)| chosen((n, arch))).map(|((_, source), arch)| (source, arch)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(&(source, arch)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let start = Instant::now();
            let checked = check(source, options.archs[arch], options);
            let mut tally = tallies[arch].lock().expect("no thread panics");
            tally.time += start.elapsed();
            match checked {
                Ok(lines) => tally.add(&lines),
                Err(()) => tally.failed += 1,
            }
        }
    };
    std::thread::scope(|scope| (0..options.threads).for_each(|_| drop(scope.spawn(work))));
    tallies.into_iter().map(|t| t.into_inner().expect("no thread panics")).collect()
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let Some((major, minor)) = mip_cuda::check::nvrtc() else {
        println!(
            "SKIPPED: NVRTC was not found (pip install 'nvidia-cuda-nvrtc==13.*', name its folder in MIP_NVRTC_LIB)"
        );
        return ExitCode::SUCCESS;
    };
    let start = Instant::now();
    let (sources, left_out) = match sources::sources(options.full) {
        Ok(found) => found,
        Err(error) => {
            println!("FAILED to generate: {error}");
            return ExitCode::FAILURE;
        }
    };
    let sources: Vec<Source> =
        sources.into_iter().filter(|s| s.name.contains(&options.filter)).step_by(options.every).collect();
    println!("NVRTC {major}.{minor}; {} different sources on {} threads", sources.len(), options.threads);
    let tallies = check_all(&sources, &options);
    for (arch, tally) in options.archs.iter().zip(&tallies) {
        println!(
            "sm_{}{}: {} kernels compiled in {:.0} s of a thread; most registers {}; {} spill; {} sources failed",
            arch.0,
            arch.1,
            tally.kernels,
            tally.time.as_secs_f64(),
            tally.max_registers,
            tally.spilling,
            tally.failed
        );
    }
    println!("{:.0} s in all", start.elapsed().as_secs_f64());
    for text in &left_out {
        println!("left to --full: {text}");
    }
    if tallies.iter().any(|t| t.failed > 0) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
