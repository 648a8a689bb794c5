use std::sync::Arc;

use mip_core::{DType, ImageDesc};
use mip_plan::{Border, Expr, Results};

use crate::border::{BORDER, BORDER_VALUE, BorderFields};
use crate::choice::DTYPES;
use crate::expr::{self, Term};
use crate::field::{Parameters, Stored as _, fields, set};
use crate::{
    Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec, Value, pointwise,
};

pub(crate) static SPEC: OperatorSpec = spec(1);

/// One specification for each number of inputs, from 1.
static SPECS: [OperatorSpec; Expr::MAX_INPUTS] = [spec(1), spec(2), spec(3), spec(4)];

static PARAMS: [ParamSpec; 4] = [
    ParamSpec::new(
        "expr",
        ParamKind::Text { what: "an expression" },
        "Of v (each channel), or of r g b a; v(1, 0) is right of the pixel, v2 of the second input; + - * / < ? : functions",
    )
    .required(),
    ParamSpec::new("to", ParamKind::choice(DTYPES), "Dtype of the result; the first input's if not given"),
    BORDER,
    BORDER_VALUE,
];

const fn spec(inputs: usize) -> OperatorSpec {
    const SLOTS: &[&str] = &["in", "in2", "in3", "in4"];
    OperatorSpec {
        name: "point",
        summary: "An expression of your own, computed for each pixel",
        inputs: SLOTS.split_at(inputs).0,
        params: &PARAMS,
        extra: Extra {
            inputs: Expr::MAX_INPUTS - inputs,
            number: Some(
                ParamSpec::new(
                    "NAME",
                    ParamKind::any_number(),
                    "The number that NAME stands for in the expression",
                )
                .uniform(),
            ),
            sums: true,
        },
        examples: match inputs {
            1 => &[
                "expr=\"v * 0.5 + 3\"",
                "expr=\"clamp((r*0.393 + g*0.769 + b*0.189) * gain, 0, 255)\" gain=0.8",
                "expr=\"v > 100 ? v : sqrt(abs(v))\" to=f32",
                "expr=\"pow(v, gamma) * 3\" gamma=0.7",
                "expr=\"b, r, g\"",
                "expr=\"10, level, 30\" level=99.5",
                "expr=\"x = max(r, g) - min(g, b); x, x * x / 255, round(r)\" to=u16",
                "expr=\"abs(v(1, 0) - v(-1, 0)) * gain\" border=replicate gain=0.5",
                "expr=\"max(v(0, -1), v, v(0, 2))\" border=constant border_value=0",
                "expr=\"r(1, 1), g(-2, 0) - x, b\" x=3",
                "expr=\"x() < 3 || y() >= height() - 2 ? fill : v\" fill=9",
                "expr=\"y = y() - height() / 2; max(v(0, 1) - abs(x() - width() / 2 + 0.5) - y * y, 0)\"",
            ],
            2 => &["expr=\"abs(v - v2)\"", "expr=\"v * v2 / 255\" to=u8"],
            3 => &["expr=\"fma(v, v2, v3)\" to=f32"],
            _ => &["expr=\"max(max(v, v2), max(v3, v4))\""],
        },
        create,
    }
}

/// An expression of the samples of a pixel, of one to four images of equal size; or of one image's pixels around it.
///
/// Written as text (see the book's chapter on expressions) or in Rust with [`crate::expr`]. An expression of `v` is computed
/// for each colour channel, alpha is copied from the first input, and the format stays; a gray image beside a coloured one
/// has one value for all channels. Otherwise there is one result (gray), three (rgb) or four (rgba), separated by commas, in
/// the first input's own order of channels where it has as many. Samples are numbers in sample units: 0 to 255 for u8.
///
/// `x()` and `y()` are the column and the row of the pixel, counted from 0, `width()` and `height()` the size of the image.
///
/// An expression of one image may read up to 15 columns and rows away: `v(dx, dy)` in text, [`Term::at`] in Rust. What lies
/// outside the image says `border`; samples are not premultiplied by alpha.
///
/// Each operation is one correctly rounded binary32 operation, in the order written; the results are rounded to the nearest
/// sample, ties to even, and saturated; NaN becomes 0 in integers. i32 is read as the nearest binary32, so that a number above 2^24
/// is rounded, and has no neighbours. Other names are *uniforms*: numbers given as further
/// parameters, which may change without a new plan.
#[derive(Debug, Clone)]
pub struct Point {
    /// What stands in files, if it was given as text.
    text: Option<String>,
    expr: Result<Arc<Expr>, String>,
    to: Option<DType>,
    border: BorderFields,
    numbers: Vec<(String, f64)>,
}

