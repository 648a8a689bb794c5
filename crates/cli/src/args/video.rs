use clap::Args;
use mip_core::video::{ChromaFilter, Matrix, Range, Siting};
use mip_io::RawVideo;

use crate::video::Said;

/// What video that is read is, and what its samples mean, where the video does not say so.
#[derive(Debug, Args)]
pub(crate) struct VideoArgs {
    /// Colour matrix of the video, in and out: 601, 709 or 2020
    #[arg(long, value_name = "MATRIX")]
    pub(crate) matrix: Option<Matrix>,
    /// The input is raw video, frames without headers: its format and size. Formats are nv12, nv21, i420, yv12, nv16, i422, i444,
    /// yuyv, uyvy, p010, i420p10, gray and others (an unknown one lists them)
    #[arg(long, value_name = "FORMAT:WxH")]
    pub(crate) raw: Option<RawVideo>,
    /// Range of the samples read, over what the stream says: full or limited
    #[arg(long, value_name = "RANGE")]
    pub(crate) range: Option<Range>,
    /// Chroma of the pixels that share a sample: that sample (nearest), or what lies between samples (bilinear)
    #[arg(long, value_name = "FILTER", default_value_t = ChromaFilter::Nearest)]
    chroma: ChromaFilter,
    /// Where shared chroma lies, for --chroma bilinear: left, center or `top_left` [default: as the stream says; left]
    #[arg(long, value_name = "SITING")]
    siting: Option<Siting>,
}

impl VideoArgs {
    pub(crate) const fn said(&self) -> Said {
        let Self { raw, matrix, range, chroma, siting } = *self;
        Said { raw, matrix, range, chroma, siting }
    }

    /// An option that is set.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let options = [
            ("--raw", self.raw.is_some()),
            ("--matrix", self.matrix.is_some()),
            ("--range", self.range.is_some()),
            ("--chroma", self.chroma != ChromaFilter::Nearest),
            ("--siting", self.siting.is_some()),
        ];
        options.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}
