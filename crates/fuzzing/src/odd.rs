//! Parameters at and beyond the ends of what is allowed.

use arbitrary::Arbitrary;
use mip_ops::{OperatorSpec, ParamKind};
use mip_testkit::{Param, Params};

/// A value for one of an operator's parameters.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub(crate) struct Odd {
    parameter: u8,
    value: Kind,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Kind {
    Lowest,
    Highest,
    /// By this much below the lowest.
    Below(u8),
    /// By this much above the lowest.
    Above(u8),
    Beyond(u8),
    /// Tenths around zero.
    Tenths(i8),
    Number(f64),
    Whole(i64),
    /// A word of the schema, or one that is none.
    Word(u8),
    Flag(bool),
    List(u8, [f32; 5]),
}

impl Odd {
    /// `params` with this value among them.
    pub(crate) fn put(self, spec: &OperatorSpec, params: Params) -> Params {
        if spec.params.is_empty() {
            return params.with("parameter", Param::Bool(true));
        }
        let param = &spec.params[usize::from(self.parameter) % spec.params.len()];
        params.with(param.name, self.value.of(param.kind))
    }
}

impl Kind {
    fn of(self, kind: ParamKind) -> Param {
        match self {
            Self::Tenths(tenths) => Param::Float(f64::from(tenths) / 10.0),
            Self::Number(number) => Param::Float(number),
            Self::Whole(number) => Param::Int(number),
            Self::Flag(flag) => Param::Bool(flag),
            Self::Word(index) => Param::Text(word(kind, index)),
            Self::List(count, numbers) => {
                let count = usize::from(count) % (numbers.len() + 1);
                Param::List(numbers[..count].iter().map(|&n| f64::from(n)).collect())
            }
            Self::Lowest => at(kind, false, 0),
            Self::Highest => at(kind, true, 0),
            Self::Below(by) => at(kind, false, -i64::from(by)),
            Self::Above(by) => at(kind, false, by.into()),
            Self::Beyond(by) => at(kind, true, by.into()),
        }
    }
}

/// An end of the range, and how far from there; words and flags by number.
fn at(kind: ParamKind, end: bool, by: i64) -> Param {
    let float = |min, max| Param::Float(if end { max } else { min } + by as f64);
    match kind {
        ParamKind::Int { min, max, .. } => Param::Int(if end { max } else { min }.saturating_add(by)),
        ParamKind::Float { min, max, .. } | ParamKind::PerChannel { min, max, .. } => float(min, max),
        ParamKind::Bool => Param::Bool(end),
        ParamKind::Choice { .. } => Param::Text(word(kind, by as u8)),
    }
}

fn word(kind: ParamKind, index: u8) -> String {
    let words = match kind {
        ParamKind::Choice { words } => words,
        _ => &[],
    };
    words.get(usize::from(index) % (words.len() + 1)).map_or_else(|| "none".to_owned(), |&w| w.to_owned())
}
