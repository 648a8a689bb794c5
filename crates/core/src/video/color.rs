use std::fmt;
use std::str::FromStr;

/// The weights that make luma of RGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Matrix {
    /// ITU-R BT.601: standard definition, JPEG.
    Bt601,
    /// ITU-R BT.709: high definition.
    Bt709,
    /// ITU-R BT.2020, non-constant luminance: ultra high definition.
    Bt2020,
}

impl Matrix {
    /// Every matrix, in declaration order.
    pub const ALL: [Self; 3] = [Self::Bt601, Self::Bt709, Self::Bt2020];

    /// `601`, `709` or `2020`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bt601 => "601",
            Self::Bt709 => "709",
            Self::Bt2020 => "2020",
        }
    }

    /// What video of this height usually has, where nothing says it: 709 from 720 lines on, else 601.
    pub const fn usual_for_height(height: u32) -> Self {
        if height >= 720 { Self::Bt709 } else { Self::Bt601 }
    }

    /// `Kr` and `Kb`; `Kg` is what they leave of 1.
    pub const fn weights(self) -> (f64, f64) {
        match self {
            Self::Bt601 => (0.299, 0.114),
            Self::Bt709 => (0.2126, 0.0722),
            Self::Bt2020 => (0.2627, 0.0593),
        }
    }
}

impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Matrix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|matrix| matrix.name() == text);
        known.ok_or_else(|| format!("unknown matrix '{text}'; allowed: 601, 709, 2020"))
    }
}

/// Which values stand for black and white.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Range {
    /// 0 to 255, also called PC or JPEG range.
    Full,
    /// Luma 16 to 235 and chroma 16 to 240, also called TV or MPEG range.
    Limited,
}

impl Range {
    /// Both ranges.
    pub const ALL: [Self; 2] = [Self::Full, Self::Limited];

    /// `full` or `limited`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Limited => "limited",
        }
    }

    /// In samples of 8 bits: value of black, distance from black to white, distance from the least to the most chroma.
    pub const fn levels(self) -> (f64, f64, f64) {
        match self {
            Self::Full => (0.0, 255.0, 255.0),
            Self::Limited => (16.0, 219.0, 224.0),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|range| range.name() == text);
        known.ok_or_else(|| format!("unknown range '{text}'; allowed: full, limited"))
    }
}

/// Where a chroma sample that pixels share lies among them: ITU-T H.273's chroma sample location types 0 to 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Siting {
    /// At the left pixels, halfway between both rows: MPEG-2, H.264 and most video.
    #[default]
    Left,
    /// In the middle of its pixels: JPEG, MPEG-1.
    Center,
    /// At the upper left pixel: ITU-R BT.2020.
    TopLeft,
}

impl Siting {
    /// All of them, in declaration order.
    pub const ALL: [Self; 3] = [Self::Left, Self::Center, Self::TopLeft];

    /// `left`, `center` or `top_left`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Center => "center",
            Self::TopLeft => "top_left",
        }
    }

    /// Whether the sample lies between its pixels, across and down, where two of them share it.
    pub const fn is_between(self) -> (bool, bool) {
        match self {
            Self::Left => (false, true),
            Self::Center => (true, true),
            Self::TopLeft => (false, false),
        }
    }
}

impl fmt::Display for Siting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Siting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|siting| siting.name() == text);
        known.ok_or_else(|| format!("unknown siting '{text}'; allowed: left, center, top_left"))
    }
}

/// What chroma is at the pixels that share a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ChromaFilter {
    /// The sample they share.
    #[default]
    Nearest,
    /// Interpolated linearly between samples, which lie where the [`Siting`] says.
    Bilinear,
}

impl ChromaFilter {
    /// Both, in declaration order.
    pub const ALL: [Self; 2] = [Self::Nearest, Self::Bilinear];

    /// `nearest` or `bilinear`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nearest => "nearest",
            Self::Bilinear => "bilinear",
        }
    }
}

impl fmt::Display for ChromaFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ChromaFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|filter| filter.name() == text);
        known.ok_or_else(|| format!("unknown chroma filter '{text}'; allowed: nearest, bilinear"))
    }
}

/// What the samples of YUV video mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VideoColor {
    /// The weights of luma.
    pub matrix: Matrix,
    /// The levels of black and white.
    pub range: Range,
    /// How chroma is read.
    pub chroma: ChromaFilter,
    /// Where its samples lie, which only matters for [`ChromaFilter::Bilinear`].
    pub siting: Siting,
}

impl VideoColor {
    /// With chroma of the nearest sample.
    pub const fn new(matrix: Matrix, range: Range) -> Self {
        Self { matrix, range, chroma: ChromaFilter::Nearest, siting: Siting::Left }
    }

    /// With chroma interpolated between samples that lie there.
    #[must_use]
    pub const fn bilinear(self, siting: Siting) -> Self {
        Self { chroma: ChromaFilter::Bilinear, siting, ..self }
    }
}
