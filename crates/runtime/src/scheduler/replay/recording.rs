use crate::RuntimeError;
use crate::device::{Command, Device, DeviceError, Launch, Recording};
use crate::scheduler::LoadedPlan;

/// Writes a run down: launches and waits as planned, framed by a fork from the first lane and joins to it.
///
/// Lanes without a launch that others wait for are joined as well: a side branch is part of the run.
pub(in crate::scheduler) fn record(
    device: &dyn Device,
    loaded: &LoadedPlan,
    launches: Vec<Launch>,
) -> Result<Recording, DeviceError> {
    let plan = loaded.plan();
    let lanes = loaded.streams.len();
    let mut commands = Vec::new();
    if lanes > 1 {
        let fork = device.create_event()?;
        commands.push((0, Command::Record(fork.clone())));
        commands.extend((1..lanes).map(|lane| (lane, Command::Wait(fork.clone()))));
    }
    let mut events = vec![None; plan.groups.len()];
    for launch in launches {
        let group = launch.group;
        let lane = plan.groups[group].lane as usize;
        for on in plan.waits_of(group) {
            // A plan's waits are for groups launched earlier; the checker has seen to it.
            let event: &Option<_> = &events[on];
            commands.extend(event.clone().map(|event| (lane, Command::Wait(event))));
        }
        commands.push((lane, Command::Launch(launch)));
        if plan.waits.iter().any(|wait| wait.on == group) {
            let event = device.create_event()?;
            commands.push((lane, Command::Record(event.clone())));
            events[group] = Some(event);
        }
    }
    for lane in 1..lanes {
        let join = device.create_event()?;
        commands.push((lane, Command::Record(join.clone())));
        commands.push((0, Command::Wait(join)));
    }
    Ok(Recording { streams: loaded.streams.clone(), commands })
}

/// The text of a refused capture.
pub(in crate::scheduler) fn refusal(error: &DeviceError) -> String {
    let error = RuntimeError::Device { what: "capturing a graph".to_owned(), error: error.clone() };
    error.to_string()
}
