//! What the operating system tells about the machine.

/// Model of the processor.
pub(super) fn model() -> String {
    field("/proc/cpuinfo", "model name")
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| format!("{} CPU", std::env::consts::ARCH))
}

/// Total memory in bytes, where the system tells.
pub(super) fn memory() -> Option<u64> {
    let text = field("/proc/meminfo", "MemTotal")?;
    let kilobytes: u64 = text.strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The value of the first line `key : value` of a file.
fn field(path: &str, key: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim().to_owned())
    })
}
