use std::ops::Range;

use mip_core::{DType, ImageDesc, ImageView, ImageViewMut, Layout, Sample, f16};

use crate::Labels;

/// A box as it stands in a list.
#[derive(Debug, Clone, Copy)]
struct Rectangle {
    x: f32,
    y: f32,
    width: f32,
    height: f32,
    score: f32,
}

/// Edges of a box in whole pixels, in binary32.
#[derive(Debug, Clone, Copy)]
struct Edges {
    left: f32,
    top: f32,
    right: f32,
    bottom: f32,
}

impl Rectangle {
    fn all<'a>(list: &'a ImageView<'_>, frame: usize) -> impl Iterator<Item = Self> + 'a {
        (0..list.layout().desc.height() as usize).map(move |row| {
            let numbers = list.row_as::<f32>(frame, 0, row);
            let [x, y, width, height, score] = std::array::from_fn(|i| numbers[i]);
            Self { x, y, width, height, score }
        })
    }

    fn edges(&self) -> Edges {
        let edge = |v: f32| (v + 0.5).floor();
        Edges {
            left: edge(self.x),
            top: edge(self.y),
            right: edge(self.x + self.width),
            bottom: edge(self.y + self.height),
        }
    }

    /// Intersection over union.
    fn overlap(&self, other: &Self) -> f32 {
        let along = |a: f32, a_size: f32, b: f32, b_size: f32| {
            let (a_end, b_end) = (a + a_size, b + b_size);
            let (first, last) = (if a > b { a } else { b }, if a_end < b_end { a_end } else { b_end });
            if last - first > 0.0 { last - first } else { 0.0 }
        };
        let both = along(self.x, self.width, other.x, other.width)
            * along(self.y, self.height, other.y, other.height);
        both / ((self.width * self.height + other.width * other.height) - both)
    }
}

/// Columns from one edge to another, of so many; none if an edge is no number.
fn columns(from: f32, to: f32, width: usize) -> Range<usize> {
    // What is negative becomes 0, what is infinite the largest.
    if from < to { (from as usize).min(width)..(to as usize).min(width) } else { 0..0 }
}

/// The columns of a row within an outline.
fn outlined(edges: Edges, thickness: f32, y: u32, width: usize) -> [Range<usize>; 2] {
    let y = y as f32;
    if !(y >= edges.top && y < edges.bottom) {
        return [0..0, 0..0];
    }
    let inner = [edges.left + thickness, edges.right - thickness];
    if y >= edges.top + thickness && y < edges.bottom - thickness && inner[0] < inner[1] {
        let [left, right] =
            [columns(edges.left, inner[0], width), columns(inner[1].max(edges.left), edges.right, width)];
        return [left, right];
    }
    [columns(edges.left, edges.right, width), 0..0]
}

/// Planes of a row, and the bytes of a pixel in each.
pub(super) fn pixel_bytes(image: &ImageView<'_>) -> usize {
    let desc = image.layout().desc;
    match desc.layout() {
        Layout::Hwc => desc.dtype().size() * desc.channels(),
        Layout::Chw => desc.dtype().size(),
    }
}

fn keep(image: &ImageView<'_>, frame: usize, y: u32, planes: &mut [&mut [u8]]) {
    for (plane, to) in planes.iter_mut().enumerate() {
        to.copy_from_slice(image.row(frame, plane, y as usize));
    }
}

