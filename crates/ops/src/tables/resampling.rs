use mip_plan::AxisTaps;

/// Linear interpolation along one axis: the triangle of half-width `half_width / output` source pixels around
/// `(dst + 0.5) * input / output`, at the centres of the source pixels, normalised.
///
/// `half_width = output` is point-sampled bilinear (`src = (dst + 0.5) * input / output - 0.5`, weights
/// `1 - f` and `f`; leaving out what lies outside and normalising is the same as clamping to the edge).
/// `half_width = max(input, output)` is Pillow's antialiased bilinear.
///
/// All in integers in units of `1 / (2 output)` source pixels: sides up to 2^31 and outputs up to 2^22 stay
/// below 2^55, and each weight is one correctly rounded f64 division.
pub(crate) fn triangle(input: u32, output: u32, half_width: u32) -> AxisTaps {
    let (n, o, half) = (i64::from(input), i64::from(output), 2 * i64::from(half_width));
    let outputs = (0..o).map(move |dst| {
        let centre = (2 * dst + 1) * n;
        // One more on each side than can have weight; those without are dropped below.
        let first = (centre - half - o).div_euclid(2 * o).max(0);
        let last = ((centre + half).div_euclid(2 * o)).min(n - 1);
        let weighted = (first..=last)
            .map(|x| (x, half - ((2 * x + 1) * o - centre).abs()))
            .filter(|&(_, weight)| weight > 0);
        normalised(weighted.collect())
    });
    AxisTaps::from_contributions(input, outputs)
}

/// A window over source pixels, by the distance from its middle; 0 beyond its support.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kernel {
    /// `(a + 2) |x|^3 - (a + 3) |x|^2 + 1` up to 1, `a (|x|^3 - 5 |x|^2 + 8 |x| - 4)` up to 2 (R. Keys, 1981).
    Cubic {
        /// The slope at 1.
        a: f64,
    },
    /// `sinc(x) sinc(x / 3)` up to 3.
    Lanczos3,
    /// 1 up to 1/2.
    Box,
    /// `sinc(x) (0.54 + 0.46 cos(pi x))` up to 1.
    Hamming,
}

impl Kernel {
    const fn support(self) -> f64 {
        match self {
            Self::Cubic { .. } => 2.0,
            Self::Lanczos3 => 3.0,
            Self::Box => 0.5,
            Self::Hamming => 1.0,
        }
    }

    fn at(self, x: f64) -> f64 {
        let sinc = |x: f64| {
            // Exactly 0 at the other whole numbers, where the sine of a rounded multiple of pi is not: what weighs nothing is
            // not read, so that a NaN there changes nothing.
            if x.fract() == 0.0 {
                return f64::from(u8::from(x == 0.0));
            }
            let x = x * std::f64::consts::PI;
            x.sin() / x
        };
        match (self, x.abs()) {
            // Of two pixels at the edge of a box the one on the left counts.
            (Self::Box, _) => f64::from(u8::from(-0.5 < x && x <= 0.5)),
            (_, x) if x >= self.support() => 0.0,
            (Self::Cubic { a }, x) if x < 1.0 => ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0,
            (Self::Cubic { a }, x) => (((x - 5.0) * x + 8.0) * x - 4.0) * a,
            (Self::Lanczos3, x) => sinc(x) * sinc(x / 3.0),
            (Self::Hamming, x) => sinc(x) * (0.54 + 0.46 * (std::f64::consts::PI * x).cos()),
        }
    }
}

/// Windowed interpolation along one axis, around `(dst + 0.5) * input / output`, at the centres of the source pixels,
/// normalised. As wide as `kernel` is, and pixels outside stand for those at the edge; or, for `antialias`, wider by how much
/// the axis shrinks, and what lies outside left out, as Pillow does.
pub(crate) fn windowed(input: u32, output: u32, kernel: Kernel, antialias: bool) -> AxisTaps {
    let (n, o) = (i64::from(input), i64::from(output));
    // The window's unit, in units of 1 / (2 output) source pixels, in which all places are whole numbers.
    let unit = if antialias { 2 * n.max(o) } else { 2 * o };
    let reach = (kernel.support() * unit as f64).ceil() as i64;
    let outputs = (0..o).map(move |dst| {
        let centre = (2 * dst + 1) * n;
        let (first, last) = ((centre - reach - o).div_euclid(2 * o), (centre + reach).div_euclid(2 * o));
        let pixels = if antialias { first.max(0)..=last.min(n - 1) } else { first..=last };
        let weighted = pixels.map(|x| (x, kernel.at(((2 * x + 1) * o - centre) as f64 / unit as f64)));
        let weighted: Vec<(i64, f64)> = weighted.filter(|&(_, weight)| weight != 0.0).collect();
        let sum: f64 = weighted.iter().map(|(_, weight)| weight).sum();
        weighted.into_iter().map(|(x, weight)| (x, weight / sum)).collect::<Vec<_>>()
    });
    AxisTaps::from_contributions(input, outputs).keep_wide()
}

/// Exact coverage along one axis: source pixels weigh by how much of them lies in
/// `[dst * input / output, (dst + 1) * input / output)`, normalised.
pub(crate) fn area(input: u32, output: u32) -> AxisTaps {
    let (n, o) = (i64::from(input), i64::from(output));
    let outputs = (0..o).map(move |dst| {
        // In units of 1 / output source pixels the range and the pixels both begin at whole numbers.
        let (begin, end) = (dst * n, (dst + 1) * n);
        let covered = |x: i64| (x, ((x + 1) * o).min(end) - (x * o).max(begin));
        normalised((begin / o..=(end - 1) / o).map(covered).collect())
    });
    AxisTaps::from_contributions(input, outputs)
}

