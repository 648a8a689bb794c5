use std::collections::BTreeMap;
use std::fmt;

use mini_image_pipe::DeviceJpegDecoder;
use serde::Serialize;

use super::{Decoder, count};

/// What decoded the pictures of a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Decoders {
    /// What the GPU's decoder is called, where it was asked for.
    gpu: Option<String>,
    on_gpu: usize,
    on_cpu: usize,
    /// What it was about pictures that the GPU was asked for and did not decode, and how many there were.
    reasons: BTreeMap<&'static str, usize>,
}

/// A decoder as `mip run --json` names it.
#[derive(Debug, Serialize)]
pub(crate) struct Share {
    /// `cpu`, or what decodes on the GPU.
    decoder: String,
    images: usize,
}

impl Decoders {
    pub(super) fn new(gpu: Option<&DeviceJpegDecoder>) -> Self {
        let name = |gpu: &DeviceJpegDecoder| format!("nvJPEG {} ({})", gpu.version(), gpu.engine());
        Self { gpu: gpu.map(name), ..Self::default() }
    }

    pub(super) fn add(&mut self, decoder: Decoder) {
        match decoder {
            Decoder::Gpu => self.on_gpu += 1,
            Decoder::Cpu(reason) => {
                self.on_cpu += 1;
                if let Some(reason) = reason {
                    *self.reasons.entry(reason).or_default() += 1;
                }
            }
        }
    }

    /// Whether the GPU was asked for.
    pub(crate) const fn has_gpu(&self) -> bool {
        self.gpu.is_some()
    }

    pub(crate) fn shares(&self) -> Vec<Share> {
        let gpu = self.gpu.clone().map(|decoder| Share { decoder, images: self.on_gpu });
        let cpu = Share { decoder: "cpu".to_owned(), images: self.on_cpu };
        gpu.into_iter().chain([cpu].into_iter().filter(|share| share.images > 0)).collect()
    }
}

impl fmt::Display for Decoders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(gpu) = &self.gpu {
            write!(f, "decoded by {gpu}: {}; ", count(self.on_gpu, "image"))?;
        }
        write!(f, "by the CPU: {}", count(self.on_cpu, "image"))?;
        for (place, (reason, images)) in self.reasons.iter().enumerate() {
            write!(f, "{}{reason}: {images}", if place == 0 { " (" } else { ", " })?;
        }
        f.write_str(if self.reasons.is_empty() { "" } else { ")" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_gpu_left_is_counted_with_its_reason() {
        let mut decoders = Decoders { gpu: Some("nvJPEG 13.3.2".to_owned()), ..Decoders::default() };
        for decoder in [Decoder::Gpu, Decoder::Cpu(Some("no JPEG file")), Decoder::Gpu] {
            decoders.add(decoder);
        }
        assert_eq!(
            decoders.to_string(),
            "decoded by nvJPEG 13.3.2: 2 images; by the CPU: 1 image (no JPEG file: 1)"
        );
        let shares: Vec<_> =
            decoders.shares().into_iter().map(|share| (share.decoder, share.images)).collect();
        assert_eq!(shares, [("nvJPEG 13.3.2".to_owned(), 2), ("cpu".to_owned(), 1)]);
        let mut none = Decoders::default();
        assert!(none.shares().is_empty() && !none.has_gpu());
        none.add(Decoder::default());
        assert_eq!(none.shares().len(), 1);
    }
}
