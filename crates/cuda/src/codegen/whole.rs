//! Kernels over whole images: counts, tables and lookups, edges, regions, distances and sums.

mod boxes;
mod regions;
mod tile;

use mip_core::ImageDesc;
use mip_plan::{
    Above, Automatic, Canny, Distance, Histogram, Integral, Lookup, Median, Metric, Rule, Table, TileGrid,
    Whole,
};

use super::fields::Fields;
use super::stage::{Body, Context, Grid};
use super::text::{self, Piece, planar};

/// Threads that count or make a table: one for each value.
const THREADS: u32 = Whole::VALUES;
/// Threads with counters of their own.
const WARPS: u32 = THREADS / 32;

/// The launches of a kernel, one after the other, all with the same parameters.
pub(super) fn bodies(context: &Context<'_>, kernel: Whole) -> Vec<Body> {
    match kernel {
        Whole::Histogram(kernel) => vec![histogram(context, kernel)],
        Whole::Table(kernel) => vec![table(context, kernel)],
        Whole::Lookup(Lookup::Rows) => vec![rows(context)],
        Whole::Lookup(Lookup::Between(grid)) => vec![between(context, grid)],
        Whole::Median(kernel) => vec![median(context, kernel)],
        Whole::Canny(kernel) => vec![canny(context, kernel)],
        Whole::Regions(step) => regions::bodies(context, step),
        Whole::Distance(step) => vec![distance(context, step)],
        Whole::Integral(step) => vec![integral(context, step)],
        Whole::Boxes(step) => vec![boxes::body(context, step)],
        Whole::Tile(kernel) => vec![tile::body(context, kernel)],
    }
}

fn median(context: &Context<'_>, kernel: Median) -> Body {
    const THREADS: u32 = 64;
    /// Threads of a multiprocessor's shared memory, with counters of 8 and of 16 bits.
    const AT_ONCE: [u64; 2] = [832, 384];
    let image = *context.input();
    let (channels, colors, planes) = channels(&image);
    let columns = image.width() as u64 * channels as u64;
    let (wide, looked_up) = (kernel.side > 15, image.channels() - usize::from(image.format().has_alpha()));
    // A strip's first row counts a whole square: as many strips as the device takes at once, and not many more rows counted
    // than made.
    let frames = (context.batch() * context.target.branches) as u64 * u64::from(planes);
    let threads = u64::from(context.target.multiprocessors) * AT_ONCE[usize::from(wide)];
    let strips = threads.div_ceil(columns.next_multiple_of(THREADS.into()) * frames);
    let strip = u64::from(image.height()).div_ceil(strips).max(u64::from(kernel.side / 2)) as u32;
    let bands = image.height().div_ceil(strip);
    let mut fields = image_fields(None, &image);
    fields.uint("planes", planes);
    // Planes that have medians.
    fields.uint("colors", if planes > 1 { looked_up as u32 } else { 1 });
    fields.uint("bands", bands);
    fields.int("strip", strip);
    fields.uint("constant", kernel.constant().into());
    let grid = Grid {
        block: [THREADS, 1],
        x: columns.div_ceil(THREADS.into()) as u32,
        y: u64::from(bands),
        planes,
        shared: THREADS * if wide { 512 } else { 256 },
    };
    let (border, _) = text::border(kernel.border);
    let count = if wide { "u16" } else { "u8" };
    let call = format!("median_counts<{count}, {}, {channels}, {colors}, {border}>", kernel.side / 2);
    Body {
        fields,
        tables: Vec::new(),
        uniforms: None,
        grid,
        pieces: &[Piece::Tile, Piece::Median],
        call: Box::new(move |_, _| call.clone()),
    }
}

fn canny(context: &Context<'_>, kernel: Canny) -> Body {
    const TILE: [u32; 2] = [64, 16];
    let image = *context.input();
    let bands = image.height().div_ceil(TILE[1]);
    let mut fields = image_fields(None, &image);
    fields.uint("bands", bands);
    fields.floats("uniform", 2);
    let [width, height] = TILE;
    // Strengths of 4 bytes of a pixel more on each side, two derivatives of 2, gray of two pixels more.
    let shared = (width + 2) * (height + 2) * 4 + width * height * 4 + (width + 4) * (height + 4);
    let grid = Grid {
        block: [THREADS, 1],
        x: image.width().div_ceil(width),
        y: u64::from(bands),
        planes: 1,
        shared,
    };
    let squared = u8::from(kernel.squared);
    Body {
        fields,
        tables: Vec::new(),
        uniforms: Some("uniform"),
        grid,
        pieces: &[Piece::Canny],
        call: Box::new(move |_, _| format!("canny_classes<{squared}>")),
    }
}

