use mip_ops::Value;

use super::lexer::is_mark;
use super::{Located, PipelineSpec, TaskSpec};

/// Writes one line that reads back as an equal spec.
pub(super) fn write(pipeline: &PipelineSpec) -> String {
    let mut head = Vec::new();
    if let Some(name) = &pipeline.name {
        head.push(format!("name={}", word(name)));
    }
    for (key, names) in [("inputs", &pipeline.inputs), ("outputs", &pipeline.outputs)] {
        if !names.is_empty() {
            head.push(format!("{key}={}", list(names)));
        }
    }
    let head = (!head.is_empty()).then(|| head.join(" "));
    head.into_iter().chain(pipeline.tasks.iter().map(task)).collect::<Vec<_>>().join(" ! ")
}

fn task(task: &TaskSpec) -> String {
    // In quotes a ':' is part of the operator's name and no task name comes before it.
    let plain = |text: &str| !text.contains(|c| c == ':' || is_mark(c));
    let op = if plain(&task.op) { word(&task.op) } else { quoted(&task.op) };
    let mut parts = match &task.name {
        Some(name) if plain(name) && plain(&task.op) => vec![format!("{}:{op}", name.value)],
        Some(name) => vec![op, format!("name={}", word(name))],
        None => vec![op],
    };
    if let Some(inputs) = &task.inputs {
        parts.push(format!("inputs={}", list(inputs)));
    }
    for (key, value) in &task.params {
        parts.push(format!("{}={}", word(key), line_value(value)));
    }
    parts.join(" ")
}

fn list(names: &[Located<String>]) -> String {
    let words: Vec<String> = names.iter().map(|n| word(n)).collect();
    if words.len() == 1 { words[0].clone() } else { bracketed(&words) }
}

/// Commas alone are enough for two and more; an empty list needs its brackets.
fn bracketed(items: &[String]) -> String {
    if items.len() > 1 { items.join(",") } else { format!("[{}]", items.join("")) }
}

fn line_value(value: &Value) -> String {
    match value {
        Value::Bool(v) => v.to_string(),
        Value::Int(v) => v.to_string(),
        Value::Float(v) => format!("{v:?}"),
        // In quotes when the bare word would be read as a number or as true or false.
        Value::Text(v) if Value::parse(v) == *value => word(v),
        Value::Text(v) => quoted(v),
        Value::List(v) => bracketed(&v.iter().map(|v| format!("{v:?}")).collect::<Vec<_>>()),
    }
}

fn word(text: &str) -> String {
    if text.is_empty() || text.contains(is_mark) { quoted(text) } else { text.to_owned() }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}
