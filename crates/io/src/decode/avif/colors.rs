//! Samples of luma and chroma to colours.
//!
//! Chroma that pixels share is interpolated linearly between samples that lie in the middle of their pixels, which is what
//! libavif does whatever a stream says of where they lie.

use mip_core::video::{Matrix, Range};
use mip_core::{ImageBuffer, PixelFormat, Sample};
use re_rav1d::PixelLayout;

use super::super::Fault;
use super::av1::Planes;
use super::picture::Colour;

/// What the numbers of ITU-T H.273 mean for colours.
enum Kind {
    /// Luma alone.
    Gray,
    /// Green, blue and red.
    Identity,
    Weighted(Matrix),
}

/// Fills an image with the colours of a picture, and its alpha where it has one.
pub(super) fn fill<T: Sample>(
    planes: &Planes,
    colour: Colour,
    alpha: Option<&Planes>,
    image: &mut ImageBuffer,
) -> Result<(), Fault> {
    let kind = kind(planes, colour)?;
    let levels = levels::<T>(planes.bits, colour.full);
    let of_alpha = alpha.map(|alpha| (alpha, levels_of_alpha::<T>(alpha)));
    let channels = match image.desc().format() {
        PixelFormat::Gray => 1,
        PixelFormat::Rgb => 3,
        _ => 4,
    };
    let mut chroma = Chroma::new(planes);
    let mut view = image.view_mut();
    for y in 0..planes.height {
        let row = view.row_as_mut::<T>(0, 0, y);
        let luma = planes.row(0, y);
        match &kind {
            Kind::Gray => {
                for (to, sample) in row.chunks_exact_mut(channels).zip(luma) {
                    to[..channels.min(3)].fill(levels[usize::from(*sample)]);
                }
            }
            Kind::Identity => {
                let (blue, red) = (planes.row(1, y), planes.row(2, y));
                for (x, to) in row.chunks_exact_mut(channels).enumerate() {
                    let samples = [red[x], luma[x], blue[x]];
                    to[..3].copy_from_slice(&samples.map(|sample| levels[usize::from(sample)]));
                }
            }
            Kind::Weighted(matrix) => {
                let (u, v) = chroma.row(planes, y);
                weighted(Weights::new::<T>(*matrix, planes.bits, colour.full), luma, u, v, row, channels);
            }
        }
        if let Some((alpha, levels)) = &of_alpha {
            for (to, sample) in row.chunks_exact_mut(channels).zip(alpha.row(0, y)) {
                to[channels - 1] = levels[usize::from(*sample)];
            }
        }
    }
    Ok(())
}

fn kind(planes: &Planes, colour: Colour) -> Result<Kind, Fault> {
    if planes.layout == PixelLayout::I400 {
        return Ok(Kind::Gray);
    }
    Ok(match colour.matrix {
        0 if planes.layout == PixelLayout::I444 => Kind::Identity,
        0 => return Err(Fault::Corrupt("its colours share samples without being chroma".to_owned())),
        1 => Kind::Weighted(Matrix::Bt709),
        // Not said: what libavif takes it for.
        2 | 5 | 6 => Kind::Weighted(Matrix::Bt601),
        9 => Kind::Weighted(Matrix::Bt2020),
        other => {
            let text = format!(
                "its colours are made of luma and chroma by matrix {other} of H.273, which is not read; save it with that of BT.601, BT.709 or BT.2020"
            );
            return Err(Fault::Corrupt(text));
        }
    })
}

/// Black, and the distance to white, of samples of so many bits.
fn black_and_white(bits: u32, full: bool) -> (u32, u32) {
    let (black, distance, _) = Range::Limited.levels();
    if full { (0, (1 << bits) - 1) } else { ((black as u32) << (bits - 8), (distance as u32) << (bits - 8)) }
}

/// What each value of luma is, to the nearest.
fn levels<T: Sample>(bits: u32, full: bool) -> Vec<T> {
    let (black, distance) = black_and_white(bits, full);
    let most = T::DTYPE.full_scale() as u32;
    let level = |sample: u32| (sample.saturating_sub(black).min(distance) * most + distance / 2) / distance;
    (0..1 << bits).map(|sample| T::from_f32(level(sample) as f32)).collect()
}

