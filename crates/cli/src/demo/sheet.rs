use mip_core::{ImageBuffer, ImageError};

use super::canvas::{Area, Canvas, Color};

/// One picture of a contact sheet.
pub(crate) struct Tile {
    pub(crate) label: String,
    /// rgb u8, at most [`Tile::WIDTH`] wide.
    pub(crate) image: ImageBuffer,
}

impl Tile {
    /// Width in pixels that pictures are scaled to.
    pub(crate) const WIDTH: u32 = 480;
}

const MARGIN: u32 = 24;
const LABEL_SCALE: u32 = 2;
const LABEL_HEIGHT: u32 = 8 * LABEL_SCALE + 12;
const PAPER: Color = [32, 34, 38];
const INK: Color = [225, 228, 232];

/// All pictures on one sheet, labelled, in rows.
///
/// # Errors
/// When there is no memory.
pub(crate) fn contact_sheet(tiles: &[Tile]) -> Result<ImageBuffer, ImageError> {
    let columns = columns(tiles.len());
    let rows: Vec<&[Tile]> = tiles.chunks(columns).collect();
    let row_height = |row: &[Tile]| row.iter().map(|t| t.image.desc().height()).max().unwrap_or(0);
    let width = MARGIN + columns as u32 * (Tile::WIDTH + MARGIN);
    let height = MARGIN + rows.iter().map(|row| LABEL_HEIGHT + row_height(row) + MARGIN).sum::<u32>();
    let mut canvas = Canvas::new(width, height)?;
    canvas.fill(Area { x: 0, y: 0, width, height }, PAPER);
    let mut y = MARGIN;
    for row in rows {
        for (x, tile) in (0..).map(|i| MARGIN + i * (Tile::WIDTH + MARGIN)).zip(row) {
            canvas.text(x, y, LABEL_SCALE, &tile.label, INK);
            canvas.paste(x, y + LABEL_HEIGHT, &tile.image);
        }
        y += LABEL_HEIGHT + row_height(row) + MARGIN;
    }
    Ok(canvas.into_image())
}

/// About as many columns as rows; one more when that fills the last row.
fn columns(tiles: usize) -> usize {
    let square = (1..tiles).find(|c| c * c >= tiles).unwrap_or(1);
    if tiles.is_multiple_of(square + 1) { square + 1 } else { square }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mip_core::{DType, ImageDesc, PixelFormat};

    #[test]
    fn rows_are_filled_where_that_looks_well() {
        assert_eq!([1, 2, 3, 4, 5, 6, 7, 8, 9, 12].map(columns), [1, 2, 3, 2, 3, 3, 3, 4, 3, 4]);
    }

    #[test]
    fn tiles_stand_in_rows_with_margins_and_labels() {
        let tile = |label: &str, height| {
            let desc = ImageDesc::new(Tile::WIDTH, height, PixelFormat::Rgb, DType::U8).unwrap();
            Tile {
                label: label.into(),
                image: ImageBuffer::from_bytes(desc, &vec![200; desc.bytes()]).unwrap(),
            }
        };
        let sheet = contact_sheet(&[tile("a", 100), tile("b", 120), tile("c", 50), tile("d", 40)]).unwrap();
        assert_eq!(
            (sheet.desc().width(), sheet.desc().height()),
            (24 + 2 * 504, 24 + 28 + 120 + 24 + 28 + 50 + 24)
        );
        let at = |x: usize, y: usize| sheet.view().sample(0, x, y, 0);
        assert_eq!((at(0, 0), at(24, 52), at(24 + 504, 24 + 28 + 119)), (32.0, 200.0, 200.0));
        let label_has_ink = (24..40).any(|x| (24..40).any(|y| at(x, y) == 225.0));
        assert!(label_has_ink);
    }
}
