use mip_core::ImageDesc;
use mip_plan::median_of;

use crate::border::{BORDER, BORDER_VALUE, BorderFields};
use crate::expr::{Term, v};
use crate::field::create;
use crate::pointwise::Formula;
use crate::windowed::{Windowed, windowed};
use crate::{Extra, OperatorSpec, ParamError, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "median",
    summary: "The middle sample around each pixel: removes specks, keeps edges",
    inputs: &["in"],
    params: &[
        ParamSpec::new("kernel", ParamKind::odd(1, 5), "Side of the square in pixels").default_is("3"),
        BORDER.default_is("replicate"),
        BORDER_VALUE,
    ],
    extra: Extra::NONE,
    examples: &["", "kernel=5", "kernel=1", "kernel=3 border=reflect", "border=constant border_value=1"],
    create: create::<Median>,
};

/// The median of the samples in a square of 1, 3 or 5 pixels a side, for every colour channel by itself; alpha is kept.
///
/// OpenCV's `medianBlur`, which also filters alpha. Of floats among which one is NaN, the result is one of them, the same on
/// every device.
#[derive(Debug, Clone, PartialEq)]
pub struct Median {
    kernel: u32,
    border: BorderFields,
}

impl Default for Median {
    fn default() -> Self {
        Self::new(3)
    }
}

impl Median {
    /// Over `kernel` x `kernel` pixels; 1, 3 or 5 (3 by default). The border is [`mip_plan::Border::Replicate`] if not set.
    pub fn new(kernel: u32) -> Self {
        Self { kernel, border: mip_plan::Border::Replicate.into() }
    }
}

windowed! { Median: SPEC, "kernel" => kernel }

impl Windowed for Median {
    fn border(&self) -> BorderFields {
        self.border
    }

    fn formula(&self, _: &ImageDesc) -> Result<Formula, ParamError> {
        let radius = (self.kernel / 2) as i8;
        let places = (-radius..=radius).flat_map(|y| (-radius..=radius).map(move |x| v().at(x, y)));
        let order = |a: &Term, b: &Term| (a.clone().min(b.clone()), a.clone().max(b.clone()));
        Ok(Formula::each(median_of(places.collect(), order).unwrap_or_else(v)))
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, ImageDesc, PixelFormat};
    use mip_plan::Kernel;

    use super::*;
    use crate::Operator as _;

    #[test]
    fn it_needs_few_operations() {
        let image = ImageDesc::new(9, 7, PixelFormat::Gray, DType::U8).unwrap();
        let count = |kernel| {
            let step = Median::new(kernel).lower(&[image]).unwrap().steps.remove(0);
            step.kernel.expression().unwrap().operations()
        };
        assert_eq!([count(1), count(3), count(5)], [0, 32, 240]);
    }

    #[test]
    fn devices_recognise_it() {
        let image = ImageDesc::new(9, 7, PixelFormat::Gray, DType::U8).unwrap();
        let side = |kernel| match Median::new(kernel).lower(&[image]).unwrap().steps.remove(0).kernel {
            Kernel::Stencil(stencil) => stencil.median_side(),
            _ => None,
        };
        assert_eq!([1, 3, 5].map(side), [None, Some(3), Some(5)]);
    }
}
