use mip_core::ImageDesc;

/// Images of one description beside and below each other, unchanged.
///
/// Image `i` begins at column `i % columns * (width + gap)` and row `i / columns * (height + gap)`. What none of them
/// covers is a colour. Uniforms: the four numbers of the colour, one for each channel in its order in memory, which is
/// quantised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// How many images there are.
    pub count: u32,
    /// How many of them are beside each other.
    pub columns: u32,
    /// Pixels between neighbours.
    pub gap: u32,
}

impl Tile {
    /// Images at most.
    pub const MAX: u32 = 16;

    /// Numbers of a colour.
    pub(crate) const UNIFORMS: usize = 4;

    /// Width and height of the result for images of a size, `None` if it is beyond 32 bits.
    pub fn size(self, image: &ImageDesc) -> Option<(u32, u32)> {
        let rows = self.count.div_ceil(self.columns.max(1));
        let side = |images: u32, pixels: u32| {
            images.checked_mul(pixels)?.checked_add(images.checked_sub(1)?.checked_mul(self.gap)?)
        };
        Some((side(self.columns.min(self.count), image.width())?, side(rows, image.height())?))
    }

    pub(super) fn check(self, inputs: &[ImageDesc], output: &ImageDesc) -> Result<(), String> {
        let image = inputs[0];
        if self.columns == 0 || self.columns > self.count || self.count > Self::MAX {
            return Err(format!("{} columns of {} images", self.columns, self.count));
        }
        if let Some(other) = inputs.iter().find(|other| **other != image) {
            return Err(format!("{other} beside {image}"));
        }
        let same = |of: &ImageDesc| (of.format(), of.dtype(), of.layout());
        if same(output) == same(&image) && self.size(&image) == Some((output.width(), output.height())) {
            return Ok(());
        }
        Err(format!("{output} is not {} of {image} in {} columns", self.count, self.columns))
    }
}
