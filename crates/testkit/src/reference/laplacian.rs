use super::Border;
use super::apply::Reference;
use super::around::each_window;
use crate::Real;

const PARAMS: &[&str] = &["kernel", "scale", "delta", "to", "border", "border_value"];

pub(super) const REFERENCE: Reference = Reference::new("laplacian", PARAMS, |call| {
    let number = |name, default| f64::from(call.params.number(name).unwrap_or(default) as f32);
    let kernel = call.params.size("kernel").unwrap_or(1);
    laplacian(&call.image(0), kernel, number("scale", 1.0), number("delta", 0.0), Border::of(call.params))
})
// Of the largest kernel the magnitudes add up to 256.
.magnitude(|call| {
    let scale = call.params.number("scale").unwrap_or(1.0).abs();
    let outside = call.params.number("border_value").unwrap_or(0.0).abs();
    256.0 * scale * call.largest().max(outside) + call.params.number("delta").unwrap_or(0.0).abs()
})
.output(|params, desc| {
    params.word("to").map_or(desc, |to| desc.with_dtype(to.parse().expect("a type")).unwrap())
});

/// OpenCV's kernels: written out for 1 and 3; for 5 second differences along one axis smoothed by binomials along the
/// other, made by multiplying polynomials.
pub fn laplacian(image: &Real, kernel: usize, scale: f64, delta: f64, border: Border) -> Real {
    let weights: Vec<Vec<f64>> = match kernel {
        1 => vec![vec![0.0, 1.0, 0.0], vec![1.0, -4.0, 1.0], vec![0.0, 1.0, 0.0]],
        3 => vec![vec![2.0, 0.0, 2.0], vec![0.0, -8.0, 0.0], vec![2.0, 0.0, 2.0]],
        _ => {
            let times = |a: Vec<f64>, b: [f64; 2]| -> Vec<f64> {
                let at = |i: usize| a.get(i).copied().unwrap_or(0.0);
                (0..=a.len()).map(|i| at(i) * b[0] + if i > 0 { at(i - 1) * b[1] } else { 0.0 }).collect()
            };
            let smooth = (1..kernel).fold(vec![1.0], |p, _| times(p, [1.0, 1.0]));
            let second = (1..kernel - 2).fold(vec![1.0], |p, _| times(p, [1.0, 1.0]));
            let second = (0..2).fold(second, |p, _| times(p, [1.0, -1.0]));
            let row = |y: usize| (0..kernel).map(|x| second[x] * smooth[y] + smooth[x] * second[y]).collect();
            (0..kernel).map(row).collect()
        }
    };
    let radius = (weights.len() / 2) as i64;
    each_window(image, border, |at| {
        let row = |(y, row): (i64, &Vec<f64>)| -> f64 {
            (-radius..).zip(row).filter(|(_, w)| **w != 0.0).map(|(x, w)| w * at(x, y)).sum()
        };
        (-radius..).zip(&weights).map(row).sum::<f64>() * scale + delta
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_those_of_opencv() {
        let impulse = Real::from_fn(7, 7, 1, |x, y, _| if (x, y) == (3, 3) { 1.0 } else { 0.0 });
        let row = |kernel, y| {
            let made = laplacian(&impulse, kernel, 1.0, 0.0, Border::Replicate);
            (0..7).map(|x| made.at(x, y, 0)).collect::<Vec<_>>()
        };
        // getDerivKernels(2, 0, 5): 1 0 -2 0 1 and 1 4 6 4 1.
        assert_eq!(row(5, 3), [0.0, 4.0, -8.0, -24.0, -8.0, 4.0, 0.0]);
    }
}
