use mip_core::{DType, ImageDesc};
use serde::Serialize;

use crate::{OpError, Operator, ParamError, ParamSpec, Value};

/// Makes an operator from checked parameters.
pub type Create = fn(&[(String, Value)]) -> Result<Box<dyn Operator>, ParamError>;

/// Everything that is known of an operator without an instance.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct OperatorSpec {
    /// Name in pipeline files.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Input slots in declared order.
    pub inputs: &'static [&'static str],
    /// Parameters in the order they are listed.
    pub params: &'static [ParamSpec],
    /// What it takes beyond that.
    #[serde(skip)]
    pub extra: Extra,
    /// Examples of its use, as parameters in the one-line form, in which every parameter occurs: what all
    /// suites, `mip validate` and random graphs draw from. The first is how people begin. Some may not fit a
    /// given image.
    pub examples: &'static [&'static str],
    /// Makes one with the given checked parameters.
    #[serde(skip)]
    pub create: Create,
}

/// What an operator takes beyond its own inputs and parameters.
#[derive(Debug, Clone, Copy)]
pub struct Extra {
    /// Further inputs at most.
    pub inputs: usize,
    /// Parameters under names that the user makes up, if there are any.
    pub number: Option<ParamSpec>,
    /// Whether it takes i32, which holds sums and no pictures.
    pub sums: bool,
}

impl Extra {
    /// Nothing.
    pub const NONE: Self = Self { inputs: 0, number: None, sums: false };

    /// Images of i32.
    pub const SUMS: Self = Self { sums: true, ..Self::NONE };
}

impl OperatorSpec {
    /// The parameter of that name.
    ///
    /// # Errors
    /// [`ParamError::Unknown`] with the closest name and the list of all.
    pub fn param(&'static self, name: &str) -> Result<&'static ParamSpec, ParamError> {
        let free = self.extra.number.as_ref().filter(|_| is_name(name));
        self.params.iter().find(|p| p.name == name).or(free).ok_or_else(|| {
            let names = || self.params.iter().map(|p| p.name);
            let known = if self.params.is_empty() {
                "none".to_owned()
            } else {
                names().collect::<Vec<_>>().join(", ")
            };
            ParamError::Unknown {
                operator: self.name,
                parameter: name.to_owned(),
                suggestion: suggest(name, names()),
                known,
            }
        })
    }

    /// Checks name, type and range of a value and brings it to the parameter's own type (a whole number is a
    /// number, a number is a list of one).
    ///
    /// # Errors
    /// [`ParamError::Unknown`] or [`ParamError::Invalid`].
    pub fn check(&'static self, parameter: &str, value: &Value) -> Result<Value, ParamError> {
        self.param(parameter)?.check(self.name, value).map_err(|error| match error {
            // A parameter under a name of the user's own has no other.
            ParamError::Invalid { operator, given, allowed, .. } => {
                ParamError::Invalid { operator, parameter: parameter.to_owned(), given, allowed }
            }
            other => other,
        })
    }

    /// Checks every parameter of an operator, whoever set it: builders store what they are given.
    ///
    /// # Errors
    /// [`ParamError::Missing`] or [`ParamError::Invalid`] for the first one that does not fit.
    pub fn check_operator(&self, operator: &dyn Operator) -> Result<(), ParamError> {
        for param in self.params {
            match operator.get(param.name) {
                Some(value) => drop(param.check(self.name, &value)?),
                None if param.required => return Err(self.missing(param)),
                None => {}
            }
        }
        Ok(())
    }

    /// Checks the number of inputs, and that none holds sums where they are not taken.
    pub(crate) fn check_inputs(&self, inputs: &[ImageDesc]) -> Result<(), OpError> {
        if inputs.len() != self.inputs.len() {
            return Err(self.input_count(inputs.len()));
        }
        match inputs.iter().position(|input| input.dtype() == DType::I32) {
            Some(slot) if !self.extra.sums => Err(OpError::Input {
                operator: self.name,
                slot: self.inputs[slot].to_owned(),
                given: inputs[slot].to_string(),
                allowed:
                    "of another dtype than i32, which holds sums; convert it with cast to=f32 scale=false"
                        .to_owned(),
            }),
            Some(_) | None => Ok(()),
        }
    }

    /// The error for another number of inputs than it has.
    pub(crate) fn input_count(&self, given: usize) -> OpError {
        let (expected, slots) = (self.inputs.len(), self.inputs.join(", "));
        OpError::InputCount { operator: self.name, expected, slots, given }
    }

    fn missing(&self, param: &ParamSpec) -> ParamError {
        ParamError::Missing {
            operator: self.name,
            parameter: param.name.to_owned(),
            allowed: param.kind.to_string(),
        }
    }
}

/// Letters, digits and `_`, not beginning with a digit.
fn is_name(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    text.starts_with(letter) && text.chars().all(|c| letter(c) || c.is_ascii_digit())
}

/// All operators, sorted by name.
pub fn operators() -> &'static [&'static OperatorSpec] {
    crate::operators::ALL
}

