//! Scans: the order of blocks, restart intervals, and what must hold at their ends.

use super::super::Fault;
use super::bits::{Bits, End, Intervals};
use super::frame::Frame;
use super::markers::Scan;

/// Decodes the blocks of one kind of scan.
pub(super) trait Coder {
    /// Starts an interval: predictions begin anew.
    fn restart(&mut self);
    /// Decodes block (x, y) of the scan's `part`-th component; `None` when no block is coded like that.
    fn block(&mut self, bits: &mut Bits<'_>, part: usize, x: usize, y: usize) -> Option<()>;
    /// Whether an interval may end here.
    fn may_end(&self) -> bool;
}

/// Where a scan ended.
pub(super) struct Ended {
    /// Position of the marker behind it, or the length of the file.
    pub(super) at: usize,
    /// Whether a restart marker stood behind the last interval.
    pub(super) restart_behind: bool,
}

/// MCUs of a scan: how many across and down, and the blocks of each part in one.
struct Units {
    across: usize,
    down: usize,
    parts: Vec<(usize, usize)>,
}

impl Units {
    fn new(frame: &Frame, scan: &Scan) -> Self {
        // A scan of one component has one block in a unit, and none that only fills (T.81 A.2.2).
        if let [(index, ..)] = scan.parts[..] {
            let (across, down) = frame.components[index].blocks;
            return Self { across, down, parts: vec![(1, 1)] };
        }
        let factors = |part: &(usize, usize, usize)| (frame.components[part.0].h, frame.components[part.0].v);
        Self { across: frame.mcus.0, down: frame.mcus.1, parts: scan.parts.iter().map(factors).collect() }
    }

    const fn total(&self) -> usize {
        self.across * self.down
    }
}

/// Decodes a scan. Each interval must hold its units, neither less nor more, and restart markers must count.
#[inline(always)]
pub(super) fn decode(
    mut intervals: Intervals<'_>,
    frame: &Frame,
    scan: &Scan,
    restart_interval: usize,
    coder: &mut impl Coder,
) -> Result<Ended, Fault> {
    let units = Units::new(frame, scan);
    let total = units.total();
    let step = if restart_interval == 0 { total } else { restart_interval };
    let (mut done, mut number) = (0, 0);
    loop {
        let (mut bits, end) = intervals.next()?;
        let upto = (done + step).min(total);
        coder.restart();
        interval(&units, done..upto, &mut bits, coder).map_err(|at| stops(&bits, at, total, end))?;
        if bits.overrun() {
            return Err(stops(&bits, upto, total, end));
        }
        if let Some(bytes) = bits.left() {
            return Err(Fault::Corrupt(format!(
                "{bytes} bytes of image data are left over before unit {upto} of {total}"
            )));
        }
        if !coder.may_end() {
            return Err(Fault::Corrupt("a run of empty blocks passes the end of its data".into()));
        }
        done = upto;
        match end {
            End::Restart(n) if n == number => number = (number + 1) % 8,
            End::Restart(n) => {
                return Err(Fault::Corrupt(format!(
                    "restart marker {n} stands where {number} belongs, at unit {done} of {total}"
                )));
            }
            _ if done < total => return Err(stops(&bits, done, total, end)),
            _ => return Ok(Ended { at: intervals.at, restart_behind: false }),
        }
        if done == total {
            return behind_last(intervals, total);
        }
    }
}

/// A restart marker behind the last interval is superfluous; data behind that one is a unit too many.
fn behind_last(mut intervals: Intervals<'_>, total: usize) -> Result<Ended, Fault> {
    let (bits, end) = intervals.next()?;
    if !bits.is_empty() || matches!(end, End::Restart(_)) {
        return Err(Fault::Corrupt(format!("there is image data behind the last of {total} units")));
    }
    Ok(Ended { at: intervals.at, restart_behind: true })
}

/// Decodes the units of one interval; gives the unit at which that failed.
#[inline(always)]
fn interval(
    units: &Units,
    range: std::ops::Range<usize>,
    bits: &mut Bits<'_>,
    coder: &mut impl Coder,
) -> Result<(), usize> {
    let (mut x, mut y) = (range.start % units.across, range.start / units.across);
    for unit in range {
        for (part, &(h, v)) in units.parts.iter().enumerate() {
            for row in y * v..y * v + v {
                for column in x * h..x * h + h {
                    coder.block(bits, part, column, row).ok_or(unit)?;
                }
            }
        }
        if bits.overrun() {
            return Err(unit);
        }
        x += 1;
        if x == units.across {
            (x, y) = (0, y + 1);
        }
    }
    Ok(())
}

fn stops(bits: &Bits<'_>, unit: usize, total: usize, end: End) -> Fault {
    let what = match end {
        End::Restart(_) => "a restart interval ends too early",
        End::Marker => "its image data ends too early",
        End::File => "it stops inside its image data",
    };
    if bits.overrun() || end == End::Marker && unit < total && bits.left().is_none() {
        return Fault::Truncated(format!("{what}, at unit {unit} of {total}"));
    }
    Fault::Corrupt(format!("its image data cannot be decoded at unit {unit} of {total}"))
}
