//! The text form:
//!
//! ```text
//! program    = { name "=" expression ";" } expression { "," expression }
//! expression = or [ "?" expression ":" expression ]
//! or         = and { "||" and }          and = comparison { "&&" comparison }
//! comparison = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//! sum        = product { ("+" | "-") product }
//! product    = sign { ("*" | "/") sign }
//! sign       = { "-" | "!" } ( number | name | function "(" expression { "," expression } ")"
//!              | channel "(" dx "," dy ")" | place "()" | "(" expression ")" )
//! ```
//!
//! `v(dx, dy)`, with two whole numbers, is `v` of the pixel `dx` columns to the right and `dy` rows below, and so for the other
//! channels. `x()` and `y()` are the column and the row of the pixel, `width()` and `height()` the size of the image.
//!
//! A comparison used as a number is 1 or 0; a number used as a condition holds when it is not 0.

use mip_plan::{Channel, Compare, Function, LookupTable, Offset, Unary};

use super::lexer::{Token, fail, tokens};
use super::{ExprError, Name, Parsed, Term, term};
use crate::suggest;

/// Functions with the numbers that they take.
pub(crate) const FUNCTIONS: [(&str, &str); 20] = [
    ("abs", "1 number"),
    ("cbrt", "1 number"),
    ("ceil", "1 number"),
    ("clamp", "3 numbers: value, low, high"),
    ("exp", "1 number"),
    ("exp2", "1 number"),
    ("exponent", "1 number"),
    ("floor", "1 number"),
    ("fma", "3 numbers: a, b, c for a*b + c rounded once"),
    ("log", "1 number"),
    ("log2", "1 number"),
    ("lookup", "2 or more numbers: an index, and constants"),
    ("luma", "3 numbers: red, green, blue"),
    ("max", "2 or more numbers"),
    ("min", "2 or more numbers"),
    ("pow", "2 numbers: base, exponent"),
    ("power_of_two", "1 number"),
    ("round", "1 number"),
    ("significand", "1 number"),
    ("sqrt", "1 number"),
];

/// Makes what a function of nothing stands for.
type Place = fn() -> Term;

/// What is written as a function of nothing: where the pixel lies, and the size of the image.
pub(crate) const PLACES: [(&str, Place); 4] =
    [("x", term::x), ("y", term::y), ("width", term::width), ("height", term::height)];

/// Numbers with a name.
pub(crate) const CONSTANTS: [(&str, f32); 3] =
    [("pi", std::f32::consts::PI), ("inf", f32::INFINITY), ("nan", f32::NAN)];

const CHANNELS: [(&str, Channel); 5] = [
    ("v", Channel::Own),
    ("r", Channel::Red),
    ("g", Channel::Green),
    ("b", Channel::Blue),
    ("a", Channel::Alpha),
];

/// Brackets, signs and conditions inside each other at most.
const MAX_NESTING: usize = 100;
/// Longest text of an expression in bytes.
pub const MAX_TEXT: usize = 64 << 10;

/// Reads the text of an expression. Names that are neither channels nor functions nor given a value in the text are
/// uniforms.
///
/// # Errors
/// The first thing that is wrong, with its column.
pub(crate) fn parse(text: &str) -> Result<Parsed, ExprError> {
    if text.len() > MAX_TEXT {
        return Err(fail(1, format!("the text has {} bytes, but {MAX_TEXT} is the limit", text.len())));
    }
    let (tokens, end) = tokens(text)?;
    let mut parser = Parser { tokens, end, next: 0, nesting: 0, names: Vec::new(), uniforms: Vec::new() };
    let results = parser.program()?;
    Ok(Parsed { results, uniforms: parser.uniforms })
}

/// The channel that a name stands for: `v r g b a` of the first input, `v2` of the second, up to `a4`.
fn channel(name: &str) -> Option<(u8, Channel)> {
    let (letter, slot) = match name.as_bytes() {
        [_] => (name, 0),
        [_, digit @ b'2'..=b'4'] => (&name[..1], digit - b'1'),
        _ => return None,
    };
    CHANNELS.iter().find(|(known, _)| *known == letter).map(|(_, channel)| (slot, *channel))
}

