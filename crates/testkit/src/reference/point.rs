//! Expressions, evaluated in f64 straight from their text: written from the book's description and independent of the
//! parser that pipelines use. It knows right texts only.

use std::collections::BTreeMap;

use mip_core::{DType, PixelFormat};

use super::Border;
use super::apply::{Call, Reference};
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("point", &[], of_call)
    .any_number()
    .output(|params, desc| {
        params.word("to").map_or(desc, |to| desc.with_dtype(to.parse().expect("a type")).unwrap())
    })
    // Numbers of the size of sums may cancel.
    .magnitude(|call| if call.desc().dtype() == DType::I32 { call.largest() } else { 1.0 });

fn of_call(call: &Call<'_>) -> Real {
    let (params, inputs) = (call.params, call.inputs);
    let text = params.word("expr").expect("expr");
    let numbers = params.iter().filter(|(name, _)| !["expr", "to", "border", "border_value"].contains(name));
    // Uniforms are rounded to binary32 before they are used.
    let numbers =
        numbers.filter_map(|(name, _)| Some((name, f64::from(params.number(name)? as f32)))).collect();
    let images: Vec<(Real, PixelFormat)> =
        inputs.iter().enumerate().map(|(slot, image)| (call.read(slot), image.desc().format())).collect();
    let first = inputs[0].desc().format();
    let results = text.rsplit(';').next().map_or(1, top_level_commas) + 1;
    let output = match results {
        _ if is_of_each_channel(text) => first,
        results if results == first.channels() => first,
        1 => PixelFormat::Gray,
        3 => PixelFormat::Rgb,
        _ => PixelFormat::Rgba,
    };
    point(text, &numbers, &images, output, Border::of(params))
}

/// Commas outside brackets.
fn top_level_commas(text: &str) -> usize {
    let mut depth = 0;
    let outside = |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    };
    text.chars().map(outside).filter(|&comma| comma).count()
}

/// The results of an expression for each pixel, in the channel order of `output`. `numbers` are the uniforms; `border` says
/// what lies outside of images read beside the pixel.
///
/// # Panics
/// For a text that is no expression, and for channels that the images do not have.
pub fn point(
    text: &str,
    numbers: &BTreeMap<&str, f64>,
    inputs: &[(Real, PixelFormat)],
    output: PixelFormat,
    border: Border,
) -> Real {
    let (first, format) = &inputs[0];
    let words = words(text);
    let each = is_of_each_channel(text);
    // What each channel of the result is: red 0, green 1, blue 2, alpha 3; gray stands first too.
    let order = order(output);
    Real::from_fn(first.width, first.height, output.channels(), |x, y, c| {
        if each && order[c] == 3 {
            return first.at(x, y, order_of(*format, 3).expect("alpha"));
        }
        let sample = |slot: usize, channel: Option<usize>, (dx, dy): (i64, i64)| {
            let (image, format) = &inputs[slot];
            let wanted = channel.unwrap_or(if format.channels() == 1 { 0 } else { order[c] });
            let channel = order_of(*format, wanted).expect("a channel of the image");
            let (x, y) = (x as i64 + dx, y as i64 + dy);
            match (border.resolve(x, image.width), border.resolve(y, image.height), border) {
                (Some(x), Some(y), _) => image.at(x, y, channel),
                (_, _, Border::Constant(value)) => value,
                _ => unreachable!("only a constant border resolves to nothing"),
            }
        };
        let [place, size] = [(x, y), (first.width, first.height)].map(|(a, b)| (a as f64, b as f64));
        let mut reader =
            Reader { words: &words, next: 0, sample: &sample, place, size, numbers, names: BTreeMap::new() };
        let results = reader.program();
        results[if each { 0 } else { order[c].min(results.len() - 1) }]
    })
}

/// Whether an expression is computed for each channel.
fn is_of_each_channel(text: &str) -> bool {
    words(text).iter().any(|w| ["v", "v2", "v3", "v4"].contains(&w.as_str()))
}

