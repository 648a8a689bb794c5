use mip_plan::GroupId;

use super::GroupTimestamps;
use crate::RuntimeError;
use crate::device::{Command, Device, DeviceError, Launch, Recording};
use crate::scheduler::LoadedPlan;

/// Writes a run down: launches and waits as planned, framed by a fork from the first stream and joins to it.
///
/// Streams without a launch that others wait for are joined as well: a side branch is part of the run. With
/// `timed`, there is a timestamp before and after each launch, where the device takes times.
pub(in crate::scheduler) fn record(
    device: &dyn Device,
    loaded: &LoadedPlan,
    launches: Vec<Launch>,
    timed: bool,
) -> Result<(Recording, Vec<GroupTimestamps>), DeviceError> {
    let plan = loaded.plan();
    let streams = loaded.streams.len();
    let (mut commands, mut timestamps) = (Vec::new(), Vec::new());
    if streams > 1 {
        let fork = device.create_event()?;
        commands.push((0, Command::Record(fork.clone())));
        commands.extend((1..streams).map(|stream| (stream, Command::Wait(fork.clone()))));
    }
    let mut events = vec![None; plan.groups.len()];
    for launch in launches {
        let group = launch.group;
        let stream = plan.groups[group].stream as usize;
        for on in plan.waits_of(group) {
            // A plan's waits are for groups launched earlier; the checker has seen to it.
            let event: &Option<_> = &events[on];
            commands.extend(event.clone().map(|event| (stream, Command::Wait(event))));
        }
        let timed = if timed { group_timestamps(loaded, group, stream) } else { None };
        commands
            .extend(timed.iter().map(|timestamps| (stream, Command::Timestamp(timestamps.begin.clone()))));
        commands.push((stream, Command::Launch(launch)));
        commands.extend(timed.iter().map(|timestamps| (stream, Command::Timestamp(timestamps.end.clone()))));
        timestamps.extend(timed);
        if plan.waits.iter().any(|wait| wait.on == group) {
            let event = device.create_event()?;
            commands.push((stream, Command::Record(event.clone())));
            events[group] = Some(event);
        }
    }
    for stream in 1..streams {
        let join = device.create_event()?;
        commands.push((stream, Command::Record(join.clone())));
        commands.push((0, Command::Wait(join)));
    }
    Ok((Recording { streams: loaded.streams.clone(), commands }, timestamps))
}

fn group_timestamps(loaded: &LoadedPlan, group: GroupId, stream: usize) -> Option<GroupTimestamps> {
    let timestamp = || loaded.streams[stream].create_timestamp().ok();
    Some(GroupTimestamps { group, begin: timestamp()?, end: timestamp()? })
}

/// The text of a refused capture.
pub(in crate::scheduler) fn refusal(error: &DeviceError) -> String {
    let error = RuntimeError::Device { what: "capturing a graph".to_owned(), error: error.clone() };
    error.to_string()
}
