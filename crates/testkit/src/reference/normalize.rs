use mip_core::DType;

use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference =
    Reference::new("normalize", &["mean", "std", "scale", "to"], |call| {
        let scale = call.params.number("scale").unwrap_or(1.0 / call.desc().dtype().full_scale());
        let list = |name, default| call.params.list(name).unwrap_or_else(|| vec![default]);
        normalize(&call.image(0), scale, &list("mean", 0.0), &list("std", 1.0))
    })
    .output(|params, desc| {
        desc.with_dtype(params.word("to").map_or(DType::F32, |to| to.parse().expect("a dtype"))).unwrap()
    });

/// `(v * scale - mean[c]) / std[c]` in every channel; a list of one holds for all channels.
pub fn normalize(image: &Real, scale: f64, mean: &[f64], std: &[f64]) -> Real {
    let of = |list: &[f64], c: usize| if list.len() == 1 { list[0] } else { list[c] };
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| {
        (image.at(x, y, c) * scale - of(mean, c)) / of(std, c)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn per_channel_and_for_all() {
        let image = Real::from_fn(1, 1, 3, |_, _, c| [10.0, 20.0, 30.0][c]);
        assert_eq!(normalize(&image, 0.5, &[5.0], &[2.0]).data, [0.0, 2.5, 5.0]);
        assert_eq!(normalize(&image, 1.0, &[10.0, 10.0, 0.0], &[1.0, 2.0, 3.0]).data, [0.0, 5.0, 10.0]);
    }
}
