//! Inputs that are YUV video.

use mip_core::PixelFormat;
use mip_core::video::{ChromaSampling, Range, VideoColor, VideoFormat};
use mip_ops::operators::YuvToRgb;

use super::{Feed, TaskGraph};
use crate::GraphError;
use crate::names::list;

/// Which inputs of a graph the planes of a video's frames go to: see [`TaskGraph::read_video`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VideoInput {
    /// Name of the input that was one image.
    pub name: String,
    /// How frames are arranged.
    pub format: VideoFormat,
    /// For each plane that something reads: its number in the frame and the input's, ascending.
    pub planes: Vec<(usize, usize)>,
}

impl TaskGraph {
    /// Makes a pipeline input one of YUV video. Tasks that read `@NAME` get its colours, of full range: rgb, or gray where
    /// there is no chroma, made by one task more (`yuv_to_rgb`). `@NAME-y`, `@NAME-u`, `@NAME-v` (or `@NAME-uv`,
    /// `@NAME-vu`, `@NAME-yuv`, as the format has them) are its planes as they are: gray images. The graph's inputs are then the
    /// planes that are read; other inputs keep their order.
    ///
    /// # Errors
    /// [`GraphError::UnknownInput`] when nothing reads the input or a plane of it, [`GraphError::UnknownColor`] when its
    /// colours are read and `color` does not say what they are; the graph is then as it was.
    pub fn read_video(
        &mut self,
        name: &str,
        format: VideoFormat,
        color: Option<VideoColor>,
    ) -> Result<VideoInput, GraphError> {
        let names = plane_names(format);
        let inputs: Vec<String> = names.iter().map(|plane| format!("{name}-{plane}")).collect();
        let base = self.inputs.iter().position(|input| input == name);
        if base.is_none() && !self.inputs.iter().any(|input| inputs.contains(input)) {
            return Err(GraphError::UnknownInput {
                given: name.to_owned(),
                suggestion: None,
                known: list(self.inputs.iter().map(|known| format!("@{known}"))),
            });
        }
        if let Some(base) = base {
            self.convert(base, &inputs, format, color)?;
        }
        let at = |input: &String| self.inputs.iter().position(|known| known == input);
        let planes = inputs.iter().enumerate().filter_map(|(plane, input)| Some((plane, at(input)?)));
        Ok(VideoInput { name: name.to_owned(), format, planes: planes.collect() })
    }

    /// Puts the planes in the place of an input, and a task that makes colours of them before its readers.
    fn convert(
        &mut self,
        base: usize,
        planes: &[String],
        format: VideoFormat,
        color: Option<VideoColor>,
    ) -> Result<(), GraphError> {
        let name = self.inputs[base].clone();
        let is_mono = format.sampling == ChromaSampling::C400;
        // Luma of the full range is gray already.
        let as_it_is = is_mono && format.shift == 0 && matches!(format.bits, 8 | 16);
        let is_gray = as_it_is && color.is_none_or(|color| color.range == Range::Full);
        if color.is_none() && !is_gray {
            return Err(GraphError::UnknownColor { input: name });
        }
        let mut graph = self.clone();
        // In the input's own place, so that others keep theirs.
        let others = graph.inputs.iter().enumerate().filter(|(index, _)| *index != base);
        let (before, after): (Vec<_>, Vec<_>) = others.partition(|(index, _)| *index < base);
        let own = planes.iter().filter(|plane| !graph.inputs.contains(plane)).cloned();
        let inputs: Vec<String> = before
            .into_iter()
            .map(|(_, input)| input.clone())
            .chain(own)
            .chain(after.into_iter().map(|(_, input)| input.clone()))
            .collect();
        let at = |input: &String| inputs.iter().position(|known| known == input).unwrap_or_default();
        let colors = match color {
            Some(color) if !is_gray => {
                let to = if is_mono { PixelFormat::Gray } else { PixelFormat::Rgb };
                let operator = YuvToRgb::of(format, color).to(to);
                let task = graph.add_task(&graph.free_name(&format!("{name}-{to}")), Box::new(operator))?;
                let slot = |slot: usize| Some(Feed::Input(at(&planes[plane_of(format, slot)])));
                graph.tasks[task.index()].sources = (0..3).map(slot).collect();
                Feed::Task(task.index())
            }
            _ => Feed::Input(at(&planes[0])),
        };
        let made = match colors {
            Feed::Task(task) => task,
            Feed::Input(_) => graph.tasks.len(),
        };
        // All but the new one, which is the last.
        for task in graph.tasks.iter_mut().take(made) {
            for source in task.sources.iter_mut().flatten() {
                match *source {
                    Feed::Input(input) if input == base => *source = colors,
                    Feed::Input(input) => *source = Feed::Input(at(&self.inputs[input])),
                    Feed::Task(_) => {}
                }
            }
        }
        graph.inputs = inputs;
        graph.topology_version += 1;
        // Handles of this graph stay those of its tasks.
        graph.id = self.id;
        *self = graph;
        Ok(())
    }
}

impl TaskGraph {
    /// The name, or one that a number makes free.
    pub(super) fn free_name(&self, name: &str) -> String {
        let free = |name: &String| !self.tasks.iter().any(|task| task.name == *name);
        let numbered = (2..).map(|n| format!("{name}{n}"));
        std::iter::once(name.to_owned()).chain(numbered).find(free).unwrap_or_default()
    }
}

