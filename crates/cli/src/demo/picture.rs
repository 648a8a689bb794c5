use std::f64::consts::{PI, TAU};

use mip_core::{ImageBuffer, ImageError};

use super::canvas::{Area, Canvas, Color};

const WIDTH: u32 = 1920;
const HEIGHT: u32 = 1080;

/// A 1920x1080 picture on which operators visibly differ: rings and lines down to one pixel (resize, blur),
/// shaded and sharp shapes (edges), saturated patches and gray steps (color conversion, threshold).
///
/// # Errors
/// When there is no memory.
pub(crate) fn test_picture() -> Result<ImageBuffer, ImageError> {
    let mut canvas = Canvas::new(WIDTH, HEIGHT)?;
    background(&mut canvas);
    let disc = |x| Area { x, y: 60, width: 400, height: 400 };
    zone_plate(&mut canvas, disc(60));
    sphere(&mut canvas, disc(526));
    color_wheel(&mut canvas, disc(993));
    star(&mut canvas, disc(1460));
    lines(&mut canvas);
    patches(&mut canvas);
    ramps(&mut canvas);
    Ok(canvas.into_image())
}

fn byte(value: f64) -> u8 {
    value.clamp(0.0, 255.0).round() as u8
}

fn background(canvas: &mut Canvas) {
    let all = Area { x: 0, y: 0, width: WIDTH, height: HEIGHT };
    canvas.shade(all, |x, y| {
        let (u, v) = (f64::from(x) / f64::from(WIDTH), f64::from(y) / f64::from(HEIGHT));
        Some([byte(50.0 + 90.0 * u), byte(70.0 + 60.0 * v), byte(130.0 - 60.0 * u + 30.0 * v)])
    });
}

/// Calls `color` with distance from the centre (1 at the rim) and angle.
fn disc(canvas: &mut Canvas, area: Area, color: impl Fn(f64, f64) -> Color) {
    let radius = f64::from(area.width) / 2.0;
    canvas.shade(area, |x, y| {
        let (dx, dy) = (f64::from(x) + 0.5 - radius, f64::from(y) + 0.5 - radius);
        let distance = dx.hypot(dy) / radius;
        (distance < 1.0).then(|| color(distance, dy.atan2(dx)))
    });
}

/// Rings that get finer outwards, to two pixels a ring at the rim: shows aliasing.
fn zone_plate(canvas: &mut Canvas, area: Area) {
    let radius = f64::from(area.width) / 2.0;
    disc(canvas, area, |r, _| [byte(127.5 + 127.5 * (PI / 2.0 * r * r * radius).cos()); 3]);
}

/// A lit ball with a highlight: smooth shading with one sharp rim.
fn sphere(canvas: &mut Canvas, area: Area) {
    disc(canvas, area, |r, angle| {
        let normal = [r * angle.cos(), r * angle.sin(), (1.0 - r * r).sqrt()];
        let light = [-0.5, -0.6, 0.624_5];
        let lit = normal.iter().zip(light).map(|(n, l)| n * l).sum::<f64>().max(0.0);
        let shine = 255.0 * lit.powi(40);
        [byte(30.0 + 210.0 * lit + shine), byte(20.0 + 90.0 * lit + shine), byte(30.0 + 50.0 * lit + shine)]
    });
}

/// All hues, from white in the middle to saturated at the rim.
fn color_wheel(canvas: &mut Canvas, area: Area) {
    disc(canvas, area, |r, angle| {
        let channel = |shift: f64| {
            let hue = 0.5 + 0.5 * (angle - shift).cos();
            byte(255.0 * (1.0 - r + r * hue))
        };
        [channel(0.0), channel(TAU / 3.0), channel(2.0 * TAU / 3.0)]
    });
}

/// Spokes: edges of every direction that meet in the middle.
fn star(canvas: &mut Canvas, area: Area) {
    disc(canvas, area, |_, angle| if (angle * 18.0).sin() > 0.0 { [245; 3] } else { [15; 3] });
}

/// Lines and checks of 1 to 4 pixels.
fn lines(canvas: &mut Canvas) {
    let shown = |on: bool| Some(if on { [240; 3] } else { [16; 3] });
    for (slot, pitch) in (0..).zip([1, 2, 3, 4]) {
        let area = |row: u32| Area { x: 60 + slot * 227, y: 520 + row * 120, width: 211, height: 100 };
        canvas.shade(area(0), |x, _| shown(x / pitch % 2 == 0));
        canvas.shade(area(1), |_, y| shown(y / pitch % 2 == 0));
        let right = |row| Area { x: 968 + slot * 227, ..area(row) };
        canvas.shade(right(0), |x, y| shown((x / pitch + y / pitch) % 2 == 0));
        canvas.shade(right(1), |x, y| shown((x + y) / (2 * pitch) % 2 == 0));
    }
}

/// Saturated colors, then gray steps.
fn patches(canvas: &mut Canvas) {
    const COLORS: [Color; 8] = [
        [255, 0, 0],
        [255, 128, 0],
        [255, 255, 0],
        [0, 255, 0],
        [0, 255, 255],
        [0, 0, 255],
        [128, 0, 255],
        [255, 0, 255],
    ];
    let grays = (0..8).map(|i| [byte(f64::from(i) * 255.0 / 7.0); 3]);
    for (slot, color) in (0..).zip(COLORS.into_iter().chain(grays)) {
        canvas.fill(Area { x: 60 + slot * 113, y: 770, width: 103, height: 110 }, color);
    }
}

/// Smooth ramps of gray, red, green and blue.
fn ramps(canvas: &mut Canvas) {
    let weights: [[u8; 3]; 4] = [[1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]];
    for (row, weight) in (0..).zip(weights) {
        let area = Area { x: 60, y: 910 + row * 32, width: 1800, height: 28 };
        canvas.shade(area, |x, _| Some(weight.map(|w| w * byte(f64::from(x) * 255.0 / 1799.0))));
    }
}
