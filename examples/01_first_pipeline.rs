//! Open, run, save.
//!
//! `cargo run --release --example 01_first_pipeline [PHOTO]`

use mini_image_pipe::prelude::*;

fn main() -> mini_image_pipe::Result<()> {
    let photo = std::env::args().nth(1).unwrap_or("docs/images/demo.png".into());
    let edges = std::env::temp_dir().join("edges.png");

    let out = Pipeline::parse("resize width=640 ! sobel")?.run(&open(photo)?)?;
    save(&out, &edges)?;

    assert_eq!(open(&edges)?, out, "PNG keeps every pixel");
    Ok(())
}
