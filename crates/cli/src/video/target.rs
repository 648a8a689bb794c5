use mini_image_pipe::Pipeline;
use mip_core::video::{ChromaSampling, Matrix, Packing, Range, VideoFormat};
use mip_core::{DType, ImageDesc, PixelFormat};
use mip_graph::TaskHandle;
use mip_io::y4m::Y4mHeader;
use mip_io::yuv::Sampling;

use super::Source;
use crate::args::base;
use crate::commands::FormatArg;
use crate::failure::Failure;

/// The kind of video written.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) header: Y4mHeader,
    pub(crate) made: Made,
    /// Whether the header is left out.
    pub(crate) raw: bool,
}

/// How frames are made of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// The result is luma, or gray: written as it is.
    AsItIs,
    /// The result is luma; chroma is that of the frame read, byte for byte.
    WithChroma,
    /// Results are let go of: they are no video.
    Nothing,
    /// The results are planes, made of colours (or of gray), which are arranged so when they are written.
    Planes(VideoFormat, Matrix),
}

/// The input that a pipeline has for video: its name is that of the image, or of a plane without `-y` and the like.
pub(crate) fn input_name(pipeline: &Pipeline) -> Result<String, Failure> {
    let inputs = pipeline.task_graph().inputs();
    let mut names: Vec<&str> = inputs.iter().map(|input| base(input)).collect();
    names.dedup();
    match &names[..] {
        [one] => Ok((*one).to_owned()),
        _ => Err(Failure::Request(format!(
            "a video feeds one input, but the pipeline has: {}",
            inputs.join(", ")
        ))),
    }
}

const UPPER_BITS: &str = "Y4M does not hold samples in the upper bits; write it without headers (`mip run -o x.yuv`, `mip stream --raw-output`)";

impl Target {
    /// Finds out before a pixel is computed whether the pipeline's result can be written, and has it made into planes where it has
    /// colours. `sees_color` says whether it works on colours, or on planes as they are.
    pub(crate) fn new(
        pipeline: &mut Pipeline,
        source: &Source,
        sees_color: bool,
        format: Option<FormatArg>,
        raw: bool,
    ) -> Result<Self, Failure> {
        let graph = pipeline.task_graph();
        let refuse = |text: String| Err(Failure::Request(text));
        let output = only_output(pipeline)?;
        let planes = source.planes()?;
        let inputs = pipeline.video_inputs();
        let descs: Vec<ImageDesc> = inputs.map(|(plane, _)| planes[plane]).collect();
        let desc = graph.infer(&descs)?[output.index()];
        let name = graph.name(output)?;
        let wrong = |reason: &str| refuse(format!("the result of task '{name}' is {desc}: {reason}"));
        let is_plane = desc.format() == PixelFormat::Gray && matches!(desc.dtype(), DType::U8 | DType::U16);
        let has_chroma = source.format.sampling != ChromaSampling::C400;
        if !sees_color && format.is_none() && has_chroma {
            if desc != planes[0] || source.format.packing.is_packed() {
                return wrong(
                    "it is no luma for the video's chroma, which is kept; with --output-format mono it is written alone",
                );
            }
            if !raw && source.format.shift > 0 {
                return wrong(UPPER_BITS);
            }
            let sampling = match (source.header(), source.format.sampling) {
                (Some(header), _) => header.sampling,
                (None, ChromaSampling::C422) => Sampling::C422,
                (None, ChromaSampling::C444) => Sampling::C444,
                (None, ChromaSampling::C420 | ChromaSampling::C400) => Sampling::C420,
            };
            let header =
                Y4mHeader { bits: source.format.bits, ..header(source, &desc, sampling, source.range) };
            return Ok(Self { header, made: Made::WithChroma, raw });
        }
        let sampling = sampling(source, &desc, format);
        if sampling == Sampling::Mono && is_plane {
            // Luma as it was read, or gray of the whole type.
            let as_read = !sees_color && desc.dtype() == source.format.dtype();
            if as_read && !raw && source.format.shift > 0 {
                return wrong(UPPER_BITS);
            }
            let bits = if as_read { source.format.bits } else { 8 * desc.dtype().size() as u32 };
            let range = if sees_color { Some(Range::Full) } else { source.range };
            let header = Y4mHeader { bits, ..header(source, &desc, sampling, range) };
            return Ok(Self { header, made: Made::AsItIs, raw });
        }
        let range = if has_chroma { source.range.unwrap_or(Range::Limited) } else { Range::Limited };
        let Some(matrix) = source.matrix else {
            return wrong("which matrix its samples are to have is not known; --matrix says it");
        };
        let made = made(pipeline, output, &desc, sampling, (matrix, range), source.format.bits)?;
        let header = Y4mHeader { bits: made.bits, ..header(source, &desc, sampling, Some(range)) };
        let like_source = raw && source.header().is_none() && is_alike(&source.format, &made);
        let format = if like_source { source.format } else { made };
        Ok(Self { header, made: Made::Planes(format, matrix), raw })
    }

