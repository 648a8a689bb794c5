//! Results that are YUV video.

use mip_core::video::{ChromaSampling, Matrix, Range, VideoFormat};
use mip_ops::operators::{RgbToYuv, YuvPlane};

use super::{Feed, TaskGraph, TaskHandle};
use crate::GraphError;

/// Which results of a graph are the planes of a video's frames: see [`TaskGraph::write_video`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VideoOutput {
    /// How frames are arranged: planes, each a result.
    pub format: VideoFormat,
    /// The tasks that make them, in the order of a frame: luma, then both of chroma.
    pub planes: Vec<TaskHandle>,
}

impl TaskGraph {
    /// Makes a task's result, which has colours of full range or is gray, one of planar YUV video with samples of so many bits (8 in
    /// u8, 9 to 16 in u16). In the place of the task itself, the graph's outputs are then its planes, made by a task
    /// (`rgb_to_yuv`) each: `NAME-y`, and `NAME-u` and `NAME-v` where there is chroma.
    ///
    /// # Errors
    /// When the task is unknown, or there are too many of them; the graph is then as it was.
    pub fn write_video(
        &mut self,
        task: TaskHandle,
        (sampling, bits): (ChromaSampling, u32),
        (matrix, range): (Matrix, Range),
    ) -> Result<VideoOutput, GraphError> {
        let (name, source) = (self.name(task)?.to_owned(), task.index());
        let mut graph = self.clone();
        let mut outputs = graph.output_indices();
        let wanted = if sampling == ChromaSampling::C400 { &YuvPlane::ALL[..1] } else { &YuvPlane::ALL[..] };
        let mut made = Vec::new();
        for &plane in wanted {
            let operator = RgbToYuv::new(plane, matrix, range).samples(sampling, bits);
            let task = graph.add_task(&graph.free_name(&format!("{name}-{plane}")), Box::new(operator))?;
            graph.tasks[task.index()].sources = vec![Some(Feed::Task(source))];
            made.push(task.index());
        }
        let place = outputs.iter().position(|&output| output == source).unwrap_or(outputs.len());
        outputs.splice(place..(place + 1).min(outputs.len()), made.iter().copied());
        graph.marked_outputs = outputs;
        // Handles of this graph stay those of its tasks.
        graph.id = self.id;
        *self = graph;
        let planes = made.into_iter().map(|index| self.handle(index)).collect();
        Ok(VideoOutput { format: VideoFormat::planar(sampling, bits), planes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PipelineSpec;

    const COLOR: (Matrix, Range) = (Matrix::Bt709, Range::Limited);

    fn outputs(graph: &TaskGraph) -> Vec<&str> {
        graph.outputs().into_iter().map(|task| graph.name(task).unwrap()).collect()
    }

    #[test]
    fn planes_take_the_place_of_the_result() {
        let mut graph = PipelineSpec::parse_line("flip ! invert").unwrap().build().unwrap();
        let [flip, invert] = ["flip", "invert"].map(|name| graph.task(name).unwrap());
        graph.mark_output(invert).unwrap();
        graph.mark_output(flip).unwrap();
        let video = graph.write_video(invert, (ChromaSampling::C420, 10), COLOR).unwrap();
        assert_eq!(outputs(&graph), ["invert-y", "invert-u", "invert-v", "flip"]);
        assert_eq!((video.planes.len(), video.format.to_string()), (3, "i420p10".to_owned()));
        assert_eq!(graph.name(video.planes[1]).unwrap(), "invert-u");
        // A second time, of a result that is no output.
        let mono = graph.write_video(invert, (ChromaSampling::C400, 8), COLOR).unwrap();
        assert_eq!(outputs(&graph), ["invert-y", "invert-u", "invert-v", "flip", "invert-y2"]);
        assert_eq!(mono.planes.len(), 1);
    }

    #[test]
    fn a_stranger_changes_nothing() {
        let mut graph = PipelineSpec::parse_line("flip").unwrap().build().unwrap();
        let other = PipelineSpec::parse_line("invert").unwrap().build().unwrap();
        let stranger = other.task("invert").unwrap();
        assert!(graph.write_video(stranger, (ChromaSampling::C420, 8), COLOR).is_err());
        assert_eq!(outputs(&graph), ["flip"]);
    }
}
