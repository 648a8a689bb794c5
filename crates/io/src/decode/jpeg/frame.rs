//! The frame: size, components, where their blocks lie, and the memory that takes.

use super::super::Fault;
use super::JpegScale;

/// A frame header (T.81 B.2.2) and what follows from it.
pub(super) struct Frame {
    pub(super) progressive: bool,
    pub(super) width: usize,
    /// 0 until a DNL segment says it.
    pub(super) height: usize,
    pub(super) components: Vec<Component>,
    /// Largest horizontal sampling factor.
    pub(super) h_max: usize,
    /// Largest vertical sampling factor.
    pub(super) v_max: usize,
    /// MCUs of interleaved scans in a row, and rows of them.
    pub(super) mcus: (usize, usize),
    scale: JpegScale,
}

/// One component, with its samples and blocks.
pub(super) struct Component {
    pub(super) id: u8,
    /// Sampling factors, 1 to 4.
    pub(super) h: usize,
    pub(super) v: usize,
    /// Quantisation table that it uses.
    pub(super) selector: usize,
    /// The table's contents, in the order of rows, when its first scan began: later ones do not count.
    pub(super) quantisers: Option<[u16; 64]>,
    /// Samples across and down that a block becomes: 8, or fewer where the picture is scaled.
    pub(super) side: usize,
    /// Samples across and down (T.81 A.1.1), scaled.
    pub(super) size: (usize, usize),
    /// Blocks that hold those samples.
    pub(super) blocks: (usize, usize),
    /// Blocks with the ones that only fill MCUs.
    pub(super) stored: (usize, usize),
    /// First block among those of all components.
    pub(super) first: usize,
    /// First sample among those of all components.
    pub(super) start: usize,
    /// For each coefficient the bits at the bottom that are still to come, -1 before its first scan.
    pub(super) missing: [i8; 64],
}

impl Frame {
    /// Parses a frame header's contents.
    pub(super) fn parse(code: u8, body: &[u8]) -> Result<Self, Fault> {
        let refuse = |text: String| Err(Fault::Corrupt(text));
        let kind = match code {
            0xC0..=0xC2 => "",
            0xC3 => "lossless",
            0xC5..=0xC7 => "hierarchical",
            0xC9..=0xCB => "arithmetic",
            _ => "hierarchical arithmetic",
        };
        if !kind.is_empty() {
            return refuse(format!(
                "it uses {kind} coding (SOF{}), which is not supported; baseline and progressive Huffman coding are",
                code - 0xC0
            ));
        }
        if body.len() < 6 || body.len() != 6 + 3 * usize::from(body[5]) {
            return refuse("its frame header has a wrong length".into());
        }
        if body[0] != 8 {
            return refuse(format!("it has {} bits a sample; only 8 are supported", body[0]));
        }
        if !matches!(body[5], 1 | 3 | 4) {
            return refuse(format!("it has {} components; only 1, 3 and 4 are supported", body[5]));
        }
        let size = |at: usize| usize::from(u16::from_be_bytes([body[at], body[at + 1]]));
        let (height, width) = (size(1), size(3));
        if width == 0 {
            return refuse("its width is 0".into());
        }
        let components: Vec<Component> = body[6..].chunks_exact(3).map(Component::parse).collect();
        if components.iter().any(|c| !(1..=4).contains(&c.h) || !(1..=4).contains(&c.v) || c.selector > 3) {
            return refuse("its frame header has a sampling factor or table out of range".into());
        }
        let largest = |factor: fn(&Component) -> usize| components.iter().map(factor).max().unwrap_or(1);
        let (h_max, v_max) = (largest(|c| c.h), largest(|c| c.v));
        if let Some(odd) = components.iter().find(|c| h_max % c.h != 0 || v_max % c.v != 0) {
            let Component { h, v, .. } = *odd;
            return refuse(format!(
                "its sampling factors are not supported: {h}x{v} beside {h_max}x{v_max} is no whole ratio"
            ));
        }
        let progressive = code == 0xC2;
        Ok(Self {
            progressive,
            width,
            height,
            components,
            h_max,
            v_max,
            mcus: (0, 0),
            scale: JpegScale::Full,
        })
    }

