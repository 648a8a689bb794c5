//! Images of the crate `image` in, samples as an array of `ndarray` out, without copying pixels.
//!
//! `cargo run --release --example 12_other_crates --features image,ndarray`

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use mini_image_pipe::convert::image::from_image;
use mini_image_pipe::convert::ndarray::as_array;
use mini_image_pipe::prelude::*;

fn main() -> mini_image_pipe::Result<()> {
    let photo = image::RgbImage::from_fn(640, 480, |x, _| image::Rgb([(x / 3) as u8; 3]));
    let tensor = Pipeline::builder()
        .then("small", Resize::to(224, 224))
        .then("scaled", Normalize::new([0.5], [0.25]))
        .then("planes", ToLayout::to(mini_image_pipe::Layout::Chw))
        .build()?
        .run(&from_image(photo.into())?)?;
    let array = as_array::<f32>(&tensor)?;
    println!("{:?}, from {} to {}", array.dim(), array[[0, 0, 0]], array[[0, 0, 223]]);
    assert_eq!(array.dim(), (3, 224, 224));
    Ok(())
}
