use mip_core::{DType, ImageBuffer, ImageDesc, Layout, PixelFormat};

use super::*;

/// How far from a tie a result has to be the nearest integer.
const TIE: f64 = 1.0 / 2048.0;

fn every_way() -> impl Iterator<Item = (Matrix, Range)> {
    Matrix::ALL.into_iter().flat_map(|matrix| Range::ALL.map(|range| (matrix, range)))
}

/// Black, white minus black, chroma span.
fn levels(range: Range) -> (f64, f64, f64) {
    if range == Range::Full { (0.0, 255.0, 255.0) } else { (16.0, 219.0, 224.0) }
}

/// The definition, in f64: RGB of 0 to 255, not rounded.
fn rgb_of(matrix: Matrix, range: Range, [y, u, v]: [f64; 3]) -> [f64; 3] {
    let ((kr, kb), (black, luma, chroma)) = (matrix.weights(), levels(range));
    let (y, u, v) = ((y - black) / luma, (u - 128.0) / chroma, (v - 128.0) / chroma);
    let (r, b) = (y + v * (2.0 - 2.0 * kr), y + u * (2.0 - 2.0 * kb));
    let g = (y - kr * r - kb * b) / (1.0 - kr - kb);
    [r, g, b].map(|c| c * 255.0)
}

fn yuv_of(matrix: Matrix, range: Range, rgb: [f64; 3]) -> [f64; 3] {
    let ((kr, kb), (black, luma, chroma)) = (matrix.weights(), levels(range));
    let [r, g, b] = rgb.map(|c| c / 255.0);
    let y = kr * r + (1.0 - kr - kb) * g + kb * b;
    let (u, v) = ((b - y) / (2.0 - 2.0 * kb), (r - y) / (2.0 - 2.0 * kr));
    [black + y * luma, 128.0 + u * chroma, 128.0 + v * chroma]
}

#[track_caller]
fn assert_nearest(got: u8, exact: f64, what: &dyn Fn() -> String) {
    let off = (f64::from(got) - exact.clamp(0.0, 255.0)).abs();
    assert!(off <= 0.5 + TIE, "{}: {got} is not the nearest to {exact}", what());
}

fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

fn desc(width: u32, height: u32, format: PixelFormat) -> ImageDesc {
    ImageDesc::new(width, height, format, DType::U8).unwrap()
}

/// The definition again, with chroma replicated: what `yuv_to_rgb` makes of planes.
fn read(matrix: Matrix, range: Range, planes: &Planes) -> ImageBuffer {
    let (width, height) = planes.sizes().luma;
    let (chroma_width, _) = planes.sizes().chroma;
    let (across, down) = planes.sampling().subsampling().expect("chroma");
    let [luma, u, v] = planes.split();
    let pixel = |i: usize| {
        let chroma = (i / width) / down as usize * chroma_width + (i % width) / across as usize;
        let rgb = rgb_of(matrix, range, [luma[i], u[chroma], v[chroma]].map(f64::from));
        rgb.map(|c| c.round_ties_even().clamp(0.0, 255.0) as u8)
    };
    let pixels: Vec<u8> = (0..width * height).flat_map(pixel).collect();
    ImageBuffer::from_bytes(desc(width as u32, height as u32, PixelFormat::Rgb), &pixels).unwrap()
}

fn write(matrix: Matrix, range: Range, image: &ImageBuffer, sampling: Sampling) -> Planes {
    let mut planes = Planes::new(image.desc().width, image.desc().height, sampling).unwrap();
    YuvConverter::new(matrix, range).write(&image.view(), &mut planes);
    planes
}

#[test]
fn yuv_is_the_nearest_to_the_definition_for_all_red_and_green() {
    for (matrix, range) in every_way() {
        for b in (0..=255).step_by(17) {
            let pixels: Vec<u8> = (0..1 << 16).flat_map(|i| [i as u8, (i >> 8) as u8, b]).collect();
            let image = ImageBuffer::from_bytes(desc(256, 256, PixelFormat::Rgb), &pixels).unwrap();
            let planes = write(matrix, range, &image, Sampling::C444);
            let [luma, u, v] = planes.split();
            for (i, pixel) in pixels.chunks_exact(3).enumerate() {
                let rgb = [pixel[0], pixel[1], pixel[2]].map(f64::from);
                let exact = yuv_of(matrix, range, rgb);
                for (got, exact) in [luma[i], u[i], v[i]].into_iter().zip(exact) {
                    assert_nearest(got, exact, &|| format!("{matrix} {range} {rgb:?} to yuv"));
                }
            }
        }
    }
}

