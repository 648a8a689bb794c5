use std::str::FromStr;

use clap::Args;
use mini_image_pipe::Pipeline;
use mip_core::video::{ChromaFilter, Matrix, Plane, Range, Siting, VideoColor, VideoFormat};
use mip_core::{DType, ImageDesc, Layout, PixelFormat};

use crate::failure::Failure;

/// The shapes of a pipeline's inputs, for commands that read no images.
#[derive(Debug, Args)]
pub(crate) struct SizeArgs {
    /// Shape of the input images: width and height, then format and dtype (rgb,u8 when left out).
    /// For a pipeline with several inputs, `NAME=WxH...` gives one of them its own. An input that is
    /// YUV video: `WxH,nv12,709,limited`
    #[arg(long = "size", value_name = "[NAME=]WxH[,FORMAT][,TYPE]", required = true)]
    sizes: Vec<SizeArg>,
}

/// One `--size`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SizeArg {
    name: Option<String>,
    shape: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    Image(ImageDesc),
    Video { format: VideoFormat, width: u32, height: u32, color: Meaning },
}

/// What was said of a video's samples.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Meaning {
    matrix: Option<Matrix>,
    range: Option<Range>,
    chroma: Option<ChromaFilter>,
    siting: Option<Siting>,
}

impl Meaning {
    /// As the operator that makes colours takes it, if enough was said.
    fn color(self) -> Option<VideoColor> {
        let color = VideoColor::new(self.matrix?, self.range?);
        let (chroma, siting) = (self.chroma.unwrap_or_default(), self.siting.unwrap_or_default());
        Some(VideoColor { chroma, siting, ..color })
    }

    /// Takes a word that says something of it.
    fn take(&mut self, word: &str) -> bool {
        if let Ok(matrix) = word.parse::<Matrix>() {
            self.matrix = Some(matrix);
        } else if let Ok(range) = word.parse::<Range>() {
            self.range = Some(range);
        } else if let Ok(chroma) = word.parse::<ChromaFilter>() {
            self.chroma = Some(chroma);
        } else if let Ok(siting) = word.parse::<Siting>() {
            self.siting = Some(siting);
        } else {
            return false;
        }
        true
    }
}

/// An input that `--size` says is video.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VideoArg {
    name: String,
    format: VideoFormat,
    color: Option<VideoColor>,
}

impl VideoArg {
    /// Makes the pipeline's input video.
    pub(crate) fn apply(&self, pipeline: &mut Pipeline) -> Result<(), Failure> {
        Ok(pipeline.read_video(&self.name, self.format, self.color)?)
    }
}

impl SizeArgs {
    /// Shapes that another argument gave.
    pub(crate) const fn of(sizes: Vec<SizeArg>) -> Self {
        Self { sizes }
    }

    /// Makes inputs video that are said to be, and gives the shapes in the order of the inputs that there are then.
    pub(crate) fn apply(&self, pipeline: &mut Pipeline) -> Result<Vec<ImageDesc>, Failure> {
        for video in self.videos(pipeline.task_graph().inputs()) {
            video.apply(pipeline)?;
        }
        self.resolve(pipeline.task_graph().inputs())
    }

    /// The inputs that are video.
    pub(crate) fn videos(&self, inputs: &[String]) -> Vec<VideoArg> {
        let mut names: Vec<&str> = inputs.iter().map(|input| base(input)).collect();
        names.dedup();
        let video = |name: &str| match self.shape_of(name)? {
            Shape::Image(_) => None,
            Shape::Video { format, color, .. } => {
                Some(VideoArg { name: name.to_owned(), format, color: color.color() })
            }
        };
        names.into_iter().filter_map(video).collect()
    }

    fn shape_of(&self, input: &str) -> Option<Shape> {
        let own = self.sizes.iter().find(|s| s.name.as_deref() == Some(input));
        own.or_else(|| self.sizes.iter().find(|s| s.name.is_none())).map(|s| s.shape)
    }

    /// Shapes in the order of the pipeline's inputs, of which those of video are planes.
    fn resolve(&self, inputs: &[String]) -> Result<Vec<ImageDesc>, Failure> {
        let names = || inputs.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        for name in self.sizes.iter().filter_map(|s| s.name.as_ref()) {
            if !inputs.iter().any(|input| input == name || base(input) == name) {
                return Err(Failure::Request(format!(
                    "--size names input '{name}', but the inputs are: {}",
                    names()
                )));
            }
        }
        let missing = |input: &str| {
            Failure::Request(format!("no --size for input '{input}'; add `--size {input}=WxH`"))
        };
        let shape_of = |input: &String| {
            if let Some(Shape::Video { format, width, height, .. }) = self.shape_of(base(input)) {
                let planes = format.planes(width, height).map_err(|e| Failure::Request(e.to_string()))?;
                let plane = input.rsplit_once('-').map_or("", |(_, plane)| plane);
                let found = planes.iter().find(|known| known.name == plane).map(|plane| plane.desc);
                return found.ok_or_else(|| missing(input));
            }
            match self.shape_of(input) {
                Some(Shape::Image(desc)) => Ok(desc),
                Some(Shape::Video { .. }) | None => Err(missing(input)),
            }
        };
        inputs.iter().map(shape_of).collect()
    }
}

