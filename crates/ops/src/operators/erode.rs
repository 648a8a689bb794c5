use crate::border::{BORDER, BORDER_VALUE};
use crate::choice::choice;
use crate::expr::{Term, v};
use crate::field::create;
use crate::{Extra, OperatorSpec, ParamKind, ParamSpec};

choice! {
    /// Which pixels around one a morphological operator looks at.
    pub enum Element as ELEMENTS {
        /// All of a square.
        #[default]
        Rect = "rect",
        /// Those of its middle row and column.
        Cross = "cross",
    }
}

pub(super) const KERNEL: ParamSpec = ParamSpec::new(
    "kernel",
    ParamKind::Int { min: 1, max: 31, odd: false },
    "Side of the square in pixels; the pixel itself is at kernel / 2, rounded down",
)
.default_is("3");

pub(super) const SHAPE: ParamSpec =
    ParamSpec::new("shape", ParamKind::choice(ELEMENTS), "Which pixels of the square count")
        .default_is("rect");

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "erode",
    summary: "The lowest sample around each pixel: bright parts shrink",
    inputs: &["in"],
    params: &[KERNEL, SHAPE, BORDER.default_is("replicate"), BORDER_VALUE],
    extra: Extra::NONE,
    examples: &[
        "",
        "kernel=5 shape=cross",
        "kernel=4 border=reflect",
        "kernel=31",
        "border=constant border_value=0",
    ],
    create: create::<Erode>,
};

/// An operator that looks for the least or the greatest sample of a neighbourhood: its builder and what follows from it.
macro_rules! extreme_operator {
    ($(#[$doc:meta])* $name:ident: $spec:path, $of:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            kernel: u32,
            shape: $crate::Element,
            border: $crate::border::BorderFields,
        }

        impl Default for $name {
            fn default() -> Self {
                Self { kernel: 3, shape: $crate::Element::Rect, border: mip_plan::Border::Replicate.into() }
            }
        }

        impl $name {
            /// With a square of this side, 1 to 31.
            pub fn new(kernel: u32) -> Self {
                Self { kernel, ..Self::default() }
            }

            /// With this part of the square.
            #[must_use]
            pub fn shape(self, shape: $crate::Element) -> Self {
                Self { shape, ..self }
            }

            /// With this border; [`mip_plan::Border::Replicate`] by default.
            #[must_use]
            pub fn border(self, border: mip_plan::Border) -> Self {
                Self { border: border.into(), ..self }
            }
        }

        impl $crate::field::Parameters for $name {
            $crate::field::fields! { "kernel" => kernel, "shape" => shape, "border" => border.mode, "border_value" => border.value }

            fn conflicts(&self) -> Result<(), $crate::ParamError> {
                self.border.conflicts(self)
            }
        }

        impl $crate::Operator for $name {
            $crate::field::plumbing!($spec);

            fn infer(&self, inputs: &[mip_core::ImageDesc]) -> Result<mip_core::ImageDesc, $crate::OpError> {
                let [input] = $crate::field::Parameters::accept(self, inputs)?;
                self.border.resolve(self, &input)?;
                Ok(input)
            }

            fn lower(&self, inputs: &[mip_core::ImageDesc]) -> Result<$crate::Lowered, $crate::OpError> {
                let output = self.infer(inputs)?;
                $crate::pointwise::stencils(
                    &$spec,
                    $crate::operators::erode::extreme(self.kernel, self.shape, $of),
                    self.border.resolve(self, &output)?,
                    output,
                )
            }
        }
    };
}

pub(super) use extreme_operator;

extreme_operator! {
    /// The lowest sample of a neighbourhood, for every colour channel by itself; alpha is kept.
    ///
    /// `kernel` is the side of a square, 1 to 31, `shape` the part of it that counts. Columns and rows `-(kernel / 2)` to
    /// `kernel - 1 - kernel / 2` from the pixel's own are looked at (halves rounded down), as by OpenCV's `erode` with its default
    /// anchor, which also erodes alpha. The default border `replicate` is the same as to look at pixels inside the image only, as
    /// OpenCV does. f32 samples are compared from left to right, then from top to bottom, by `a < b ? a : b`, so that a NaN stays
    /// where it comes last.
    Erode: SPEC, Term::min
}

/// The least of a neighbourhood, or the greatest by `of`, as expressions one after the other: a rectangle along x, then along
/// y, which gives the same samples with fewer of them read.
pub(super) fn extreme(kernel: u32, shape: Element, of: fn(Term, Term) -> Term) -> Vec<Term> {
    let before = (kernel / 2) as i8;
    let places = -before..kernel as i8 - before;
    let line = |across: bool| {
        let place = |i| if across { v().at(i, 0) } else { v().at(0, i) };
        places.clone().map(place).reduce(of).unwrap_or_else(v)
    };
    match shape {
        Element::Rect => vec![line(true), line(false)],
        Element::Cross => vec![of(line(true), line(false))],
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, ImageDesc, PixelFormat};

    use super::*;
    use crate::Operator as _;

    #[test]
    fn a_rectangle_is_two_lines_and_a_cross_is_one_expression() {
        let image = ImageDesc::new(9, 7, PixelFormat::Rgb, DType::U8).unwrap();
        let texts = |op: &Erode| -> Vec<String> {
            let steps = op.lower(&[image]).unwrap().steps;
            steps.iter().map(|s| s.kernel.expression().unwrap().to_string()).collect()
        };
        assert_eq!(
            texts(&Erode::new(3)),
            ["min(min(v(-1, 0), v), v(1, 0))", "min(min(v(0, -1), v), v(0, 1))"]
        );
        assert_eq!(texts(&Erode::new(2)), ["min(v(-1, 0), v)", "min(v(0, -1), v)"]);
        assert_eq!(texts(&Erode::new(2).shape(Element::Cross)), ["min(min(v(-1, 0), v), min(v(0, -1), v))"]);
        assert_eq!(texts(&Erode::new(1)), ["v", "v"]);
    }
}