#[test]
fn chroma_is_averaged_when_writing_with_one_rounding() {
    for (width, height) in [(1, 1), (2, 1), (1, 2), (5, 3), (8, 6), (33, 7)] {
        let image = desc(width, height, PixelFormat::Rgb);
        let image = ImageBuffer::from_bytes(image, &noise(image.bytes(), u64::from(width * height))).unwrap();
        for sampling in [Sampling::C420Jpeg, Sampling::C422] {
            let planes = write(Matrix::Bt601, Range::Full, &image, sampling);
            let [_, u, v] = planes.split();
            let (chroma_width, _) = planes.sizes().chroma;
            let (across, down) = sampling.subsampling().unwrap();
            for i in 0..u.len() {
                let (x0, y0) = ((i % chroma_width) as u32 * across, (i / chroma_width) as u32 * down);
                let inside = (y0..(y0 + down).min(height))
                    .flat_map(|y| (x0..(x0 + across).min(width)).map(move |x| (x as usize, y as usize)));
                let exact: Vec<[f64; 3]> = inside
                    .map(|(x, y)| [0, 1, 2].map(|c| image.view().sample(0, x, y, c)))
                    .map(|rgb| yuv_of(Matrix::Bt601, Range::Full, rgb))
                    .collect();
                let mean = |c: usize| exact.iter().map(|yuv| yuv[c]).sum::<f64>() / exact.len() as f64;
                let what = || format!("{width}x{height} {sampling:?}, chroma sample {i}");
                assert_nearest(u[i], mean(1), &what);
                assert_nearest(v[i], mean(2), &what);
            }
        }
    }
}

#[test]
fn order_and_layout_of_the_image_do_not_matter() {
    let rgb = desc(7, 5, PixelFormat::Rgb);
    let image = ImageBuffer::from_bytes(rgb, &noise(rgb.bytes(), 5)).unwrap();
    let expected = write(Matrix::Bt2020, Range::Limited, &image, Sampling::C420);
    for format in [PixelFormat::Rgb, PixelFormat::Bgr] {
        for layout in Layout::ALL {
            let mut other = ImageBuffer::new(rgb.with_format(format).with_layout(layout)).unwrap();
            let order = format.rgb_indices().unwrap();
            for (x, y) in (0..5).flat_map(|y| (0..7).map(move |x| (x, y))) {
                for (channel, to) in order.into_iter().enumerate() {
                    let value = image.view().sample(0, x, y, channel) as u8;
                    match layout {
                        Layout::Hwc => other.view_mut().row_mut(0, 0, y)[3 * x + to] = value,
                        Layout::Chw => other.view_mut().row_mut(0, to, y)[x] = value,
                    }
                }
            }
            let got = write(Matrix::Bt2020, Range::Limited, &other, Sampling::C420);
            assert_eq!(got, expected, "{format} {layout}");
        }
    }
}

#[test]
fn gray_has_no_chroma() {
    for (matrix, range) in every_way() {
        let pixels: Vec<u8> = (0..=255).flat_map(|g| [g; 3]).collect();
        let image = ImageBuffer::from_bytes(desc(16, 16, PixelFormat::Rgb), &pixels).unwrap();
        let gray: Vec<u8> = (0..=255).collect();
        let gray = ImageBuffer::from_bytes(desc(16, 16, PixelFormat::Gray), &gray).unwrap();
        for sampling in [Sampling::C420, Sampling::C444] {
            let planes = write(matrix, range, &gray, sampling);
            assert!(planes.split()[1..].iter().all(|plane| plane.iter().all(|&c| c == 128)));
        }
        let full = write(matrix, range, &image, Sampling::C444);
        assert_eq!(full, write(matrix, range, &gray, Sampling::C444), "rgb of three equal channels is gray");
        let mono = write(matrix, range, &gray, Sampling::Mono);
        assert_eq!(mono.split()[0], full.split()[0]);
    }
}

#[test]
fn what_is_left_alone_comes_back_but_for_rounding() {
    for (matrix, range) in every_way() {
        for sampling in [Sampling::C420, Sampling::C422, Sampling::C444] {
            let mut planes = Planes::new(21, 13, sampling).unwrap();
            let bytes = noise(planes.bytes().len(), 77);
            // Colours that RGB can hold: middling luma, little chroma.
            for (to, from) in planes.bytes_mut().iter_mut().zip(bytes) {
                *to = 112 + from % 32;
            }
            let back = write(matrix, range, &read(matrix, range, &planes), sampling);
            for (a, b) in planes.bytes().iter().zip(back.bytes()) {
                assert!(a.abs_diff(*b) <= 1, "{matrix} {range} {sampling:?}: {a} became {b}");
            }
        }
    }
}

#[test]
fn what_video_cannot_hold_is_refused_with_a_remedy() {
    let refusal = |desc: ImageDesc, sampling| YuvConverter::check(&desc, sampling).err().unwrap_or_default();
    let rgb = desc(4, 4, PixelFormat::Rgb);
    assert!(refusal(rgb.with_dtype(DType::F32), Sampling::C420).contains("cast to=u8"));
    assert!(refusal(rgb.with_format(PixelFormat::Bgra), Sampling::C420).contains("color_convert to=rgb"));
    assert!(refusal(rgb, Sampling::Mono).contains("color_convert to=gray"));
    for sampling in Sampling::ALL {
        assert_eq!(refusal(rgb.with_format(PixelFormat::Gray).with_layout(Layout::Chw), sampling), "");
    }
}

#[test]
fn names_round_trip_and_the_matrix_follows_the_height() {
    for (matrix, range) in every_way() {
        assert_eq!((matrix.name().parse(), range.name().parse()), (Ok(matrix), Ok(range)));
    }
    assert!("470".parse::<Matrix>().unwrap_err().contains("601, 709, 2020"));
    assert!("tv".parse::<Range>().unwrap_err().contains("full, limited"));
    assert_eq!(Matrix::usual_for_height(719), Matrix::Bt601);
    assert_eq!(Matrix::usual_for_height(720), Matrix::Bt709);
}