/// An input's name without the plane of video that it may stand for.
pub(crate) fn base(input: &str) -> &str {
    let plane = input.rsplit_once('-');
    plane.filter(|(_, plane)| Plane::NAMES.contains(plane)).map_or(input, |(base, _)| base)
}

impl FromStr for SizeArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, shape) = match text.split_once('=') {
            Some((name, shape)) => (Some(name.trim_start_matches('@').to_owned()), shape),
            None => (None, text),
        };
        let mut words = shape.split(',');
        let size = words.next().unwrap_or_default();
        let (width, height) =
            size.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?))).ok_or_else(
                || format!("'{size}' is no size; expected WIDTHxHEIGHT in pixels, for example 1920x1080"),
            )?;
        let (mut format, mut dtype, mut layout) = (PixelFormat::Rgb, DType::U8, Layout::Hwc);
        let (mut video, mut color) = (None, Meaning::default());
        for word in words {
            if let Ok(f) = word.parse::<PixelFormat>() {
                format = f;
            } else if let Ok(d) = word.parse::<DType>() {
                dtype = d;
            } else if let Ok(l) = word.parse::<Layout>() {
                layout = l;
            } else if let Ok(f) = word.parse::<VideoFormat>() {
                video = Some(f);
            } else if !color.take(word) {
                return Err(format!(
                    "'{word}' is neither a format (gray, rgb, bgr, rgba, bgra, hsv, hls, ycbcr, lab, luv, xyz, linear) nor a dtype \
                     (u8, u16, i16, i32, f16, f32) nor a layout (hwc, chw), nor a video format (nv12, i420, p010 ...) \
                     nor its matrix (601, 709, 2020), range (limited, full), chroma filter (nearest, bilinear) or \
                     siting (left, center, top_left)"
                ));
            }
        }
        let shape = match video {
            Some(format) => {
                format.planes(width, height).map_err(|e| e.to_string())?;
                Shape::Video { format, width, height, color }
            }
            None if color != Meaning::default() => {
                return Err(
                    "a matrix, range, chroma filter or siting goes with a video format, such as nv12"
                        .to_owned(),
                );
            }
            None => {
                let desc = ImageDesc::new(width, height, format, dtype).map_err(|e| e.to_string())?;
                Shape::Image(desc.with_layout(layout))
            }
        };
        Ok(Self { name, shape })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<String, String> {
        text.parse::<SizeArg>().map(|s| match s.shape {
            Shape::Image(desc) => format!("{:?} {desc}", s.name),
            Shape::Video { format, width, height, color } => {
                format!("{:?} {width}x{height} {format} {:?}", s.name, color.color())
            }
        })
    }

    #[test]
    fn sizes_with_and_without_details() {
        assert_eq!(parse("1920x1080").unwrap(), "None 1920x1080 rgb u8");
        assert_eq!(parse("5x3,gray").unwrap(), "None 5x3 gray u8");
        assert_eq!(parse("left=5x3,u16,rgba,chw").unwrap(), "Some(\"left\") 5x3 rgba u16 chw");
        let video = parse("5x3,nv12,709,full,bilinear,center").unwrap();
        let color = VideoColor::new(Matrix::Bt709, Range::Full).bilinear(Siting::Center);
        assert_eq!(video, format!("None 5x3 nv12 {:?}", Some(color)));
    }

    #[test]
    fn wrong_sizes_say_what_is_right() {
        assert!(parse("1920").unwrap_err().contains("WIDTHxHEIGHT"));
        assert!(parse("0x5").unwrap_err().contains("no pixels"));
        assert!(parse("-1x5").unwrap_err().contains("WIDTHxHEIGHT"));
        assert!(parse("5x5,grey").unwrap_err().contains("'grey' is neither"));
        assert!(parse("5x5,709").unwrap_err().contains("nv12"));
    }

    #[test]
    fn every_input_gets_its_shape() {
        let args = |sizes: &[&str]| SizeArgs { sizes: sizes.iter().map(|s| s.parse().unwrap()).collect() };
        let inputs = ["left".to_owned(), "right".to_owned()];
        let shapes = args(&["4x4", "right=8x8,gray"]).resolve(&inputs).unwrap();
        assert_eq!((shapes[0].width(), shapes[1].width()), (4, 8));
        let missing = args(&["right=8x8"]).resolve(&inputs).unwrap_err();
        assert!(missing.message().unwrap().contains("no --size for input 'left'"));
        let unknown = args(&["middle=8x8"]).resolve(&inputs).unwrap_err();
        assert!(unknown.message().unwrap().contains("left, right"));
        let planes = ["film-y", "film-uv", "right"].map(str::to_owned);
        let shapes = args(&["film=8x6,nv12", "4x4"]).resolve(&planes).unwrap();
        assert_eq!(
            shapes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            "8x6 gray u8, 8x3 gray u8, 4x4 rgb u8"
        );
    }
}
