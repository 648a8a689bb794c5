//! What is said of the devices that a pipeline ran on.

use mini_image_pipe::{Device, DeviceReport, Pipeline};
use serde::Serialize;

use crate::console;
use crate::failure::Failure;

/// The devices of a pipeline, as reports name them.
#[derive(Debug)]
pub(crate) struct Names {
    /// As `--device` takes them.
    pub(crate) ids: String,
    pub(crate) names: String,
}

impl Names {
    pub(crate) fn of(pipeline: &Pipeline) -> Result<Self, Failure> {
        let devices = if pipeline.config().start_in_background {
            worked(pipeline)?
        } else {
            all(pipeline.config().devices())?
        };
        let mut names: Vec<&str> = devices.iter().map(|(_, name)| name.as_str()).collect();
        let count = names.len();
        names.dedup();
        let names = match names.as_slice() {
            // Several of a kind.
            [name] if count > 1 => format!("{count} x {name}"),
            names => names.join(" and "),
        };
        let ids: Vec<String> = devices.into_iter().map(|(id, _)| id).collect();
        Ok(Self { ids: ids.join(","), names })
    }
}

/// Ids and names; opens the devices.
fn all<'a>(devices: impl IntoIterator<Item = &'a Device>) -> Result<Vec<(String, String)>, Failure> {
    let named = |device: &Device| device.info().map(|info| (info.id(), info.name));
    Ok(devices.into_iter().map(named).collect::<Result<_, _>>()?)
}

/// Ids and names of those that did something, of devices that start in the background; where nothing was to be done, of the one
/// that was ready for it.
fn worked(pipeline: &Pipeline) -> Result<Vec<(String, String)>, Failure> {
    let reports = pipeline.device_reports().into_iter().filter(|report| report.frames > 0);
    let worked: Vec<_> = reports.map(|report| (report.device, report.name)).collect();
    if worked.is_empty() { all(&pipeline.config().standby) } else { Ok(worked) }
}

/// Whether everything was computed on the cores that decode and encode too.
pub(crate) fn on_cores(pipeline: &Pipeline) -> Result<bool, Failure> {
    let Names { ids, .. } = Names::of(pipeline)?;
    Ok(ids == "cpu")
}

/// What one of several devices did, as `--json` prints it.
#[derive(Debug, Serialize)]
pub(crate) struct Share {
    device: String,
    name: String,
    frames: u64,
    /// Each time it was lost, why.
    losses: Vec<String>,
    /// Why it could not be used at all.
    unusable: Option<String>,
    /// Whether it was still being opened or compiled for in the end.
    starting: bool,
    /// Whether it was not used any more in the end.
    left: bool,
    /// Whether it was there for the case that all others are lost.
    standby: bool,
}

/// What each did, where there are several.
pub(crate) fn shares(pipeline: &Pipeline) -> Vec<Share> {
    let share = |report: DeviceReport| Share {
        device: report.device,
        name: report.name,
        frames: report.frames,
        losses: report.losses,
        unusable: report.unusable,
        starting: report.starting,
        left: report.left,
        standby: report.standby,
    };
    pipeline.device_reports().into_iter().map(share).collect()
}

/// Says what each of several devices did, and which were lost.
pub(crate) fn tell(pipeline: &Pipeline) {
    let shares = shares(pipeline);
    if shares.is_empty() {
        return;
    }
    for Share { device, losses, .. } in &shares {
        for why in losses {
            console::note(format_args!("note: {device} was lost ({why}); its frames went to the others"));
        }
    }
    // Of one that could be opened `mip devices` has nothing to say.
    for Share { device, unusable, left, .. } in &shares {
        if let (Some(why), false) = (unusable, left) {
            console::note(format_args!("note: {device} did not run this ({why}); the CPU did its part"));
        }
    }
    // Why one cannot be opened stands behind the name of what was used in its place.
    let working =
        shares.iter().filter(|share| share.frames > 0 || !share.standby && share.unusable.is_none());
    let each = |Share { device, frames, starting, .. }: &Share| match starting {
        true => format!("{device} {frames} (it was still being made ready)"),
        false => format!("{device} {frames}"),
    };
    let each: Vec<String> = working.map(each).collect();
    if pipeline.config().start_in_background && each.len() < 2 {
        return;
    }
    console::note(format_args!("frames by device: {}", each.join(", ")));
}
