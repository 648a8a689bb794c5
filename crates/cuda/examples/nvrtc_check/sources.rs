//! What is compiled: one of each kind of kernel, the sample pipelines, or the whole matrix.

use std::collections::HashSet;

use mip_core::{DType, ImageDesc, Layout, PixelFormat};
use mip_graph::{PipelineSpec, PlanRequest};

use crate::cases::{Case, Strides, matrix, operators, plan};

/// A program, and what it is for.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// The benchmark's workloads, and operators of several launches: size of the input and the pipeline.
const PIPELINES: [(&str, u32, u32, &str); 27] = [
    (
        "w1",
        1920,
        1080,
        "resize width=1280 height=720 ! color_convert to=gray ! gaussian_blur kernel=5 sigma=1.1 ! sobel",
    ),
    (
        "awkward",
        1919,
        1077,
        "resize width=1283 height=721 ! color_convert to=gray ! gaussian_blur kernel=5 sigma=1.1 ! sobel",
    ),
    (
        "w2",
        3840,
        2160,
        "resize width=1920 height=1080 ! color_convert to=gray ! gaussian_blur kernel=5 sigma=1.1 ! sobel",
    ),
    (
        "w3",
        500,
        375,
        "resize width=341 height=256 ! crop center=true width=224 height=224 ! normalize mean=[0.485,0.456,0.406] std=[0.229,0.224,0.225] ! layout to=chw",
    ),
    (
        "piece",
        3840,
        2160,
        "crop x=1000 y=333 width=300 height=300 ! resize width=224 height=224 ! normalize mean=[0.485,0.456,0.406] std=[0.229,0.224,0.225] ! layout to=chw",
    ),
    (
        "pieces",
        3840,
        2160,
        "crop x=1000 y=333 width=300 height=300 ! resize width=224 height=224 ! crop x=5 width=300 height=300 inputs=@input ! resize width=224 height=224",
    ),
    (
        "pulled",
        1920,
        1080,
        "color_convert to=bgr ! threshold threshold=80 ! resize width=480 height=270 ! normalize mean=0.5 std=0.25 to=f16 ! layout to=chw",
    ),
    (
        "sepia",
        1920,
        1080,
        "point expr=\"clamp((r*0.393 + g*0.769 + b*0.189) * gain, 0, 255)\" gain=0.9 ! gaussian_blur kernel=3",
    ),
    (
        "w4",
        1920,
        1080,
        "gray:color_convert to=gray ! soft:gaussian_blur kernel=7 inputs=gray ! edges:sobel inputs=gray ! mix:blend inputs=soft,edges ! threshold threshold=100 inputs=mix",
    ),
    ("canny", 1920, 1080, "canny low=40 high=110"),
    ("canny l2", 1920, 1080, "canny low=40 high=110 l2_gradient=true"),
    (
        "boxes",
        1920,
        1080,
        "auto_threshold ! label min_area=5 ! regions max=64 ! best:nms ! drawn:draw labels=\"one|two\" inputs=@input,best ! redact inputs=drawn,best",
    ),
    (
        "tiles",
        1920,
        1080,
        "small:resize width=200 height=100 ! gray:color_convert to=gray ! back:color_convert to=rgb ! tile count=3 columns=2 gap=4 inputs=small,back,small",
    ),
    ("label 4", 1920, 1080, "auto_threshold ! label connectivity=4"),
    ("distance", 1920, 1080, "auto_threshold ! distance_transform"),
    ("distance far", 3840, 2160, "auto_threshold ! distance_transform metric=l1"),
    (
        "integral",
        1920,
        1080,
        "color_convert to=gray ! integral ! crop width=1900 height=1000 ! cast to=f32 scale=false",
    ),
    ("integral rgb", 1920, 1080, "integral squared=true ! flip ! point expr=\"r + g * 0.5 - b\""),
    ("integral planes", 1919, 1077, "color_convert to=rgba ! layout to=chw ! integral ! layout to=hwc"),
    ("integral of one row", 1920, 1, "integral ! transpose ! cast to=u8"),
    ("median 3", 1920, 1080, "median"),
    ("median 5 planes", 1921, 1080, "layout to=chw ! median kernel=5 border=constant border_value=7"),
    ("median 5 gray", 1920, 1080, "color_convert to=gray ! median kernel=5"),
    ("median 15", 1920, 1080, "median kernel=15 border=constant border_value=7"),
    ("median 31", 1920, 1080, "color_convert to=rgba ! layout to=chw ! median kernel=31 border=wrap"),
    ("blur 63", 1920, 1080, "gaussian_blur kernel=63"),
    ("blur 101", 1920, 1080, "color_convert to=rgba ! layout to=chw ! gaussian_blur kernel=101"),
];

