//! Operators that are an expression of the samples of a pixel, or of those around it: shape and kernel follow from the
//! expression.

use std::sync::Arc;

use mip_core::{DType, ImageDesc, PixelFormat};
use mip_plan::{Border, Channel, Expr, Kernel, Point, Results, Stencil, Uniforms};

use crate::expr::{Term, b, g, r, size_of, v};
use crate::field::Parameters;
use crate::{KernelStep, Lowered, OpError, OperatorSpec, ParamError, StepInput};

/// What an operator computes of given images: an expression and the numbers of its uniforms.
///
/// For images alike it must be the same expression whatever the uniform parameters are; these make the numbers.
#[derive(Debug)]
pub(crate) struct Formula {
    results: Vec<Term>,
    each: bool,
    numbers: Vec<(String, f64)>,
}

impl Formula {
    /// The same expression for each colour channel; alpha is kept from the first input.
    pub(crate) fn each(result: Term) -> Self {
        Self::of(vec![result], true)
    }

    /// One expression for each channel of the result, in the order red, green, blue, alpha, or gray alone.
    pub(crate) fn channels(results: impl Into<Vec<Term>>) -> Self {
        Self::of(results.into(), false)
    }

    fn of(results: Vec<Term>, each: bool) -> Self {
        Self { results, each, numbers: Vec::new() }
    }

    /// One channel of the input's colours: a gray image.
    pub(crate) fn gray(input: &ImageDesc, result: Term) -> Self {
        if input.format() == PixelFormat::Gray { Self::each(result) } else { Self::channels([result]) }
    }

    /// With the numbers of its uniforms by name, which are rounded to binary32.
    pub(crate) fn numbers(self, numbers: Vec<(String, f64)>) -> Self {
        Self { numbers, ..self }
    }

    pub(crate) fn compile(&self, spec: &OperatorSpec) -> Result<Arc<Expr>, OpError> {
        Ok(Term::compile(&self.results, self.each).map(Arc::new).map_err(|message| {
            ParamError::Expression { operator: spec.name, parameter: "expr".to_owned(), column: 1, message }
        })?)
    }

    /// Its kernel, for a formula without uniforms.
    pub(crate) fn kernel(&self, spec: &OperatorSpec) -> Result<Kernel, OpError> {
        Ok(kernel(&self.compile(spec)?, Border::default()))
    }

    pub(crate) fn value(&self, name: &str) -> f64 {
        self.numbers.iter().find(|(known, _)| known == name).map(|(_, value)| *value).unwrap_or_default()
    }
}

/// The image must be gray, or in red, green and blue.
pub(crate) fn check_picture(operator: &impl Parameters, input: &ImageDesc) -> Result<(), OpError> {
    if !input.format().is_color_space() {
        return Ok(());
    }
    let spec = operator.spec();
    Err(OpError::Input {
        operator: spec.name,
        slot: spec.inputs[0].to_owned(),
        given: input.to_string(),
        allowed: "gray, or in colour: rgb, bgr, rgba or bgra; convert it with color_convert to=rgb"
            .to_owned(),
    })
}

/// The colour channels of the first input in its own order, as lists of one number a channel have them.
pub(crate) fn colors(input: &ImageDesc) -> Vec<Term> {
    if input.format().is_color_space() {
        return (0..3).map(|index| Term::channel(0, Channel::Index(index))).collect();
    }
    let Some([red, green, blue]) = input.format().rgb_indices() else { return vec![v()] };
    let mut colors = [(red, r()), (green, g()), (blue, b())];
    colors.sort_by_key(|(place, _)| *place);
    colors.map(|(_, color)| color).to_vec()
}

/// An operator whose inputs are alike and whose result is a [`Formula`] of their samples. [`pointwise!`] makes it an
/// [`crate::Operator`].
pub(crate) trait Pointwise: Parameters {
    /// What it computes of inputs like this one, which has been accepted.
    fn formula(&self, input: &ImageDesc) -> Result<Formula, ParamError>;
}

/// [`crate::Operator::infer`] of a [`Pointwise`].
pub(crate) fn infer(operator: &impl Pointwise, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
    let input = operator.accept_alike(inputs)?;
    let spec = operator.spec();
    let formula = operator.formula(&input)?;
    shape(spec, &formula.compile(spec)?, Border::default(), None, inputs)
}

/// [`crate::Operator::lower`] of a [`Pointwise`].
pub(crate) fn lower(operator: &impl Pointwise, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
    let input = operator.accept_alike(inputs)?;
    let (spec, formula) = (operator.spec(), operator.formula(&input)?);
    let expr = formula.compile(spec)?;
    let output = shape(spec, &expr, Border::default(), None, inputs)?;
    Ok(lowered(&expr, Border::default(), |name| formula.value(name), output))
}