fn distance(context: &Context<'_>, step: Distance) -> Body {
    let image = *context.input();
    let (width, height) = (image.width(), image.height());
    let (grid, call) = match step {
        Distance::Columns => {
            let shared = 2 * 32 * 32 * 4;
            let grid = Grid { block: [1024, 1], x: width.div_ceil(32), y: 1, planes: 1, shared };
            (grid, "distance_columns".to_owned())
        }
        Distance::Rows(metric) => {
            let y = u64::from(height.div_ceil(2));
            let grid = Grid { block: [128, 2], x: width.div_ceil(128), y, planes: 1, shared: 0 };
            let metric = match metric {
                Metric::L2 => "L2",
                Metric::L1 => "L1",
                Metric::Linf => "LINF",
            };
            // Binary32 holds whole numbers up to 2^24.
            let squares = [width, height].map(|side| u64::from(side).pow(2));
            let float = if squares.iter().sum::<u64>() <= 1 << 24 { "float" } else { "double" };
            (grid, format!("distance_rows<{metric}, {float}>"))
        }
    };
    Body {
        fields: image_fields(None, &image),
        tables: Vec::new(),
        uniforms: None,
        grid,
        pieces: &[Piece::Distance],
        call: Box::new(move |_, _| call.clone()),
    }
}

fn integral(context: &Context<'_>, step: Integral) -> Body {
    /// Columns that a warp adds up at once.
    const CHUNK: u32 = 128;
    let image = *context.input();
    let (width_step, rows) = (channels(&image).0, Integral::strip(image.height()));
    let planes = image.channels() as u32;
    let grid = |warps: u32, strips: u32, shared: u32| Grid {
        block: [warps * 32, 1],
        x: strips,
        y: 1,
        planes,
        shared,
    };
    let (inputs, name, grid) = match step {
        Integral::Strips { .. } => (None, "integral_strips", grid(8, image.height().div_ceil(rows), 8 * 4)),
        Integral::Sums { .. } => {
            let shared = (Integral::ROWS * CHUNK + rows) * 4;
            (Some(2), "integral_sums", grid(Integral::ROWS, image.height() / rows + 1, shared))
        }
    };
    let mut fields = image_fields(inputs, &image);
    fields.uint("channels", planes);
    fields.int("rows", rows);
    let squared = step.squared();
    Body {
        fields,
        tables: Vec::new(),
        uniforms: None,
        grid,
        pieces: &[Piece::Integral],
        call: Box::new(move |i, _| format!("{name}<{width_step}, {squared}, {i}>")),
    }
}

/// An input, or a list of so many, the output, the batch, and the size of an image.
fn image_fields(inputs: Option<usize>, image: &ImageDesc) -> Fields {
    let mut fields = Fields::default();
    match inputs {
        None => fields.image("in"),
        Some(count) => fields.images("in", count),
    }
    fields.image("out");
    fields.uint("batch", 1);
    fields.int("width", image.width());
    fields.int("height", image.height());
    fields
}

/// Channels side by side, how many of them are colours, and planes that are handled one after the other.
fn channels(desc: &ImageDesc) -> (usize, usize, u32) {
    let colors = desc.channels() - usize::from(desc.format().has_alpha());
    if planar(desc) { (1, 1, desc.channels() as u32) } else { (desc.channels(), colors, 1) }
}

fn tiles(fields: &mut Fields, grid: TileGrid) {
    fields.uint("columns", grid.columns);
    fields.uint("rows", grid.rows);
    fields.uint("tile_width", grid.width);
    fields.uint("tile_height", grid.height);
}

fn histogram(context: &Context<'_>, kernel: Histogram) -> Body {
    let input = *context.input();
    let (channels, colors, planes) = channels(&input);
    // Alpha is no plane that is counted.
    let planes = if planes > 1 { planes - u32::from(input.format().has_alpha()) } else { 1 };
    let mut fields = Fields::default();
    fields.image("in");
    fields.image("out");
    fields.uint("batch", 1);
    fields.uint("planes", planes);
    fields.int("width", input.width());
    fields.int("height", input.height());
    tiles(&mut fields, kernel.grid);
    let grid = Grid {
        block: [THREADS, 1],
        x: kernel.grid.tiles() as u32,
        y: 1,
        planes,
        shared: WARPS * colors as u32 * Whole::VALUES * 4,
    };
    let reflected = u8::from(kernel.reflected);
    Body {
        fields,
        tables: Vec::new(),
        uniforms: None,
        grid,
        pieces: &[Piece::Whole],
        call: Box::new(move |i, _| format!("count_tiles<{channels}, {colors}, {reflected}, {i}>")),
    }
}

