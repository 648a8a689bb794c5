//! The best instructions of the machine, for work whose steps are there in several versions with the same results.

use crate::{decode, encode};

/// What a machine can do.
pub(crate) trait Level: decode::JpegLevel + encode::JpegLevel {}

/// What works everywhere.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Level for Portable {}

/// Something to do with the best instructions there are.
///
/// A type of its own, not a closure: one that only borrows is called through a function that is compiled without
/// these instructions, and so is all that it calls.
pub(crate) trait Job {
    type Output;
    /// Must be inlined (`#[inline(always)]`), with all that it calls in loops.
    fn run<L: Level>(self, level: L) -> Self::Output;
}

/// Does it.
pub(crate) fn run<J: Job>(job: J) -> J::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(v3) = pulp::x86::V3::try_new() {
        return v3.vectorize(x86::OnV3 { v3, job });
    }
    job.run(Portable)
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Lanes, transpose};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::__m256i;

    use pulp::NullaryFnOnce;
    use pulp::x86::V3;

    use super::{Job, Level};

    impl Level for V3 {}

    pub(super) struct OnV3<J> {
        pub(super) v3: V3,
        pub(super) job: J,
    }

    impl<J: Job> NullaryFnOnce for OnV3<J> {
        type Output = J::Output;

        #[inline(always)]
        fn call(self) -> J::Output {
            self.job.run(self.v3)
        }
    }

    /// Rows of 32-bit integers to columns.
    #[inline(always)]
    pub(crate) fn transpose(v3: V3, r: [__m256i; 8]) -> [__m256i; 8] {
        let avx2 = v3.avx2;
        let (mut pairs, mut fours) = (r, r);
        for i in 0..4 {
            pairs[2 * i] = avx2._mm256_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
            pairs[2 * i + 1] = avx2._mm256_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
        }
        for half in [0, 4] {
            fours[half] = avx2._mm256_unpacklo_epi64(pairs[half], pairs[half + 2]);
            fours[half + 1] = avx2._mm256_unpackhi_epi64(pairs[half], pairs[half + 2]);
            fours[half + 2] = avx2._mm256_unpacklo_epi64(pairs[half + 1], pairs[half + 3]);
            fours[half + 3] = avx2._mm256_unpackhi_epi64(pairs[half + 1], pairs[half + 3]);
        }
        let mut turned = r;
        for i in 0..4 {
            turned[i] = avx2._mm256_permute2x128_si256::<0x20>(fours[i], fours[i + 4]);
            turned[i + 4] = avx2._mm256_permute2x128_si256::<0x31>(fours[i], fours[i + 4]);
        }
        turned
    }

    /// Eight 32-bit integers. Methods, because closures are not sure to be inlined.
    #[derive(Clone, Copy)]
    pub(crate) struct Lanes(pub(crate) V3);

    impl Lanes {
        #[inline(always)]
        pub(crate) fn add(self, a: __m256i, b: __m256i) -> __m256i {
            self.0.avx2._mm256_add_epi32(a, b)
        }

        #[inline(always)]
        pub(crate) fn sub(self, a: __m256i, b: __m256i) -> __m256i {
            self.0.avx2._mm256_sub_epi32(a, b)
        }

        #[inline(always)]
        pub(crate) fn mul(self, a: __m256i, factor: i32) -> __m256i {
            self.0.avx2._mm256_mullo_epi32(a, self.0.avx._mm256_set1_epi32(factor))
        }

        #[inline(always)]
        pub(crate) fn up<const BITS: i32>(self, a: __m256i) -> __m256i {
            self.0.avx2._mm256_slli_epi32::<BITS>(a)
        }

        #[inline(always)]
        pub(crate) fn down<const BITS: i32>(self, a: __m256i) -> __m256i {
            self.0.avx2._mm256_srai_epi32::<BITS>(a)
        }
    }
}
