//! i32: what moves samples keeps every bit, what computes with them takes the nearest binary32, and integral images are exact.

mod support;

use mini_image_pipe::{Device, Pipeline, PipelineConfig};
use mip_core::{DType, ImageBuffer, ImageDesc, Layout, PixelFormat};
use mip_cpu::SimdLevel;
use mip_graph::PipelineSpec;
use mip_testkit::images::{Pattern, padded};
use mip_testkit::{Params, Real, reference};
use support::cpu;

fn run(line: &str, device: &Device, fuse: bool, input: &ImageBuffer) -> Result<ImageBuffer, String> {
    let graph = PipelineSpec::parse_line(line).unwrap().build().unwrap_or_else(|e| panic!("{line}: {e}"));
    let config = PipelineConfig { device: device.clone(), fuse, poison: true, ..PipelineConfig::default() };
    let mut pipeline = Pipeline::from_graph(graph, config);
    pipeline.execute_batch(std::slice::from_ref(input)).map_err(|e| e.to_string())?;
    let (_, images) = pipeline.outputs().next().expect("an output");
    Ok(images[0].clone())
}

fn ways() -> [(Device, bool); 3] {
    [
        (cpu(1, SimdLevel::Native), true),
        (cpu(3, SimdLevel::Native), false),
        (cpu(2, SimdLevel::Portable), true),
    ]
}

fn sums(width: u32, height: u32, format: PixelFormat, layout: Layout) -> ImageBuffer {
    let desc = ImageDesc::new(width, height, format, DType::I32).unwrap().with_layout(layout);
    let noise = Pattern::Noise.draw(desc, u64::from(width));
    // Above 2^24 no odd number is a binary32.
    assert!(Real::from_buffer(&noise).data.iter().any(|&v| v.abs() > 2.0_f64.powi(24) && v % 2.0 != 0.0));
    noise
}

#[test]
fn what_moves_samples_keeps_all_bits() {
    for (op, params) in [
        ("crop", "x = 3, y = 1, width = 9, height = 5"),
        ("flip", "direction = 'horizontal'"),
        ("flip", "direction = 'both'"),
        ("rotate90", "direction = 'ccw'"),
        ("rotate90", "direction = '180'"),
        ("transpose", ""),
        ("layout", "to = 'chw'"),
        ("layout", "to = 'hwc'"),
        ("cast", "to = 'i32'"),
    ] {
        for (format, layout) in [PixelFormat::Gray, PixelFormat::Rgb, PixelFormat::Bgra]
            .into_iter()
            .flat_map(|format| Layout::ALL.map(|layout| (format, layout)))
        {
            let image = padded(&sums(37, 11, format, layout), 16);
            let exact = reference::apply(op, &Params::line(params), &[&image]);
            let line = format!("{op} {}", params.replace(" = ", "=").replace([',', '\''], ""));
            // As steps of a pipeline too, where they might be fused.
            let longer = format!("{line} ! flip ! flip");
            for ((device, fuse), line) in
                ways().iter().flat_map(|way| [&line, &longer].map(|line| (way, line)))
            {
                let got = run(line, device, *fuse, &image).unwrap();
                assert_eq!(got.desc().dtype(), DType::I32);
                assert!(Real::from_buffer(&got).data == exact.data, "{line} on {}", image.desc());
            }
        }
    }
}

#[test]
fn what_computes_takes_the_nearest_binary32() {
    let image = sums(37, 11, PixelFormat::Rgb, Layout::Hwc);
    let read = Real::from_buffer(&image).map(|v| f64::from(v as f32));
    for (device, fuse) in ways() {
        let float = run("cast to=f32 scale=false", &device, fuse, &image).unwrap();
        assert!(Real::from_buffer(&float).data == read.data);
        let same = run("point expr=\"v + 0\"", &device, fuse, &image).unwrap();
        assert!(Real::from_buffer(&same).data == read.rounded(DType::I32).data);
    }
}

#[test]
fn integral_images_are_exact() {
    for (format, layout) in
        [(PixelFormat::Gray, Layout::Hwc), (PixelFormat::Rgb, Layout::Hwc), (PixelFormat::Rgba, Layout::Chw)]
    {
        for (width, height) in [(1, 1), (1, 40), (40, 1), (333, 411), (17, 2200)] {
            let desc = ImageDesc::new(width, height, format, DType::U8).unwrap().with_layout(layout);
            for pattern in [Pattern::Noise, Pattern::White] {
                let image = padded(&pattern.draw(desc, 3), 16);
                for squared in ["false", "true"] {
                    let params = Params::line(&format!("squared = {squared}"));
                    let exact = reference::apply("integral", &params, &[&image]);
                    for (device, fuse) in ways() {
                        let got = run(&format!("integral squared={squared}"), &device, fuse, &image).unwrap();
                        assert_eq!(
                            got.desc().to_string(),
                            desc.with_size(width + 1, height + 1)
                                .and_then(|desc| desc.with_dtype(DType::I32))
                                .unwrap()
                                .to_string()
                        );
                        assert!(Real::from_buffer(&got).data == exact.data, "{desc} {pattern:?} {squared}");
                    }
                }
            }
        }
    }
}

#[test]
fn who_takes_pictures_alone_says_what_to_do() {
    let image = Pattern::Noise.draw(ImageDesc::new(9, 7, PixelFormat::Gray, DType::U8).unwrap(), 1);
    let refusal = run("integral ! gaussian_blur", &cpu(1, SimdLevel::Native), true, &image).unwrap_err();
    assert!(refusal.contains("10x8 gray i32") && refusal.contains("cast to=f32 scale=false"), "{refusal}");
}