/// A row with outlines.
pub(super) fn outline(
    [image, list]: [&ImageView<'_>; 2],
    uniforms: &[f32],
    frame: usize,
    y: u32,
    planes: &mut [&mut [u8]],
) {
    keep(image, frame, y, planes);
    let (desc, size) = (image.layout().desc, pixel_bytes(image));
    let color = color_bytes(&uniforms[1..], &desc);
    for rectangle in Rectangle::all(list, frame) {
        for span in outlined(rectangle.edges(), uniforms[0], y, desc.width() as usize) {
            for (plane, pixel) in planes.iter_mut().zip(color.chunks(size)) {
                let pixels = plane[span.start * size..span.end * size].chunks_mut(size);
                pixels.for_each(|to| to.copy_from_slice(pixel));
            }
        }
    }
}

/// A row with texts.
pub(super) fn label(
    labels: Labels,
    [image, list]: [&ImageView<'_>; 2],
    uniforms: &[f32],
    frame: usize,
    y: u32,
    planes: &mut [&mut [u8]],
) {
    keep(image, frame, y, planes);
    let (desc, size) = (image.layout().desc, pixel_bytes(image));
    let (width, height) = (desc.width(), desc.height() as f32);
    let scale = uniforms[0] as u32;
    let rows = (Labels::CELL[1] * scale) as f32;
    let colors = [1, 5].map(|first| color_bytes(&uniforms[first..], &desc));
    for (i, rectangle) in Rectangle::all(list, frame).enumerate() {
        let Edges { left, top, right, bottom } = rectangle.edges();
        let top_row = (top - rows).max(0.0);
        let here = y as f32 >= top_row && (y as f32) < top_row + rows;
        let seen = left < width as f32 && top < height && right > 0.0 && bottom > 0.0;
        let has_text = here && seen && left < right && top < bottom;
        if !has_text {
            continue;
        }
        let text = labels.unpacked(uniforms, i);
        let columns = if text.is_empty() { 0 } else { (Labels::CELL[0] * text.len() as u32 + 1) * scale };
        let (first, row) = (left.max(0.0) as u32, (y - top_row as u32) / scale);
        for x in first..first.saturating_add(columns).min(width) {
            let set = Labels::is_set(&text, (x - first) / scale, row);
            for (plane, pixel) in planes.iter_mut().zip(colors[usize::from(set)].chunks(size)) {
                plane[x as usize * size..][..size].copy_from_slice(pixel);
            }
        }
    }
}

/// A row with boxes of another image.
pub(super) fn cover(
    [image, other, list]: [&ImageView<'_>; 3],
    frame: usize,
    y: u32,
    planes: &mut [&mut [u8]],
) {
    keep(image, frame, y, planes);
    let (width, size) = (image.layout().desc.width() as usize, pixel_bytes(image));
    for edges in Rectangle::all(list, frame).map(|rectangle| rectangle.edges()) {
        if y as f32 >= edges.top && (y as f32) < edges.bottom {
            let span = columns(edges.left, edges.right, width);
            let bytes = span.start * size..span.end * size;
            for (plane, to) in planes.iter_mut().enumerate() {
                to[bytes.clone()].copy_from_slice(&other.row(frame, plane, y as usize)[bytes.clone()]);
            }
        }
    }
}

/// The bytes of a pixel, plane by plane, of a number for each channel.
pub(super) fn color_bytes(numbers: &[f32], desc: &ImageDesc) -> Vec<u8> {
    numbers[..desc.channels()].iter().flat_map(|&v| quantised(v, desc.dtype())).collect()
}

/// The bytes of a sample.
fn quantised(value: f32, dtype: DType) -> Vec<u8> {
    match dtype {
        DType::U8 => vec![u8::from_f32(value)],
        DType::U16 => u16::from_f32(value).to_ne_bytes().to_vec(),
        DType::I16 => i16::from_f32(value).to_ne_bytes().to_vec(),
        DType::I32 => i32::from_f32(value).to_ne_bytes().to_vec(),
        DType::F16 => <f16 as Sample>::from_f32(value).to_ne_bytes().to_vec(),
        DType::F32 => value.to_ne_bytes().to_vec(),
    }
}

/// Boxes that no better one overlaps.
pub(super) fn suppress(list: &ImageView<'_>, uniforms: &[f32], frame: usize, output: &mut ImageViewMut<'_>) {
    let (iou, least) = (uniforms[0], uniforms[1]);
    let counts = |r: &Rectangle| {
        let finite = [r.x, r.y, r.width, r.height, r.score].iter().all(|v| v.is_finite());
        finite && r.score >= least && r.width > 0.0 && r.height > 0.0
    };
    let mut all: Vec<Rectangle> = Rectangle::all(list, frame).filter(counts).collect();
    // Stable: ties stay in their order.
    all.sort_by(|a, b| b.score.partial_cmp(&a.score).expect("a number"));
    let mut kept: Vec<Rectangle> = Vec::new();
    for rectangle in all {
        if kept.iter().all(|better| rectangle.overlap(better) <= iou) {
            kept.push(rectangle);
        }
    }
    for row in 0..list.layout().desc.height() as usize {
        let numbers = kept.get(row).map_or([0.0; 5], |r| [r.x, r.y, r.width, r.height, r.score]);
        output.row_as_mut::<f32>(frame, 0, row).copy_from_slice(&numbers);
    }
}
