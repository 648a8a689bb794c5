use mip_core::ImageDesc;

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
        Ok(Formula::each(median(places.collect())))
    }
}

/// The median of an odd number of values, by minima and maxima: of a few more than half of them the lowest and the highest
/// cannot be it, and are left out for the next value ("forgetful selection").
fn median(values: Vec<Term>) -> Term {
    let mut rest = values.into_iter();
    let half = rest.len() / 2;
    let mut candidates: Vec<Term> = rest.by_ref().take(half + 2).collect();
    while candidates.len() > 1 {
        to_the_ends(&mut candidates);
        candidates.pop();
        candidates.remove(0);
        candidates.extend(rest.next());
    }
    candidates.pop().unwrap_or_else(v)
}

/// Brings the lowest value to the front and the highest to the back: pairs are ordered first, then the lower ones of them
/// against each other, and the higher ones.
fn to_the_ends(values: &mut [Term]) {
    let last = values.len() - 1;
    let mut order = |low: usize, high: usize| {
        let (a, b) = (values[low].clone(), values[high].clone());
        values[low] = a.clone().min(b.clone());
        values[high] = a.max(b);
    };
    for i in 0..last.div_ceil(2) {
        order(i, last - i);
    }
    for i in 1..=last / 2 {
        order(0, i);
    }
    for i in last.div_ceil(2)..last {
        order(i, last);
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, ImageDesc, PixelFormat};

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
}
