use super::apply::Reference;
use crate::Real;
use crate::golden::Params;

const PARAMS: &[&str] = &["color", "thickness", "labels", "scale", "text_color"];

pub(super) const REFERENCE: Reference = Reference::new("draw", PARAMS, |call| {
    let (params, desc) = (call.params, call.desc());
    let full = desc.dtype().full_scale();
    let color = params.list("color").unwrap_or_else(|| vec![full]);
    let outlines = draw(&call.image(0), &call.image(1), &color, params.number("thickness").unwrap_or(2.0));
    let mut dark = vec![0.0; desc.channels()];
    if desc.format().has_alpha() {
        dark[3] = full;
    }
    let text_color = params.list("text_color").unwrap_or(dark);
    label(&outlines, &call.image(1), params, [&color, &text_color])
});

/// Outlines from each box's edge inwards.
pub fn draw(image: &Real, boxes: &Real, color: &[f64], thickness: f64) -> Real {
    let edges: Vec<[f64; 4]> = (0..boxes.height).map(|row| edges(boxes, row)).collect();
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| {
        let on = |edges: &[f64; 4]| within(edges, x, y, 0.0) && !within(edges, x, y, thickness);
        if edges.iter().any(on) { number(color, c) } else { image.at(x, y, c) }
    })
}

fn number(color: &[f64], c: usize) -> f64 {
    f64::from(color[c.min(color.len() - 1)] as f32)
}

/// Texts drawn pixel by pixel, box after box.
fn label(image: &Real, boxes: &Real, params: &Params, colors: [&[f64]; 2]) -> Real {
    let Some(labels) = params.word("labels") else { return image.clone() };
    let texts: Vec<&str> = labels.split('|').collect();
    let scale = params.number("scale").unwrap_or(1.0) as usize;
    let mut result = image.clone();
    for row in 0..boxes.height {
        let (text, [left, top, right, bottom]) = (texts[row % texts.len()], edges(boxes, row));
        let (w, h) = (image.width as f64, image.height as f64);
        let nothing = !(left < right && top < bottom && left < w && top < h && right > 0.0 && bottom > 0.0);
        if nothing || text.is_empty() {
            continue;
        }
        let (first_column, first_row) =
            (left.max(0.0) as usize, (top - 10.0 * scale as f64).max(0.0) as usize);
        for y in 0..10 * scale {
            for x in 0..(6 * text.len() + 1) * scale {
                let (column, row) = (x / scale, y / scale);
                let ink = column > 0
                    && row > 0
                    && ink(text.as_bytes()[(column - 1) / 6], (column - 1) % 6, row - 1);
                let (x, y) = (first_column + x, first_row + y);
                if x < image.width && y < image.height {
                    for c in 0..image.channels {
                        result.data[(y * image.width + x) * image.channels + c] =
                            number(colors[usize::from(ink)], c);
                    }
                }
            }
        }
    }
    result
}

/// The pixels of the characters that the examples' texts have, row by row.
fn ink(character: u8, column: usize, row: usize) -> bool {
    let rows: [&str; 8] = match character {
        b' ' => [".....", ".....", ".....", ".....", ".....", ".....", ".....", "....."],
        b'2' => [".###.", "#...#", "....#", "...#.", "..#..", ".#...", "#####", "....."],
        b'9' => [".###.", "#...#", "#...#", ".####", "....#", "...#.", ".##..", "....."],
        b'@' => [".###.", "#...#", "#.###", "#.#.#", "#.###", "#....", ".###.", "....."],
        b'W' => ["#...#", "#...#", "#...#", "#.#.#", "#.#.#", "##.##", "#...#", "....."],
        b'a' => [".....", ".....", ".###.", "....#", ".####", "#...#", ".####", "....."],
        b'd' => ["....#", "....#", ".####", "#...#", "#...#", "#...#", ".####", "....."],
        b'f' => ["..##.", ".#..#", ".#...", "###..", ".#...", ".#...", ".#...", "....."],
        b'g' => [".....", ".....", ".####", "#...#", "#...#", ".####", "....#", ".###."],
        b'o' => [".....", ".....", ".###.", "#...#", "#...#", "#...#", ".###.", "....."],
        b'q' => [".....", ".....", ".####", "#...#", "#...#", ".####", "....#", "....#"],
        b's' => [".....", ".....", ".####", "#....", ".###.", "....#", "####.", "....."],
        b'x' => [".....", ".....", "#...#", ".#.#.", "..#..", ".#.#.", "#...#", "....."],
        b'{' => ["...#.", "..#..", "..#..", ".#...", "..#..", "..#..", "...#.", "....."],
        b'}' => [".#...", "..#..", "..#..", "...#.", "..#..", "..#..", ".#...", "....."],
        b'~' => [".....", ".....", ".#...", "#.#.#", "...#.", ".....", ".....", "....."],
        other => panic!("no picture of {:?}", char::from(other)),
    };
    rows.get(row).is_some_and(|row| row.as_bytes().get(column) == Some(&b'#'))
}

/// First column and row of a box, and those behind it, as binary32 computes them.
pub(super) fn edges(boxes: &Real, row: usize) -> [f64; 4] {
    let [x, y, width, height] = [0, 1, 2, 3].map(|i| boxes.at(i, row, 0) as f32);
    [x, y, x + width, y + height].map(|v| f64::from((v + 0.5).floor()))
}

/// Whether a pixel lies in a box that is smaller by a margin.
pub(super) fn within(&[left, top, right, bottom]: &[f64; 4], x: usize, y: usize, margin: f64) -> bool {
    let (x, y) = (x as f64, y as f64);
    x >= left + margin && x < right - margin && y >= top + margin && y < bottom - margin
}
