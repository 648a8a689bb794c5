//! Parameters anywhere in what is allowed, at its ends, and beyond.

use arbitrary::Arbitrary;
use mip_ops::{OperatorSpec, ParamKind};
use mip_testkit::{Param, Params};

/// A value for one of an operator's parameters.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub(crate) struct Odd {
    parameter: u8,
    value: Place,
    /// Numbers in a list, where a parameter takes lists.
    count: u8,
}

/// Where in the range a value lies. For words and flags: which one.
#[derive(Debug, Clone, Copy, Arbitrary)]
enum Place {
    Lowest,
    Highest,
    /// This far from the lowest; fractions of the range for numbers.
    Inside(u16),
    /// Tenths around zero; whole numbers for whole numbers.
    Tenths(i8),
    /// That far beyond an end: the lowest when negative.
    Beyond(i8),
    Number(f64),
    /// Of another type.
    Wrong(u8),
}

impl Odd {
    /// `params` with this value among them.
    pub(crate) fn put(self, spec: &OperatorSpec, params: Params) -> Params {
        if spec.params.is_empty() {
            return params.with("parameter", Param::Bool(true));
        }
        let param = &spec.params[usize::from(self.parameter) % spec.params.len()];
        params.with(param.name, self.of(param.kind))
    }

    fn of(self, kind: ParamKind) -> Param {
        if let Place::Wrong(which) = self.value {
            return wrong(kind, which);
        }
        match kind {
            ParamKind::Int { min, max, odd } => {
                let value = self.value.whole(min, max);
                // Even ones for odd ones once in a while.
                Param::Int(if odd && self.count > 9 { value | 1 } else { value })
            }
            ParamKind::Float { min, max, .. } => Param::Float(self.value.number(min, max)),
            ParamKind::Numbers { counts, max } => {
                let value = self.value.number(-max, max);
                let count = counts[usize::from(self.count) % counts.len()];
                Param::List((0..count).map(|i| value / (1 + i * i) as f64).collect())
            }
            ParamKind::PerChannel { min, max, .. } => {
                let value = self.value.number(min, max);
                Param::List((0..self.count % 6).map(|i| value * f64::from(1 + i)).collect())
            }
            ParamKind::Bool => Param::Bool(self.value.index() % 2 == 1),
            ParamKind::Text { .. } => {
                let texts =
                    ["v", "v +", "r - b", "v * 1e30 * 1e30", "sqrt(v", "v, v", "gain", "a, r, g, b", ""];
                Param::Text(texts[self.value.index() % texts.len()].to_owned())
            }
            ParamKind::Choice { words } => {
                let word = words.get(self.value.index() % (words.len() + 1));
                Param::Text(word.map_or_else(|| "none".to_owned(), |&word| word.to_owned()))
            }
        }
    }
}

impl Place {
    fn whole(self, min: i64, max: i64) -> i64 {
        match self {
            Self::Lowest => min,
            Self::Highest => max,
            Self::Inside(far) => min.saturating_add(i64::from(far)).min(max),
            Self::Tenths(number) => number.into(),
            Self::Beyond(far) if far < 0 => min.saturating_add(far.into()),
            Self::Beyond(far) => max.saturating_add(far.into()),
            Self::Number(number) => number as i64,
            Self::Wrong(far) => far.into(),
        }
    }

    fn number(self, min: f64, max: f64) -> f64 {
        match self {
            Self::Lowest => min,
            Self::Highest => max,
            Self::Inside(far) => min + (max - min) * (f64::from(far) / 65535.0),
            Self::Tenths(number) => f64::from(number) / 10.0,
            Self::Beyond(far) if far < 0 => min + f64::from(far),
            Self::Beyond(far) => max + f64::from(far),
            Self::Number(number) => number,
            Self::Wrong(far) => far.into(),
        }
    }

    fn index(self) -> usize {
        self.whole(0, 255).unsigned_abs() as usize
    }
}

/// A value of a type that the parameter may not have.
fn wrong(kind: ParamKind, which: u8) -> Param {
    match (which % 4, kind) {
        (0, _) => Param::Bool(which > 100),
        (1, ParamKind::Int { .. }) => Param::Float(f64::from(which) + 0.5),
        (1, _) => Param::Int(which.into()),
        (2, _) => Param::Text("odd".to_owned()),
        _ => Param::List(vec![0.5; usize::from(which) % 7]),
    }
}
