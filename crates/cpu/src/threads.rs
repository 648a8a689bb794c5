use std::sync::Arc;

use mip_runtime::device::DeviceError;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::CpuConfig;

/// Threads that a configuration asks for.
pub(crate) fn count(config: &CpuConfig) -> usize {
    config.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).max(1)
}

/// The helpers of the launching thread: one fewer than the threads asked for.
pub(crate) fn pool(config: &CpuConfig) -> Result<Option<Arc<ThreadPool>>, DeviceError> {
    let helpers = count(config) - 1;
    if helpers == 0 {
        return Ok(None);
    }
    ThreadPoolBuilder::new()
        .num_threads(helpers)
        .thread_name(|i| format!("mip-cpu-{i}"))
        .build()
        .map(|pool| Some(Arc::new(pool)))
        .map_err(|e| DeviceError::Driver { call: "starting threads", message: e.to_string() })
}