    /// Lays out the blocks, when the height is known, and the samples of a picture of that scale.
    pub(super) fn lay_out(&mut self, scale: JpegScale) {
        let (across, down) = (8 * self.h_max, 8 * self.v_max);
        self.mcus = (self.width.div_ceil(across), self.height.div_ceil(down));
        self.scale = scale;
        let most = [self.h_max, self.v_max];
        let (mut first, mut start) = (0, 0);
        for c in &mut self.components {
            let side = scale.block_side([c.h, c.v], most);
            let size = |side: usize| {
                ((self.width * c.h * side).div_ceil(across), (self.height * c.v * side).div_ceil(down))
            };
            let whole = size(8);
            c.blocks = (whole.0.div_ceil(8), whole.1.div_ceil(8));
            c.stored = (self.mcus.0 * c.h, self.mcus.1 * c.v);
            (c.side, c.size, c.first, c.start) = (side, size(side), first, start);
            first += c.stored.0 * c.stored.1;
            start += c.samples();
        }
    }

    /// Width and height of the picture.
    pub(super) const fn scaled(&self) -> (usize, usize) {
        (self.scale.of(self.width), self.scale.of(self.height))
    }

    /// How many samples of the picture one of a component is for, across and down.
    pub(super) const fn ratio(&self, c: &Component) -> (usize, usize) {
        let least = self.least();
        (self.h_max * least / (c.h * c.side), self.v_max * least / (c.v * c.side))
    }

    /// Whether components are enlarged by a triangle filter; blocks of one sample are not, as in libjpeg.
    pub(super) const fn is_smooth(&self) -> bool {
        self.least() > 1
    }

    /// Samples across and down that a block of the component with the largest factors becomes.
    const fn least(&self) -> usize {
        8 / self.scale.divisor()
    }

    /// Samples of all components, with those that only fill MCUs.
    pub(super) fn samples(&self) -> usize {
        self.components.iter().map(Component::samples).sum()
    }

    /// Blocks of all components, with those that only fill MCUs.
    pub(super) fn stored_blocks(&self) -> usize {
        self.components.iter().map(|c| c.stored.0 * c.stored.1).sum()
    }

    /// Blocks that must be in the file.
    pub(super) fn coded_blocks(&self) -> usize {
        self.components.iter().map(|c| c.blocks.0 * c.blocks.1).sum()
    }

    /// Most bytes that decoding holds at once besides the file: the components' samples, the coefficients of
    /// a progressive frame, and the picture.
    pub(super) fn peak_bytes(&self) -> u64 {
        let coefficients = if self.progressive { 128 * self.stored_blocks() as u64 } else { 0 };
        let channels = if self.components.len() == 1 { 1 } else { 3 };
        let (width, height) = self.scaled();
        self.samples() as u64 + coefficients + width as u64 * height as u64 * channels
    }
}

impl Component {
    fn parse(spec: &[u8]) -> Self {
        Self {
            id: spec[0],
            h: usize::from(spec[1] >> 4),
            v: usize::from(spec[1] & 15),
            selector: usize::from(spec[2]),
            quantisers: None,
            side: 8,
            size: (0, 0),
            blocks: (0, 0),
            stored: (0, 0),
            first: 0,
            start: 0,
            missing: [-1; 64],
        }
    }

    /// Samples from the start of one row to that of the next.
    pub(super) const fn stride(&self) -> usize {
        self.side * self.stored.0
    }

    /// Samples of all its blocks.
    pub(super) const fn samples(&self) -> usize {
        self.side * self.side * self.stored.0 * self.stored.1
    }
}
