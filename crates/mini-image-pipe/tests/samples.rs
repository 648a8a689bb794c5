//! The pipeline files in `examples/pipelines`.

use std::path::{Path, PathBuf};

use mini_image_pipe::prelude::*;
use mip_testkit::images::Pattern;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/pipelines")
}

fn pipeline(file: &Path) -> Pipeline {
    let text = std::fs::read_to_string(file).unwrap();
    let spec = PipelineSpec::parse_toml(&text, &file.display().to_string()).unwrap();
    Pipeline::from_spec(&spec, PipelineConfig::default()).unwrap()
}

#[test]
fn each_runs_over_pictures() {
    let mut ran = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let file = entry.unwrap().path();
        let mut pipeline = pipeline(&file);
        // As large as the places that `pieces.toml` cuts out ask for.
        let desc = ImageDesc::new(1920, 1080, PixelFormat::Rgb, DType::U8).unwrap();
        for (name, seed) in pipeline.task_graph().inputs().to_vec().iter().zip(1..) {
            pipeline.set_named_input(name, &Pattern::Gradient.draw(desc, seed)).unwrap();
        }
        let report = pipeline.execute().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(report.tasks.iter().all(|task| task.state == TaskState::Completed), "{}", file.display());
        ran += 1;
    }
    assert!(ran >= 15, "{ran}");
}

/// A code value of PQ (SMPTE ST 2084) for light in cd/m2.
fn pq(light: f64) -> u16 {
    let y = (light / 10_000.0).powf(1305.0 / 8192.0);
    let code = ((0.835_937_5 + 18.851_562_5 * y) / (1.0 + 18.6875 * y)).powf(2523.0 / 32.0);
    (code * 65535.0).round() as u16
}

/// sRGB of 8 bits of a gray of so much light, by the formulas that the file names.
fn screen(light: f64) -> f64 {
    let (white, peak) = (light / 203.0, 4.926);
    let toned = white * (1.0 + white / (peak * peak)) / (1.0 + white);
    let encoded = if toned <= 0.003_130_8 { toned * 12.92 } else { 1.055 * toned.powf(1.0 / 2.4) - 0.055 };
    (encoded * 255.0).min(255.0)
}

#[test]
fn hdr_becomes_what_the_standards_say() {
    let lights = [0.0, 0.005, 0.1, 1.0, 10.0, 50.0, 100.0, 203.0, 400.0, 1000.0, 4000.0, 10_000.0];
    let codes: Vec<u8> = lights.iter().flat_map(|&light| [pq(light); 3]).flat_map(u16::to_ne_bytes).collect();
    let desc = ImageDesc::new(lights.len() as u32, 1, PixelFormat::Rgb, DType::U16).unwrap();
    let mut pipeline = pipeline(&folder().join("hdr-to-sdr.toml"));
    pipeline.set_named_input("input", &ImageBuffer::from_bytes(desc, &codes).unwrap()).unwrap();
    pipeline.execute().unwrap();
    let result = pipeline.output(pipeline.task("screen").unwrap()).unwrap();
    assert_eq!(result.desc().to_string(), "12x1 rgb u8");
    for (pixel, light) in result.to_bytes().chunks(3).zip(lights) {
        // Rows of the matrix add up to 1 within a ten-thousandth.
        let near = pixel.iter().all(|&v| (f64::from(v) - screen(light)).abs() <= 0.6);
        assert!(near, "{light} cd/m2: {pixel:?}, not {}", screen(light));
    }
}
