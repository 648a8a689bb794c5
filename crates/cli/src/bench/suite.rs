//! What is measured: the standard workloads, or one pipeline of the user's.

use mini_image_pipe::{Pipeline, PipelineConfig};
use mip_core::{DType, ImageDesc, PixelFormat};
use mip_graph::PipelineSpec;

use crate::args::VideoArg;
use crate::failure::Failure;

/// Batches of a standard suite.
pub(crate) const BATCHES: [usize; 2] = [1, 32];
/// The suite of video: see [`super::feed`].
pub(crate) const FEED: &str = "feed";
/// The names that `--suite` takes.
pub(crate) const SUITES: [&str; 2] = ["edges", FEED];

/// A pipeline and the shapes of its inputs.
#[derive(Debug, Clone)]
pub(crate) struct Workload {
    pub(crate) name: String,
    pub(crate) spec: PipelineSpec,
    pub(crate) inputs: Vec<ImageDesc>,
    /// Those of the inputs that are YUV video.
    pub(crate) video: Vec<VideoArg>,
}

impl Workload {
    /// The pipeline itself.
    pub(crate) fn pipeline(&self, config: PipelineConfig) -> Result<Pipeline, Failure> {
        let mut pipeline = Pipeline::from_spec(&self.spec, config)?;
        self.video.iter().try_for_each(|video| video.apply(&mut pipeline))?;
        Ok(pipeline)
    }
}

/// Name, width and height of an rgb u8 picture, pipeline.
type Standard = (&'static str, (u32, u32), &'static str);

const FULL_HD: (u32, u32) = (1920, 1080);

const EDGES: [Standard; 12] = [
    (
        "w1",
        FULL_HD,
        "resize width=1280 height=720 ! color_convert to=gray ! gaussian_blur kernel=5 sigma=1.1 ! sobel",
    ),
    (
        "w2",
        (3840, 2160),
        "resize width=1920 height=1080 ! color_convert to=gray ! gaussian_blur kernel=5 sigma=1.1 ! sobel",
    ),
    (
        "w3",
        (500, 375),
        "resize shorter_side=256 ! crop width=224 height=224 center=true \
         ! normalize mean=[0.485, 0.456, 0.406] std=[0.229, 0.224, 0.225] ! layout to=chw",
    ),
    (
        "w4",
        FULL_HD,
        "gray:color_convert to=gray ! soft:gaussian_blur kernel=7 ! edges:sobel inputs=gray \
         ! mix:blend alpha=0.5 inputs=soft,edges ! threshold threshold=40",
    ),
    ("w5-resize", FULL_HD, "resize width=1280 height=720"),
    ("w5-gray", FULL_HD, "color_convert to=gray"),
    ("w5-gaussian5", FULL_HD, "gaussian_blur kernel=5 sigma=1.1"),
    ("w5-gaussian7", FULL_HD, "gaussian_blur kernel=7"),
    ("w5-sobel", FULL_HD, "sobel"),
    ("w5-flip", FULL_HD, "flip"),
    ("w5-threshold", FULL_HD, "threshold threshold=100"),
    ("w5-normalize", FULL_HD, "normalize mean=[0.485, 0.456, 0.406] std=[0.229, 0.224, 0.225]"),
];

/// The workloads of a standard suite whose name contains `filter`.
pub(crate) fn suite(name: &str, filter: &str) -> Result<Vec<Workload>, Failure> {
    if name != "edges" {
        let near = mip_ops::suggest(name, SUITES);
        let hint = near.map_or_else(String::new, |n| format!("; did you mean '{n}'?"));
        return Err(Failure::Request(format!(
            "there is no suite '{name}'; there are: {}{hint}",
            SUITES.join(", ")
        )));
    }
    let chosen = EDGES.iter().filter(|(workload, ..)| workload.contains(filter));
    let chosen: Vec<Workload> = chosen.map(standard).collect::<Result<_, _>>()?;
    if chosen.is_empty() {
        let names: Vec<&str> = EDGES.iter().map(|(name, ..)| *name).collect();
        return Err(Failure::Request(format!(
            "no workload of suite {name} has '{filter}' in its name; there are: {}",
            names.join(", ")
        )));
    }
    Ok(chosen)
}

fn standard((name, (width, height), line): &Standard) -> Result<Workload, Failure> {
    let desc = ImageDesc::new(*width, *height, PixelFormat::Rgb, DType::U8)
        .map_err(|error| Failure::Running(error.to_string()))?;
    Ok(Workload {
        name: (*name).to_owned(),
        spec: PipelineSpec::parse_line(line)?,
        inputs: vec![desc],
        video: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mip_graph::check_report;

    #[test]
    fn every_workload_builds_and_has_the_shapes_of_its_definition() {
        let shape = |workload: &Workload| {
            let report = check_report(&workload.spec.build().unwrap(), &workload.inputs).unwrap();
            format!("{} {} -> {}", workload.name, workload.inputs[0], report.last().unwrap().output)
        };
        let shapes: Vec<String> = suite("edges", "").unwrap().iter().map(shape).collect();
        insta::assert_snapshot!(shapes.join("\n"), @r"
        w1 1920x1080 rgb u8 -> 1280x720 gray u8
        w2 3840x2160 rgb u8 -> 1920x1080 gray u8
        w3 500x375 rgb u8 -> 224x224 rgb f32 chw
        w4 1920x1080 rgb u8 -> 1920x1080 gray u8
        w5-resize 1920x1080 rgb u8 -> 1280x720 rgb u8
        w5-gray 1920x1080 rgb u8 -> 1920x1080 gray u8
        w5-gaussian5 1920x1080 rgb u8 -> 1920x1080 rgb u8
        w5-gaussian7 1920x1080 rgb u8 -> 1920x1080 rgb u8
        w5-sobel 1920x1080 rgb u8 -> 1920x1080 gray u8
        w5-flip 1920x1080 rgb u8 -> 1920x1080 rgb u8
        w5-threshold 1920x1080 rgb u8 -> 1920x1080 rgb u8
        w5-normalize 1920x1080 rgb u8 -> 1920x1080 rgb f32
        ");
    }

    #[test]
    fn names_that_are_not_there_list_those_that_are() {
        let unknown = suite("edgse", "").unwrap_err();
        assert!(unknown.message().unwrap().contains("did you mean 'edges'"), "{unknown:?}");
        assert!(suite("edges", "w9").unwrap_err().message().unwrap().contains("w5-sobel"));
        assert_eq!(suite("edges", "w5").unwrap().len(), 8);
    }
}