/// Cases of which one image is enough: they differ from others of their family in what is the same code for all
/// dtypes and formats.
const ONCE: [&str; 27] = [
    "separable 0x0",
    "separable 1x1",
    "separable 3x3",
    "separable 5x0",
    "separable 0x3",
    "separable 15x15",
    "Reflect 6",
    "Replicate",
    "Wrap",
    "Constant",
    "color to bgr",
    "color to bgra",
    "color to rgba",
    "resample wide 2:3",
    "resample antialias 2:3",
    "resample antialias up",
    "flip y",
    "stencil min(",
    "stencil max(",
    "stencil r(",
    "warp Projective",
    "warp Brown",
    "warp Fisheye",
    "warp Map",
    "turn c",
    "transpose part",
    "transpose nearest",
];

/// The image of those cases.
const WITH: [&str; 2] = ["640x480 rgb u8", "640x480 gray u8"];

/// Whether a case of the matrix is compiled without `--full`.
fn selected(case: &Case) -> bool {
    let rare = |desc: &ImageDesc| matches!(desc.dtype(), DType::I16 | DType::I32 | DType::F16);
    let input = &case.inputs[0];
    let usual = (input.format(), input.layout()) == (PixelFormat::Rgb, Layout::Hwc);
    if case.inputs.iter().chain([&case.output]).any(rare) && !usual {
        return false;
    }
    !ONCE.iter().any(|name| case.name.contains(name)) || WITH.iter().any(|image| case.name.ends_with(image))
}

/// Every different program, and what was left out.
pub(crate) fn sources(full: bool) -> Result<(Vec<Source>, Vec<String>), String> {
    let mut sources = Vec::new();
    for (name, width, height, line) in PIPELINES {
        for fuse in [true, false] {
            pipeline(name, (width, height), line, fuse, &mut sources)?;
        }
    }
    for (name, text) in mip_cuda::check::fixed_sources() {
        sources.push(Source { name: name.to_owned(), text: text.to_owned() });
    }
    let mut cases = operators(1920, 1080);
    cases.extend(matrix(640, 480));
    let all = cases.len();
    cases.retain(|case| full || selected(case));
    for case in &cases {
        let plan = plan(std::slice::from_ref(case), 2, Strides::Pitched);
        for (_, text) in mip_cuda::kernel_sources(&plan)? {
            sources.push(Source { name: case.name.clone(), text });
        }
    }
    let mut seen = HashSet::new();
    sources.retain(|source| seen.insert(code(&source.text)));
    let left_out = all - cases.len();
    let what = ONCE.map(str::trim).join(", ");
    let text = format!(
        "{left_out} of {all} single kernels ({what}: other dtypes and formats than u8 gray and rgb; i16, i32 and f16 of other formats than rgb)"
    );
    Ok((sources, if full { Vec::new() } else { vec![text] }))
}

/// Without the comments, which name tasks and shapes.
fn code(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The groups of a pipeline, as it is planned.
fn pipeline(
    name: &str,
    (width, height): (u32, u32),
    line: &str,
    fuse: bool,
    sources: &mut Vec<Source>,
) -> Result<(), String> {
    let image = ImageDesc::new(width, height, PixelFormat::Rgb, DType::U8).map_err(|e| e.to_string())?;
    let graph = PipelineSpec::parse_line(line).and_then(|spec| spec.build()).map_err(|e| e.to_string())?;
    let inputs = [image.with_layout(Layout::Hwc)];
    let request = PlanRequest { streams: 4, fuse, horizontal_fusion: true, ..PlanRequest::new(&inputs) };
    let plan = mip_graph::plan(&graph, &request).map_err(|e| e.to_string())?;
    for (group, text) in mip_cuda::kernel_sources(&plan)? {
        let how = if fuse { "fused" } else { "one kernel a task" };
        sources.push(Source { name: format!("{name} ({how}), group {group}"), text });
    }
    Ok(())
}
