//! w3 with other Rust crates: 32 images of 500x375 RGB to 341x256, the middle 224x224, normalised, planes of f32.
//!
//! For every number of seconds on a line of standard input it runs that long and prints a line of JSON, as ours does.
//! The images of a batch are spread over threads; every thread keeps its buffers.
//!
//! `crates-peers PEER THREADS`, with `fast_image_resize` (antialiased), `kornia` (each step a call, not antialiased) or
//! `kornia-fused` (resize, normalise and planes in one call, not antialiased).

use std::error::Error;
use std::io::BufRead;
use std::time::Instant;

use fast_image_resize::images::{Image as Plain, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use kornia_image::{Image, ImageSize};
use kornia_imgproc::interpolation::InterpolationMode;
use kornia_imgproc::resize::{NormalizeParams, resize_normalize_to_tensor_u8_to_f32_bilinear};
use rayon::prelude::*;

const BATCH: usize = 32;
const INPUT: [usize; 2] = [500, 375];
const SMALL: [usize; 2] = [341, 256];
const SIDE: usize = 224;
const LEFT: usize = (SMALL[0] - SIDE) / 2;
const TOP: usize = (SMALL[1] - SIDE) / 2;
const MEAN: [f32; 3] = [0.485, 0.456, 0.406];
const STD: [f32; 3] = [0.229, 0.224, 0.225];

type Failure = Box<dyn Error + Send + Sync>;

/// What turns one image into its part of the tensor.
trait Peer: Send {
    fn run(&mut self, image: &[u8], tensor: &mut [f32]) -> Result<(), Failure>;
}

struct FastImageResize {
    resizer: Resizer,
    options: ResizeOptions,
    small: Plain<'static>,
}

impl FastImageResize {
    fn new() -> Self {
        let algorithm = ResizeAlg::Convolution(FilterType::Bilinear);
        Self {
            resizer: Resizer::new(),
            options: ResizeOptions::new().resize_alg(algorithm).use_alpha(false),
            small: Plain::new(SMALL[0] as u32, SMALL[1] as u32, PixelType::U8x3),
        }
    }
}

impl Peer for FastImageResize {
    fn run(&mut self, image: &[u8], tensor: &mut [f32]) -> Result<(), Failure> {
        let source = ImageRef::new(INPUT[0] as u32, INPUT[1] as u32, image, PixelType::U8x3)?;
        self.resizer.resize(&source, &mut self.small, &self.options)?;
        normalise(self.small.buffer(), tensor);
        Ok(())
    }
}

/// The middle of a small image to planes, in a loop that compilers vectorise.
fn normalise(small: &[u8], tensor: &mut [f32]) {
    for (c, plane) in tensor.chunks_exact_mut(SIDE * SIDE).enumerate() {
        let (scale, offset) = (1.0 / (255.0 * STD[c]), -MEAN[c] / STD[c]);
        for (y, row) in plane.chunks_exact_mut(SIDE).enumerate() {
            let start = ((TOP + y) * SMALL[0] + LEFT) * 3;
            let pixels = small[start..start + 3 * SIDE].chunks_exact(3);
            row.iter_mut().zip(pixels).for_each(|(to, pixel)| *to = f32::from(pixel[c]) * scale + offset);
        }
    }
}

struct Kornia {
    small: Image<u8, 3>,
}

impl Peer for Kornia {
    fn run(&mut self, image: &[u8], tensor: &mut [f32]) -> Result<(), Failure> {
        let size = ImageSize { width: INPUT[0], height: INPUT[1] };
        let source = Image::<u8, 3>::from_size_slice(size, image)?;
        kornia_imgproc::resize::resize_fast_rgb(&source, &mut self.small, InterpolationMode::Bilinear)?;
        normalise(self.small.as_slice(), tensor);
        Ok(())
    }
}

struct KorniaFused {
    normalise: NormalizeParams<3>,
    whole: Vec<f32>,
}

impl Peer for KorniaFused {
    fn run(&mut self, image: &[u8], tensor: &mut [f32]) -> Result<(), Failure> {
        let ([width, height], [w, h]) = (INPUT, SMALL);
        resize_normalize_to_tensor_u8_to_f32_bilinear(
            image,
            width,
            height,
            &mut self.whole,
            w,
            h,
            &self.normalise,
        )?;
        for (whole, plane) in self.whole.chunks_exact(w * h).zip(tensor.chunks_exact_mut(SIDE * SIDE)) {
            for (y, row) in plane.chunks_exact_mut(SIDE).enumerate() {
                row.copy_from_slice(&whole[(TOP + y) * w + LEFT..][..SIDE]);
            }
        }
        Ok(())
    }
}

fn peer(name: &str) -> Result<Box<dyn Peer>, Failure> {
    Ok(match name {
        "fast_image_resize" => Box::new(FastImageResize::new()),
        "kornia" => Box::new(Kornia {
            small: Image::from_size_val(ImageSize { width: SMALL[0], height: SMALL[1] }, 0)?,
        }),
        "kornia-fused" => Box::new(KorniaFused {
            normalise: NormalizeParams::from_mean_std(MEAN, STD),
            whole: vec![0.0; 3 * SMALL[0] * SMALL[1]],
        }),
        _ => return Err("the peers are fast_image_resize, kornia and kornia-fused".into()),
    })
}

fn main() -> Result<(), Failure> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let threads: usize = std::env::args().nth(2).map_or(Ok(1), |text| text.parse())?;
    // kornia's own loops use rayon's global pool.
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let mut state = 1_u32;
    let mut byte = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let images: Vec<Vec<u8>> =
        (0..BATCH).map(|_| (0..3 * INPUT[0] * INPUT[1]).map(|_| byte()).collect()).collect();
    let mut peers = (0..threads).map(|_| peer(&name)).collect::<Result<Vec<_>, _>>()?;
    let mut tensor = vec![0.0_f32; BATCH * 3 * SIDE * SIDE];
    let share = BATCH.div_ceil(threads);
    let mut execute = || {
        let parts =
            tensor.par_chunks_mut(share * 3 * SIDE * SIDE).zip(images.par_chunks(share)).zip(&mut peers);
        parts.try_for_each(|((tensor, images), peer)| {
            let mut parts = tensor.chunks_exact_mut(3 * SIDE * SIDE).zip(images);
            parts.try_for_each(|(tensor, image)| peer.run(image, tensor))
        })
    };
    for _ in 0..5 {
        execute()?;
    }
    for seconds in std::io::stdin().lock().lines() {
        let seconds: f64 = seconds?.trim().parse()?;
        let (start, mut times) = (Instant::now(), Vec::new());
        while times.is_empty() || start.elapsed().as_secs_f64() < seconds {
            let one = Instant::now();
            execute()?;
            times.push(one.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        println!(
            "{{\"runs\": {}, \"min_ms\": {:.4}, \"median_ms\": {:.4}}}",
            times.len(),
            times[0],
            times[times.len() / 2]
        );
    }
    Ok(())
}
