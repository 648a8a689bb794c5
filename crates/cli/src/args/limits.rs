use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use mip_core::MemoryBudget;
use mip_io::ReadOptions;

use crate::machine::Machine;

/// What a run may take at most.
#[derive(Debug, Args)]
pub(crate) struct LimitArgs {
    /// Most memory of this machine for pictures, results and what lies between: bytes (4GiB, 500MB) or a share of what
    /// there is (50%) [default: 75%]
    #[arg(long, value_name = "SIZE|PERCENT")]
    memory_limit: Option<SizeLimit>,
    /// Most pixels of a picture or frame that is read [default: 536870912]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_pixels: Option<u64>,
}

/// `--memory-limit`
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum SizeLimit {
    Bytes(usize),
    /// Of what the machine has, 0 to 1.
    Share(f64),
}

/// What is taken when nothing is said: the system and other programs keep the rest.
const USUAL: SizeLimit = SizeLimit::Share(0.75);

impl LimitArgs {
    /// The memory that all parts of a run share.
    pub(crate) fn budget(&self) -> Arc<MemoryBudget> {
        Arc::new(MemoryBudget::new(self.memory_limit.unwrap_or(USUAL).bytes(&Machine::here())))
    }

    pub(crate) fn read_options(&self) -> ReadOptions {
        self.max_pixels.map_or_else(ReadOptions::default, |max_pixels| ReadOptions {
            max_pixels,
            ..ReadOptions::default()
        })
    }
}

impl SizeLimit {
    /// Bytes on a machine; no limit where the machine does not say what it has.
    pub(crate) fn bytes(self, machine: &Machine) -> usize {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Share(share) => {
                machine.memory().map_or(usize::MAX, |memory| (memory as f64 * share) as usize)
            }
        }
    }
}

impl FromStr for SizeLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const UNITS: [(&str, u64); 10] = [
            ("", 1),
            ("B", 1),
            ("KiB", 1 << 10),
            ("MiB", 1 << 20),
            ("GiB", 1 << 30),
            ("TiB", 1 << 40),
            ("KB", 1000),
            ("MB", 1_000_000),
            ("GB", 1_000_000_000),
            ("TB", 1_000_000_000_000),
        ];
        let wrong = || {
            format!(
                "'{text}' is neither a size above 0 such as 4GiB, 500MB or 1000000, nor a share such as 50%"
            )
        };
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let number = number.parse::<f64>().ok().filter(|&n| n > 0.0).ok_or_else(wrong)?;
        let unit = unit.trim();
        if unit == "%" {
            return if number <= 100.0 { Ok(Self::Share(number / 100.0)) } else { Err(wrong()) };
        }
        let (_, size) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).ok_or_else(wrong)?;
        // More than there can be is no limit.
        let bytes = (number * *size as f64) as usize;
        if bytes == 0 { Err(wrong()) } else { Ok(Self::Bytes(bytes)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_shares() {
        assert_eq!("4GiB".parse(), Ok(SizeLimit::Bytes(4 << 30)));
        assert_eq!("1.5 mib".parse(), Ok(SizeLimit::Bytes(3 << 19)));
        assert_eq!("500MB".parse(), Ok(SizeLimit::Bytes(500_000_000)));
        assert_eq!("123".parse(), Ok(SizeLimit::Bytes(123)));
        assert_eq!("50%".parse(), Ok(SizeLimit::Share(0.5)));
        for wrong in ["", "0", "-1", "x", "4QiB", "101%", "0.1", "1e9", "nan", "."] {
            assert!(wrong.parse::<SizeLimit>().unwrap_err().contains("4GiB"), "{wrong}");
        }
    }
}
