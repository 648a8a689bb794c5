use std::fmt;
use std::sync::Arc;

use super::Bits;

/// Numbers that an expression looks up: part of the computation, not numbers of a launch. Copies share them; tables of the same
/// numbers are equal.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct LookupTable(Arc<[Bits]>);

impl LookupTable {
    /// Numbers of a table, and of all tables of an expression, at most. Binary32 counts that far exactly.
    pub const MAX: usize = 1 << 20;

    /// A table of 1 to [`LookupTable::MAX`] numbers.
    ///
    /// # Errors
    /// No number, or more.
    pub fn new(numbers: &[f32]) -> Result<Self, String> {
        match numbers.len() {
            0 => Err("a table to look up in needs a number".to_owned()),
            count if count > Self::MAX => {
                Err(format!("a table has {count} numbers, but {} is the limit", Self::MAX))
            }
            _ => Ok(Self(numbers.iter().map(|&number| Bits::new(number)).collect())),
        }
    }

    /// The number at an index: its fraction is dropped, what lies outside counts as the nearest end, and NaN as 0.
    #[inline(always)]
    pub fn at(&self, index: f32) -> f32 {
        // The conversion saturates, and NaN becomes 0.
        self.0[(index as usize).min(self.0.len() - 1)].get()
    }

    /// How many numbers it has.
    #[allow(clippy::len_without_is_empty, reason = "none is empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Its numbers.
    pub fn numbers(&self) -> impl ExactSizeIterator<Item = f32> {
        self.0.iter().map(|bits| bits.get())
    }
}

impl fmt::Debug for LookupTable {
    /// How many there are, and the first of them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LookupTable({} numbers from {})", self.len(), self.at(0.0))
    }
}
