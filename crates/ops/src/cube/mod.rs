//! Tables of colours in .cube files, as Adobe's Cube LUT Specification 1.0 describes them: their text, and the expressions that look
//! up in them.

mod file;
mod parse;
#[cfg(test)]
mod tests;

use std::fmt;

use mip_plan::{Compare, LookupTable};

use crate::choice::choice;
use crate::expr::Term;

pub(crate) use file::CubeFile;

choice! {
    /// How a colour between those of a three-dimensional table is made.
    pub enum LutMethod as METHODS {
        /// From the four corners of the tetrahedron it lies in: grays stay between grays. FFmpeg's default.
        #[default]
        Tetrahedral = "tetrahedral",
        /// From the eight corners of the box it lies in.
        Trilinear = "trilinear",
    }
}

/// How a table is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CubeSize {
    /// So many steps, each with a number for each channel.
    One(usize),
    /// So many steps along each axis, each corner with a colour; red comes first.
    Three(usize),
}

impl CubeSize {
    const fn steps(self) -> usize {
        match self {
            Self::One(steps) | Self::Three(steps) => steps,
        }
    }

    const fn rows(self) -> usize {
        match self {
            Self::One(steps) => steps,
            Self::Three(steps) => steps * steps * steps,
        }
    }
}

impl fmt::Display for CubeSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(steps) => write!(f, "a table of {steps}"),
            Self::Three(steps) => write!(f, "a table of {steps} x {steps} x {steps}"),
        }
    }
}

/// A table of colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cube {
    size: CubeSize,
    /// Factor and offset of red, green and blue, 1 for full scale, that make them steps.
    steps: [[u32; 2]; 3],
    /// Red, green and blue of each row behind each other.
    table: LookupTable,
}

impl Cube {
    /// Reads the text of a .cube file.
    ///
    /// # Errors
    /// The first thing that is wrong, with its line.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        parse::parse(text)
    }

    fn new(size: CubeSize, min: [f32; 3], max: [f32; 3], numbers: &[f32]) -> Result<Self, String> {
        let last = (size.steps() - 1) as f64;
        let of = |(min, max): (f32, f32)| {
            let factor = last / (f64::from(max) - f64::from(min));
            [factor as f32, (-f64::from(min) * factor) as f32].map(f32::to_bits)
        };
        let ends = |c: usize| of((min[c], max[c]));
        Ok(Self { size, steps: [ends(0), ends(1), ends(2)], table: LookupTable::new(numbers)? })
    }

    /// Red, green and blue for those of an image of this full scale.
    pub(crate) fn colors(&self, rgb: [Term; 3], full: f64, method: LutMethod) -> [Term; 3] {
        let mut channel = 0..3;
        let axes = rgb.map(|color| self.axis(channel.next().unwrap_or_default(), color, full));
        let made = match (self.size, method) {
            (CubeSize::One(_), _) => self.linear(axes),
            (CubeSize::Three(steps), LutMethod::Tetrahedral) => self.tetrahedral(&axes, steps as f32),
            (CubeSize::Three(steps), LutMethod::Trilinear) => self.trilinear(axes, steps as f32),
        };
        made.map(|color| color * full as f32)
    }

    /// The step below a number, never the last one, and how far it is to the next.
    fn axis(&self, channel: usize, color: Term, full: f64) -> [Term; 2] {
        let [factor, offset] = self.steps[channel].map(f32::from_bits);
        let last = (self.size.steps() - 1) as f32;
        // NaN counts as 0.
        let place = color.mul_add((f64::from(factor) / full) as f32, offset).clamp(0.0, last);
        let step = place.clone().floor().min(last - 1.0);
        [step.clone(), place - step]
    }

    /// A channel of the row at an index.
    fn at(&self, row: &Term, channel: usize) -> Term {
        (if channel == 0 { row.clone() } else { row.clone() + channel as f32 }).lookup(&self.table)
    }

    fn linear(&self, axes: [[Term; 2]; 3]) -> [Term; 3] {
        let mut channel = 0..3;
        axes.map(|[step, rest]| {
            let channel = channel.next().unwrap_or_default();
            let row = step * 3.0;
            let (here, next) = (self.at(&row, channel), self.at(&(row + 3.0), channel));
            (next - here.clone()).mul_add(rest, here)
        })
    }

    /// Where the row of three steps begins.
    fn row([r, g, b]: [&Term; 3], steps: f32) -> Term {
        let row = b.clone().mul_add(steps, g.clone()).mul_add(steps, r.clone());
        row * 3.0
    }

    /// From the nearest corner to the farthest along the axes, the one with the largest rest first.
    fn tetrahedral(&self, [[r, x], [g, y], [b, z]]: &[[Term; 2]; 3], steps: f32) -> [Term; 3] {
        let [of_r, of_g, of_b] = [3.0, 3.0 * steps, 3.0 * steps * steps];
        let least = x.clone().min(y.clone());
        let most = x.clone().max(y.clone());
        let middle = least.clone().max(most.clone().min(z.clone()));
        let (least, most) = (least.min(z.clone()), most.max(z.clone()));
        let is = |rest: &Term, end: &Term| rest.clone().compare(Compare::Eq, end.clone());
        // Of equal rests red is first and blue is last, so that the two are never the same axis.
        let first = is(x, &most).then(of_r, is(y, &most).then(of_g, of_b));
        let last = is(z, &least).then(of_b, is(y, &least).then(of_g, of_r));
        let near = Self::row([r, g, b], steps);
        let far = near.clone() + (of_r + of_g + of_b);
        let rows = [near.clone(), near + first, far.clone() - last, far];
        let weights = [1.0 - most.clone(), most - middle.clone(), middle - least.clone(), least];
        [0, 1, 2].map(|channel| {
            let corners = rows.each_ref().map(|row| self.at(row, channel));
            let mut pairs = corners.into_iter().zip(weights.clone());
            let start = pairs.next().map_or_else(|| Term::from(0.0), |(corner, weight)| corner * weight);
            pairs.fold(start, |sum, (corner, weight)| corner.mul_add(weight, sum))
        })
    }

    /// Along red, then green, then blue.
    fn trilinear(&self, [[r, x], [g, y], [b, z]]: [[Term; 2]; 3], steps: f32) -> [Term; 3] {
        let near = Self::row([&r, &g, &b], steps);
        let row = |corner: u8| {
            let along = [3.0, 3.0 * steps, 3.0 * steps * steps];
            let away: f32 = (0..3).filter(|axis| corner >> axis & 1 == 1).map(|axis| along[axis]).sum();
            if corner == 0 { near.clone() } else { near.clone() + away }
        };
        let rows: Vec<Term> = (0..8).map(row).collect();
        let between = |pair: &[Term], rest: &Term| {
            (pair[1].clone() - pair[0].clone()).mul_add(rest.clone(), pair[0].clone())
        };
        [0, 1, 2].map(|channel| {
            let corners: Vec<Term> = rows.iter().map(|row| self.at(row, channel)).collect();
            let edges: Vec<Term> = corners.chunks(2).map(|pair| between(pair, &x)).collect();
            let faces: Vec<Term> = edges.chunks(2).map(|pair| between(pair, &y)).collect();
            between(&faces, &z)
        })
    }
}