/// The meanings of a format's channels in memory.
fn order(format: PixelFormat) -> &'static [usize] {
    match format {
        PixelFormat::Gray => &[0],
        PixelFormat::Bgr => &[2, 1, 0],
        PixelFormat::Rgba => &[0, 1, 2, 3],
        PixelFormat::Bgra => &[2, 1, 0, 3],
        _ => &[0, 1, 2],
    }
}

fn order_of(format: PixelFormat, meaning: usize) -> Option<usize> {
    order(format).iter().position(|&m| m == meaning)
}

/// Numbers, names and marks.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    for c in text.chars() {
        let part = c.is_ascii_alphanumeric() || c == '.' || c == '_';
        let pair = words.last().is_some_and(|w| {
            !open && ["<=", ">=", "==", "!=", "&&", "||"].contains(&format!("{w}{c}").as_str())
        });
        match words.last_mut() {
            Some(word) if (part && open) || pair => word.push(c),
            _ if !c.is_whitespace() => words.push(c.into()),
            _ => {}
        }
        open = part;
    }
    words
}

struct Reader<'a> {
    words: &'a [String],
    next: usize,
    /// Of an input, a channel by meaning or the own one, of the pixel so many columns and rows away.
    sample: &'a dyn Fn(usize, Option<usize>, (i64, i64)) -> f64,
    /// Column and row.
    place: (f64, f64),
    /// Of the image.
    size: (f64, f64),
    numbers: &'a BTreeMap<&'a str, f64>,
    names: BTreeMap<String, f64>,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> &str {
        self.words.get(self.next + ahead).map_or("", String::as_str)
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.peek(0) == word;
        self.next += usize::from(found);
        found
    }

    fn program(&mut self) -> Vec<f64> {
        while self.peek(1) == "=" {
            let name = self.peek(0).to_owned();
            self.next += 2;
            let value = self.choice();
            assert!(self.take(";"), "a ';' after '{name}'");
            self.names.insert(name, value);
        }
        let mut results = vec![self.choice()];
        while self.take(",") {
            results.push(self.choice());
        }
        assert_eq!(self.peek(0), "", "the end");
        results
    }

    fn choice(&mut self) -> f64 {
        let condition = self.level(0);
        if !self.take("?") {
            return condition;
        }
        let then = self.choice();
        assert!(self.take(":"), "a ':'");
        let other = self.choice();
        if condition == 0.0 { other } else { then }
    }

    /// Operators that join more loosely first.
    fn level(&mut self, level: usize) -> f64 {
        const LEVELS: [&[&str]; 5] =
            [&["||"], &["&&"], &["<", "<=", ">", ">=", "==", "!="], &["+", "-"], &["*", "/"]];
        let Some(marks) = LEVELS.get(level) else { return self.sign() };
        let mut left = self.level(level + 1);
        while let Some(mark) = marks.iter().find(|mark| self.peek(0) == **mark) {
            self.next += 1;
            let right = self.level(level + 1);
            let truth = |holds: bool| f64::from(u8::from(holds));
            left = match *mark {
                "||" => truth(left != 0.0 || right != 0.0),
                "&&" => truth(left != 0.0 && right != 0.0),
                "<" => truth(left < right),
                "<=" => truth(left <= right),
                ">" => truth(left > right),
                ">=" => truth(left >= right),
                "==" => truth(left == right),
                "!=" => truth(left != right),
                "+" => left + right,
                "-" => left - right,
                "*" => left * right,
                _ => left / right,
            };
        }
        left
    }

    fn sign(&mut self) -> f64 {
        if self.take("-") {
            return -self.sign();
        }
        if self.take("!") {
            return f64::from(u8::from(self.sign() == 0.0));
        }
        if self.take("(") {
            let value = self.choice();
            assert!(self.take(")"), "a ')'");
            return value;
        }
        let word = self.peek(0).to_owned();
        self.next += 1;
        if self.take("(") {
            if self.take(")") {
                return match word.as_str() {
                    "x" => self.place.0,
                    "y" => self.place.1,
                    "width" => self.size.0,
                    _ => self.size.1,
                };
            }
            let mut values = vec![self.choice()];
            while self.take(",") {
                values.push(self.choice());
            }
            assert!(self.take(")"), "a ')'");
            return match (values[..].as_ref(), word.chars().next()) {
                (&[dx, dy], Some('v' | 'r' | 'g' | 'b' | 'a')) if word.len() <= 2 => {
                    self.leaf(&word, (dx as i64, dy as i64))
                }
                _ => function(&word, &values),
            };
        }
        self.leaf(&word, (0, 0))
    }

    fn leaf(&self, word: &str, away: (i64, i64)) -> f64 {
        if let Ok(number) = word.parse::<f32>() {
            return f64::from(number);
        }
        if let Some(value) = self.names.get(word).or_else(|| self.numbers.get(word)) {
            return *value;
        }
        let slot = word.get(1..).and_then(|digit| digit.parse::<usize>().ok()).map_or(0, |n| n - 1);
        let channel = "rgba".find(&word[..1]);
        assert!(channel.is_some() || word.starts_with('v'), "'{word}' is unknown");
        (self.sample)(slot, channel, away)
    }
}

