use std::path::{Path, PathBuf};

use mini_image_pipe::{ExecutionReport, Pipeline, PipelineConfig};
use mip_core::faults::{self, Fault};
use mip_core::text::{padded, quoted_path};
use mip_core::{ImageBuffer, ImageError};
use mip_graph::PipelineSpec;
use mip_io::{FileFormat, WriteOptions, encode};

use crate::demo::{Tile, contact_sheet, test_picture};
use crate::failure::Failure;
use crate::files::Files;
use crate::{console, work};

/// Draws a test picture, runs a sample pipeline over it and writes every step and a contact sheet
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mip demo\n  mip demo -o /tmp/demo")]
pub(crate) struct Args {
    /// Folder for the pictures
    #[arg(short = 'o', long = "out", value_name = "DIR", default_value = "mip-demo")]
    out: PathBuf,
}

const PIPELINE: &str = include_str!("../demo/demo.toml");

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let picture = test_picture().map_err(|error| no_memory(&error))?;
    let mut drawn = vec![(args.out.join("demo.toml"), PIPELINE.as_bytes().to_vec())];
    let mut draw = |name: &str, image: &ImageBuffer| -> Result<(), Failure> {
        let bytes = encode(image, FileFormat::Png, &WriteOptions::default())?;
        drawn.push((args.out.join(format!("{name}.png")), bytes));
        Ok(())
    };
    draw("input", &picture)?;
    let mut pipeline =
        Pipeline::from_spec(&PipelineSpec::parse_toml(PIPELINE, "demo.toml")?, PipelineConfig::default())?;
    pipeline.set_named_input("input", &picture)?;
    let report = pipeline.execute()?;
    let mut tiles = vec![tile("input", &picture)?];
    for (task, images) in pipeline.outputs() {
        for image in images {
            draw(task, image)?;
            tiles.push(tile(task, image)?);
        }
    }
    draw("sheet", &contact_sheet(&tiles).map_err(|error| no_memory(&error))?)?;
    write(args, &drawn)?;
    console::note(summary(args, &report, &picture));
    Ok(())
}

/// Writes all files, or none where one of them would replace something else: a pipeline that was edited, a picture of
/// the same name.
fn write(args: &Args, drawn: &[(PathBuf, Vec<u8>)]) -> Result<(), Failure> {
    if let Some((path, _)) = drawn.iter().find(|(path, bytes)| holds_something_else(path, bytes)) {
        return Err(Failure::Request(format!(
            "{} exists, and is not what this demo writes; move it away or choose another folder with -o",
            quoted_path(path)
        )));
    }
    let cannot = |e| Failure::Running(format!("cannot create the folder {}: {e}", quoted_path(&args.out)));
    faults::check(Fault::Create).and_then(|()| std::fs::create_dir_all(&args.out)).map_err(cannot)?;
    let mut files = Files::default();
    for (path, bytes) in drawn {
        files.create(path, "-o")?.write_and_keep(bytes)?;
        console::path(path)?;
    }
    Ok(())
}

fn no_memory(error: &ImageError) -> Failure {
    Failure::Running(error.to_string())
}

/// Also where it cannot be read.
fn holds_something_else(path: &Path, bytes: &[u8]) -> bool {
    match std::fs::symlink_metadata(path) {
        Err(_) => false,
        // Looked at before it is read: it may be of any length, or a pipe.
        Ok(found) => {
            !found.is_file()
                || found.len() != bytes.len() as u64
                || std::fs::read(path).map_or(true, |found| found != bytes)
        }
    }
}

fn summary(args: &Args, report: &ExecutionReport, picture: &ImageBuffer) -> String {
    let tasks: Vec<&str> = report.tasks.iter().map(|t| t.name.as_ref()).collect();
    let out = quoted_path(&args.out);
    let next = [
        (format!("mip run {out}/demo.toml YOUR.jpg -o out"), "the same on your own picture"),
        ("mip run -e 'color_convert to=gray ! sobel' YOUR.jpg -o edges.png".into(), "a pipeline in one line"),
        (format!("mip check {out}/demo.toml --size 1920x1080"), "the shape of every task"),
        (format!("mip plan {out}/demo.toml --size 1920x1080"), "kernels, streams and memory"),
        ("mip ops".into(), "all operators"),
    ];
    let width = next.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    let next: Vec<String> =
        next.iter().map(|(command, what)| format!("  {}  {what}", padded(command, width))).collect();
    format!(
        "\nRan {} ({}) over a drawn {} picture in {:.1} ms on {}.\n\
         {out}/sheet.png shows all of them side by side.\n\n\
         Try next:\n{}",
        work::count(tasks.len(), "task"),
        tasks.join(", "),
        picture.desc(),
        report.elapsed.as_secs_f64() * 1e3,
        report.device,
        next.join("\n")
    )
}

/// Scales a picture for the contact sheet: with a pipeline, of course.
fn tile(label: &str, image: &ImageBuffer) -> Result<Tile, Failure> {
    let line = format!("resize width={} filter=area ! color_convert to=rgb", Tile::WIDTH);
    let mut pipeline = Pipeline::from_spec(&PipelineSpec::parse_line(&line)?, PipelineConfig::default())?;
    pipeline.set_named_input("input", image)?;
    pipeline.execute()?;
    let output = pipeline.task_graph().outputs()[0];
    let shape = format!("{label}  {}", image.desc());
    Ok(Tile { label: shape, image: pipeline.output(output)? })
}