/// The operator of that name.
///
/// # Errors
/// [`ParamError::UnknownOperator`] with the closest name.
pub fn spec(name: &str) -> Result<&'static OperatorSpec, ParamError> {
    operators().iter().copied().find(|s| s.name == name).ok_or_else(|| ParamError::UnknownOperator {
        operator: name.to_owned(),
        suggestion: suggest(name, operators().iter().map(|s| s.name)),
    })
}

/// Makes an operator from parameters given by name.
///
/// # Errors
/// An unknown operator or parameter, a wrong value, a parameter given twice, a required one that is missing,
/// or two that contradict each other.
pub fn create(name: &str, params: &[(String, Value)]) -> Result<Box<dyn Operator>, ParamError> {
    let spec = spec(name)?;
    let mut checked: Vec<(String, Value)> = Vec::with_capacity(params.len());
    for (parameter, value) in params {
        let value = spec.check(parameter, value)?;
        if checked.iter().any(|(earlier, _)| earlier == parameter) {
            return Err(ParamError::Repeated { operator: spec.name, parameter: parameter.clone() });
        }
        checked.push((parameter.clone(), value));
    }
    let given = |p: &ParamSpec| checked.iter().any(|(name, _)| name == p.name);
    if let Some(param) = spec.params.iter().find(|p| p.required && !given(p)) {
        return Err(spec.missing(param));
    }
    (spec.create)(&checked)
}

/// The closest of `known` to `given`, when it is close enough to be a slip or a part of it (`blur`).
pub fn suggest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let given = given.to_lowercase();
    let part_of = |k: &str| given.len() >= 3 && (k.contains(&given) || given.contains(k));
    known
        .into_iter()
        .map(|k| (if part_of(k) { 0.95 } else { strsim::jaro_winkler(&given, k) }, k))
        .filter(|(score, _)| *score > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, k)| k.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(name: &str, params: &[(&str, Value)]) -> Result<Box<dyn Operator>, ParamError> {
        let params: Vec<_> = params.iter().map(|(n, v)| ((*n).to_owned(), v.clone())).collect();
        create(name, &params)
    }

    fn refusal(name: &str, params: &[(&str, Value)]) -> String {
        made(name, params).unwrap_err().to_string()
    }

    #[test]
    fn operators_are_sorted_and_found() {
        assert!(operators().is_sorted_by(|a, b| a.name < b.name));
        for known in operators() {
            assert_eq!(spec(known.name).unwrap().name, known.name);
        }
    }

    #[test]
    fn every_file_of_an_operator_is_registered() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/operators");
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
            .filter(|stem| !["mod", "custom"].contains(&stem.as_str()))
            .collect();
        files.sort();
        assert_eq!(files, operators().iter().map(|s| s.name).collect::<Vec<_>>());
    }

    #[test]
    fn slips_get_a_suggestion() {
        let unknown = |name| spec(name).unwrap_err().to_string();
        assert_eq!(
            unknown("resise"),
            "there is no operator 'resise' (did you mean 'resize'?); `mip ops` lists them"
        );
        assert!(unknown("blur").contains("'gaussian_blur'"));
        assert!(unknown("gausian_blur").contains("'gaussian_blur'"));
        assert_eq!(suggest("RGB", ["gray", "rgb"]).as_deref(), Some("rgb"));
        assert_eq!(suggest("", ["gray", "rgb"]), None);
        assert!(unknown("colour_convert").contains("'color_convert'"));
        assert_eq!(unknown("zzz"), "there is no operator 'zzz'; `mip ops` lists them");
        assert_eq!(
            refusal("gaussian_blur", &[("sigm", Value::Float(1.0))]),
            "'gaussian_blur' has no parameter 'sigm' (did you mean 'sigma'?); \
             it has: kernel, sigma, border, border_value"
        );
    }

    #[test]
    fn missing_repeated_and_wrong_parameters() {
        assert_eq!(
            refusal("color_convert", &[]),
            "'color_convert' needs parameter 'to' (one of gray, rgb, bgr, rgba, bgra, hsv, hls, ycbcr, lab, luv, xyz, linear)"
        );
        let twice = [("to", Value::from("gray")), ("to", Value::from("rgb"))];
        assert_eq!(refusal("color_convert", &twice), "parameter 'to' of 'color_convert' is given twice");
        assert!(
            refusal("threshold", &[("threshold", "high".into())])
                .contains("is \"high\", but must be a number")
        );
    }

    #[test]
    fn a_created_operator_holds_what_it_was_given() {
        let mut blur = made("gaussian_blur", &[("kernel", 7.into()), ("sigma", 2.into())]).unwrap();
        assert_eq!(blur.get("kernel"), Some(Value::Int(7)));
        assert_eq!(blur.get("sigma"), Some(Value::Float(2.0)));
        assert_eq!(blur.get("nothing"), None);
        blur.set("sigma", Value::Float(3.5)).unwrap();
        assert_eq!(blur.get("sigma"), Some(Value::Float(3.5)));
        assert!(matches!(blur.set("nothing", Value::Int(1)), Err(ParamError::Unknown { .. })));
        assert!(matches!(blur.set("sigma", Value::Bool(true)), Err(ParamError::Invalid { .. })));
    }
}