    /// Whether the result is gray, which nothing but its own samples need be made of.
    pub(crate) fn is_gray(pipeline: &Pipeline, source: &Source) -> Result<bool, Failure> {
        let planes = source.planes()?;
        let descs: Vec<ImageDesc> = pipeline.video_inputs().map(|(plane, _)| planes[plane]).collect();
        let output = only_output(pipeline)?;
        Ok(pipeline.task_graph().infer(&descs)?[output.index()].format() == PixelFormat::Gray)
    }

    /// Frames of pictures: 4:2:0, in the usual matrix for their height.
    pub(crate) fn of_pictures(pipeline: &mut Pipeline, picture: &ImageDesc) -> Result<Self, Failure> {
        let output = only_output(pipeline)?;
        let desc = pipeline.task_graph().infer(&[*picture])?[output.index()];
        // Averages lie in the middle of the samples that they are made of.
        let (sampling, range) = (Sampling::C420Jpeg, Range::Limited);
        let matrix = Matrix::usual_for_height(desc.height());
        let format = made(pipeline, output, &desc, sampling, (matrix, range), 8)?;
        let header = Y4mHeader::new(desc.width(), desc.height(), sampling, Some(range));
        let header = Y4mHeader { bits: format.bits, ..header };
        Ok(Self { header, made: Made::Planes(format, matrix), raw: false })
    }

    /// Whether results are made into frames of video.
    #[cfg(feature = "profiling")]
    pub(crate) fn is_written(&self) -> bool {
        self.made != Made::Nothing
    }

    /// For results that are no video, and are not written.
    pub(crate) fn nothing(source: &Source) -> Self {
        let header = Y4mHeader::new(source.width, source.height, Sampling::Mono, None);
        Self { header, made: Made::Nothing, raw: true }
    }

    /// The matrix of what is written, where samples are made.
    pub(crate) const fn matrix(&self) -> Option<Matrix> {
        match self.made {
            Made::Planes(_, matrix) => Some(matrix),
            Made::AsItIs | Made::WithChroma | Made::Nothing => None,
        }
    }

    /// What samples without a header are.
    pub(crate) fn samples(&self, source: &Source) -> String {
        match self.made {
            Made::Planes(format, _) => format.to_string(),
            Made::WithChroma => source.format.to_string(),
            Made::AsItIs | Made::Nothing => format!("gray, {} bits", self.header.bits),
        }
    }

    /// Whether the matrix has an effect on what is written.
    pub(crate) const fn converts(&self) -> bool {
        matches!(self.made, Made::Planes(..))
    }

    /// Whether frames of the source are needed beside results.
    pub(crate) fn keeps_chroma(&self) -> bool {
        self.made == Made::WithChroma
    }

