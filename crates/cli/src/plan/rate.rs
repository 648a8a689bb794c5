use std::str::FromStr;

use mip_graph::Traffic;

use crate::args::DeviceArg;
use crate::bench::Copier;
use crate::failure::Failure;

/// Copies that a measured rate is the median of.
const SAMPLES: usize = 5;

/// `--bandwidth`
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rate {
    /// Gigabytes a second, read and written bytes counted.
    Given(f64),
    /// By copies on the device.
    Measured,
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "measure" {
            return Ok(Self::Measured);
        }
        let positive = |rate: &f64| *rate > 0.0 && rate.is_finite();
        let rate = text.parse().ok().filter(positive);
        rate.map(Self::Given)
            .ok_or_else(|| format!("'{text}' is no rate above 0 in GB/s; 'measure' copies on the device"))
    }
}

impl Rate {
    /// Gigabytes a second. Measuring opens the device, and copies as `mip bench` does beside a plan of this traffic.
    pub(crate) fn resolve(self, device: DeviceArg, traffic: &Traffic) -> Result<f64, Failure> {
        let rate = match self {
            Self::Given(rate) => return Ok(rate),
            Self::Measured => device.open()?,
        };
        let mut copier = Copier::new(rate.open()?.info(), traffic.floor_bytes)?;
        (0..SAMPLES).for_each(|_| copier.sample());
        let problem = || copier.problem().unwrap_or("nothing was copied").to_owned();
        // No more digits than a measurement has.
        let rounded = |rate: f64| (rate * 100.0).round() / 100.0;
        copier
            .gb_per_s()
            .map(rounded)
            .filter(|&rate| rate > 0.0)
            .ok_or_else(|| Failure::Running(format!("--bandwidth measure: {}", problem())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates() {
        assert_eq!("2900".parse(), Ok(Rate::Given(2900.0)));
        assert_eq!("measure".parse(), Ok(Rate::Measured));
        for wrong in ["0", "-1", "inf", "nan", "fast"] {
            assert!(wrong.parse::<Rate>().unwrap_err().contains("'measure'"), "{wrong}");
        }
    }
}
