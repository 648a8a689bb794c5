//! Test cases of an operator, from its specification alone: its examples, and the ends of what its parameters
//! allow.

use crate::{Operator, OperatorSpec, ParamError, ParamKind, Value, create};

/// Parameters by name, as [`create`] takes them; those left out have their defaults.
pub type Call = Vec<(String, Value)>;

/// How far above an excluded lower bound a corner lies.
const JUST_ABOVE: f64 = 1e-3;

impl ParamKind {
    /// Its ends: lowest and highest value, every word. None of a text, which has no ends.
    pub fn corners(&self) -> Vec<Value> {
        let ends = |min: f64, max: f64, above: bool| [if above { min + JUST_ABOVE } else { min }, max];
        match *self {
            Self::Int { min, max, .. } => vec![Value::Int(min), Value::Int(max)],
            Self::Float { min, max, above_min } => ends(min, max, above_min).map(Value::Float).to_vec(),
            Self::PerChannel { min, max, above_min } => {
                ends(min, max, above_min).map(|end| Value::List(vec![end])).to_vec()
            }
            Self::Numbers { counts, max } => {
                let most = counts.last().copied().unwrap_or(0);
                ends(-max, max, false).map(|end| Value::List(vec![end; most])).to_vec()
            }
            Self::Bool => vec![Value::Bool(false), Value::Bool(true)],
            Self::Text { .. } => Vec::new(),
            Self::Choice { words } => words.iter().map(|&word| Value::from(word)).collect(),
        }
    }
}

impl OperatorSpec {
    /// The examples as calls.
    pub fn example_calls(&self) -> Vec<Call> {
        self.examples.iter().map(|line| read(line)).collect()
    }

    /// The ends of what every parameter allows, one at a time, the others as in the first example that goes with it. Ends that
    /// depend on the image ([`crate::ParamSpec::of_image`]) are left out.
    pub fn corner_calls(&self) -> Vec<Call> {
        let examples = self.example_calls();
        let mut calls = Vec::new();
        for param in self.params.iter().filter(|param| !param.of_image) {
            for corner in param.kind.corners() {
                let with = |example: &Call| -> Call {
                    let others = example.iter().filter(|(name, _)| name != param.name).cloned();
                    others.chain([(param.name.to_owned(), corner.clone())]).collect()
                };
                calls.extend(examples.iter().map(with).find(|call| create(self.name, call).is_ok()));
            }
        }
        calls
    }

    /// Examples and corners, each once: what all suites go over.
    pub fn calls(&self) -> Vec<Call> {
        let mut calls: Vec<Call> = Vec::new();
        for call in self.example_calls().into_iter().chain(self.corner_calls()) {
            let mut sorted = call.clone();
            sorted.sort_by(|a, b| a.0.cmp(&b.0));
            if !calls.contains(&sorted) {
                calls.push(sorted);
            }
        }
        calls
    }

    /// The operator of a call, from the registry.
    ///
    /// # Errors
    /// As [`create`].
    pub fn call(&self, call: &Call) -> Result<Box<dyn Operator>, ParamError> {
        create(self.name, call)
    }
}

/// Reads an example: `name=value` between blanks; blanks inside quotes belong to the value.
fn read(line: &str) -> Call {
    let mut quoted = false;
    let blank = |c: char| {
        quoted ^= c == '"';
        c.is_whitespace() && !quoted
    };
    let pairs = line.split(blank).filter_map(|word| word.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), Value::parse(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_read_and_corners_follow_from_the_kinds() {
        let spec = crate::spec("blend").unwrap();
        let calls = spec.calls();
        for alpha in [0.0, 0.3, 1.0] {
            let same = |(name, value): &(String, Value)| name == "alpha" && value.as_number() == Some(alpha);
            assert!(calls.iter().any(|call| call.iter().any(same)), "{alpha} in {calls:?}");
        }
        assert_eq!(read("expr=\"v = 1\"  x=[1,2]").len(), 2);
    }

    #[test]
    fn every_example_is_a_call() {
        for spec in crate::operators() {
            let words = |line: &str| line.matches('=').count();
            for (line, call) in spec.examples.iter().zip(spec.example_calls()) {
                assert!(spec.call(&call).is_ok() && call.len() <= words(line), "{} {line}", spec.name);
            }
        }
    }

    #[test]
    fn every_end_that_no_image_decides_is_in_some_call() {
        for spec in crate::operators() {
            for param in spec.params.iter().filter(|param| !param.of_image) {
                for corner in param.kind.corners() {
                    let has = |call: &Call| call.contains(&(param.name.to_owned(), corner.clone()));
                    assert!(spec.calls().iter().any(has), "{} {}={corner}", spec.name, param.name);
                }
            }
        }
    }
}
