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
