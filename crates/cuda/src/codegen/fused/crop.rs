use std::borrow::Cow;

use mip_plan::{AxisMap, Gather, Group, Kernel, Operand, Resample, Stage};

/// The group with resizes of crops as resizes of what is cropped: the crop's place is in their tables then, so that
/// crops of one size share their machine code, and nothing is computed twice. The crops stay as stages that nobody reads.
pub(super) fn crops_in_resizes(group: &Group) -> Cow<'_, Group> {
    let mut changed = Cow::Borrowed(group);
    for (index, stage) in group.stages.iter().enumerate() {
        if let Some((kernel, source)) = resize_of_crop(group, stage) {
            let stage = &mut changed.to_mut().stages[index];
            stage.kernel = Kernel::Resample(kernel);
            stage.inputs = vec![source];
        }
    }
    changed
}

fn resize_of_crop(group: &Group, stage: &Stage) -> Option<(Resample, Operand)> {
    let Kernel::Resample(resize) = &stage.kernel else { return None };
    let &[Operand::Stage(crop)] = &stage.inputs[..] else { return None };
    let crop_stage = &group.stages[crop];
    let Kernel::Gather(Gather { x: AxisMap::Offset { first: left }, y: AxisMap::Offset { first: top } }) =
        crop_stage.kernel
    else {
        return None;
    };
    let resize = || Resample { x: resize.x.behind(left), y: resize.y.behind(top) };
    group.is_read_once(crop).then(|| (resize(), crop_stage.inputs[0]))
}
