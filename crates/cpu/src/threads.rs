use std::sync::Arc;

use mip_core::threads;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::CpuConfig;

/// Threads that a configuration asks for.
pub(crate) fn count(config: &CpuConfig) -> usize {
    config.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).max(1)
}

/// Threads that share the work of launches.
#[derive(Debug, Clone)]
pub(crate) struct Threads {
    /// The launching thread included.
    pub(crate) count: usize,
    /// Where the others run; `None` when there are no others.
    pub(crate) pool: Option<Arc<ThreadPool>>,
    /// Why there are fewer than asked for.
    pub(crate) fewer: Option<String>,
}

impl Threads {
    /// As many as a configuration asks for, none of them started.
    pub(crate) fn none(config: &CpuConfig) -> Self {
        Self { count: count(config), pool: None, fewer: None }
    }

    /// As many as a configuration asks for and the system has to give, at least the launching one.
    pub(crate) fn start(config: &CpuConfig) -> Self {
        let workers = count(config) - 1;
        if workers == 0 {
            return Self { count: 1, pool: None, fewer: None };
        }
        let mut fewer = None;
        let start = |count: usize| pool(count).inspect_err(|error| fewer = Some(error.clone()));
        match threads::as_many_as_there_are(workers, start) {
            Ok((count, pool)) => Self { count: count + 1, pool: Some(Arc::new(pool)), fewer },
            Err(error) => Self { count: 1, pool: None, fewer: Some(error) },
        }
    }
}

fn pool(workers: usize) -> Result<ThreadPool, String> {
    let mut refused = None;
    let pool = ThreadPoolBuilder::new().num_threads(workers).spawn_handler(|thread| {
        let name = format!("mip-cpu-{}", thread.index());
        let started = threads::spawn(&name, "compute", || thread.run());
        started.map(drop).map_err(|none| {
            let text = none.to_string();
            refused = Some(text.clone());
            std::io::Error::other(text)
        })
    });
    let pool = pool.build();
    pool.map_err(|error| refused.unwrap_or_else(|| error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_threads_are_taken_and_said() {
        let config = CpuConfig { threads: Some(8), ..CpuConfig::default() };
        let all = Threads::start(&config);
        assert_eq!((all.count, all.fewer), (8, None));
        // Seven are tried, then three, of which ten allow both.
        let some = threads::with_at_most(9, || Threads::start(&config));
        assert_eq!(some.count, 8);
        let some = threads::with_at_most(5, || Threads::start(&config));
        assert!(some.count < 8 && some.fewer.unwrap().contains("cannot start a thread to compute"));
        let one = threads::with_at_most(0, || Threads::start(&config));
        assert!(one.count == 1 && one.pool.is_none() && one.fewer.is_some());
    }
}
