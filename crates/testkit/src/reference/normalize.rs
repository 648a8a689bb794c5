use crate::Real;

/// `(v * scale - mean[c]) / std[c]` in every channel; a list of one holds for all channels.
pub fn normalize(image: &Real, scale: f64, mean: &[f64], std: &[f64]) -> Real {
    let of = |list: &[f64], c: usize| if list.len() == 1 { list[0] } else { list[c] };
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| {
        (image.at(x, y, c) * scale - of(mean, c)) / of(std, c)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn per_channel_and_for_all() {
        let image = Real::from_fn(1, 1, 3, |_, _, c| [10.0, 20.0, 30.0][c]);
        assert_eq!(normalize(&image, 0.5, &[5.0], &[2.0]).data, [0.0, 2.5, 5.0]);
        assert_eq!(normalize(&image, 1.0, &[10.0, 10.0, 0.0], &[1.0, 2.0, 3.0]).data, [0.0, 5.0, 10.0]);
    }
}
