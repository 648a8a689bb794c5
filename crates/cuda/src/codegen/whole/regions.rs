//! Connected regions.

use mip_plan::{Connectivity, Regions};

use super::super::fields::Fields;
use super::super::stage::{Body, Context, Grid};
use super::super::text::Piece;
use super::image_fields;

/// Columns and rows of a tile that a block connects.
const TILE: u32 = 32;
/// Threads of a block that is not two-dimensional.
const THREADS: u32 = 256;
/// Bytes of what a warp's threads tell each other about runs.
const RUNS: u32 = 32 * 16;

type Call = Box<dyn Fn(usize, usize) -> String>;

pub(super) fn bodies(context: &Context<'_>, step: Regions) -> Vec<Body> {
    let image = *context.input();
    let (width, height) = (image.width(), image.height());
    let list = match step {
        Regions::Rank { by_area } => Some(1 + usize::from(by_area)),
        Regions::Number => Some(3),
        Regions::Connect { .. }
        | Regions::Areas
        | Regions::RowStarts
        | Regions::Seeded
        | Regions::Measure => None,
    };
    let mut fields = image_fields(list, &image);
    let lines = |count: u64, shared: u32| Grid {
        block: [THREADS, 1],
        x: count.clamp(1, 1 << 30) as u32,
        y: 1,
        planes: 1,
        shared,
    };
    // A thread makes four pixels of a row.
    let pixels =
        Grid { block: [32, 8], x: width.div_ceil(128), y: height.div_ceil(8).into(), planes: 1, shared: 0 };
    let runs = Grid {
        block: [THREADS, 1],
        x: width.div_ceil(32),
        y: height.div_ceil(8 * 32).into(),
        planes: 1,
        shared: THREADS / 32 * RUNS,
    };
    let named = |name: &'static str| -> Call { Box::new(move |_, _| name.to_owned()) };
    let aligned = |name: &'static str| -> Call { Box::new(move |_, o| format!("{name}<{}>", o.min(16))) };
    let mut uniforms = None;
    let launches: Vec<(Grid, Call)> = match step {
        Regions::Connect { connectivity, seeds } => {
            let bands = height.div_ceil(TILE);
            fields.uint("bands", bands);
            let eight = u8::from(connectivity == Connectivity::Eight);
            let seeds = u8::from(seeds);
            // Numbers of the tile's pixels and of the seeds' root, and which are seeds.
            let shared = (TILE * TILE * 2 + 4) * 4;
            let tiles =
                Grid { block: [THREADS, 1], x: width.div_ceil(TILE), y: bands.into(), planes: 1, shared };
            let across = |side: u32| u64::from((side - 1) / TILE);
            let edges = across(height) * u64::from(width) + across(width) * u64::from(height);
            let mut launches: Vec<(Grid, Call)> =
                vec![(tiles, Box::new(move |_, _| format!("connect_tiles<{eight}, {seeds}>")))];
            if edges > 0 {
                let grid = lines(edges.div_ceil(THREADS.into()), 0);
                launches.push((grid, Box::new(move |_, _| format!("join_tiles<{eight}>"))));
            }
            launches
        }
        Regions::Seeded => vec![(pixels, aligned("seeded"))],
        Regions::Number => vec![(pixels, aligned("number_regions"))],
        Regions::Rank { by_area } => {
            fields.floats("uniform", 1);
            uniforms = by_area.then_some("uniform");
            let call = format!("rank_roots<{}>", u8::from(by_area));
            vec![(lines(u64::from(height).div_ceil(8), 32), Box::new(move |_, _| call.clone()))]
        }
        Regions::RowStarts => {
            fields.int("rows", height);
            fields.int("last", width - 1);
            vec![(lines(1, THREADS * 4), named("row_starts"))]
        }
        Regions::Areas => vec![(pixels, aligned("no_areas")), (runs, named("add_areas"))],
        Regions::Measure => {
            let regions = context.output.layout.desc.height();
            fields.uint("regions", regions);
            let each = lines(u64::from(regions).div_ceil(THREADS.into()), 0);
            vec![
                (each, named("no_measures")),
                (runs, named("add_measures")),
                (each, named("finish_measures")),
            ]
        }
    };
    let body = |(grid, call): (Grid, Call)| Body {
        fields: Fields::clone(&fields),
        tables: Vec::new(),
        uniforms,
        grid,
        pieces: &[Piece::Regions],
        call,
    };
    launches.into_iter().map(body).collect()
}
