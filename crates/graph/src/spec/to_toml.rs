use std::fmt::Write;

use mip_ops::Value;

use super::{Located, PipelineSpec};

/// Writes a file that reads back as an equal spec.
pub(super) fn write(pipeline: &PipelineSpec) -> String {
    let mut out = String::new();
    if let Some(name) = &pipeline.name {
        line(&mut out, "name", &string(name));
    }
    for (key, list) in [("inputs", &pipeline.inputs), ("outputs", &pipeline.outputs)] {
        if !list.is_empty() {
            line(&mut out, key, &strings(list));
        }
    }
    for task in &pipeline.tasks {
        out.push_str(if out.is_empty() { "[[task]]\n" } else { "\n[[task]]\n" });
        if let Some(name) = &task.name {
            line(&mut out, "name", &string(name));
        }
        line(&mut out, "op", &string(&task.op));
        if let Some(inputs) = &task.inputs {
            line(&mut out, "inputs", &strings(inputs));
        }
        for (key, value) in &task.params {
            line(&mut out, &bare_or_quoted(key), &toml_value(value));
        }
    }
    out
}

fn line(out: &mut String, key: &str, value: &str) {
    let _ = writeln!(out, "{key} = {value}");
}

fn strings(list: &[Located<String>]) -> String {
    let items: Vec<String> = list.iter().map(|item| string(item)).collect();
    format!("[{}]", items.join(", "))
}

/// A basic string: everything that may not stand in it as it is gets escaped.
fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn bare_or_quoted(key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { key.to_owned() } else { string(key) }
}

fn toml_value(value: &Value) -> String {
    match value {
        Value::Bool(v) => v.to_string(),
        Value::Int(v) => v.to_string(),
        Value::Float(v) => float(*v),
        Value::Text(v) => string(v),
        Value::List(v) => format!("[{}]", v.iter().map(|&v| float(v)).collect::<Vec<_>>().join(", ")),
    }
}

/// Rust's shortest text that reads back as the same number, in TOML's spelling.
fn float(v: f64) -> String {
    if v.is_nan() { "nan".to_owned() } else { format!("{v:?}") }
}
