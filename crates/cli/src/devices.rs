//! What is said of the devices that a pipeline ran on.

use mini_image_pipe::{DeviceReport, Pipeline};
use mip_runtime::device::DeviceInfo;
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
        let infos = pipeline.config().devices().map(|device| Ok(device.info()?));
        let infos = infos.collect::<Result<Vec<_>, Failure>>()?;
        let list = |texts: Vec<String>| texts.join(",");
        let mut names: Vec<&str> = infos.iter().map(|info| info.name.as_str()).collect();
        let count = names.len();
        names.dedup();
        let names = match names.as_slice() {
            // Several of a kind.
            [name] if count > 1 => format!("{count} x {name}"),
            names => names.join(" and "),
        };
        Ok(Self { ids: list(infos.iter().map(DeviceInfo::id).collect()), names })
    }
}

/// What one of several devices did, as `--json` prints it.
#[derive(Debug, Serialize)]
pub(crate) struct Share {
    device: String,
    name: String,
    frames: u64,
    /// Each time it was lost, why.
    losses: Vec<String>,
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
    let working = shares.iter().filter(|share| !share.standby || share.frames > 0);
    let each: Vec<String> = working.map(|share| format!("{} {}", share.device, share.frames)).collect();
    console::note(format_args!("frames by device: {}", each.join(", ")));
}
