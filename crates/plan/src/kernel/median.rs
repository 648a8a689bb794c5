use std::sync::{Arc, LazyLock};

use super::{Border, Stencil};
use crate::{Binary, Channel, Expr, ExprBuilder, Offset, Results};

/// Sides of squares whose medians are recognised.
const SIDES: [u32; 2] = [3, 5];

static MEDIANS: LazyLock<[Arc<Expr>; 2]> =
    LazyLock::new(|| SIDES.map(|side| Arc::new(median(side).expect("a small expression"))));

impl Stencil {
    /// The median of the samples in a square of 3 or 5 pixels a side, for each channel, as [`median_of`] finds it row by row;
    /// `None` for other sides.
    pub fn median(side: u32, border: Border) -> Option<Self> {
        let index = SIDES.iter().position(|&known| known == side)?;
        Some(Self { expr: MEDIANS[index].clone(), border })
    }

    /// The side of the square whose [`Stencil::median`] it is, for which devices have a faster way.
    pub fn median_side(&self) -> Option<u32> {
        let index = MEDIANS.iter().position(|known| *known == self.expr)?;
        Some(SIDES[index])
    }
}

fn median(side: u32) -> Result<Expr, String> {
    let mut e = ExprBuilder::default();
    let radius = (side / 2) as i8;
    let places = (-radius..=radius).flat_map(|dy| (-radius..=radius).map(move |dx| Offset { dx, dy }));
    let samples = places.map(|at| e.neighbor(0, Channel::Own, at)).collect();
    let order = |&a: &_, &b: &_| (e.binary(Binary::Min, a, b), e.binary(Binary::Max, a, b));
    let found = median_of(samples, order).ok_or("no sample")?;
    e.finish(&Results::EachChannel(found))
}

/// The median of an odd number of values, by minima and maxima, which `order` gives of two: of a few more than half of them the
/// lowest and the highest cannot be it, and are left out for the next value ("forgetful selection"). `None` of no value.
pub fn median_of<T>(values: Vec<T>, mut order: impl FnMut(&T, &T) -> (T, T)) -> Option<T> {
    let mut rest = values.into_iter();
    let half = rest.len() / 2;
    let mut candidates: Vec<T> = rest.by_ref().take(half + 2).collect();
    while candidates.len() > 1 {
        to_the_ends(&mut candidates, &mut order);
        candidates.pop();
        candidates.remove(0);
        candidates.extend(rest.next());
    }
    candidates.pop()
}

/// Brings the lowest value to the front and the highest to the back: pairs are ordered first, then the lower ones of them
/// against each other, and the higher ones.
fn to_the_ends<T>(values: &mut [T], order: &mut impl FnMut(&T, &T) -> (T, T)) {
    let last = values.len() - 1;
    let mut order = |low: usize, high: usize| {
        (values[low], values[high]) = order(&values[low], &values[high]);
    };
    for i in 0..last.div_ceil(2) {
        order(i, last - i);
    }
    for i in 1..=last / 2 {
        order(0, i);
    }
    for i in last.div_ceil(2)..last {
        order(i, last);
    }
}
