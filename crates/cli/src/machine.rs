//! How much memory there is for this process: what the machine has free, what its control groups let it have, and
//! what is left of its address space.

use std::path::{Path, PathBuf};

/// Where the system tells; another root in tests.
#[derive(Debug)]
pub(crate) struct Machine {
    root: PathBuf,
}

impl Machine {
    /// This machine.
    pub(crate) fn here() -> Self {
        Self { root: PathBuf::from("/") }
    }

    /// Bytes that this process may take; `None` where the system does not say (it says on Linux).
    pub(crate) fn memory(&self) -> Option<u64> {
        [self.available(), self.control_group(), self.address_space()].into_iter().flatten().min()
    }

    /// What can be had without swapping.
    fn available(&self) -> Option<u64> {
        let text = self.text("proc/meminfo")?;
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        kibibytes(line)
    }

    /// The smallest limit of the process's control group and of those above it, of either version.
    fn control_group(&self) -> Option<u64> {
        let text = self.text("proc/self/cgroup")?;
        let limits = text.lines().flat_map(|line| {
            // `hierarchy:controllers:path`; version 2 has no controllers.
            let mut fields = line.splitn(3, ':').skip(1);
            let (controllers, path) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
            let (mount, file) = if controllers.is_empty() {
                ("sys/fs/cgroup", "memory.max")
            } else if controllers.split(',').any(|controller| controller == "memory") {
                ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
            } else {
                return Vec::new();
            };
            let path = path.trim_start_matches('/');
            Path::new(path)
                .ancestors()
                .filter_map(|group| self.number(&Path::new(mount).join(group).join(file)))
                .collect()
        });
        limits.min()
    }

    /// What `ulimit -v` leaves.
    fn address_space(&self) -> Option<u64> {
        let limits = self.text("proc/self/limits")?;
        let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
        let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
        let status = self.text("proc/self/status")?;
        let used = status.lines().find_map(|line| line.strip_prefix("VmSize:")).and_then(kibibytes);
        Some(limit.saturating_sub(used.unwrap_or(0)))
    }

    fn number(&self, path: &Path) -> Option<u64> {
        // `max` is no limit.
        self.text(path)?.trim().parse().ok()
    }

    fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        std::fs::read_to_string(self.root.join(path)).ok()
    }
}

/// `  123 kB`
fn kibibytes(text: &str) -> Option<u64> {
    text.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, Machine) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let machine = Machine { root: folder.path().to_owned() };
        (folder, machine)
    }

    const FREE: (&str, &str) =
        ("proc/meminfo", "MemTotal: 9000 kB\nMemFree: 1 kB\nMemAvailable:    5000 kB\n");

    #[test]
    fn the_smallest_of_all_limits_counts() {
        assert_eq!(machine(&[]).1.memory(), None);
        assert_eq!(machine(&[FREE]).1.memory(), Some(5000 << 10));
        let two = [
            FREE,
            ("proc/self/cgroup", "0::/user/a\n"),
            ("sys/fs/cgroup/user/a/memory.max", "max\n"),
            ("sys/fs/cgroup/user/memory.max", "4096000\n"),
        ];
        assert_eq!(machine(&two).1.memory(), Some(4_096_000));
        let one = [
            FREE,
            ("proc/self/cgroup", "3:cpu,cpuacct:/b\n2:memory:/b\n"),
            ("sys/fs/cgroup/memory/b/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "1048576\n"),
        ];
        assert_eq!(machine(&one).1.memory(), Some(1 << 20));
        let limits =
            "Limit  Soft Limit  Hard Limit  Units\nMax address space         2048000    unlimited    bytes\n";
        let space = [FREE, ("proc/self/limits", limits), ("proc/self/status", "VmSize:\t 1000 kB\n")];
        assert_eq!(machine(&space).1.memory(), Some(2_048_000 - 1_024_000));
    }

    #[test]
    fn this_machine_says_what_it_has() {
        if cfg!(target_os = "linux") {
            assert!(Machine::here().memory().unwrap() > 1 << 20);
        }
    }
}