fn levels_of_alpha<T: Sample>(alpha: &Planes) -> Vec<T> {
    levels(alpha.bits, alpha.colour.full)
}

/// Factors from samples to colours.
#[derive(Clone, Copy)]
struct Weights {
    black: f32,
    middle: f32,
    luma: f32,
    red_v: f32,
    green: [f32; 2],
    blue_u: f32,
}

impl Weights {
    fn new<T: Sample>(matrix: Matrix, bits: u32, full: bool) -> Self {
        let (black, distance) = black_and_white(bits, full);
        let (_, _, chroma) = Range::Limited.levels();
        let chroma = if full { f64::from(distance) } else { chroma * f64::from(1 << (bits - 8)) };
        let most = T::DTYPE.full_scale();
        let (red, blue) = matrix.weights();
        let of_chroma = most / chroma;
        let (red_v, blue_u) = (2.0 - 2.0 * red, 2.0 - 2.0 * blue);
        let green = [blue * blue_u, red * red_v].map(|share| -share / (1.0 - red - blue));
        Self {
            black: black as f32,
            middle: (1 << (bits - 1)) as f32,
            luma: (most / f64::from(distance)) as f32,
            red_v: (red_v * of_chroma) as f32,
            green: green.map(|factor| (factor * of_chroma) as f32),
            blue_u: (blue_u * of_chroma) as f32,
        }
    }
}

fn weighted<T: Sample>(by: Weights, luma: &[u16], u: &[f32], v: &[f32], row: &mut [T], channels: usize) {
    for (to, ((luma, u), v)) in row.chunks_exact_mut(channels).zip(luma.iter().zip(u).zip(v)) {
        let luma = (f32::from(*luma) - by.black) * by.luma;
        let (u, v) = (u - by.middle, v - by.middle);
        to[0] = T::from_f32(luma + v * by.red_v);
        to[1] = T::from_f32(luma + u * by.green[0] + v * by.green[1]);
        to[2] = T::from_f32(luma + u * by.blue_u);
    }
}

/// A row of chroma for every pixel.
struct Chroma {
    shared: (usize, usize),
    /// Between rows, then between columns too.
    between: Vec<f32>,
    rows: [Vec<f32>; 2],
}

impl Chroma {
    fn new(planes: &Planes) -> Self {
        Self {
            shared: planes.shared(),
            between: Vec::new(),
            rows: [vec![0.0; planes.width], vec![0.0; planes.width]],
        }
    }

    fn row(&mut self, planes: &Planes, y: usize) -> (&[f32], &[f32]) {
        let (across, down) = self.shared;
        let count = planes.height.div_ceil(down);
        let (near, far) = if down == 2 { neighbours(y, count) } else { (y, y) };
        for (plane, row) in self.rows.iter_mut().enumerate() {
            let (near, far) = (planes.row(plane + 1, near), planes.row(plane + 1, far));
            self.between.clear();
            self.between
                .extend(near.iter().zip(far).map(|(near, far)| mixed(f32::from(*near), f32::from(*far))));
            if across == 1 {
                row.copy_from_slice(&self.between);
                continue;
            }
            for (x, to) in row.iter_mut().enumerate() {
                let (near, far) = neighbours(x, self.between.len());
                *to = mixed(self.between[near], self.between[far]);
            }
        }
        (&self.rows[0], &self.rows[1])
    }
}

/// A sample's, which is a quarter of the way from the nearer one to the farther.
fn mixed(near: f32, far: f32) -> f32 {
    0.75 * near + 0.25 * far
}

/// The numbers of the sample that a pixel shares with another and of the next nearest, which at the edge is the same.
fn neighbours(pixel: usize, samples: usize) -> (usize, usize) {
    let near = pixel / 2;
    let far = if pixel.is_multiple_of(2) { near.saturating_sub(1) } else { (near + 1).min(samples - 1) };
    (near, far)
}
