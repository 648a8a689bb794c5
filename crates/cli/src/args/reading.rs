use clap::{Args, ValueEnum};
use mip_io::{IccUse, JpegScale, ReadOptions, ReadWarning, Reader};

use crate::console;
use crate::work::PagesArg;

/// How image files are read, for commands that read some.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ReadArgs {
    /// Refuse images that are not quite whole (a JPEG without its end marker), and files of several pictures, instead
    /// of warning
    #[arg(long)]
    strict: bool,
    /// Decode JPEG files at 1/2, 1/4 or 1/8 of their width and height: sooner than decoding all and resizing, and coarser. Files of
    /// other formats stay as they are
    #[arg(long, value_enum, value_name = "SCALE", default_value_t = ScaleArg::Full, hide_default_value = true)]
    jpeg_scale: ScaleArg,
    /// What to do with a picture's ICC profile: `keep` pixels as they are stored and carry it over, or convert them to `srgb`
    #[arg(long, value_enum, value_name = "USE", default_value_t = IccArg::Keep)]
    icc: IccArg,
}

/// `--icc`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum IccArg {
    Keep,
    Srgb,
}

/// `--jpeg-scale`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScaleArg {
    #[value(name = "1")]
    Full,
    #[value(name = "1/2")]
    Half,
    #[value(name = "1/4")]
    Quarter,
    #[value(name = "1/8")]
    Eighth,
}

impl From<ScaleArg> for JpegScale {
    fn from(scale: ScaleArg) -> Self {
        match scale {
            ScaleArg::Full => Self::Full,
            ScaleArg::Half => Self::Half,
            ScaleArg::Quarter => Self::Quarter,
            ScaleArg::Eighth => Self::Eighth,
        }
    }
}

/// `--decode`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DecodeArg {
    /// The pixels of libjpeg.
    Cpu,
    /// By nvJPEG; files that it is not for are decoded by the CPU, and counted.
    Gpu,
    /// By the GPU that runs the pipeline where there are so many JPEG files that it is sooner done, its start included; by the
    /// CPU else, and video always. The same inputs are decoded in the same way each time.
    Auto,
}

/// [`ReadArgs`] where files may be read picture by picture.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct PageArgs {
    /// Pages of TIFF and frames of GIF to read: `all`, one (3), or from A to before B (A..B), counted from 0; results are numbered
    /// [default: the first]
    #[arg(long, value_name = "PAGES")]
    pages: Option<PagesArg>,
    #[command(flatten)]
    read: ReadArgs,
}

impl PageArgs {
    pub(crate) const fn pages(self) -> Option<PagesArg> {
        self.pages
    }

    pub(crate) const fn is_strict(self) -> bool {
        self.read.is_strict()
    }

    /// See [`ReadArgs::changes_pixels`].
    pub(crate) fn changes_pixels(self) -> Option<&'static str> {
        self.read.changes_pixels()
    }

    pub(crate) fn options(self, limits: ReadOptions) -> ReadOptions {
        self.read.options(limits)
    }
}

impl ReadArgs {
    pub(crate) const fn is_strict(self) -> bool {
        self.strict
    }

    /// The option that asks for other pixels than those of the file, which only the CPU makes, and only of pictures.
    pub(crate) fn changes_pixels(self) -> Option<&'static str> {
        match (self.jpeg_scale, self.icc) {
            (ScaleArg::Full, IccArg::Keep) => None,
            (ScaleArg::Full, IccArg::Srgb) => Some("--icc srgb"),
            _ => Some("--jpeg-scale"),
        }
    }

    /// These limits, and what else is asked for.
    pub(crate) fn options(self, limits: ReadOptions) -> ReadOptions {
        let icc = match self.icc {
            IccArg::Keep => IccUse::Keep,
            IccArg::Srgb => IccUse::Srgb,
        };
        ReadOptions { strict: self.strict, jpeg_scale: self.jpeg_scale.into(), icc, ..limits }
    }
}

/// Puts what a reader has to warn of on stderr.
pub(crate) fn note_warnings(reader: &mut Reader) {
    reader.take_warnings().iter().for_each(|warning| console::note(warning_line(warning)));
}

/// A warning as stderr shows it.
pub(crate) fn warning_line(warning: &ReadWarning) -> String {
    format!("warning: {warning}")
}
