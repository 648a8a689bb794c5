use mip_core::ImageDesc;
use mip_plan::Border;

use super::erode::{KERNEL, SHAPE, extreme};
use crate::border::{BORDER, BORDER_VALUE, BorderFields};
use crate::choice::choice;
use crate::expr::{Term, v, v_of};
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::{Formula, lowered, stencils};
use crate::{
    Element, Extra, KernelStep, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec,
    StepInput,
};

/// The lower of two, or the higher.
type Extreme = fn(Term, Term) -> Term;

choice! {
    /// What [`Morphology`] does.
    pub enum MorphologyOp as OPS {
        /// Erodes, then dilates: specks go.
        #[default]
        Open = "open",
        /// Dilates, then erodes: holes are filled.
        Close = "close",
        /// The dilated image less the eroded one: outlines.
        Gradient = "gradient",
        /// The image less the opened one: what was bright and small.
        TopHat = "tophat",
        /// The closed image less the image: what was dark and small.
        BlackHat = "blackhat",
    }
}

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "morphology",
    summary: "Opening, closing, outlines, and what they take away",
    inputs: &["in"],
    params: &[
        ParamSpec::new("operation", ParamKind::choice(OPS), "What is done").default_is("open"),
        KERNEL,
        SHAPE,
        ParamSpec::new("iterations", ParamKind::int(1, 16), "So many erosions and so many dilations")
            .default_is("1"),
        BORDER.default_is("replicate"),
        BORDER_VALUE,
    ],
    extra: Extra::NONE,
    examples: &[
        "",
        "operation=open",
        "operation=close kernel=5",
        "operation=gradient",
        "operation=tophat kernel=5 shape=cross",
        "operation=blackhat kernel=3 border=reflect",
        "operation=open kernel=3 iterations=2",
        "operation=gradient kernel=2 border=constant border_value=0",
    ],
    create: create::<Morphology>,
};

/// Compositions of [`crate::Erode`] and [`crate::Dilate`], for every colour channel by itself; alpha is kept.
///
/// With several `iterations` an opening is so many erosions and then so many dilations, as OpenCV's `morphologyEx` has it.
/// Differences are exact for integers. What lies outside the image says `border`, of every one of the steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Morphology {
    op: MorphologyOp,
    kernel: u32,
    shape: Element,
    iterations: u32,
    border: BorderFields,
}

impl Default for Morphology {
    fn default() -> Self {
        Self::new(MorphologyOp::Open, 3)
    }
}

impl Morphology {
    /// With a square of this side, 1 to 31. The border is [`Border::Replicate`] if not set.
    pub fn new(op: MorphologyOp, kernel: u32) -> Self {
        Self { op, kernel, shape: Element::Rect, iterations: 1, border: Border::Replicate.into() }
    }

    /// With this part of the square.
    #[must_use]
    pub fn shape(self, shape: Element) -> Self {
        Self { shape, ..self }
    }

    /// With so many erosions and dilations, 1 to 16.
    #[must_use]
    pub fn iterations(self, iterations: u32) -> Self {
        Self { iterations, ..self }
    }

    /// With this border.
    #[must_use]
    pub fn border(self, border: Border) -> Self {
        Self { border: border.into(), ..self }
    }

    fn steps(
        &self,
        sequence: &[Extreme],
        border: Border,
        output: ImageDesc,
    ) -> Result<Vec<KernelStep>, OpError> {
        let times = self.iterations as usize;
        let repeated = sequence.iter().flat_map(|&of| std::iter::repeat_n(of, times));
        let terms = repeated.flat_map(|of| extreme(self.kernel, self.shape, of)).collect();
        Ok(stencils(&SPEC, terms, border, output)?.steps)
    }
}

impl Parameters for Morphology {
    fields! {
        "operation" => op,
        "kernel" => kernel,
        "shape" => shape,
        "iterations" => iterations,
        "border" => border.mode,
        "border_value" => border.value,
    }

    fn conflicts(&self) -> Result<(), ParamError> {
        self.border.conflicts(self)
    }
}

impl Operator for Morphology {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        self.border.resolve(self, &input)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let border = self.border.resolve(self, &output)?;
        let (low, high): (Extreme, Extreme) = (Term::min, Term::max);
        // What the first steps make, and what is taken from what: none, the image from it, or it from the image.
        let (sequence, image_first): (&[_], Option<bool>) = match self.op {
            MorphologyOp::Open => (&[low, high], None),
            MorphologyOp::Close => (&[high, low], None),
            MorphologyOp::TopHat => (&[low, high], Some(true)),
            MorphologyOp::BlackHat => (&[high, low], Some(false)),
            MorphologyOp::Gradient => (&[high], None),
        };
        let mut steps = self.steps(sequence, border, output)?;
        let made = StepInput::Step(steps.len() - 1);
        let operands = match (self.op, image_first) {
            (MorphologyOp::Gradient, _) => {
                let first = steps.len();
                let mut eroded = self.steps(&[low], border, output)?;
                for input in eroded.iter_mut().flat_map(|step| &mut step.inputs) {
                    if let StepInput::Step(step) = input {
                        *step += first;
                    }
                }
                steps.append(&mut eroded);
                [made, StepInput::Step(steps.len() - 1)]
            }
            (_, Some(true)) => [StepInput::Slot(0), made],
            (_, Some(false)) => [made, StepInput::Slot(0)],
            (_, None) => return Ok(Lowered { steps }),
        };
        let difference = Formula::each(v() - v_of(1)).compile(&SPEC)?;
        let mut difference = lowered(&difference, Border::default(), |_| 0.0, output).steps.remove(0);
        difference.inputs = operands.to_vec();
        steps.push(difference);
        Ok(Lowered { steps })
    }
}
