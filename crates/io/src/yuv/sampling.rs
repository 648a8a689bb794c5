use mip_core::video::{ChromaSampling, Siting};

/// Chroma sampling, with the siting where the name says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sampling {
    /// Luma only.
    Mono,
    /// Half width and height, siting not said.
    C420,
    /// Half width and height, sited in the middle of four luma samples.
    C420Jpeg,
    /// Half width and height, sited at the left.
    C420Mpeg2,
    /// Half width and height, sited as in PAL DV.
    C420Paldv,
    /// Half width.
    C422,
    /// Full resolution.
    C444,
}

impl Sampling {
    /// Every sampling, in declaration order.
    pub const ALL: [Self; 7] =
        [Self::Mono, Self::C420, Self::C420Jpeg, Self::C420Mpeg2, Self::C420Paldv, Self::C422, Self::C444];

    /// The name in the header, after the `C`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mono => "mono",
            Self::C420 => "420",
            Self::C420Jpeg => "420jpeg",
            Self::C420Mpeg2 => "420mpeg2",
            Self::C420Paldv => "420paldv",
            Self::C422 => "422",
            Self::C444 => "444",
        }
    }

    /// Without the siting.
    pub const fn chroma(self) -> ChromaSampling {
        match self {
            Self::Mono => ChromaSampling::C400,
            Self::C420 | Self::C420Jpeg | Self::C420Mpeg2 | Self::C420Paldv => ChromaSampling::C420,
            Self::C422 => ChromaSampling::C422,
            Self::C444 => ChromaSampling::C444,
        }
    }

    /// Where chroma samples lie; left where the name does not say it. Of PAL DV, whose U and V lie on lines of their own, it
    /// is those of U.
    pub const fn siting(self) -> Siting {
        match self {
            Self::C420Jpeg => Siting::Center,
            Self::C420Paldv => Siting::TopLeft,
            Self::Mono | Self::C420 | Self::C420Mpeg2 | Self::C422 | Self::C444 => Siting::Left,
        }
    }

    /// Luma samples that share a chroma sample, across and down; `None` without chroma.
    pub const fn subsampling(self) -> Option<(u32, u32)> {
        match self {
            Self::Mono => None,
            Self::C420 | Self::C420Jpeg | Self::C420Mpeg2 | Self::C420Paldv => Some((2, 2)),
            Self::C422 => Some((2, 1)),
            Self::C444 => Some((1, 1)),
        }
    }
}
