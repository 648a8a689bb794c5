//! Pipelines one behind the other.

use mini_image_pipe::graph::PipelineSpec;

use crate::errors::Failed;

/// One pipeline behind the other: the only input of `after` is the only output of `before`.
pub(crate) fn chained(mut before: PipelineSpec, mut after: PipelineSpec) -> Result<PipelineSpec, Failed> {
    let names = |spec: &PipelineSpec| -> Result<(Vec<String>, Vec<String>), Failed> {
        let graph = spec.build()?;
        let outputs = graph.outputs().into_iter().map(|task| graph.name(task).map(str::to_owned));
        Ok((outputs.collect::<Result<_, _>>()?, graph.inputs().to_vec()))
    };
    let ((outputs, _), (ends, inputs)) = (names(&before)?, names(&after)?);
    let ([output], [_]) = (&outputs[..], &inputs[..]) else {
        return Err(Failed::usage(format!(
            "pipelines chain where the first has one output and the second one input, but these have the outputs {} and the \
             inputs {}",
            outputs.join(", "),
            inputs.join(", ")
        )));
    };
    let mut taken = before.names()?;
    let mut renamed = Vec::new();
    for name in after.names()? {
        let numbered = (2..).map(|number| format!("{name}{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name));
        let free = free.unwrap_or_else(|| name.clone());
        taken.push(free.clone());
        renamed.push((name, free));
    }
    let new_name = |old: &str| {
        renamed.iter().find(|(name, _)| name == old).map_or_else(|| old.to_owned(), |(_, new)| new.clone())
    };
    let explicit = !before.outputs.is_empty() || !after.outputs.is_empty();
    before.outputs =
        if explicit { ends.iter().map(|end| new_name(end).into()).collect() } else { Vec::new() };
    for (index, (task, (_, name))) in after.tasks.iter_mut().zip(&renamed).enumerate() {
        task.name = Some(name.clone().into());
        match &mut task.inputs {
            Some(sources) => {
                for source in sources {
                    let new = if source.starts_with('@') { output.clone() } else { new_name(source) };
                    *source = new.into();
                }
            }
            None if index == 0 => task.inputs = Some(vec![output.clone().into()]),
            None => {}
        }
    }
    before.tasks.append(&mut after.tasks);
    before.build()?;
    Ok(before)
}
