use mip_core::DType;

use super::apply::Reference;
use crate::Real;
use crate::golden::Params;

pub(super) const REFERENCE: Reference = Reference::new("cast", &["to", "scale"], |call| {
    let (from, to) = (call.desc().dtype(), target(call.params));
    // To the same dtype samples are only moved.
    if from == to {
        return call.image(0);
    }
    let image = call.read(0);
    if call.params.flag("scale").unwrap_or(true) { cast(&image, from, to) } else { image }
})
.output(|params, desc| desc.with_dtype(target(params)).unwrap());

fn target(params: &Params) -> DType {
    params.word("to").expect("to").parse().expect("a dtype")
}

/// Another dtype, full scale onto full scale: `v * full(to) / full(from)`, so 16 to 8 bit is `v / 257`,
/// 8 to 16 bit `v * 257`, and 8 bit to f32 `v / 255`.
pub fn cast(image: &Real, from: DType, to: DType) -> Real {
    image.map(|v| v * to.full_scale() / from.full_scale())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_scale_maps_to_full_scale() {
        for from in DType::ALL {
            for to in DType::ALL {
                let white = Real::from_fn(1, 1, 1, |_, _, _| from.full_scale());
                assert_eq!(cast(&white, from, to).data, [to.full_scale()]);
            }
        }
        let sixteen = Real::from_fn(1, 1, 1, |_, _, _| 257.0 * 7.0 + 64.25);
        assert_eq!(cast(&sixteen, DType::U16, DType::U8).data, [7.25]);
    }
}