fn table(context: &Context<'_>, kernel: Table) -> Body {
    let output = context.output.layout.desc;
    let (rule, pixels) = match kernel.rule {
        Rule::Counts => ("COUNTS", 0),
        Rule::Statistics => ("STATISTICS", 0),
        Rule::Differences => ("DIFFERENCES", 0),
        Rule::Equalize => ("EQUALIZE", 0),
        Rule::EqualizePillow => ("EQUALIZE_PILLOW", 0),
        Rule::Stretch => ("STRETCH", 0),
        Rule::Threshold(Automatic::Otsu, _) => ("OTSU", 0),
        Rule::Threshold(Automatic::Triangle, _) => ("TRIANGLE", 0),
        Rule::Clahe { pixels } => ("CLAHE", pixels),
    };
    let above = match kernel.rule {
        Rule::Threshold(_, Above::BinaryInv) => "BINARY_INV",
        Rule::Threshold(_, Above::Trunc) => "TRUNC",
        Rule::Threshold(_, Above::ToZero) => "TO_ZERO",
        Rule::Threshold(_, Above::ToZeroInv) => "TO_ZERO_INV",
        Rule::Threshold(_, Above::Binary)
        | Rule::Counts
        | Rule::Statistics
        | Rule::Differences
        | Rule::Equalize
        | Rule::EqualizePillow
        | Rule::Stretch
        | Rule::Clahe { .. } => "BINARY",
    };
    let uniforms = kernel.rule.uniform_count();
    let mut fields = Fields::default();
    fields.image("in");
    fields.image("out");
    fields.uint("batch", 1);
    fields.uint("rows", output.height());
    fields.uint("parts", kernel.parts);
    fields.uint("pixels", pixels);
    fields.floats("uniform", uniforms.max(1));
    // Sums and variances of 8 bytes, counts, their sums, and places of 4; two ends.
    let shared = Whole::VALUES * (8 + 8 + 4 + 4 + 4) + 8;
    let grid = Grid { block: [THREADS, 1], x: output.height(), y: 1, planes: 1, shared };
    Body {
        fields,
        tables: Vec::new(),
        uniforms: (uniforms > 0).then_some("uniform"),
        grid,
        pieces: &[Piece::Whole],
        call: Box::new(move |_, _| format!("table_rows<{rule}, {above}>")),
    }
}

fn rows(context: &Context<'_>) -> Body {
    const BLOCK: [u32; 2] = [32, 8];
    const ROWS: u64 = 4;
    let image = *context.input();
    let (channels, colors, planes) = channels(&image);
    let mut fields = Fields::default();
    fields.images("in", 2);
    fields.image("out");
    fields.uint("batch", 1);
    fields.uint("planes", planes);
    // Planes, or channels beside each other, that are looked up.
    let looked_up = image.channels() - usize::from(image.format().has_alpha());
    fields.uint("colors", if planes > 1 { looked_up as u32 } else { 1 });
    fields.uint("bytes", image.row_bytes() as u32);
    fields.int("height", image.height());
    let grid = Grid {
        block: BLOCK,
        x: (image.row_bytes() as u32).div_ceil(BLOCK[0] * 16),
        y: u64::from(image.height()).div_ceil(u64::from(BLOCK[1]) * ROWS),
        planes,
        shared: colors as u32 * Whole::VALUES,
    };
    Body {
        fields,
        tables: Vec::new(),
        uniforms: None,
        grid,
        pieces: &[Piece::Whole],
        call: Box::new(move |i, o| format!("lookup_rows<{channels}, {colors}, {}>", i.min(o).min(16))),
    }
}

fn between(context: &Context<'_>, grid: TileGrid) -> Body {
    const BLOCK: [u32; 2] = [32, 8];
    let image = *context.input();
    let colors = image.channels() - usize::from(image.format().has_alpha());
    let (channels, planar) = (image.channels(), planar(&image));
    let mut fields = Fields::default();
    fields.images("in", 2);
    fields.image("out");
    fields.uint("batch", 1);
    fields.int("width", image.width());
    fields.int("height", image.height());
    tiles(&mut fields, grid);
    let grid = Grid {
        block: BLOCK,
        x: image.width().div_ceil(BLOCK[0]),
        y: u64::from(image.height().div_ceil(BLOCK[1])),
        planes: 1,
        shared: 0,
    };
    Body {
        fields,
        tables: Vec::new(),
        uniforms: None,
        grid,
        pieces: &[Piece::Whole],
        call: Box::new(move |_, _| format!("lookup_between<{channels}, {colors}, {planar}>")),
    }
}