/// The result of an expression of images of one size; `to` is its dtype, the first input's if not given.
pub(crate) fn shape(
    spec: &OperatorSpec,
    expr: &Arc<Expr>,
    border: Border,
    to: Option<DType>,
    inputs: &[ImageDesc],
) -> Result<ImageDesc, OpError> {
    let first = inputs[0];
    let refuse = |slot: usize, allowed: String| {
        let (slot, given) = (spec.inputs[slot].to_owned(), inputs[slot].to_string());
        Err(OpError::Input { operator: spec.name, slot, given, allowed })
    };
    if let Some(other) =
        inputs.iter().position(|i| (i.width(), i.height()) != (first.width(), first.height()))
    {
        return refuse(other, format!("as large as the first, {first}; resize or crop one of them"));
    }
    let output = first.with_format(format(expr, &first))?.with_dtype(to.unwrap_or(first.dtype()))?;
    if let Err(reason) = kernel(expr, border).check(expr.uniforms().len(), inputs, output) {
        return refuse(0, format!("such that its channels can be read: {reason}"));
    }
    Ok(output)
}

/// The one kernel of an expression, with a number for each of its uniforms; those of the image's size are filled in here.
pub(crate) fn lowered(
    expr: &Arc<Expr>,
    border: Border,
    number: impl Fn(&str) -> f64,
    output: ImageDesc,
) -> Lowered {
    let number = |name: &String| size_of(name, &output).unwrap_or_else(|| number(name)) as f32;
    let uniforms: Uniforms = expr.uniforms().iter().map(number).collect();
    Lowered::single(kernel(expr, border), uniforms, output)
}

fn kernel(expr: &Arc<Expr>, border: Border) -> Kernel {
    let expr = expr.clone();
    if expr.reach() == (0, 0) {
        Kernel::Point(Point { expr })
    } else {
        Kernel::Stencil(Stencil { expr, border })
    }
}

/// An expression of a gray image's neighbours for images of any format, which are turned to gray first: `numbers` are those of
/// its uniforms.
pub(crate) fn stencil_of_gray(
    spec: &OperatorSpec,
    result: Term,
    border: Border,
    numbers: &[(&str, f64)],
    input: ImageDesc,
    output: ImageDesc,
) -> Result<Lowered, OpError> {
    let numbers = numbers.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let formula = Formula::each(result).numbers(numbers);
    let lowered = lowered(&formula.compile(spec)?, border, |name| formula.value(name), output);
    of_gray(lowered, &input)
}

/// Expressions of neighbours, each of what the one before it made, for every colour channel.
pub(crate) fn stencils(
    spec: &OperatorSpec,
    terms: Vec<Term>,
    border: Border,
    output: ImageDesc,
) -> Result<Lowered, OpError> {
    let mut steps: Vec<KernelStep> = Vec::new();
    for term in terms {
        let expr = Formula::each(term).compile(spec)?;
        let mut own = lowered(&expr, border, |_| 0.0, output).steps;
        if let Some(last) = steps.len().checked_sub(1) {
            own[0].inputs = vec![StepInput::Step(last)];
        }
        steps.append(&mut own);
    }
    Ok(Lowered { steps })
}

/// What is computed of a gray image, for images of any format.
pub(crate) fn of_gray(mut gray: Lowered, input: &ImageDesc) -> Result<Lowered, OpError> {
    if input.format() != PixelFormat::Gray {
        let output = input.with_format(PixelFormat::Gray)?;
        let kernel = Kernel::Point(Point::convert(input.format(), PixelFormat::Gray, input.dtype()));
        let convert = KernelStep { kernel, uniforms: [].into(), inputs: vec![StepInput::Slot(0)], output };
        for input in gray.steps.iter_mut().flat_map(|step| &mut step.inputs) {
            *input = match *input {
                StepInput::Slot(_) => StepInput::Step(0),
                StepInput::Step(step) => StepInput::Step(step + 1),
            };
        }
        gray.steps.insert(0, convert);
    }
    Ok(gray)
}

/// Format of the result: the first input's where it has as many channels.
fn format(expr: &Expr, first: &ImageDesc) -> PixelFormat {
    match expr.results() {
        Results::EachChannel(_) => first.format(),
        Results::Channels(results) if results.len() == first.channels() => first.format(),
        Results::Channels(results) => match results.len() {
            1 => PixelFormat::Gray,
            3 => PixelFormat::Rgb,
            _ => PixelFormat::Rgba,
        },
    }
}

/// An operator that is a [`Pointwise`], with its parameters as [`crate::field::fields`] takes them:
/// `pointwise! { InRange: SPEC, "lower" => lower, "upper" => upper }`, with `; rules` behind them when there is a method of
/// that name for the rules between parameters.
macro_rules! pointwise {
    ($type:ident: $spec:path $(, $name:literal => $($place:ident).+)* $(,)? $(; $conflicts:ident)?) => {
        impl $crate::field::Parameters for $type {
            $crate::field::fields! { $($name => $($place).+),* }

            $(fn conflicts(&self) -> Result<(), $crate::ParamError> {
                $type::$conflicts(self)
            })?
        }

        impl $crate::Operator for $type {
            $crate::field::plumbing!($spec);

            fn infer(&self, inputs: &[mip_core::ImageDesc]) -> Result<mip_core::ImageDesc, $crate::OpError> {
                $crate::pointwise::infer(self, inputs)
            }

            fn lower(&self, inputs: &[mip_core::ImageDesc]) -> Result<$crate::Lowered, $crate::OpError> {
                $crate::pointwise::lower(self, inputs)
            }
        }
    };
}

pub(crate) use pointwise;