fn function(name: &str, values: &[f64]) -> f64 {
    let all = |f: fn(f64, f64) -> f64| values.iter().copied().reduce(f).expect("a number");
    match (name, values) {
        ("abs", [a]) => a.abs(),
        ("sqrt", [a]) => a.sqrt(),
        ("floor", [a]) => a.floor(),
        ("ceil", [a]) => a.ceil(),
        ("round", [a]) => a.round_ties_even(),
        ("cbrt", [a]) => a.cbrt(),
        ("exp", [a]) => a.exp(),
        ("exp2", [a]) => a.exp2(),
        ("log", [a]) => a.ln(),
        ("log2", [a]) => a.log2(),
        // What C makes an exception of.
        ("pow", [a, b]) if *a == f64::NEG_INFINITY && b.fract() != 0.0 => f64::NAN,
        ("pow", [a, b]) => a.powf(*b),
        ("exponent", [a]) => a.abs().log2().floor(),
        ("significand", [a]) => a.abs() / a.abs().log2().floor().exp2(),
        ("power_of_two", [a]) => a.round_ties_even().exp2(),
        ("clamp", _) => function("min", &[function("max", &values[..2]), values[2]]),
        ("fma", [a, b, c]) => a * b + c,
        // Out of range becomes the nearest end, NaN the first.
        ("lookup", [index, table @ ..]) => table[(*index as usize).min(table.len() - 1)],
        ("luma", [..]) if values.len() == 3 => {
            let whole = |v: f64| if v.is_nan() { 0.0 } else { v.round_ties_even().clamp(-32768.0, 65535.0) };
            let [r, g, b] = [whole(values[0]), whole(values[1]), whole(values[2])];
            ((299.0 * r + 587.0 * g + 114.0 * b) / 1000.0).round_ties_even()
        }
        // With a NaN the second of two.
        ("min", _) => all(|a, b| if a < b { a } else { b }),
        ("max", _) => all(|a, b| if a > b { a } else { b }),
        _ => panic!("no function '{name}' of {} numbers", values.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_computes_what_it_says() {
        let image = Real::from_fn(1, 1, 3, |_, _, c| [30.0, 20.0, 10.0][c]);
        let numbers = BTreeMap::from([("gain", 2.0)]);
        let one = |text: &str, format| {
            point(text, &numbers, &[(image.clone(), PixelFormat::Bgr)], format, Border::Constant(7.0)).data
        };
        assert_eq!(one("v*gain - 1", PixelFormat::Bgr), [59.0, 39.0, 19.0]);
        assert_eq!(one("x = r + g; x > 29 && r < 11 ? max(x, b, 3) : -x", PixelFormat::Gray), [30.0]);
        assert_eq!(one("r, g, b", PixelFormat::Rgb), [10.0, 20.0, 30.0]);
        assert_eq!(one("r, g, b", PixelFormat::Bgr), [30.0, 20.0, 10.0]);
        assert_eq!(one("r + g(1, 0) - b(0, -1)", PixelFormat::Gray), [10.0]);
        assert_eq!(one("(1 + 2) * 3 - 4 / 8", PixelFormat::Gray), [8.5]);
    }
}
