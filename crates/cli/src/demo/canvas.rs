use font8x8::UnicodeFonts as _;
use mip_core::{AlignedBytes, BatchLayout, DType, ImageBuffer, ImageDesc, ImageError, PixelFormat};

pub(super) type Color = [u8; 3];

/// An rgb picture to draw on. What lies outside is left out.
pub(super) struct Canvas {
    desc: ImageDesc,
    pixels: AlignedBytes,
}

/// Part of a canvas, in pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) width: u32,
    pub(super) height: u32,
}

impl Canvas {
    /// # Errors
    /// When there is no memory.
    pub(super) fn new(width: u32, height: u32) -> Result<Self, ImageError> {
        let desc = ImageDesc::new(width, height, PixelFormat::Rgb, DType::U8)?;
        Ok(Self { desc, pixels: AlignedBytes::try_zeroed(desc.bytes(), "a drawn picture")? })
    }

    fn put(&mut self, x: u32, y: u32, color: Color) {
        if x < self.desc.width() && y < self.desc.height() {
            let at = (y as usize * self.desc.width() as usize + x as usize) * 3;
            self.pixels.as_mut_slice()[at..at + 3].copy_from_slice(&color);
        }
    }

    /// Colors each pixel of an area by its coordinates within it; `None` leaves a pixel as it is.
    pub(super) fn shade(&mut self, area: Area, color: impl Fn(u32, u32) -> Option<Color>) {
        for y in 0..area.height {
            for x in 0..area.width {
                if let Some(color) = color(x, y) {
                    self.put(area.x + x, area.y + y, color);
                }
            }
        }
    }

    pub(super) fn fill(&mut self, area: Area, color: Color) {
        self.shade(area, |_, _| Some(color));
    }

    /// Puts an rgb u8 picture on the canvas.
    pub(super) fn paste(&mut self, x: u32, y: u32, image: &ImageBuffer) {
        let (desc, view) = (image.desc(), image.view());
        for row in 0..desc.height() {
            let (colors, _) = view.row(0, 0, row as usize).as_chunks::<3>();
            for (column, color) in (0..).zip(colors) {
                self.put(x + column, y + row, *color);
            }
        }
    }

    /// Writes text from the top left corner, each dot `scale` pixels wide.
    pub(super) fn text(&mut self, x: u32, y: u32, scale: u32, text: &str, color: Color) {
        let glyphs = text.chars().map(|c| font8x8::BASIC_FONTS.get(c).unwrap_or_default());
        for (left, glyph) in (0..).map(|i| x + i * 8 * scale).zip(glyphs) {
            let dot = |x: u32, y: u32| glyph[(y / scale) as usize] >> (x / scale) & 1 == 1;
            let area = Area { x: left, y, width: 8 * scale, height: 8 * scale };
            self.shade(area, |x, y| dot(x, y).then_some(color));
        }
    }

    pub(super) fn into_image(self) -> ImageBuffer {
        BatchLayout::tight(self.desc, 1)
            .and_then(|layout| ImageBuffer::from_aligned(layout, self.pixels))
            .expect("the bytes are those of the description")
    }
}