/// Whether a name has a meaning of its own, so that it can name nothing else.
pub(super) fn is_taken(name: &str) -> bool {
    channel(name).is_some()
        || FUNCTIONS.iter().any(|(known, _)| *known == name)
        || CONSTANTS.iter().any(|(known, _)| *known == name)
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    end: usize,
    next: usize,
    nesting: usize,
    /// Names given a value in the text.
    names: Vec<(String, Term)>,
    uniforms: Vec<Name>,
}

/// A number, or a comparison that no operation has taken for a number yet.
enum Value {
    Number(Term),
    Compared(Compare, Term, Term),
}

impl Value {
    fn number(self) -> Term {
        match self {
            Self::Number(term) => term,
            compared @ Self::Compared(..) => compared.select(1.0.into(), 0.0.into()),
        }
    }

    fn select(self, then: Term, other: Term) -> Term {
        let (compare, a, b) = match self {
            Self::Number(term) => (Compare::Ne, term, 0.0.into()),
            Self::Compared(compare, a, b) => (compare, a, b),
        };
        a.compare(compare, b).then(then, other)
    }
}

impl Parser {
    fn program(&mut self) -> Result<Vec<Term>, ExprError> {
        while let (Some((Token::Name(name), column)), Some((Token::Mark("="), _))) =
            (self.tokens.get(self.next).cloned(), self.tokens.get(self.next + 1))
        {
            if is_taken(&name) || self.names.iter().any(|(known, _)| *known == name) {
                return Err(fail(column, format!("'{name}' has a meaning already; take another name")));
            }
            if self.uniforms.iter().any(|known| known.text == name) {
                return Err(fail(column, format!("'{name}' is used before it is given a value")));
            }
            self.next += 2;
            let value = self.expression()?.number();
            if !self.take(";") {
                return Err(self.unexpected("';' after the value of a name"));
            }
            self.names.push((name, value));
        }
        let mut results = vec![self.expression()?.number()];
        while self.take(",") {
            results.push(self.expression()?.number());
        }
        if self.next < self.tokens.len() {
            return Err(self.unexpected("an operator or the end"));
        }
        Ok(results)
    }

    fn expression(&mut self) -> Result<Value, ExprError> {
        self.nested(|parser| {
            let condition = parser.either()?;
            if !parser.take("?") {
                return Ok(condition);
            }
            let then = parser.expression()?.number();
            if !parser.take(":") {
                return Err(parser.unexpected("':' and what holds otherwise"));
            }
            let other = parser.expression()?.number();
            Ok(Value::Number(condition.select(then, other)))
        })
    }

    fn either(&mut self) -> Result<Value, ExprError> {
        let mut value = self.both()?;
        while self.take("||") {
            let right = self.both()?.select(1.0.into(), 0.0.into());
            value = Value::Number(value.select(1.0.into(), right));
        }
        Ok(value)
    }

    fn both(&mut self) -> Result<Value, ExprError> {
        let mut value = self.comparison()?;
        while self.take("&&") {
            let right = self.comparison()?.select(1.0.into(), 0.0.into());
            value = Value::Number(value.select(right, 0.0.into()));
        }
        Ok(value)
    }

    fn comparison(&mut self) -> Result<Value, ExprError> {
        let left = self.sum()?;
        let Some(compare) = self.take_compare() else { return Ok(left) };
        let right = self.sum()?;
        if self.peek_compare().is_some() {
            return Err(fail(self.column(), "comparisons cannot follow each other; join them with &&"));
        }
        Ok(Value::Compared(compare, left.number(), right.number()))
    }

    fn sum(&mut self) -> Result<Value, ExprError> {
        let mut value = self.product()?;
        loop {
            value = Value::Number(if self.take("+") {
                value.number() + self.product()?.number()
            } else if self.take("-") {
                value.number() - self.product()?.number()
            } else {
                return Ok(value);
            });
        }
    }

    fn product(&mut self) -> Result<Value, ExprError> {
        let mut value = self.sign()?;
        loop {
            value = Value::Number(if self.take("*") {
                value.number() * self.sign()?.number()
            } else if self.take("/") {
                value.number() / self.sign()?.number()
            } else {
                return Ok(value);
            });
        }
    }

