//! Kernels over whole images among the cases.

use mip_core::{DType, ImageDesc, PixelFormat};
use mip_plan::{Above, Automatic, Histogram, Integral, Kernel, Lookup, Rule, Table, TileGrid, Whole};

use super::{Case, same};

/// Of images of u8: counts of bands and of tiles that go beyond the image, every table, both lookups, and sums over all
/// that lies before.
pub(super) fn whole(cases: &mut Vec<Case>, image: ImageDesc) {
    if image.dtype() != DType::U8 {
        return;
    }
    let (w, h) = (image.width(), image.height());
    let colors = (image.channels() - usize::from(image.format().has_alpha())) as u32;
    let rows = |width, height, dtype| ImageDesc::new(width, height, PixelFormat::Gray, dtype).unwrap();
    let bands = TileGrid { columns: 1, rows: h.div_ceil(5), width: w, height: 5 };
    let tiles = TileGrid { columns: 3, rows: 2, width: w / 3 + 1, height: h / 2 + 3 };
    let mut add = |name: &str, kernel, values: &[f32], inputs: &[ImageDesc], output| {
        let case = same(name, Kernel::Whole(kernel), values, image);
        cases.push(Case { inputs: inputs.to_vec(), output, ..case });
    };
    for (name, grid, reflected) in [("bands", bands, false), ("tiles", tiles, true), ("parts", tiles, false)]
    {
        let output = rows(Whole::VALUES, colors * grid.tiles() as u32, DType::F32);
        add(
            &format!("histogram {name}"),
            Whole::Histogram(Histogram { grid, reflected }),
            &[],
            &[image],
            output,
        );
    }
    for (lookup, tiles) in [(Lookup::Rows, 1), (Lookup::Between(tiles), tiles.tiles() as u32)] {
        let table = rows(Whole::VALUES, colors * tiles, DType::U8);
        add(&format!("lookup {lookup:?}"), Whole::Lookup(lookup), &[], &[image, table], image);
    }
    let sums = |height| image.with_dtype(DType::I32).and_then(|desc| desc.with_size(w + 1, height)).unwrap();
    let strips = sums(h.div_ceil(Integral::strip(h)));
    for squared in [false, true] {
        let (first, last) = (Integral::Strips { squared }, Integral::Sums { squared });
        add(&format!("{first:?}"), Whole::Integral(first), &[], &[image], strips);
        add(&format!("{last:?}"), Whole::Integral(last), &[], &[image, strips], sums(h + 1));
    }
    let threshold = |above| Rule::Threshold(Automatic::Otsu, above);
    for (rule, values) in [
        (Rule::Counts, &[][..]),
        (Rule::Statistics, &[]),
        (Rule::Differences, &[]),
        (Rule::Equalize, &[]),
        (Rule::EqualizePillow, &[]),
        (Rule::Stretch, &[7.5]),
        (threshold(Above::Binary), &[300.0]),
        (threshold(Above::BinaryInv), &[100.0]),
        (threshold(Above::Trunc), &[0.0]),
        (Rule::Threshold(Automatic::Triangle, Above::ToZero), &[0.0]),
        (Rule::Threshold(Automatic::Triangle, Above::ToZeroInv), &[0.0]),
        (Rule::Clahe { pixels: 200 }, &[2.5]),
        (Rule::Clahe { pixels: 300 }, &[0.0]),
    ] {
        let (width, dtype) = rule.shape();
        let counts = rows(Whole::VALUES, 7 * colors, DType::F32);
        let table = Whole::Table(Table { rule, parts: 7 });
        add(&format!("table {rule:?}"), table, values, &[counts], rows(width, colors, dtype));
    }
}
