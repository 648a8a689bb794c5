use mip_core::{DType, ImageDesc};
use mip_plan::{Border, Kernel, Separable};

use crate::border::{BORDER, BORDER_VALUE, BorderFields};
use crate::expr::{uniform, v, v_of};
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::{Formula, lowered};
use crate::tables::gaussian_weights;
use crate::{
    Extra, KernelStep, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec, StepInput,
};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "sharpen",
    summary: "Unsharp mask: adds what a blur takes away",
    inputs: &["in"],
    params: &[
        ParamSpec::new("amount", ParamKind::number(-5.0, 5.0), "How much is added").default_is("1").uniform(),
        ParamSpec::new("kernel", ParamKind::odd(3, 31), "Side of the blur's neighbourhood in pixels")
            .default_is("5"),
        ParamSpec::new(
            "sigma",
            ParamKind::above(0.0, 1e6),
            "Standard deviation of the blur in pixels; 0.15 * kernel + 0.35 if not given",
        )
        .uniform(),
        ParamSpec::new(
            "threshold",
            ParamKind::number(0.0, 1e6),
            "Smaller differences are left as they are, in sample units",
        )
        .default_is("0")
        .uniform(),
        BORDER,
        BORDER_VALUE,
    ],
    extra: Extra::NONE,
    examples: &[
        "",
        "amount=0.5 kernel=3",
        "amount=2.5 sigma=1.5 kernel=9 border=replicate",
        "amount=1.5 threshold=3.3",
        "amount=-1 border=constant border_value=1",
    ],
    create: create::<Sharpen>,
};

/// `v + amount * (v - blurred)` where `|v - blurred|` is greater than `threshold`, else v; alpha is kept.
///
/// `blurred` is [`crate::GaussianBlur`] of the image, not rounded in between (binary32). Computed as
/// `fma(amount, v - blurred, v)` and rounded once. Pillow's `UnsharpMask` with `percent / 100` as the amount is based on another
/// blur.
#[derive(Debug, Clone, PartialEq)]
pub struct Sharpen {
    amount: f64,
    kernel: u32,
    sigma: Option<f64>,
    threshold: f64,
    border: BorderFields,
}

impl Default for Sharpen {
    fn default() -> Self {
        Self::new(1.0)
    }
}

impl Sharpen {
    /// With so much added of what a blur over 5 x 5 pixels takes away.
    pub fn new(amount: f64) -> Self {
        Self { amount, kernel: 5, sigma: None, threshold: 0.0, border: BorderFields::default() }
    }

    /// With a blur over `kernel` x `kernel` pixels; odd, 3 to 31.
    #[must_use]
    pub fn kernel(self, kernel: u32) -> Self {
        Self { kernel, ..self }
    }

    /// With this standard deviation in pixels.
    #[must_use]
    pub fn sigma(self, sigma: f64) -> Self {
        Self { sigma: Some(sigma), ..self }
    }

    /// With smaller differences left as they are, in sample units.
    #[must_use]
    pub fn threshold(self, threshold: f64) -> Self {
        Self { threshold, ..self }
    }

    /// With this border; [`Border::Reflect101`] by default.
    #[must_use]
    pub fn border(self, border: Border) -> Self {
        Self { border: border.into(), ..self }
    }
}

impl Parameters for Sharpen {
    fields! {
        "amount" => amount,
        "kernel" => kernel,
        "sigma" => sigma,
        "threshold" => threshold,
        "border" => border.mode,
        "border_value" => border.value,
    }

    fn conflicts(&self) -> Result<(), ParamError> {
        self.border.conflicts(self)
    }
}

impl Operator for Sharpen {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        self.border.resolve(self, &input)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let wide = output.with_dtype(DType::F32)?;
        let border = self.border.resolve(self, &output)?;
        let radius = self.kernel / 2;
        let axis = gaussian_weights(self.kernel, self.sigma);
        let mut steps: Vec<KernelStep> = Vec::new();
        let mut source = StepInput::Slot(0);
        if output.dtype() != DType::F32 {
            steps.append(&mut Lowered::affine(wide, |_| (1.0, 0.0)).steps);
            source = StepInput::Step(0);
        }
        let kernel = Kernel::Separable(Separable { radius_x: radius, radius_y: radius, border });
        let uniforms = [&axis[..], &axis[..]].concat().into();
        steps.push(KernelStep { kernel, uniforms, inputs: vec![source], output: wide });
        let difference = v() - v_of(1);
        let far = difference.clone().abs().greater(uniform("threshold"));
        let result = far.then(difference.mul_add(uniform("amount"), v()), v());
        let number = |name: &str| if name == "amount" { self.amount } else { self.threshold };
        let expr = Formula::each(result).compile(&SPEC)?;
        let mut add = lowered(&expr, Border::default(), number, output).steps.remove(0);
        add.inputs = vec![StepInput::Slot(0), StepInput::Step(steps.len() - 1)];
        steps.push(add);
        Ok(Lowered { steps })
    }
}