/// What a frame's planes are called, in their order in memory. All sizes have the same.
fn plane_names(format: VideoFormat) -> Vec<&'static str> {
    format.planes(2, 2).map(|planes| planes.iter().map(|plane| plane.name).collect()).unwrap_or_default()
}

/// The plane that an input slot of `yuv_to_rgb` reads.
fn plane_of(format: VideoFormat, slot: usize) -> usize {
    let wanted = ["y", "u", "v"][slot];
    let names = plane_names(format);
    names.iter().position(|name| *name == wanted).unwrap_or(names.len() - 1)
}

#[cfg(test)]
mod tests {
    use mip_core::video::Matrix;

    use super::*;
    use crate::PipelineSpec;

    fn graph(line: &str) -> TaskGraph {
        PipelineSpec::parse_line(line).unwrap().build().unwrap()
    }

    fn feeds(graph: &TaskGraph) -> Vec<String> {
        let feed = |feed: &Option<Feed>| match feed {
            Some(Feed::Input(input)) => format!("@{}", graph.inputs[*input]),
            Some(Feed::Task(task)) => graph.name_at(*task).to_owned(),
            None => "nothing".to_owned(),
        };
        let of = |task: usize| {
            let from: Vec<String> = graph.feeds(task).iter().map(feed).collect();
            format!("{} of {}", graph.name_at(task), from.join(", "))
        };
        (0..graph.len()).map(of).collect()
    }

    const COLOR: Option<VideoColor> = Some(VideoColor::new(Matrix::Bt709, Range::Limited));

    #[test]
    fn readers_get_colors_made_of_the_planes() {
        let mut graph = graph("flip direction=horizontal");
        let video = graph.read_video("input", "nv12".parse().unwrap(), COLOR).unwrap();
        assert_eq!(graph.inputs(), ["input-y", "input-uv"]);
        assert_eq!(video.planes, [(0, 0), (1, 1)]);
        assert_eq!(feeds(&graph), ["flip of input-rgb", "input-rgb of @input-y, @input-uv, @input-uv"]);
        graph.validate().unwrap();
        let descs: Vec<_> = video.format.planes(7, 5).unwrap().iter().map(|plane| plane.desc).collect();
        assert_eq!(graph.infer(&descs).unwrap()[0].to_string(), "7x5 rgb u8");
    }

    #[test]
    fn planes_are_inputs_of_their_own_and_only_those_read_are_there() {
        let text = "inputs = ['a', 'film-v', 'film', 'film-y', 'b']\n\
                    [[task]]\nname='x'\nop='blend'\nalpha=0.5\ninputs=['@a','@b']\n\
                    [[task]]\nname='y'\nop='invert'\ninputs=['@film-y']\n\
                    [[task]]\nname='v'\nop='invert'\ninputs=['@film-v']\n\
                    [[task]]\nname='c'\nop='invert'\ninputs=['@film']\n";
        let mut graph = PipelineSpec::parse_toml(text, "p.toml").unwrap().build().unwrap();
        let video = graph.read_video("film", "i420".parse().unwrap(), COLOR).unwrap();
        assert_eq!(graph.inputs(), ["a", "film-v", "film-u", "film-y", "b"]);
        assert_eq!(video.planes, [(0, 3), (1, 2), (2, 1)]);
        assert_eq!(
            feeds(&graph),
            [
                "x of @a, @b",
                "y of @film-y",
                "v of @film-v",
                "c of film-rgb",
                "film-rgb of @film-y, @film-u, @film-v"
            ]
        );
    }

    #[test]
    fn luma_alone_needs_no_color() {
        let text = "inputs = ['input-y']\n[[task]]\nop='gaussian_blur'\nkernel=5\ninputs=['@input-y']\n";
        let mut graph = PipelineSpec::parse_toml(text, "p.toml").unwrap().build().unwrap();
        let video = graph.read_video("input", "i420".parse().unwrap(), None).unwrap();
        assert_eq!((video.planes, graph.len()), (vec![(0, 0)], 1));
    }

    #[test]
    fn gray_video_is_its_luma() {
        let mono = VideoFormat::planar(ChromaSampling::C400, 8);
        let mut full = graph("invert");
        full.read_video("input", mono, Some(VideoColor::new(Matrix::Bt601, Range::Full))).unwrap();
        assert_eq!(feeds(&full), ["invert of @input-y"]);
        let mut limited = graph("invert");
        limited.read_video("input", mono, COLOR).unwrap();
        assert_eq!(feeds(&limited), ["invert of input-gray", "input-gray of @input-y, @input-y, @input-y"]);
    }

    #[test]
    fn what_is_not_known_is_refused_and_changes_nothing() {
        let mut graph = graph("invert");
        let before = feeds(&graph);
        let error = graph.read_video("input", "nv12".parse().unwrap(), None).unwrap_err().to_string();
        assert!(error.contains("matrix") && error.contains("range"), "{error}");
        let error = graph.read_video("film", "nv12".parse().unwrap(), COLOR).unwrap_err().to_string();
        assert!(error.contains("@input"), "{error}");
        assert_eq!(feeds(&graph), before);
    }
}
