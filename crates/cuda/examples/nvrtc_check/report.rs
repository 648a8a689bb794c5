//! Reading the assembler's report.

/// What one kernel takes.
pub(crate) struct Usage {
    pub(crate) name: String,
    pub(crate) registers: u32,
    /// Bytes that did not find a register.
    pub(crate) spilled: u32,
}

/// Registers and spilled bytes of each kernel.
pub(crate) fn usage(log: &str) -> Vec<Usage> {
    let number_before = |line: &str, what: &str| {
        let before = line.split(what).next()?;
        before.rsplit(' ').find(|t| !t.is_empty())?.parse::<u32>().ok()
    };
    let mut found = Vec::new();
    let (mut name, mut spilled) = (String::new(), 0);
    for line in log.lines() {
        if let Some(rest) = line.split("Compiling entry function '").nth(1) {
            rest.split('\'').next().unwrap_or_default().clone_into(&mut name);
        } else if line.contains("bytes spill stores") {
            spilled = number_before(line, " bytes spill stores").unwrap_or(0);
        } else if line.contains(" registers") {
            let registers = number_before(line, " registers").unwrap_or(0);
            found.push(Usage { name: name.clone(), registers, spilled });
        }
    }
    found
}
