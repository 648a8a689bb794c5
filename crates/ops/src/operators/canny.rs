use mip_core::{ImageDesc, PixelFormat};
use mip_plan::{Canny as Classes, Connectivity, Kernel, Regions, Whole};

use crate::counted::bytes_only;
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::{check_picture, of_gray};
use crate::regions::{Steps, numbered};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "canny",
    summary: "Edges one pixel wide: 255 on them, 0 elsewhere",
    inputs: &["in"],
    params: &[
        ParamSpec::new("low", ParamKind::number(0.0, 1e6), "Strength above which an edge goes on")
            .required()
            .uniform(),
        ParamSpec::new("high", ParamKind::number(0.0, 1e6), "Strength above which an edge begins")
            .required()
            .uniform(),
        ParamSpec::new(
            "l2_gradient",
            ParamKind::Bool,
            "Whether the strength is sqrt(dx^2 + dy^2) instead of |dx| + |dy|",
        )
        .default_is("false"),
    ],
    extra: Extra::NONE,
    examples: &["low=60 high=140", "low=40 high=90 l2_gradient=true", "low=0 high=0", "low=300 high=20"],
    create: create::<Canny>,
};

/// Canny's edges of the gray image, as gray u8; colour is turned to gray first. u8.
///
/// Derivatives are those of the 3x3 Sobel kernels, with the nearest pixel outside the image; their strength is a maximum across
/// the edge, among four directions. An edge begins where it is above `high` and goes on, in any of eight directions, where it is
/// above `low`; the two may be given in either order. The same bytes as OpenCV's `Canny(image, low, high, L2gradient=...)` with
/// its default aperture of 3; of colours OpenCV takes the strongest channel instead of gray. NPP and VPI differ in some pixels.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Canny {
    low: f64,
    high: f64,
    l2_gradient: bool,
}

impl Canny {
    /// With these thresholds, of `|dx| + |dy|`.
    pub const fn new(low: f64, high: f64) -> Self {
        Self { low, high, l2_gradient: false }
    }

    /// Whether the strength is `sqrt(dx^2 + dy^2)`; not by default.
    #[must_use]
    pub const fn l2_gradient(self, l2_gradient: bool) -> Self {
        Self { l2_gradient, ..self }
    }
}

impl Parameters for Canny {
    fields! { "low" => low, "high" => high, "l2_gradient" => l2_gradient }
}

impl Operator for Canny {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        check_picture(self, &input)?;
        bytes_only(&SPEC, &input)?;
        numbered(&SPEC, &input)?;
        Ok(input.with_format(PixelFormat::Gray)?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let classes = Whole::Canny(Classes { squared: self.l2_gradient });
        let thresholds = [self.low, self.high].map(|threshold| threshold as f32);
        let mut steps = Steps::new(Lowered::single(Kernel::Whole(classes), thresholds, output));
        let forest = steps.connect(&output, Connectivity::Eight, true)?;
        steps.add(Regions::Seeded, &[forest], [], output);
        of_gray(steps.lowered(), &inputs[0])
    }
}