impl Default for Point {
    /// Without an expression, which has to be set.
    fn default() -> Self {
        Self {
            text: None,
            expr: Err("it has none".to_owned()),
            to: None,
            border: BorderFields::default(),
            numbers: Vec::new(),
        }
    }
}

impl Point {
    /// The same expression for each colour channel, which [`crate::expr::v`] stands for.
    pub fn each(result: impl Into<Term>) -> Self {
        Self { expr: Term::compile(&[result.into()], true).map(Arc::new), ..Self::default() }
    }

    /// One expression for each channel of the result: gray, rgb or rgba.
    pub fn channels(results: impl Into<Vec<Term>>) -> Self {
        let results = results.into();
        let own = Term::is_of_each_channel(&results);
        let expr = if own {
            Err("`v` stands for each channel; name channels where there is a result for each".to_owned())
        } else {
            Term::compile(&results, false).map(Arc::new)
        };
        Self { expr, ..Self::default() }
    }

    /// The expression that a text says.
    ///
    /// # Errors
    /// [`ParamError::Expression`] with the column.
    pub fn text(text: &str) -> Result<Self, ParamError> {
        let parsed = expr::parse(text).map_err(expression)?;
        let each = Term::is_of_each_channel(&parsed.results);
        if each && parsed.results.len() > 1 {
            let message =
                "`v` stands for each channel; name channels (r, g, b, a) where there are several results";
            return Err(expression(expr::ExprError { column: 1, message: message.to_owned() }));
        }
        let compiled = Term::compile(&parsed.results, each);
        let compiled = compiled.map_err(|message| expression(expr::ExprError { column: 1, message }))?;
        Ok(Self { text: Some(text.to_owned()), expr: Ok(Arc::new(compiled)), ..Self::default() })
    }

    /// With this number for a name of the expression.
    #[must_use]
    pub fn set_uniform(mut self, name: &str, value: f64) -> Self {
        self.store(name, value);
        self
    }

    /// With results of this dtype.
    #[must_use]
    pub fn to(self, to: DType) -> Self {
        Self { to: Some(to), ..self }
    }

    /// With this border; [`Border::Reflect101`] by default.
    #[must_use]
    pub fn border(self, border: Border) -> Self {
        Self { border: border.into(), ..self }
    }

    fn store(&mut self, name: &str, value: f64) {
        match self.numbers.iter_mut().find(|(known, _)| known == name) {
            Some((_, number)) => *number = value,
            None => self.numbers.push((name.to_owned(), value)),
        }
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.numbers.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// The expression, if it is one.
    pub fn expr(&self) -> Option<&Expr> {
        self.expr.as_deref().ok()
    }

    fn checked_expr(&self) -> Result<&Arc<Expr>, ParamError> {
        self.expr
            .as_ref()
            .map_err(|message| expression(expr::ExprError { column: 1, message: message.clone() }))
    }

    /// Every name of the expression has a number, and every number a name.
    fn check_names(&self) -> Result<(), ParamError> {
        let names = self.checked_expr()?.uniforms();
        let unknown = |name: &&String| self.number(name).is_none() && !expr::is_size(name);
        if let Some(name) = names.iter().find(unknown) {
            return Err(self.without_number(name));
        }
        let known = || PARAMS.iter().map(|p| p.name).chain(names.iter().map(String::as_str));
        let unused = self.numbers.iter().find(|(name, _)| !names.contains(name));
        unused.map_or(Ok(()), |(name, _)| {
            Err(ParamError::Unknown {
                operator: "point",
                parameter: name.clone(),
                suggestion: crate::suggest(name, known()),
                known: known().collect::<Vec<_>>().join(", "),
            })
        })
    }

    /// Pixels beside the own one are read of pictures only.
    fn check_sums(&self, expr: &Expr, inputs: &[ImageDesc]) -> Result<(), OpError> {
        let far = expr.reach() != (0, 0);
        if far && inputs[0].dtype() == DType::I32 {
            return Err(OpError::Input {
                operator: "point",
                slot: self.spec().inputs[0].to_owned(),
                given: inputs[0].to_string(),
                allowed: "of another dtype than i32 where pixels beside the own one are read; convert it with cast to=f32 scale=false"
                    .to_owned(),
            });
        }
        if far && self.to == Some(DType::I32) {
            let allowed = "another dtype where pixels beside the own one are read; make f32, and cast that";
            return Err(self.invalid("to", "i32", allowed).into());
        }
        Ok(())
    }

    fn without_number(&self, name: &str) -> ParamError {
        let parsed = self.text.as_deref().and_then(|text| expr::parse(text).ok());
        let place = parsed.and_then(|p| p.uniforms.into_iter().find(|n| n.text == *name));
        let known = ["v", "r", "g", "b", "a"]
            .into_iter()
            .chain(expr::FUNCTIONS.map(|f| f.0))
            .chain(expr::CONSTANTS.map(|c| c.0))
            .chain(expr::PLACES.map(|p| p.0));
        let known = known.chain(self.numbers.iter().map(|(name, _)| name.as_str()));
        // One letter is part of every other word.
        let known = known.filter(|known| known.len() > 1 || name.len() < 3);
        let hint = crate::error::did_you_mean(crate::suggest(name, known).as_deref());
        let message = format!("'{name}' has no value{hint}; give the task one: {name}=1");
        expression(expr::ExprError { column: place.map_or(1, |n| n.column), message })
    }
}

fn expression(error: expr::ExprError) -> ParamError {
    ParamError::Expression {
        operator: "point",
        parameter: "expr".to_owned(),
        column: error.column,
        message: error.message,
    }
}

fn create(params: &[(String, Value)]) -> Result<Box<dyn Operator>, ParamError> {
    let mut operator = Point::default();
    if let Some((_, Value::Text(text))) = params.iter().find(|(name, _)| name == "expr") {
        operator = Point::text(text)?;
    }
    for (name, value) in params.iter().filter(|(name, _)| name != "expr") {
        operator.set(name, value.clone())?;
    }
    operator.check_names()?;
    operator.conflicts()?;
    Ok(Box::new(operator))
}

impl Parameters for Point {
    fields! { "border" => border.mode, "border_value" => border.value }