    fn sign(&mut self) -> Result<Value, ExprError> {
        if self.take("-") {
            let value = self.nested(Self::sign)?;
            return Ok(Value::Number(-value.number()));
        }
        if self.take("!") {
            let value = self.nested(Self::sign)?;
            return Ok(Value::Number(value.select(0.0.into(), 1.0.into())));
        }
        self.atom()
    }

    fn atom(&mut self) -> Result<Value, ExprError> {
        if self.take("(") {
            let value = self.expression()?;
            return if self.take(")") { Ok(value) } else { Err(self.unexpected("')'")) };
        }
        let Some((token, column)) = self.tokens.get(self.next).cloned() else {
            return Err(self.unexpected("a number, a name or '('"));
        };
        match token {
            Token::Number(value) => {
                self.next += 1;
                Ok(Value::Number(value.into()))
            }
            Token::Name(name) => {
                self.next += 1;
                match (self.take("("), channel(&name)) {
                    (true, Some(sample)) => self.neighbor(&name, sample),
                    (true, None) => self.call(&name, column),
                    (false, _) => self.name(name, column),
                }
            }
            Token::Mark(_) => Err(self.unexpected("a number, a name or '('")),
        }
    }

    fn name(&mut self, name: String, column: usize) -> Result<Value, ExprError> {
        if let Some((slot, channel)) = channel(&name) {
            return Ok(Value::Number(Term::channel(slot, channel)));
        }
        if let Some((_, value)) = CONSTANTS.iter().find(|(known, _)| *known == name) {
            return Ok(Value::Number((*value).into()));
        }
        if let Some((_, value)) = self.names.iter().find(|(known, _)| *known == name) {
            return Ok(Value::Number(value.clone()));
        }
        if let Some((_, takes)) = FUNCTIONS.iter().find(|(known, _)| *known == name) {
            return Err(fail(column, format!("'{name}' is a function; it takes {takes}, in brackets")));
        }
        if self.uniforms.iter().all(|known| known.text != name) {
            self.uniforms.push(Name { text: name.clone(), column });
        }
        Ok(Value::Number(super::uniform(name)))
    }

    /// The rest of `v(dx, dy)`.
    fn neighbor(&mut self, name: &str, (slot, channel): (u8, Channel)) -> Result<Value, ExprError> {
        let dx = self.distance(name)?;
        if !self.take(",") {
            return Err(self.unexpected(&format!("',' and how many rows below '{name}' is read")));
        }
        let dy = self.distance(name)?;
        if !self.take(")") {
            return Err(self.unexpected("')'"));
        }
        Ok(Value::Number(Term::neighbor(slot, channel, Offset { dx, dy })))
    }

    /// How far away a channel is read.
    fn distance(&mut self, name: &str) -> Result<i8, ExprError> {
        let column = self.column();
        let sign = if self.take("-") { -1.0 } else { 1.0 };
        let max = f32::from(Offset::MAX);
        match self.tokens.get(self.next) {
            Some((Token::Number(value), _)) if value.fract() == 0.0 && *value <= max => {
                self.next += 1;
                Ok((sign * value) as i8)
            }
            _ => Err(fail(
                column,
                format!(
                    "'{name}(dx, dy)' takes two whole numbers from -{max} to {max}, columns to the right and rows below"
                ),
            )),
        }
    }

    fn call(&mut self, name: &str, column: usize) -> Result<Value, ExprError> {
        let mut numbers = Vec::new();
        if !self.take(")") {
            loop {
                numbers.push(self.expression()?.number());
                if self.take(")") {
                    break;
                }
                if !self.take(",") {
                    return Err(self.unexpected("',' or ')'"));
                }
            }
        }
        if let Some((_, place)) = PLACES.iter().find(|(known, _)| *known == name) {
            let given = numbers.len();
            return match given {
                0 => Ok(Value::Number(place())),
                _ => Err(fail(column, format!("'{name}()' takes nothing, but {given} are given"))),
            };
        }
        let Some((_, takes)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
            let names = || FUNCTIONS.iter().map(|f| f.0).chain(PLACES.iter().map(|p| p.0));
            let near = suggest(name, names());
            let hint = near.map_or_else(String::new, |near| format!(" (did you mean '{near}'?)"));
            let known: Vec<&str> = names().collect();
            return Err(fail(
                column,
                format!("there is no function '{name}'{hint}; there are {}", known.join(", ")),
            ));
        };
        if name == "lookup" && numbers.len() > 1 {
            return lookup(numbers).map_err(|message| fail(column, message));
        }
        apply(name, numbers)
            .map(Value::Number)
            .map_err(|given| fail(column, format!("'{name}' takes {takes}, but {given} are given")))
    }

