use mip_core::DType;

use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("in_range", &["lower", "upper"], |call| {
    let list = |name| call.params.list(name).expect(name);
    in_range(&call.image(0), &list("lower"), &list("upper"), call.desc().dtype())
});

/// One channel: full scale where every colour channel lies between its bounds (both count; a list of one holds for all),
/// else 0. For f32 images the bounds are the nearest binary32; for integers they are compared exactly.
pub fn in_range(image: &Real, lower: &[f64], upper: &[f64], dtype: DType) -> Real {
    let number = |v: f64| if dtype == DType::F32 { f64::from(v as f32) } else { v };
    let of = |list: &[f64], c: usize| number(if list.len() == 1 { list[0] } else { list[c] });
    Real::from_fn(image.width, image.height, 1, |x, y, _| {
        let inside = |c| (of(lower, c)..=of(upper, c)).contains(&image.at(x, y, c));
        if (0..image.channels.min(3)).all(inside) { dtype.full_scale() } else { 0.0 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_counts_both_bounds_count_and_alpha_does_not() {
        let mask = |samples: [f64; 4]| {
            in_range(&Real::from_fn(1, 1, 4, |_, _, c| samples[c]), &[5.0, 6.0, 7.0], &[9.0], DType::U8).data
                [0]
        };
        assert_eq!(mask([5.0, 9.0, 7.0, 0.0]), 255.0);
        assert_eq!(mask([4.0, 9.0, 7.0, 0.0]), 0.0);
        assert_eq!(mask([5.0, 9.0, 9.5, 0.0]), 0.0);
    }
}
