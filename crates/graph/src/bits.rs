/// A square matrix of bits: row `i` holds the set of earlier elements that reach element `i`.
#[derive(Debug, Clone)]
pub(crate) struct BitMatrix {
    words: usize,
    bits: Vec<u64>,
}

impl BitMatrix {
    /// All rows empty.
    pub(crate) fn new(size: usize) -> Self {
        let words = size.div_ceil(64);
        Self { words, bits: vec![0; size * words] }
    }

    /// Whether `column` is in the set of `row`.
    pub(crate) fn contains(&self, row: usize, column: usize) -> bool {
        self.bits[row * self.words + column / 64] >> (column % 64) & 1 == 1
    }

    /// Adds `column` and everything in its own set to the set of `row`.
    pub(crate) fn absorb(&mut self, row: usize, column: usize) {
        for word in 0..self.words {
            self.bits[row * self.words + word] |= self.bits[column * self.words + word];
        }
        self.bits[row * self.words + column / 64] |= 1 << (column % 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absorbing_follows_paths_across_word_boundaries() {
        let mut m = BitMatrix::new(130);
        m.absorb(70, 3);
        m.absorb(129, 70);
        assert!(m.contains(129, 3) && m.contains(129, 70) && !m.contains(129, 129) && !m.contains(70, 129));
    }
}