fn normalised(weights: Vec<(i64, i64)>) -> Vec<(i64, f64)> {
    let sum = weights.iter().map(|&(_, w)| w).sum::<i64>() as f64;
    weights.into_iter().map(|(x, w)| (x, w as f64 / sum)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weights of one output as a dense row over the source.
    fn dense(table: &AxisTaps, output: usize, input: u32) -> Vec<f64> {
        let mut row = vec![0.0; input as usize];
        for (k, &w) in table.weights(output).iter().enumerate() {
            row[table.starts()[output] as usize + k] += f64::from(w);
        }
        row
    }

    fn close(a: &[f64], b: &[f64]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-6)
    }

    #[test]
    fn three_to_two_is_exact() {
        let table = triangle(6, 4, 4);
        assert_eq!((table.taps(), table.starts()), (2, &[0, 1, 3, 4][..]));
        for (output, weights) in
            [[0.75, 0.25], [0.25, 0.75], [0.75, 0.25], [0.25, 0.75]].into_iter().enumerate()
        {
            assert_eq!(table.weights(output), weights);
        }
    }

    #[test]
    fn same_size_and_odd_ratios_need_one_tap() {
        for (input, output) in [(5, 5), (9, 3), (1, 1)] {
            let table = triangle(input, output, output);
            assert_eq!(table.taps(), 1, "{input} {output}");
            assert!(table.all_weights().iter().all(|w| *w == 1.0));
        }
        assert_eq!(triangle(9, 3, 3).starts(), [1, 4, 7]);
    }

    #[test]
    fn enlarging_clamps_at_the_edges() {
        let table = triangle(2, 4, 4);
        let rows: Vec<_> = (0..4).map(|o| dense(&table, o, 2)).collect();
        assert_eq!(rows, [[1.0, 0.0], [0.75, 0.25], [0.25, 0.75], [0.0, 1.0]]);
        assert_eq!(triangle(1, 7, 7).all_weights(), [1.0; 7]);
    }

    #[test]
    fn bilinear_follows_the_definition_in_floats() {
        for (input, output) in [(1080, 720), (500, 341), (3, 10), (7, 5), (640, 33), (2, 1)] {
            let table = triangle(input, output, output);
            for dst in 0..output {
                let src = (f64::from(dst) + 0.5) * f64::from(input) / f64::from(output) - 0.5;
                let mut expected = vec![0.0; input as usize];
                let clamp = |x: f64| x.clamp(0.0, f64::from(input) - 1.0) as usize;
                expected[clamp(src.floor())] += 1.0 - (src - src.floor());
                expected[clamp(src.floor() + 1.0)] += src - src.floor();
                let got = dense(&table, dst as usize, input);
                assert!(close(&got, &expected), "{input}->{output} at {dst}: {got:?} {expected:?}");
            }
        }
    }

    #[test]
    fn antialiased_bilinear_is_pillows() {
        // Pillow's precompute_coeffs, in its own floating-point words.
        for (input, output) in [(500, 341), (8, 3), (10, 1), (7, 5), (3, 10), (375, 256)] {
            let table = triangle(input, output, input.max(output));
            let scale = f64::from(input) / f64::from(output);
            let support = scale.max(1.0);
            for dst in 0..output {
                let centre = (f64::from(dst) + 0.5) * scale;
                let expected: Vec<f64> = (0..input)
                    .map(|x| (1.0 - ((f64::from(x) - centre + 0.5) / support).abs()).max(0.0))
                    .collect();
                let sum: f64 = expected.iter().sum();
                let expected: Vec<f64> = expected.into_iter().map(|w| w / sum).collect();
                let got = dense(&table, dst as usize, input);
                assert!(close(&got, &expected), "{input}->{output} at {dst}: {got:?} {expected:?}");
            }
        }
    }

    #[test]
    fn area_is_exact_coverage() {
        let halves = area(4, 2);
        assert_eq!((halves.taps(), halves.all_weights()), (2, &[0.5; 4][..]));
        let rows: Vec<_> = (0..2).map(|o| dense(&area(3, 2), o, 3)).collect();
        assert!(
            close(&rows[0], &[2.0 / 3.0, 1.0 / 3.0, 0.0]) && close(&rows[1], &[0.0, 1.0 / 3.0, 2.0 / 3.0])
        );
        let rows: Vec<_> = (0..3).map(|o| dense(&area(2, 3), o, 2)).collect();
        assert_eq!(rows, [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]);
    }

    #[test]
    fn every_table_sums_to_one_and_stays_inside() {
        for input in 1..=23 {
            for output in 1..=23 {
                let wide = input.max(output);
                let tables =
                    [triangle(input, output, output), triangle(input, output, wide), area(input, output)];
                for table in tables {
                    assert_eq!(table.outputs(), output as usize);
                    for o in 0..table.outputs() {
                        assert!(table.starts()[o] as usize + table.taps() <= input as usize);
                        let sum: f64 = table.weights(o).iter().map(|&w| f64::from(w)).sum();
                        assert!((sum - 1.0).abs() < 1e-6, "{input}->{output} at {o}: {sum}");
                    }
                }
            }
        }
    }

    #[test]
    fn mirrored_outputs_have_mirrored_weights() {
        for (input, output) in [(10, 7), (7, 10), (23, 4)] {
            for table in [triangle(input, output, output), triangle(input, output, 23), area(input, output)] {
                for o in 0..output as usize {
                    let mut mirrored = dense(&table, output as usize - 1 - o, input);
                    mirrored.reverse();
                    assert_eq!(dense(&table, o, input), mirrored, "{input}->{output} at {o}");
                }
            }
        }
    }
}
