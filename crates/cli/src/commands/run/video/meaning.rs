use mip_core::video::{ChromaSampling, Matrix, Range};
use mip_io::nut::NutVideo;
use mip_io::y4m::Y4mHeader;
use mip_io::yuv::Sampling;

use crate::ffmpeg::{Pixels, Probe};

/// What a Y4M stream of the file would say of its frames, and what their samples mean.
pub(super) fn meaning(
    probe: &Probe,
    pixels: &Pixels,
    &NutVideo { width, height, aspect, .. }: &NutVideo,
) -> (Y4mHeader, Matrix, Range) {
    let tags = &probe.video.tags;
    let sampling = match pixels.format.sampling {
        ChromaSampling::C400 => Sampling::Mono,
        ChromaSampling::C420 => tags.sampling(),
        ChromaSampling::C422 => Sampling::C422,
        ChromaSampling::C444 => Sampling::C444,
    };
    let full = probe.video.pixels.starts_with("yuvj").then_some(Range::Full);
    let said = if pixels.from_rgb { Some(Range::Limited) } else { tags.range().or(full) };
    let ratio = |(numerator, denominator): (u32, u32)| format!("{numerator}:{denominator}");
    let header = Y4mHeader {
        bits: pixels.format.bits,
        rate: probe.video.rate.map(ratio),
        aspect: aspect.map(ratio),
        ..Y4mHeader::new(width, height, sampling, said)
    };
    let usual = if pixels.from_rgb { Matrix::Bt709 } else { Matrix::usual_for_height(height) };
    let matrix = tags.matrix().filter(|_| !pixels.from_rgb).unwrap_or(usual);
    let range = header.effective_range();
    (header, matrix, range)
}

/// What the file leaves open and was assumed.
pub(super) fn assumed(probe: &Probe, matrix: Matrix, name: &str) -> Option<String> {
    match (probe.video.tags.matrix(), probe.video.tags.other_matrix()) {
        (Some(_), _) | (_, Some("gbr")) => None,
        (None, Some(other)) => {
            Some(format!("the colour matrix of {name} is {other}, which is taken for {matrix}"))
        }
        (None, None) => Some(format!("{name} does not say its colour matrix; assumed {matrix}")),
    }
}
