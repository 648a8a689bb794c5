use clap::{Args, ValueEnum};
use mip_io::{Compression, Facts, FileFormat, WriteOptions};

use crate::failure::Failure;

/// How pictures are written, for commands that write some.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct WriteArgs {
    /// Quality of lossy results, 1 to 100 (JPEG) [default: 90]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=100))]
    quality: Option<u8>,
    /// Time to take for smaller files of the same pixels (PNG, TIFF) [default: fast]
    #[arg(long, value_name = "LEVEL")]
    compression: Option<CompressionArg>,
}

/// `--compression`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CompressionArg {
    /// Little time; `default` is another name for it
    #[value(alias = "default")]
    Fast,
    /// Several times as much
    Balanced,
    /// Whatever makes files smallest
    Best,
}

impl WriteArgs {
    /// An option that is set.
    pub(crate) const fn given(self) -> Option<&'static str> {
        match (self.quality, self.compression) {
            (Some(_), _) => Some("--quality"),
            (None, Some(_)) => Some("--compression"),
            (None, None) => None,
        }
    }

    /// The options for results in a format.
    ///
    /// # Errors
    /// What is set, but not for that format: it would change nothing.
    pub(crate) fn options(self, format: FileFormat) -> Result<WriteOptions, Failure> {
        let facts = format.facts();
        let refuse = |option: &str, has: fn(&Facts) -> bool| {
            let with = FileFormat::ALL.map(FileFormat::facts).into_iter().filter(|facts| has(facts));
            let with = with.map(|facts| facts.name).collect::<Vec<_>>().join(" and ");
            let text =
                format!("{option} is for {with}, but results are {format}, which has none; leave it out");
            Err(Failure::Request(text))
        };
        if self.quality.is_some() && !facts.quality {
            return refuse("--quality", |facts| facts.quality);
        }
        if self.compression.is_some() && !facts.compression {
            return refuse("--compression", |facts| facts.compression);
        }
        let usual = WriteOptions::default();
        Ok(WriteOptions {
            jpeg_quality: self.quality.unwrap_or(usual.jpeg_quality),
            compression: match self.compression {
                None => usual.compression,
                Some(CompressionArg::Fast) => Compression::Fast,
                Some(CompressionArg::Balanced) => Compression::Balanced,
                Some(CompressionArg::Best) => Compression::Best,
            },
            ..usual
        })
    }
}
