use super::{Cube, CubeSize};

/// Steps along each axis of a three-dimensional table at most.
const MAX_3D: usize = 65;
/// Steps of a one-dimensional table at most.
const MAX_1D: usize = 65_536;
/// Magnitude of a number at most, far beyond any colour: products and differences stay finite.
const MAX_NUMBER: f32 = 1e6;

const KEYWORDS: &str =
    "TITLE, LUT_1D_SIZE, LUT_3D_SIZE, DOMAIN_MIN, DOMAIN_MAX, LUT_1D_INPUT_RANGE and LUT_3D_INPUT_RANGE";

/// What has been read so far.
#[derive(Default)]
struct Reader {
    size: Option<CubeSize>,
    min: Option<[f32; 3]>,
    max: Option<[f32; 3]>,
    numbers: Vec<f32>,
}

/// Reads the text of a .cube file.
pub(super) fn parse(text: &str) -> Result<Cube, String> {
    let mut reader = Reader::default();
    let lines = text.strip_prefix('\u{FEFF}').unwrap_or(text).lines();
    for (number, line) in (1..).zip(lines) {
        reader.line(line.trim()).map_err(|message| format!("line {number}: {message}"))?;
    }
    reader.cube()
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let mut words = line.split_whitespace();
        let Some(first) = words.next().filter(|first| !first.starts_with('#')) else { return Ok(()) };
        let rest: Vec<&str> = words.take(4).collect();
        match first {
            "TITLE" => Ok(()),
            "LUT_1D_SIZE" => self.size(CubeSize::One, &rest, MAX_1D),
            "LUT_3D_SIZE" => self.size(CubeSize::Three, &rest, MAX_3D),
            "DOMAIN_MIN" => once(&mut self.min, first, three(&rest)?),
            "DOMAIN_MAX" => once(&mut self.max, first, three(&rest)?),
            "LUT_1D_INPUT_RANGE" | "LUT_3D_INPUT_RANGE" => match rest[..] {
                [low, high] => {
                    once(&mut self.min, first, [number(low)?; 3])?;
                    once(&mut self.max, first, [number(high)?; 3])
                }
                _ => Err(format!("'{first}' takes two numbers, the first and the last input")),
            },
            word if word.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                Err(format!("'{}' means nothing here; known are {KEYWORDS}", shown(word)))
            }
            _ => {
                let all: Vec<&str> = std::iter::once(first).chain(rest).collect();
                self.row(three(&all)?)
            }
        }
    }

    fn size(&mut self, of: fn(usize) -> CubeSize, words: &[&str], max: usize) -> Result<(), String> {
        let steps = match words {
            [word] => word.parse().ok().filter(|steps| (2..=max).contains(steps)),
            _ => None,
        };
        let size = of(steps.ok_or_else(|| format!("the size must be one whole number from 2 to {max}"))?);
        if self.size.is_some() {
            return Err("a second size; a one- and a three-dimensional table in one file are not supported"
                .to_owned());
        }
        self.size = Some(size);
        Ok(())
    }

    fn row(&mut self, row: [f32; 3]) -> Result<(), String> {
        let size = self.size.ok_or("numbers before LUT_1D_SIZE or LUT_3D_SIZE")?;
        if self.numbers.len() == 3 * size.rows() {
            return Err(format!("more than the {} rows of {size}", size.rows()));
        }
        self.numbers.extend(row);
        Ok(())
    }

    fn cube(self) -> Result<Cube, String> {
        let size = self.size.ok_or("neither LUT_1D_SIZE nor LUT_3D_SIZE is given")?;
        let (rows, wanted) = (self.numbers.len() / 3, size.rows());
        if rows < wanted {
            return Err(format!("it ends after {rows} rows, but {size} has {wanted}"));
        }
        let (min, max) = (self.min.unwrap_or([0.0; 3]), self.max.unwrap_or([1.0; 3]));
        if min.iter().zip(max).any(|(&min, max)| max - min < 1e-6) {
            return Err(format!(
                "the domain ends at {max:?} and begins at {min:?}, but each end must be above its beginning"
            ));
        }
        Cube::new(size, min, max, &self.numbers)
    }
}

fn once<T>(place: &mut Option<T>, name: &str, value: T) -> Result<(), String> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("'{name}' says again what has been said")),
    }
}

fn three(words: &[&str]) -> Result<[f32; 3], String> {
    match *words {
        [r, g, b] => Ok([number(r)?, number(g)?, number(b)?]),
        _ => Err(format!(
            "three numbers are needed, red, green and blue, but there are {}",
            words.len().min(4)
        )),
    }
}

fn number(word: &str) -> Result<f32, String> {
    let number = word.parse().ok().filter(|v: &f32| v.abs() <= MAX_NUMBER);
    number.ok_or_else(|| format!("'{}' is no number from -{MAX_NUMBER} to {MAX_NUMBER}", shown(word)))
}

/// The beginning of a word.
fn shown(word: &str) -> String {
    word.chars().take(24).flat_map(char::escape_default).collect()
}
