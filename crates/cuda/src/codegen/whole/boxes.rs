//! Lists of boxes, and what is marked by them.

use mip_plan::{Boxes, Labels, Whole};

use super::super::stage::{Body, Context, Grid, Table};
use super::super::text::{Piece, planar, sample};
use super::image_fields;

pub(super) fn body(context: &Context<'_>, step: Boxes) -> Body {
    match step {
        Boxes::Outline => marks(context, 1, None),
        Boxes::Label(labels) => marks(context, 1, Some(labels)),
        Boxes::Cover => marks(context, 2, None),
        Boxes::Suppress => suppress(context),
    }
}

/// `list`: which of the inputs has the boxes.
fn marks(context: &Context<'_>, list: usize, labels: Option<Labels>) -> Body {
    const TILE: [u32; 2] = [64, 32];
    /// Boxes that a block looks at together.
    const CHUNK: u32 = 256;
    let image = *context.input();
    let outline = list == 1;
    let bands = image.height().div_ceil(TILE[1]);
    let planes = if planar(&image) { image.channels() as u32 } else { 1 };
    let mut fields = image_fields(Some(list + 1), &image);
    fields.uint("bands", bands);
    fields.uint("planes", planes);
    fields.uint("boxes", context.inputs[list].layout.desc.height());
    let kernel = labels.map_or(Boxes::Outline, Boxes::Label);
    fields.floats("uniform", Whole::Boxes(kernel).uniform_count());
    let mut tables = Vec::new();
    if let Some(labels) = labels {
        fields.pointer("u32", "font");
        fields.uint("texts", labels.texts);
        tables.push(Table { field: "font".into(), bytes: Labels::FONT.map(u64::to_le_bytes).concat() });
    }
    let grid = Grid {
        block: [32, 8],
        x: image.width().div_ceil(TILE[0]),
        y: bands.into(),
        planes: 1,
        // Edges of 4 bytes, and a place in the list.
        shared: CHUNK * if labels.is_some() { 20 } else { 16 } + 4,
    };
    let (dtype, channels) = (sample(image.dtype()), image.channels() / planes as usize);
    let call = match labels {
        Some(labels) => format!("label_boxes<{dtype}, {channels}, {}>", labels.words),
        None => format!("mark_boxes<{dtype}, {channels}, {}, {list}>", u8::from(outline)),
    };
    Body {
        fields,
        tables,
        uniforms: outline.then_some("uniform"),
        grid,
        pieces: &[Piece::Boxes],
        call: Box::new(move |_, _| call.clone()),
    }
}

fn suppress(context: &Context<'_>) -> Body {
    let list = *context.input();
    let mut fields = image_fields(None, &list);
    fields.uint("boxes", list.height());
    fields.floats("uniform", Whole::Boxes(Boxes::Suppress).uniform_count());
    // A score and a row of 4 bytes each, and whether it counts.
    let grid = Grid { block: [256, 1], x: 1, y: 1, planes: 1, shared: Boxes::MAX * 9 };
    Body {
        fields,
        tables: Vec::new(),
        uniforms: Some("uniform"),
        grid,
        pieces: &[Piece::Boxes],
        call: Box::new(|_, _| "suppress_boxes".to_owned()),
    }
}