    /// Whether chroma that is kept takes turns in its plane, and so has to be taken apart for Y4M: in which order.
    pub(crate) fn taken_apart(&self, packing: Packing) -> Option<[usize; 2]> {
        match packing {
            Packing::Uv if !self.raw => Some([0, 1]),
            Packing::Vu if !self.raw => Some([1, 0]),
            _ => None,
        }
    }
}

/// Has a result with colours made into planes; their format. What does not say itself how many bits it has gets `bits`.
fn made(
    pipeline: &mut Pipeline,
    output: TaskHandle,
    desc: &ImageDesc,
    sampling: Sampling,
    color: (Matrix, Range),
    bits: u32,
) -> Result<VideoFormat, Failure> {
    let reason = if desc.format().has_alpha() {
        Some("video has no alpha; add `color_convert to=rgb` at the end")
    } else if desc.format().is_color_space() {
        Some("video is made of red, green and blue; add `color_convert to=rgb` at the end")
    } else if desc.channels() > 1 && sampling == Sampling::Mono {
        Some("mono has no colours; add `color_convert to=gray` at the end, or write 420")
    } else {
        None
    };
    if let Some(reason) = reason {
        let name = pipeline.task_graph().name(output)?;
        return Err(Failure::Request(format!("the result of task '{name}' is {desc}: {reason}")));
    }
    let bits = match desc.dtype() {
        DType::U8 => 8,
        DType::U16 if bits == 8 => 16,
        DType::U16 | DType::I16 | DType::I32 | DType::F16 | DType::F32 => bits,
    };
    Ok(pipeline.write_video(output, (sampling.chroma(), bits), color)?.format)
}

/// Whether planes of `planar` only have to be put in another order for a format.
fn is_alike(format: &VideoFormat, planar: &VideoFormat) -> bool {
    let VideoFormat { sampling, bits, .. } = *format;
    (sampling, bits, format.shift) == (planar.sampling, planar.bits, 0) && !format.packing.is_packed()
}

/// The one result that a video holds.
fn only_output(pipeline: &Pipeline) -> Result<TaskHandle, Failure> {
    let graph = pipeline.task_graph();
    let [output] = graph.outputs()[..] else {
        let names =
            graph.outputs().into_iter().map(|task| graph.name(task)).collect::<Result<Vec<_>, _>>()?;
        return Err(Failure::Request(format!(
            "a video holds one result, but the pipeline has {}: {}; pick one with `outputs = [...]`",
            names.len(),
            names.join(", ")
        )));
    };
    Ok(output)
}

fn header(source: &Source, desc: &ImageDesc, sampling: Sampling, range: Option<Range>) -> Y4mHeader {
    let rate = source.header().and_then(|header| header.rate.clone());
    let aspect = source.header().and_then(|header| header.aspect.clone());
    Y4mHeader { rate, aspect, ..Y4mHeader::new(desc.width(), desc.height(), sampling, range) }
}

/// As asked for; else mono for gray, and what was read for colours.
fn sampling(source: &Source, desc: &ImageDesc, format: Option<FormatArg>) -> Sampling {
    let read = source.header().map(|header| header.sampling);
    let half = |sampling: &Sampling| sampling.subsampling() == Some((2, 2));
    let like_source = match source.format.sampling {
        ChromaSampling::C422 => Sampling::C422,
        ChromaSampling::C444 => Sampling::C444,
        // Averages lie in the middle of the samples that they are made of.
        ChromaSampling::C420 | ChromaSampling::C400 => read.filter(half).unwrap_or(Sampling::C420Jpeg),
    };
    match format {
        Some(FormatArg::Mono) => Sampling::Mono,
        Some(FormatArg::C422) => Sampling::C422,
        Some(FormatArg::C444) => Sampling::C444,
        Some(FormatArg::C420) => read.filter(half).unwrap_or(Sampling::C420Jpeg),
        None if desc.format() == PixelFormat::Gray => Sampling::Mono,
        None => like_source,
    }
}
