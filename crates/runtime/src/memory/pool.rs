use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mip_core::ALIGNMENT;

use super::block::Home;
use super::{Block, Resource, SpaceStats};
use crate::device::{Device, DeviceError, Space};

/// How many bytes a pool may keep that nobody uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheBound {
    /// So many bytes.
    Bytes(usize),
    /// As many as were ever in use at once since the last trim, but at least `floor`: a workload keeps what it
    /// cycles through, and sizes that went out of use do not pile up.
    PeakInUse {
        /// Bytes that may always be kept.
        floor: usize,
    },
}

/// Keeps blocks given back and hands them out again: best fit, wasting at most a quarter of the request.
///
/// Over its [`CacheBound`] it gives the blocks unused for longest back to its upstream. When the upstream is
/// out of memory it waits for the device, gives back everything unused and tries once more.
#[derive(Debug)]
pub struct PoolResource {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    upstream: Arc<dyn Resource>,
    bound: CacheBound,
    /// Waited for when there is no memory: work in flight may hold some.
    device: Option<Arc<dyn Device>>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Unused blocks by size, of equal ones the youngest last, with the time since when each is unused. The youngest is
    /// handed out first: its pages are the likeliest in cache. No size is without blocks; there are few sizes.
    cached: BTreeMap<usize, VecDeque<(u64, Block)>>,
    cached_bytes: usize,
    next_age: u64,
    in_use: usize,
    peak_in_use: usize,
    peak_since_trim: usize,
    hits: u64,
    misses: u64,
    closed: Option<String>,
}

impl PoolResource {
    /// A pool on top of `upstream`.
    pub fn new(upstream: Arc<dyn Resource>, bound: CacheBound) -> Self {
        Self { shared: Arc::new(Shared { upstream, bound, device: None, state: Mutex::default() }) }
    }

    /// A pool that, out of memory, waits for what `device` is doing before it tries once more.
    pub fn of_device(device: Arc<dyn Device>, upstream: Arc<dyn Resource>, bound: CacheBound) -> Self {
        let shared = Shared { upstream, bound, device: Some(device), state: Mutex::default() };
        Self { shared: Arc::new(shared) }
    }

    /// Refuses every later allocation with `reason` and keeps nothing any more. Blocks handed out stay valid.
    pub fn close(&self, reason: &str) {
        self.shared.lock().closed = Some(reason.to_owned());
        self.trim();
    }

    fn reuse(&self, need: usize) -> Result<Option<Block>, DeviceError> {
        let mut state = self.shared.lock();
        if let Some(reason) = &state.closed {
            return Err(DeviceError::Unsupported(reason.clone()));
        }
        let found = state.take_best_fit(need);
        if let Some(block) = &found {
            state.hits += 1;
            let bytes = block.len();
            state.hand_out(bytes);
        } else {
            state.misses += 1;
        }
        Ok(found)
    }

    fn grow(&self, need: usize) -> Result<Block, DeviceError> {
        let upstream = &self.shared.upstream;
        let block = match upstream.allocate(need) {
            Err(DeviceError::OutOfMemory { .. }) => {
                self.shared.device.as_ref().map_or(Ok(()), |device| device.synchronize())?;
                self.trim();
                upstream.allocate(need)
            }
            other => other,
        };
        let mut state = self.shared.lock();
        match block {
            Ok(block) => {
                state.hand_out(need);
                Ok(block)
            }
            // The upstream sees one number; users want to know what is theirs and what is cached.
            Err(DeviceError::OutOfMemory { space, requested, limit, .. }) => Err(DeviceError::OutOfMemory {
                space,
                requested,
                in_use: state.in_use,
                reserved: state.in_use + state.cached_bytes,
                limit,
            }),
            Err(other) => Err(other),
        }
    }
}

impl Resource for PoolResource {
    fn space(&self) -> Space {
        self.shared.upstream.space()
    }

    fn allocate(&self, bytes: usize) -> Result<Block, DeviceError> {
        // A size that overflows when rounded is more than any driver has: let the driver say so.
        let need = bytes.max(1).checked_next_multiple_of(ALIGNMENT).unwrap_or(bytes);
        let block = match self.reuse(need)? {
            Some(block) => block,
            None => self.grow(need)?,
        };
        let home: Arc<dyn Home> = self.shared.clone();
        Ok(Block::lease(block, bytes, Arc::downgrade(&home)))
    }

    fn trim(&self) -> usize {
        let mut state = self.shared.lock();
        let cached = std::mem::take(&mut state.cached);
        let bytes = std::mem::take(&mut state.cached_bytes);
        state.peak_since_trim = state.in_use;
        drop(state);
        // Freed outside the lock: drivers take their time.
        drop(cached);
        bytes + self.shared.upstream.trim()
    }

    fn stats(&self) -> SpaceStats {
        let upstream = self.shared.upstream.stats();
        let state = self.shared.lock();
        SpaceStats {
            hits: state.hits,
            misses: state.misses,
            in_use: state.in_use,
            peak_in_use: state.peak_in_use,
            ..upstream
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Home for Shared {
    fn give_back(&self, upstream: Block) {
        let mut state = self.lock();
        state.in_use -= upstream.len();
        let bound = match self.bound {
            _ if state.closed.is_some() => 0,
            CacheBound::Bytes(bytes) => bytes,
            CacheBound::PeakInUse { floor } => floor.max(state.peak_since_trim),
        };
        state.keep(upstream);
        let surplus = state.evict_down_to(bound);
        drop(state);
        drop(surplus);
    }
}

impl State {
    fn take_best_fit(&mut self, need: usize) -> Option<Block> {
        let largest = need.saturating_add(need / 4);
        // A block whose memory a queued command still holds is not free yet.
        let idle =
            |blocks: &mut VecDeque<(u64, Block)>| blocks.iter_mut().rposition(|(_, block)| block.is_idle());
        let mut fits = self.cached.range_mut(need..=largest);
        let (size, index) = fits.find_map(|(&size, blocks)| Some((size, idle(blocks)?)))?;
        self.take(size, index)
    }

    /// Takes a block out of those of its size.
    fn take(&mut self, size: usize, index: usize) -> Option<Block> {
        let blocks = self.cached.get_mut(&size)?;
        let (_, block) = blocks.remove(index)?;
        if blocks.is_empty() {
            self.cached.remove(&size);
        }
        self.cached_bytes -= size;
        Some(block)
    }

    fn hand_out(&mut self, bytes: usize) {
        self.in_use += bytes;
        self.peak_in_use = self.peak_in_use.max(self.in_use);
        self.peak_since_trim = self.peak_since_trim.max(self.in_use);
    }

    fn keep(&mut self, block: Block) {
        let (age, bytes) = (self.next_age, block.len());
        self.next_age += 1;
        self.cached_bytes += bytes;
        self.cached.entry(bytes).or_default().push_back((age, block));
    }

    fn evict_down_to(&mut self, bound: usize) -> Vec<Block> {
        let mut evicted = Vec::new();
        while self.cached_bytes > bound {
            let oldest = self.cached.iter().min_by_key(|(_, blocks)| blocks.front().map(|(age, _)| *age));
            let Some(size) = oldest.map(|(&size, _)| size) else { break };
            evicted.extend(self.take(size, 0));
        }
        evicted
    }
}
