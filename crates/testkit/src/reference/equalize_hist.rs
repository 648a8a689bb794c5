use super::apply::Reference;
use super::counts::{colors, counts, mapped};
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("equalize_hist", &["method"], |call| {
    equalize_hist(&call.image(0), call.params.word("method") == Some("pillow"))
});

/// OpenCV's `equalizeHist`, or Pillow's `ImageOps.equalize`, of each colour channel.
pub fn equalize_hist(image: &Real, pillow: bool) -> Real {
    let maps: Vec<Vec<f64>> = (0..colors(image))
        .map(|channel| {
            let h = counts(image, channel);
            if pillow { of_pillow(&h) } else { of_opencv(&h) }
        })
        .collect();
    mapped(image, &maps)
}

fn of_opencv(h: &[u64; 256]) -> Vec<f64> {
    let n: u64 = h.iter().sum();
    let first = (0..256).find(|&v| h[v] > 0).unwrap();
    if h[first] == n {
        return (0..256).map(|v| v as f64).collect();
    }
    // The product of two binary32 numbers, as the definition says.
    let scale = 255.0_f32 / (n - h[first]) as f32;
    let above = |v: usize| h[first..=v.max(first)].iter().sum::<u64>() - h[first];
    (0..256).map(|v| f64::from(above(v) as f32 * scale)).collect()
}

fn of_pillow(h: &[u64; 256]) -> Vec<f64> {
    let occurring: Vec<u64> = h.iter().copied().filter(|&count| count > 0).collect();
    let step = (occurring.iter().sum::<u64>() - occurring.last().unwrap()) / 255;
    if occurring.len() <= 1 || step == 0 {
        return (0..256).map(|v| v as f64).collect();
    }
    let before = |v: usize| h[..v].iter().sum::<u64>();
    (0..256).map(|v| (((step / 2 + before(v)) / step) as f64).min(255.0)).collect()
}
