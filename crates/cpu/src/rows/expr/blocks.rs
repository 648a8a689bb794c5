//! The operations on blocks of numbers.

use mip_plan::Compare;

use crate::simd::Level;

/// Applies `f` to each number of a block with a level's instructions. One function a number of operands, each a plain walk side by
/// side: what is indexed, or cut into short pieces, is not turned into vectors.
#[inline(always)]
pub(super) fn each1<N: Copy>(level: Level, a: &[N], to: &mut [N], f: impl Fn(N) -> N) {
    level.vectorize(
        #[inline(always)]
        || {
            let to = to;
            for (to, &a) in to.iter_mut().zip(a) {
                *to = f(a);
            }
        },
    );
}

#[inline(always)]
pub(super) fn each2<N: Copy>(level: Level, from: &[&[N]], to: &mut [N], f: impl Fn(N, N) -> N) {
    let [a, b] = [from[0], from[1]];
    level.vectorize(
        #[inline(always)]
        || {
            let to = to;
            for (to, (&a, &b)) in to.iter_mut().zip(a.iter().zip(b)) {
                *to = f(a, b);
            }
        },
    );
}

#[inline(always)]
pub(super) fn each3<N: Copy>(level: Level, from: &[&[N]], to: &mut [N], f: impl Fn(N, N, N) -> N) {
    let [a, b, c] = [from[0], from[1], from[2]];
    level.vectorize(
        #[inline(always)]
        || {
            let to = to;
            for (to, ((&a, &b), &c)) in to.iter_mut().zip(a.iter().zip(b).zip(c)) {
                *to = f(a, b, c);
            }
        },
    );
}

#[inline(always)]
fn each4<N: Copy>(level: Level, from: [&[N]; 4], to: &mut [N], f: impl Fn(N, N, N, N) -> N) {
    let [a, b, x, y] = from;
    level.vectorize(
        #[inline(always)]
        || {
            let to = to;
            for (to, ((&a, &b), (&x, &y))) in to.iter_mut().zip(a.iter().zip(b).zip(x.iter().zip(y))) {
                *to = f(a, b, x, y);
            }
        },
    );
}

/// `compare(a, b) ? x : y`: three comparisons, of which the others are mirror images, for NaN as well.
#[inline(always)]
pub(super) fn select<N: Copy + PartialOrd>(level: Level, compare: Compare, from: &[&[N]], to: &mut [N]) {
    let [a, b, x, y] = [from[0], from[1], from[2], from[3]];
    let (compare, from) = match compare {
        Compare::Gt => (Compare::Lt, [b, a, x, y]),
        Compare::Ge => (Compare::Le, [b, a, x, y]),
        Compare::Ne => (Compare::Eq, [a, b, y, x]),
        Compare::Lt | Compare::Le | Compare::Eq => (compare, [a, b, x, y]),
    };
    match compare {
        Compare::Lt => each4(level, from, to, |a, b, x, y| if a < b { x } else { y }),
        Compare::Le => each4(level, from, to, |a, b, x, y| if a <= b { x } else { y }),
        Compare::Eq | Compare::Ne | Compare::Gt | Compare::Ge => {
            each4(level, from, to, |a, b, x, y| if a == b { x } else { y });
        }
    }
}
