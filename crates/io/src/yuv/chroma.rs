//! Chroma whose samples take turns in one plane, and chroma in planes of its own. Here and not where video is written, because
//! it is a loop over every sample, and the command line is compiled for size.

/// Samples of two rows that take turns, added to `to`; samples have 1 or 2 bytes.
///
/// ```
/// let mut to = Vec::new();
/// mip_io::yuv::interleave(&[1, 2, 3], &[7, 8, 9], 1, &mut to);
/// assert_eq!(to, [1, 7, 2, 8, 3, 9]);
/// ```
pub fn interleave(first: &[u8], second: &[u8], sample: usize, to: &mut Vec<u8>) {
    match sample {
        1 => interleave_samples::<1>(first, second, to),
        _ => interleave_samples::<2>(first, second, to),
    }
}

/// The samples of a row that take turns, added to a row each; samples have 1 or 2 bytes.
///
/// ```
/// let mut planes = [Vec::new(), Vec::new()];
/// mip_io::yuv::take_apart(&[1, 2, 7, 8, 3, 4, 9, 10], 2, &mut planes);
/// assert_eq!(planes, [[1, 2, 3, 4], [7, 8, 9, 10]]);
/// ```
pub fn take_apart(row: &[u8], sample: usize, planes: &mut [Vec<u8>; 2]) {
    match sample {
        1 => take_samples_apart::<1>(row, planes),
        _ => take_samples_apart::<2>(row, planes),
    }
}

fn interleave_samples<const N: usize>(first: &[u8], second: &[u8], to: &mut Vec<u8>) {
    let (first, _) = first.as_chunks::<N>();
    let (second, _) = second.as_chunks::<N>();
    let begin = to.len();
    to.resize(begin + 2 * N * first.len().min(second.len()), 0);
    let (samples, _) = to[begin..].as_chunks_mut::<N>();
    let (pairs, _) = samples.as_chunks_mut::<2>();
    for (pair, (&a, &b)) in pairs.iter_mut().zip(first.iter().zip(second)) {
        *pair = [a, b];
    }
}

fn take_samples_apart<const N: usize>(row: &[u8], planes: &mut [Vec<u8>; 2]) {
    let (samples, _) = row.as_chunks::<N>();
    let (pairs, _) = samples.as_chunks::<2>();
    for (index, plane) in planes.iter_mut().enumerate() {
        let begin = plane.len();
        plane.resize(begin + N * pairs.len(), 0);
        let (to, _) = plane[begin..].as_chunks_mut::<N>();
        for (to, pair) in to.iter_mut().zip(pairs) {
            *to = pair[index];
        }
    }
}