    /// Goes one level deeper, if there is one.
    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T, ExprError>) -> Result<T, ExprError> {
        if self.nesting == MAX_NESTING {
            let text = format!(
                "more than {MAX_NESTING} brackets inside each other; give parts names: `x = ...; y = ...; x + y`"
            );
            return Err(fail(self.column(), text));
        }
        self.nesting += 1;
        let result = f(self);
        self.nesting -= 1;
        result
    }

    fn peek_compare(&self) -> Option<Compare> {
        let all = [Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge, Compare::Eq, Compare::Ne];
        match self.tokens.get(self.next) {
            Some((Token::Mark(mark), _)) => all.into_iter().find(|c| c.sign() == *mark),
            _ => None,
        }
    }

    fn take_compare(&mut self) -> Option<Compare> {
        let compare = self.peek_compare()?;
        self.next += 1;
        Some(compare)
    }

    fn take(&mut self, mark: &'static str) -> bool {
        let found = matches!(self.tokens.get(self.next), Some((Token::Mark(m), _)) if *m == mark);
        self.next += usize::from(found);
        found
    }

    fn column(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |(_, column)| *column)
    }

    fn unexpected(&self, wanted: &str) -> ExprError {
        let found = match self.tokens.get(self.next) {
            None => "the text ends".to_owned(),
            Some((Token::Number(value), _)) => format!("there is {value}"),
            Some((Token::Name(name), _)) => format!("there is '{name}'"),
            Some((Token::Mark("="), _)) => "there is '=' (to compare, write ==)".to_owned(),
            Some((Token::Mark("^"), _)) => "there is '^' (for a square, write x*x)".to_owned(),
            Some((Token::Mark(mark), _)) => format!("there is '{mark}'"),
        };
        fail(self.column(), format!("{found}, but {wanted} is needed"))
    }
}

/// The number of a table behind its index.
fn lookup(mut numbers: Vec<Term>) -> Result<Value, String> {
    let table = numbers.split_off(1);
    let number = |(place, term): (usize, &Term)| {
        let refused =
            || format!("'lookup' looks up in constants, but number {} of its table is none", place + 1);
        term.constant().ok_or_else(refused)
    };
    let table: Vec<f32> = table.iter().enumerate().map(number).collect::<Result<_, _>>()?;
    Ok(Value::Number(numbers.remove(0).lookup(&LookupTable::new(&table)?)))
}

/// A function's result; how many numbers were given when it takes others.
fn apply(name: &str, numbers: Vec<Term>) -> Result<Term, usize> {
    let given = numbers.len();
    if let Some(function) = Function::ALL.into_iter().find(|function| function.name() == name) {
        return if given == function.operands() { Ok(Term::function(function, numbers)) } else { Err(given) };
    }
    let mut numbers = numbers.into_iter();
    let mut next = || numbers.next().ok_or(given);
    let one = |op: Unary, term: Term| if given == 1 { Ok(term.unary(op)) } else { Err(given) };
    match name {
        "abs" => one(Unary::Abs, next()?),
        "ceil" => one(Unary::Ceil, next()?),
        "floor" => one(Unary::Floor, next()?),
        "round" => one(Unary::Round, next()?),
        "sqrt" => one(Unary::Sqrt, next()?),
        "exponent" => one(Unary::Exponent, next()?),
        "significand" => one(Unary::Significand, next()?),
        "power_of_two" => one(Unary::PowerOfTwo, next()?),
        "clamp" | "fma" | "luma" if given != 3 => Err(given),
        "clamp" => Ok(next()?.clamp(next()?, next()?)),
        "fma" => Ok(next()?.mul_add(next()?, next()?)),
        "luma" => Ok(Term::luma(next()?, next()?, next()?)),
        _ if given < 2 || name == "lookup" => Err(given),
        "min" => numbers.reduce(Term::min).ok_or(given),
        _ => numbers.reduce(Term::max).ok_or(given),
    }
}
