//! The device's own copy bandwidth: the ceiling that everything else is compared with.

use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use mip_core::threads;
use mip_cuda::{CudaDevice, CudaOptions};
use mip_runtime::device::{DeviceInfo, DeviceKind};

use super::stats::median;
use crate::failure::Failure;

/// Memory that inputs, outputs and copies rotate over, so that no cache serves them again.
pub(crate) const ROTATE: usize = 256 << 20;
/// Bytes of one copy on a GPU.
const GPU_COPY: usize = 512 << 20;

/// Measures copies in turns with what is compared with them. Rates count bytes read and bytes written.
#[derive(Debug)]
pub(crate) enum Copier {
    /// Memory to memory by as many threads as the device has.
    Host { threads: usize, from: Vec<u8>, to: Vec<u8>, piece: usize, rates: Vec<f64> },
    /// Measured once by the device's own clock.
    Known(f64),
    /// Why it cannot be measured.
    Unknown(String),
}

impl Copier {
    /// For a device, and a workload that reads and writes `bytes` an execution.
    pub(crate) fn new(info: &DeviceInfo, bytes: u64) -> Result<Self, Failure> {
        match info.kind {
            DeviceKind::CUDA => {
                let device = CudaDevice::open(info.index, CudaOptions::default());
                let rate = device.and_then(|device| device.copy_bandwidth(GPU_COPY));
                Ok(rate.map_or_else(|error| Self::Unknown(error.to_string()), |rate| Self::Known(rate / 1e9)))
            }
            DeviceKind::CPU => {
                let threads = std::thread::available_parallelism().map_or(1, usize::from);
                // A copy of half the bytes reads and writes as many as the workload.
                let piece = usize::try_from(bytes / 2).unwrap_or(ROTATE).clamp(1 << 16, ROTATE / 2);
                let memory = || {
                    let mut memory = Vec::new();
                    let reserved = memory.try_reserve_exact(ROTATE / 2);
                    // Written, so that its pages are there.
                    reserved.map(|()| memory.resize(ROTATE / 2, 0x5A_u8)).map(|()| memory)
                };
                let short = |e| Failure::Running(format!("no memory to measure copies with: {e}"));
                let (from, to) = (memory().map_err(short)?, memory().map_err(short)?);
                Ok(Self::Host { threads, from, to, piece, rates: Vec::new() })
            }
            kind => Ok(Self::Unknown(format!("no copies are measured on a {kind} device"))),
        }
    }

    /// One sample, where samples are taken.
    pub(crate) fn sample(&mut self) {
        if let Self::Host { threads, from, to, piece, rates } = self {
            rates.push(copy(*threads, from, to, *piece));
        }
    }

    /// Gigabytes a second, read and written bytes counted.
    pub(crate) fn gb_per_s(&self) -> Option<f64> {
        match self {
            Self::Host { rates, .. } => (!rates.is_empty()).then(|| median(rates)),
            Self::Known(rate) => Some(*rate),
            Self::Unknown(_) => None,
        }
    }

    /// Why there is no rate.
    pub(crate) fn problem(&self) -> Option<&str> {
        if let Self::Unknown(reason) = self { Some(reason) } else { None }
    }
}

/// Copies all of `from` once, piece by piece, each piece shared by the threads; gigabytes a second.
fn copy(count: usize, from: &[u8], to: &mut [u8], piece: usize) -> f64 {
    let share = piece.div_ceil(count).max(1);
    let mut shares: Vec<Vec<(&[u8], &mut [u8])>> = (0..count).map(|_| Vec::new()).collect();
    for (index, pair) in from.chunks(share).zip(to.chunks_mut(share)).enumerate() {
        shares[index % count].push(pair);
    }
    let (begin, shares) = (Mutex::new(()), Mutex::new(shares));
    let work = || {
        drop(begin.lock());
        let take = || shares.lock().unwrap_or_else(PoisonError::into_inner).pop();
        while let Some(share) = take() {
            for (from, to) in share {
                to.copy_from_slice(black_box(from));
            }
        }
    };
    let seconds = std::thread::scope(|scope| {
        // Nobody begins before all are there; what no thread is there for, the others do.
        let held = begin.lock().unwrap_or_else(PoisonError::into_inner);
        let spawn = |_| threads::spawn_scoped(scope, "mip-copy", "copy", work).ok();
        let workers: Vec<_> = (1..count).map_while(spawn).collect();
        drop(held);
        let start = Instant::now();
        work();
        for worker in workers {
            drop(worker.join());
        }
        start.elapsed().as_secs_f64()
    });
    black_box(&to);
    2.0 * from.len() as f64 / seconds / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_copied_whatever_the_pieces() {
        let from: Vec<u8> = (0..1000_u32).map(|i| i as u8).collect();
        for (threads, piece) in [(1, 1), (2, 7), (3, 1000), (4, 999), (2, 5000)] {
            let mut to = vec![0; from.len()];
            assert!(copy(threads, &from, &mut to, piece) > 0.0);
            assert_eq!(to, from, "{threads} threads, pieces of {piece}");
        }
    }
}
