use super::erode::{KERNEL, SHAPE, extreme_operator};
use crate::border::{BORDER, BORDER_VALUE};
use crate::expr::Term;
use crate::field::create;
use crate::{Extra, OperatorSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "dilate",
    summary: "The highest sample around each pixel: bright parts grow",
    inputs: &["in"],
    params: &[KERNEL, SHAPE, BORDER.default_is("replicate"), BORDER_VALUE],
    extra: Extra::NONE,
    examples: &["", "kernel=5 shape=cross", "kernel=2", "border=constant border_value=0"],
    create: create::<Dilate>,
};

extreme_operator! {
    /// The highest sample of a neighbourhood, for every colour channel by itself; alpha is kept. Otherwise as [`crate::Erode`].
    ///
    /// An even `kernel` grows to the right and downwards, as by OpenCV's `dilate` with its default anchor.
    Dilate: SPEC, Term::max
}
