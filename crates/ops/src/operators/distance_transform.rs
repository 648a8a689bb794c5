use mip_core::{DType, ImageDesc};
use mip_plan::{Distance, Kernel, Metric, Whole};

use crate::choice::choice;
use crate::counted::{mask_only, refusal};
use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, KernelStep, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec, StepInput};

choice! {
    /// What a distance is, of dx columns and dy rows.
    pub enum DistanceMetric as METRICS {
        /// `sqrt(dx^2 + dy^2)`.
        #[default]
        L2 = "l2",
        /// `|dx| + |dy|`.
        L1 = "l1",
        /// `max(|dx|, |dy|)`.
        Linf = "linf",
    }
}

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "distance_transform",
    summary: "The distance of each pixel to the nearest one that is 0",
    inputs: &["in"],
    params: &[ParamSpec::new("metric", ParamKind::choice(METRICS), "What a distance is").default_is("l2")],
    extra: Extra::NONE,
    examples: &["", "metric=l1", "metric=linf"],
    create: create::<DistanceTransform>,
};

/// The distance from each pixel's centre to that of the nearest pixel that is 0, in pixels, of a gray image of u8, as gray f32.
///
/// Exact, whatever the distance: `l2` is the root of a whole number, rounded to binary32. Where no pixel is 0, it is infinite.
/// OpenCV's `distanceTransform` with `DIST_MASK_PRECISE` (its masks of 3 and 5 are off by up to 0.4 at a distance of 8), `DIST_L1`
/// and `DIST_C`; SciPy's `distance_transform_edt` and `distance_transform_cdt`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DistanceTransform {
    metric: DistanceMetric,
}

impl DistanceTransform {
    /// With this metric.
    pub const fn new(metric: DistanceMetric) -> Self {
        Self { metric }
    }
}

impl Parameters for DistanceTransform {
    fields! { "metric" => metric }
}

impl Operator for DistanceTransform {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        mask_only(&SPEC, &input)?;
        if input.width().max(input.height()) > Distance::MAX_SIDE {
            return Err(refusal(&SPEC, &input, "an image of at most 65536 on a side; resize it"));
        }
        Ok(input.with_dtype(DType::F32)?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let metric = match self.metric {
            DistanceMetric::L2 => Metric::L2,
            DistanceMetric::L1 => Metric::L1,
            DistanceMetric::Linf => Metric::Linf,
        };
        let step = |kernel, input| KernelStep {
            kernel: Kernel::Whole(Whole::Distance(kernel)),
            uniforms: [].into(),
            inputs: vec![input],
            output,
        };
        let columns = step(Distance::Columns, StepInput::Slot(0));
        Ok(Lowered { steps: vec![columns, step(Distance::Rows(metric), StepInput::Step(0))] })
    }
}
