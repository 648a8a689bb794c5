use mip_core::ImageDesc;
use mip_plan::{Lookup, Rule};

use crate::choice::choice;
use crate::counted::{countable, looked_up, table};
use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

choice! {
    /// Whose arithmetic [`EqualizeHist`] follows; they differ by a few levels.
    pub enum EqualizeMethod as METHODS {
        /// `cv2.equalizeHist`: the first value that occurs becomes 0.
        #[default]
        OpenCv = "opencv",
        /// `PIL.ImageOps.equalize`, and torchvision's `equalize`.
        Pillow = "pillow",
    }
}

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "equalize_hist",
    summary: "Spreads the values of each channel so that all occur about equally often",
    inputs: &["in"],
    params: &[ParamSpec::new("method", ParamKind::choice(METHODS), "Whose arithmetic").default_is("opencv")],
    extra: Extra::NONE,
    examples: &["", "method=pillow"],
    create: create::<EqualizeHist>,
};

/// Each colour channel's values replaced by their share of all samples that are not brighter, over the full range. u8; alpha is
/// kept.
///
/// With counts h, their sums c and n samples: `opencv` takes `(c[v] - h[first]) * 255 / (n - h[first])`, rounded half to even
/// in binary32, with the first value that occurs; a flat image stays. `pillow` takes `step = (n - h[last]) / 255` and
/// `(step / 2 + c[v - 1]) / step` in whole numbers; what has too few samples for a step stays. OpenCV's `equalizeHist` of each
/// channel, Pillow's `ImageOps.equalize`: the same bytes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EqualizeHist {
    method: EqualizeMethod,
}

impl EqualizeHist {
    /// As OpenCV does it.
    pub fn new() -> Self {
        Self::default()
    }

    /// With this arithmetic.
    #[must_use]
    pub const fn method(self, method: EqualizeMethod) -> Self {
        Self { method }
    }
}

impl Parameters for EqualizeHist {
    fields! { "method" => method }
}

impl Operator for EqualizeHist {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        countable(&SPEC, &input)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let input = self.infer(inputs)?;
        let rule = match self.method {
            EqualizeMethod::OpenCv => Rule::Equalize,
            EqualizeMethod::Pillow => Rule::EqualizePillow,
        };
        Ok(looked_up(&input, table(&input, rule, [])?, Lookup::Rows))
    }
}
