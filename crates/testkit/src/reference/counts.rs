//! What counted operators share.

use crate::Real;

/// Channels that are counted: alpha is not.
pub(super) fn colors(image: &Real) -> usize {
    image.channels - usize::from(image.has_alpha())
}

/// How often each value occurs in a channel.
pub(super) fn counts(image: &Real, channel: usize) -> [u64; 256] {
    let mut counts = [0; 256];
    image.data.iter().skip(channel).step_by(image.channels).for_each(|&v| counts[v as usize] += 1);
    counts
}

/// Each colour sample replaced by `map[channel][v]`; alpha stays.
pub(super) fn mapped(image: &Real, maps: &[Vec<f64>]) -> Real {
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| {
        let v = image.at(x, y, c);
        maps.get(c).map_or(v, |map| map[v as usize])
    })
}
