//! Compiles generated kernels with NVRTC, without a GPU, for several architectures, and reports registers and
//! spills.
//!
//! ```text
//! cargo run --release -p mip-cuda --example nvrtc_check -- [--arch 75,80,90,120] [--filter TEXT] [--every N]
//!     [--list] [--keep FOLDER]
//! ```
//!
//! NVRTC is looked for in `MIP_NVRTC_LIB` and where the system looks. Without it nothing is checked, and that
//! is said. `--every N` takes every Nth kernel of the matrix, `--keep` writes sources and machine code,
//! `--list` prints every kernel.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program")]

use std::process::ExitCode;

#[path = "../testing/cases.rs"]
#[allow(dead_code, unreachable_pub, missing_docs, clippy::pedantic, reason = "shared with tests")]
mod cases;

use cases::{Case, Strides, matrix, operators, plan};

struct Options {
    archs: Vec<(u32, u32)>,
    filter: String,
    every: usize,
    list: bool,
    keep: Option<std::path::PathBuf>,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        archs: vec![(7, 5), (8, 0), (9, 0), (12, 0)],
        filter: String::new(),
        every: 1,
        list: false,
        keep: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{name} needs a value"));
        match name.as_str() {
            "--arch" => {
                let arch =
                    |text: &str| text.parse::<u32>().map(|n| (n / 10, n % 10)).map_err(|e| e.to_string());
                options.archs = value()?.split(',').map(arch).collect::<Result<_, _>>()?;
            }
            "--filter" => options.filter = value()?,
            "--every" => options.every = value()?.parse().map_err(|_| "--every needs a number".to_owned())?,
            "--keep" => options.keep = Some(value()?.into()),
            "--list" => options.list = true,
            _ => return Err(format!("unknown option {name}")),
        }
    }
    Ok(options)
}

/// Registers and spilled bytes of each kernel, from the assembler's report.
fn usage(log: &str) -> Vec<(String, u32, u32)> {
    let number_before = |line: &str, what: &str| {
        let before = line.split(what).next()?;
        before.rsplit(' ').find(|t| !t.is_empty())?.parse::<u32>().ok()
    };
    let mut found = Vec::new();
    let (mut name, mut spilled) = (String::new(), 0);
    for line in log.lines() {
        if let Some(rest) = line.split("Compiling entry function '").nth(1) {
            rest.split('\'').next().unwrap_or_default().clone_into(&mut name);
        } else if line.contains("bytes spill stores") {
            spilled = number_before(line, " bytes spill stores").unwrap_or(0);
        } else if line.contains(" registers") {
            found.push((name.clone(), number_before(line, " registers").unwrap_or(0), spilled));
        }
    }
    found
}

fn check(case: &Case, capability: (u32, u32), options: &Options) -> Result<Vec<(String, u32, u32)>, String> {
    let plan = plan(std::slice::from_ref(case), 2, Strides::Pitched);
    let mut all = Vec::new();
    for (_, source) in mip_cuda::kernel_sources(&plan)? {
        let compiled = mip_cuda::check::compile(&source, capability)?;
        if let Some(folder) = &options.keep {
            let name: String =
                case.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
            let file = folder.join(format!("{name}.sm_{}{}", capability.0, capability.1));
            std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
            std::fs::write(file.with_extension(format!("sm_{}{}.cu", capability.0, capability.1)), &source)
                .and_then(|()| {
                    std::fs::write(
                        file.with_extension(format!("sm_{}{}.cubin", capability.0, capability.1)),
                        &compiled.cubin,
                    )
                })
                .map_err(|e| e.to_string())?;
        }
        all.extend(usage(&compiled.log));
    }
    Ok(all)
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
    println!("NVRTC {major}.{minor}");
    let mut all = operators(1920, 1080);
    all.extend(matrix(640, 480));
    let chosen: Vec<Case> =
        all.into_iter().filter(|c| c.name.contains(&options.filter)).step_by(options.every.max(1)).collect();
    let mut failed = 0;
    for &capability in &options.archs {
        let start = std::time::Instant::now();
        let (mut kernels, mut most, mut spilling) = (0, 0, 0);
        for case in &chosen {
            match check(case, capability, &options) {
                Ok(usage) => {
                    for (name, registers, spilled) in usage {
                        kernels += 1;
                        most = most.max(registers);
                        spilling += u32::from(spilled > 0);
                        if options.list || spilled > 0 {
                            println!(
                                "sm_{}{} {registers:4} registers {spilled:5} bytes spilled  {name}  {}",
                                capability.0, capability.1, case.name
                            );
                        }
                    }
                }
                Err(log) => {
                    failed += 1;
                    println!("FAILED sm_{}{} {}\n{log}", capability.0, capability.1, case.name);
                }
            }
        }
        println!(
            "sm_{}{}: {} sources, {kernels} kernels compiled in {:.1} s; most registers {most}; {spilling} spill",
            capability.0,
            capability.1,
            chosen.len(),
            start.elapsed().as_secs_f64()
        );
    }
    if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
