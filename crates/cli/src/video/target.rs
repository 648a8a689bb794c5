use mini_image_pipe::Pipeline;
use mip_core::{ImageDesc, PixelFormat};
use mip_io::y4m::Y4mHeader;
use mip_io::yuv::{Matrix, Range, Sampling, YuvConverter};

use super::Source;
use crate::commands::FormatArg;
use crate::failure::Failure;

/// The kind of video written.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) header: Y4mHeader,
    pub(crate) matrix: Matrix,
    /// What the pipeline makes of a frame.
    desc: ImageDesc,
}

impl Target {
    /// Finds out before a pixel is computed whether the pipeline's result can be written.
    pub(crate) fn new(
        pipeline: &Pipeline,
        source: &Source,
        format: Option<FormatArg>,
    ) -> Result<Self, Failure> {
        let graph = pipeline.task_graph();
        let refuse = |text: String| Err(Failure::Request(text));
        if let [] | [_, _, ..] = graph.inputs() {
            let inputs = graph.inputs().join(", ");
            return refuse(format!("a video feeds one input, but the pipeline has: {inputs}"));
        }
        let [output] = graph.outputs()[..] else {
            let names =
                graph.outputs().into_iter().map(|task| graph.name(task)).collect::<Result<Vec<_>, _>>()?;
            return refuse(format!(
                "a video holds one result, but the pipeline has {}: {}; pick one with `outputs = [...]`",
                names.len(),
                names.join(", ")
            ));
        };
        let desc = graph.infer(&[source.desc()?])?[output.index()];
        let sampling = sampling(source.header().sampling, &desc, format);
        if let Err(reason) = YuvConverter::check(&desc, sampling) {
            let name = graph.name(output)?;
            return refuse(format!("the result of task '{name}' is {desc}: {reason}"));
        }
        let range = match sampling {
            Sampling::Mono => Range::Full,
            _ if source.header().sampling == Sampling::Mono => Range::Limited,
            _ => source.range,
        };
        let Y4mHeader { rate, aspect, .. } = source.header().clone();
        let header =
            Y4mHeader { rate, aspect, ..Y4mHeader::new(desc.width, desc.height, sampling, Some(range)) };
        Ok(Self { header, matrix: source.matrix, desc })
    }

    /// Whether the matrix has any effect.
    pub(crate) fn needs_matrix(&self, source: &Source) -> bool {
        source.header().sampling != Sampling::Mono || self.desc.format != PixelFormat::Gray
    }

    pub(crate) fn converter(&self) -> YuvConverter {
        YuvConverter::new(self.matrix, self.header.effective_range())
    }
}

/// As asked for; else mono for gray, and what was read for colours.
fn sampling(read: Sampling, desc: &ImageDesc, format: Option<FormatArg>) -> Sampling {
    let half = |sampling: Sampling| sampling.subsampling() == Some((2, 2));
    match format {
        Some(FormatArg::Mono) => Sampling::Mono,
        Some(FormatArg::C422) => Sampling::C422,
        Some(FormatArg::C444) => Sampling::C444,
        None if desc.format == PixelFormat::Gray => Sampling::Mono,
        None if read != Sampling::Mono => read,
        // Averages lie in the middle of the samples that they are made of.
        Some(FormatArg::C420) | None => {
            if half(read) {
                read
            } else {
                Sampling::C420Jpeg
            }
        }
    }
}