    fn conflicts(&self) -> Result<(), ParamError> {
        self.border.conflicts(self)?;
        let far = self.expr.as_ref().is_ok_and(|e| e.reach() != (0, 0) && e.input_count() > 1);
        if far {
            let message = "pixels beside the own one can be read of one image only; make a task of its own of what combines them";
            return Err(expression(expr::ExprError { column: 1, message: message.to_owned() }));
        }
        Ok(())
    }
}

impl Operator for Point {
    fn spec(&self) -> &'static OperatorSpec {
        let inputs = self.expr.as_ref().map_or(1, |expr| expr.input_count());
        &SPECS[inputs.clamp(1, SPECS.len()) - 1]
    }

    fn get(&self, parameter: &str) -> Option<Value> {
        match parameter {
            "expr" => {
                let printed = || self.expr.as_ref().ok().map(ToString::to_string);
                self.text.clone().or_else(printed).map(Value::Text)
            }
            "to" => self.to.map(|to| to.to_value()),
            "border" | "border_value" => self.field(parameter)?.value(),
            name => self.number(name).map(Value::Float),
        }
    }

    fn set(&mut self, parameter: &str, value: Value) -> Result<(), ParamError> {
        let spec = self.spec();
        match (parameter, &value) {
            ("expr", Value::Text(text)) => {
                let made = Self::text(text)?;
                let (old, new) = (spec.inputs.len(), made.spec().inputs.len());
                if self.expr.is_ok() && old != new {
                    return Err(ParamError::Conflict {
                        operator: spec.name,
                        parameter: parameter.to_owned(),
                        with: format!("for a task of {old} input(s), since it reads {new}"),
                        remedy: "make a task of its own for it".to_owned(),
                    });
                }
                (self.text, self.expr) = (made.text, made.expr);
                Ok(())
            }
            ("to", _) if DType::from_value(&value).is_some() => {
                self.to = DType::from_value(&value);
                Ok(())
            }
            ("border" | "border_value", _) => set(self, parameter, &value),
            ("expr" | "to", _) => spec.check(parameter, &Value::Bool(true)).map(drop),
            (name, _) => match value.as_number() {
                Some(number) => {
                    self.store(name, number);
                    Ok(())
                }
                None => spec.check(parameter, &value).map(drop),
            },
        }
    }

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        self.check_names()?;
        self.conflicts()?;
        let (expr, spec) = (self.checked_expr()?, self.spec());
        spec.check_inputs(inputs)?;
        if matches!(expr.results(), Results::Channels(results) if results.len() == 2) {
            let message = "it has 2 results, but an image has 1, 3 or 4 channels".to_owned();
            return Err(expression(expr::ExprError { column: 1, message }).into());
        }
        self.check_sums(expr, inputs)?;
        let border = self.border.resolve(self, &inputs[0])?;
        pointwise::shape(spec, expr, border, self.to, inputs)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let border = self.border.resolve(self, &inputs[0])?;
        let number = |name: &str| self.number(name).unwrap_or_default();
        Ok(pointwise::lowered(self.checked_expr()?, border, number, output))
    }

    fn clone_box(&self) -> Box<dyn Operator> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use mip_core::PixelFormat;

    use super::*;
    use crate::expr::{g, r, uniform, v, v_of};

    fn rgb() -> ImageDesc {
        ImageDesc::new(4, 3, PixelFormat::Bgr, DType::U8).unwrap()
    }

    fn refusal(text: &str) -> String {
        match Point::text(text) {
            Ok(point) => point.infer(&[rgb()]).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn shapes_follow_from_the_results() {
        let made = |text: &str| Point::text(text).unwrap().infer(&[rgb()]).unwrap();
        assert_eq!(made("v / 2"), rgb());
        assert_eq!(made("r - g").format(), PixelFormat::Gray);
        assert_eq!(made("g, r, b").format(), PixelFormat::Bgr);
        assert_eq!(made("r, g, b, 255").format(), PixelFormat::Rgba);
        assert_eq!(
            Point::text("v / 255").unwrap().to(DType::F32).infer(&[rgb()]).unwrap().dtype(),
            DType::F32
        );
        let two = Point::each((v() + v_of(1)) / 2.0);
        assert_eq!((two.spec().inputs.len(), two.infer(&[rgb(), rgb()]).unwrap()), (2, rgb()));
    }

    #[test]
    fn uniforms_come_in_the_order_of_the_expression() {
        let op = Point::channels([r() * uniform("x") + g() * uniform("y")]);
        let op = op.set_uniform("y", 2.0).set_uniform("x", 1.0);
        assert_eq!(op.lower(&[rgb()]).unwrap().steps[0].uniforms[..], [1.0, 2.0]);
        let mut again = op.clone_box();
        again.set("x", Value::Float(7.0)).unwrap();
        let (a, b) = (op.lower(&[rgb()]).unwrap(), again.lower(&[rgb()]).unwrap());
        assert_eq!((&a.steps[0].kernel, &b.steps[0].uniforms[..]), (&b.steps[0].kernel, &[7.0, 2.0][..]));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let at = |text: &str| refusal(text).replace("parameter 'expr' of 'point', ", "");
        assert_eq!(
            at("v * clmp(v)").split(';').next(),
            Some("column 5: there is no function 'clmp' (did you mean 'clamp'?)")
        );
        assert_eq!(at("v * gain"), "column 5: 'gain' has no value; give the task one: gain=1");
        assert_eq!(at("v * "), "column 5: the text ends, but a number, a name or '(' is needed");
        assert_eq!(
            at("v ^ 2"),
            "column 3: there is '^' (for a square, write x*x), but an operator or the end is needed"
        );
        assert_eq!(at("min(v)"), "column 1: 'min' takes 2 or more numbers, but 1 are given");
        assert!(at("r, g").contains("2 results"));
        assert!(at("v, r, g").contains("stands for each channel"));
        assert!(at("a").contains("no channel a"), "{}", at("a"));
        let unused =
            Point::text("v").unwrap().set_uniform("gain", 1.0).infer(&[rgb()]).unwrap_err().to_string();
        assert_eq!(unused, "'point' has no parameter 'gain'; it has: expr, to, border, border_value");
        let other = Point::text("v + v2")
            .unwrap()
            .infer(&[rgb(), rgb().with_size(5, 5).unwrap()])
            .unwrap_err()
            .to_string();
        assert!(
            other.starts_with("input 'in2' of 'point' is 5x5 bgr u8, but must be as large as the first"),
            "{other}"
        );
    }

    #[test]
    fn a_new_expression_may_not_need_other_inputs() {
        let mut op = Point::text("v * gain").unwrap().set_uniform("gain", 2.0);
        op.set("expr", "v / gain".into()).unwrap();
        assert_eq!(op.get("expr"), Some("v / gain".into()));
        assert!(op.set("expr", "v + v2".into()).unwrap_err().to_string().contains("it reads 2"));
        assert_eq!(op.get("gain"), Some(Value::Float(2.0)));
    }
}
