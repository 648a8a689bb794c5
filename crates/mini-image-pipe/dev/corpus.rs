//! Writes what operators make of images of every kind and many sizes, on the CPU: recorded before a change of the kernels by
//! the old code and after it by the new one, the two files must be equal.
//!
//! ```sh
//! cargo run --release -p mini-image-pipe --example corpus -- old.bin    # before
//! cargo run --release -p mini-image-pipe --example corpus -- new.bin    # after
//! cmp old.bin new.bin
//! ```
//!
//! Each case is a line of text (pipeline, image) followed by the bytes of the result; the list of cases stands here and is
//! not drawn from the registry, so that old and new code write the same ones.

#![allow(clippy::print_stdout, reason = "an example")]

use std::fs::File;
use std::io::{BufWriter, Write as _};

use mini_image_pipe::Layout;
use mini_image_pipe::prelude::*;
use mip_testkit::images::Pattern;

const SIZES: [(u32, u32); 8] = [(1, 1), (1, 9), (17, 1), (2, 3), (5, 4), (16, 16), (33, 31), (131, 67)];

/// One operator each, then chains that are fused.
const LINES: &[&str] = &[
    "resize width=7 height=5",
    "resize width=40 height=23",
    "resize width=2 height=2 antialias=true",
    "resize width=9 height=6 filter=nearest",
    "resize width=6 height=4 filter=area",
    "resize shorter_side=3",
    "color_convert to=gray",
    "color_convert to=rgb",
    "color_convert to=bgr",
    "color_convert to=rgba",
    "color_convert to=bgra",
    "gaussian_blur",
    "gaussian_blur kernel=3 border=reflect",
    "gaussian_blur kernel=7 border=replicate sigma=2",
    "gaussian_blur kernel=9 border=wrap",
    "gaussian_blur kernel=31 border=constant border_value=0.5",
    "sobel",
    "sobel border=reflect",
    "sobel border=replicate",
    "sobel border=wrap",
    "sobel border=constant border_value=1",
    "crop width=1 height=1 center=true",
    "flip",
    "flip direction=vertical",
    "flip direction=both",
    "threshold threshold=0.4",
    "threshold threshold=100 max_value=7",
    "normalize",
    "normalize mean=0.4 std=0.25",
    "cast to=u8",
    "cast to=u16",
    "cast to=f32",
    "cast to=u8 scale=false",
    "layout to=hwc",
    "layout to=chw",
    "blend alpha=0.3 inputs=@input,@input",
    "resize width=20 height=11 ! color_convert to=gray ! gaussian_blur kernel=5 sigma=1.1 ! sobel",
    "g:color_convert to=gray ! s:gaussian_blur kernel=7 inputs=g ! e:sobel inputs=g ! b:blend inputs=s,e ! threshold threshold=0.3 inputs=b",
    "resize width=12 height=12 ! crop center=true width=8 height=8 ! normalize mean=0.4 std=0.2 ! layout to=chw",
    "flip ! gaussian_blur kernel=3 ! flip direction=both ! resize width=9 height=9 filter=nearest",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name the file to write")?;
    let mut file = BufWriter::new(File::create(&path)?);
    let mut cases = 0_usize;
    for line in LINES {
        let spec = PipelineSpec::parse_line(line)?;
        for (format, dtype, layout) in kinds() {
            for (index, (width, height)) in SIZES.into_iter().enumerate() {
                let desc = ImageDesc::new(width, height, format, dtype)?.with_layout(layout);
                let image = Pattern::ALL[index % Pattern::ALL.len()].draw(desc, index as u64);
                let mut pipeline = Pipeline::from_spec(&spec, PipelineConfig::default())?;
                pipeline.set_named_input("input", &image)?;
                pipeline.execute()?;
                for (name, frames) in pipeline.outputs() {
                    writeln!(file, "{line} | {desc} | {name} | {}", frames[0].desc())?;
                    file.write_all(&frames[0].to_bytes())?;
                }
                cases += 1;
            }
        }
    }
    file.flush()?;
    println!("{cases} cases in {path}");
    Ok(())
}

fn kinds() -> impl Iterator<Item = (PixelFormat, DType, Layout)> {
    let formats = PixelFormat::PICTURES.into_iter();
    let kinds = formats
        .flat_map(|format| [DType::U8, DType::U16, DType::F32].into_iter().map(move |dtype| (format, dtype)));
    kinds.flat_map(|(format, dtype)| Layout::ALL.into_iter().map(move |layout| (format, dtype, layout)))
}
