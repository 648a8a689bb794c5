use mip_ops::{Change, OperatorSpec, ParamSpec, operators, spec};

use serde_json::json;

use crate::console;
use crate::failure::Failure;

/// Lists the operators, or describes one: inputs, parameters, ranges, defaults
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mip ops\n  mip ops resize\n  mip ops --json\n  mip ops --schema > pipeline.schema.json\n  mip ops --markdown > operators.md"
)]
pub(crate) struct Args {
    /// Operator to describe
    name: Option<String>,
    /// Print JSON: all operators, or the one named
    #[arg(long)]
    pub(super) json: bool,
    /// Print a JSON Schema of pipeline files, for editors to complete and check them
    #[arg(long, conflicts_with_all = ["name", "json"])]
    schema: bool,
    /// Print a page about all operators
    #[arg(long, conflicts_with_all = ["name", "json", "schema"])]
    markdown: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.name {
        _ if args.schema => console::foreign_json(&mip_graph::json_schema()),
        _ if args.markdown => console::line(page().trim_end()),
        None if args.json => console::json(&json!({ "operators": operators() })),
        None => list(),
        Some(name) => {
            let spec = spec(name)?;
            if args.json { console::json(spec) } else { console::line(describe(spec)) }
        }
    }
}

fn list() -> Result<(), Failure> {
    let width = operators().iter().map(|o| o.name.len()).max().unwrap_or(0);
    for operator in operators() {
        console::line(format_args!("{:width$}  {}", operator.name, operator.summary))?;
    }
    console::note("\n`mip ops NAME` shows an operator's parameters");
    Ok(())
}

/// All operators in Markdown, for the book.
fn page() -> String {
    let head = "# Operators\n\nWritten by `mip ops --markdown`. All take u8, u16 and f32, gray, rgb, bgr, rgba and bgra (those of single channels also colour spaces), HWC \
                and CHW, and any size from 1x1.\nA *uniform* parameter changes numbers for the next execution, a \
                *structural* one makes a new plan.\n";
    operators().iter().fold(head.to_owned(), |text, operator| text + &section(operator))
}

fn section(operator: &OperatorSpec) -> String {
    let inputs: Vec<String> = operator.inputs.iter().map(|name| format!("`{name}`")).collect();
    let summary = operator.summary.trim_end_matches('.');
    let further = match operator.extra.inputs {
        0 => String::new(),
        further => format!(" and up to {further} more"),
    };
    let sums = if operator.extra.sums { " It takes i32 too." } else { "" };
    let (name, inputs) = (operator.name, inputs.join(", "));
    let text = format!("\n## `{name}`\n\n{summary}. Inputs: {inputs}{further}.{sums}\n");
    if operator.params.is_empty() {
        return text;
    }
    let head =
        "\n| parameter | meaning | values | default | change |\n| --- | --- | --- | --- | --- |\n".to_owned();
    text + &operator.params.iter().fold(head, |text, param| text + &row(param))
}

fn row(param: &ParamSpec) -> String {
    let default = match (param.required, param.default) {
        (true, _) => "must be given".to_owned(),
        (false, Some(default)) => format!("`{default}`"),
        (false, None) => "none".to_owned(),
    };
    let change = match param.change {
        Change::Uniform => "uniform",
        Change::Structural => "structural",
    };
    // A bar would end the cell.
    let cell = |text: &str| text.replace('|', "\\|");
    let (help, kind) = (cell(param.help), cell(&param.kind.to_string()));
    format!("| `{}` | {help} | {kind} | {default} | {change} |\n", param.name)
}

fn describe(operator: &OperatorSpec) -> String {
    let mut text =
        format!("{}: {}\n\ninputs: {}\n", operator.name, operator.summary, operator.inputs.join(", "));
    if operator.params.is_empty() {
        text += "\nno parameters";
        return text;
    }
    text += "\nparameters:\n";
    let params: Vec<String> = operator.params.iter().map(describe_param).collect();
    text + &params.join("\n")
}

fn describe_param(param: &ParamSpec) -> String {
    let default = match (param.required, param.default) {
        (true, _) => "; must be given".to_owned(),
        (false, Some(default)) => format!("; default {default}"),
        (false, None) => String::new(),
    };
    let change = match param.change {
        Change::Uniform => "can change between images at no cost",
        Change::Structural => "a change makes a new plan",
    };
    format!("  {}\n      {}\n      {}{default}; {change}", param.name, param.help, param.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_names_ranges_and_defaults() {
        let text = describe(spec("threshold").unwrap());
        assert!(text.starts_with("threshold: "), "{text}");
        assert!(text.contains("  threshold\n") && text.contains("must be given"), "{text}");
        let text = describe(spec("gaussian_blur").unwrap());
        assert!(text.contains("an odd whole number from 1 to 255; default 5"), "{text}");
    }

    #[test]
    fn a_slip_is_answered_with_the_closest_name() {
        let failure =
            run(&Args { name: Some("gausian_blur".into()), json: false, schema: false, markdown: false })
                .unwrap_err();
        assert_eq!(failure.code(), 2);
        assert!(failure.message().unwrap().contains("did you mean 'gaussian_blur'?"));
    }
}
