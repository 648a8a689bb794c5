//! The pool against a reference that keeps everything in one list.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Step {
    Allocate(usize),
    /// Drops the n-th block held (modulo their number).
    Free(usize),
    Trim,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0_usize..3000).prop_map(Step::Allocate),
        5 => any::<usize>().prop_map(Step::Free),
        1 => Just(Step::Trim),
    ];
    proptest::collection::vec(step, 1..80)
}

/// Sizes only: unused blocks, oldest first.
#[derive(Debug, Default)]
struct Reference {
    unused: Vec<usize>,
    held: Vec<usize>,
    hits: u64,
    misses: u64,
    frees: u64,
    peak: usize,
    peak_reserved: usize,
}

impl Reference {
    fn in_use(&self) -> usize {
        self.held.iter().sum()
    }

    fn reserved(&self) -> usize {
        self.in_use() + self.unused.iter().sum::<usize>()
    }

    fn allocate(&mut self, bytes: usize) {
        let need = bytes.max(1).div_ceil(64) * 64;
        let fits = self.unused.iter().copied().filter(|&size| (need..=need + need / 4).contains(&size));
        if let Some(best) = fits.min() {
            let youngest = self.unused.iter().rposition(|&size| size == best).unwrap();
            self.unused.remove(youngest);
            self.held.push(best);
            self.hits += 1;
        } else {
            self.held.push(need);
            self.misses += 1;
        }
        self.peak = self.peak.max(self.in_use());
        self.peak_reserved = self.peak_reserved.max(self.reserved());
    }

    fn free(&mut self, index: usize, bound: usize) {
        let size = self.held.remove(index);
        self.unused.push(size);
        while self.unused.iter().sum::<usize>() > bound {
            self.unused.remove(0);
            self.frees += 1;
        }
    }

    fn trim(&mut self) {
        self.frees += self.unused.len() as u64;
        self.unused.clear();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_pool_does_what_the_reference_does(steps in steps(), bound in 0_usize..8000) {
        let device = null(None);
        let pool = PoolResource::new(driver(&device), CacheBound::Bytes(bound));
        let (mut reference, mut blocks) = (Reference::default(), Vec::new());
        for step in steps {
            match step {
                Step::Allocate(bytes) => {
                    let block = pool.allocate(bytes).unwrap();
                    prop_assert!(block.memory().len() >= bytes);
                    let shared = blocks.iter().any(|b| address(b) == address(&block));
                    prop_assert!(!shared, "the same memory twice");
                    blocks.push(block);
                    reference.allocate(bytes);
                }
                Step::Free(n) if !blocks.is_empty() => {
                    let index = n % blocks.len();
                    drop(blocks.remove(index));
                    reference.free(index, bound);
                }
                Step::Free(_) => {}
                Step::Trim => {
                    let unused = reference.unused.iter().sum::<usize>();
                    prop_assert_eq!(pool.trim(), unused);
                    reference.trim();
                }
            }
            let expected = SpaceStats {
                driver_allocations: reference.misses,
                driver_frees: reference.frees,
                hits: reference.hits,
                misses: reference.misses,
                in_use: reference.in_use(),
                reserved: reference.reserved(),
                peak_in_use: reference.peak,
                peak: reference.peak_reserved,
            };
            prop_assert_eq!(pool.stats(), expected);
            prop_assert_eq!(device.allocated(), reference.reserved());
        }
        drop(pool);
        prop_assert_eq!(device.allocated(), reference.in_use());
        drop(blocks);
        prop_assert_eq!(device.allocated(), 0);
    }
}
