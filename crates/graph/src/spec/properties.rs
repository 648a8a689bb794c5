//! Any text is read or refused, and whatever is written is read back.

use mip_ops::{ParamKind, Value, operators};
use proptest::prelude::*;
use proptest::sample::select;

use super::{Located, PipelineSpec, TaskSpec};
use crate::GraphError;

/// Words that get a text further than noise does.
fn vocabulary() -> Vec<String> {
    let mut words: Vec<String> = [
        "!",
        "=",
        ",",
        "[",
        "]",
        "\"",
        "\\",
        ":",
        " ",
        "\n",
        "#",
        "[[task]]\n",
        "name",
        "inputs",
        "outputs",
        "task",
        "op =",
        "\"@input\"",
        "@left",
        "a",
        "1",
        "-3",
        "2.5",
        "1e400",
        "nan",
        "true",
        "gray",
        "{",
        "}",
        ".",
        "'",
        "1979-05-27",
        "ü",
    ]
    .map(str::to_owned)
    .to_vec();
    for spec in operators() {
        words.push(spec.name.to_owned());
        words.push(format!("\n[[task]]\nop = \"{}\"\n", spec.name));
        words.extend(spec.params.iter().map(|p| format!("{} = ", p.name)));
    }
    words
}

fn soup() -> impl Strategy<Value = String> {
    prop_oneof![
        1 => any::<String>(),
        4 => prop::collection::vec(select(vocabulary()), 0..24).prop_map(|words| words.concat()),
    ]
}

/// Mostly values that a parameter takes, some that it does not.
fn value(kind: ParamKind) -> BoxedStrategy<Value> {
    let good = match kind {
        ParamKind::Int { min, max, .. } => {
            (min..=max.min(min.saturating_add(40))).prop_map(Value::Int).boxed()
        }
        ParamKind::Float { min, max, .. } => (min..=max).prop_map(Value::Float).boxed(),
        ParamKind::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        ParamKind::Choice { words } => select(words).prop_map(Value::from).boxed(),
        ParamKind::Text { .. } => {
            select(vec!["v", "r * 2, g, b", "v < 3 ? v : 7"]).prop_map(Value::from).boxed()
        }
        ParamKind::Numbers { counts, max } => {
            prop::collection::vec(-max..=max, counts[0]).prop_map(Value::List).boxed()
        }
        ParamKind::PerChannel { min, max, .. } => {
            prop::collection::vec(min..=max, 1..=4).prop_map(Value::List).boxed()
        }
    };
    let any = prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        prop::num::f64::NORMAL.prop_map(Value::Float),
        any::<String>().prop_map(Value::Text),
        select(vec!["true", "5", "-1.5", "[1]", "\"a\"", " a ", ""]).prop_map(Value::from),
        prop::collection::vec(prop::num::f64::NORMAL, 0..6).prop_map(Value::List),
    ];
    prop_oneof![20 => good, 1 => any].boxed()
}

fn name() -> impl Strategy<Value = Located<String>> {
    prop_oneof![
        20 => select(vec!["a", "b", "c", "sobel", "resize2", "blend", "@input", "@a", "@b"]).prop_map(Located::from),
        1 => any::<String>().prop_map(Located::from),
    ]
}

fn task() -> impl Strategy<Value = TaskSpec> {
    let op = select(operators().to_vec());
    op.prop_flat_map(|spec| {
        let params: Vec<_> = spec
            .params
            .iter()
            .map(|p| {
                let given = if p.required { 0.98 } else { 0.2 };
                prop::option::weighted(given, value(p.kind))
                    .prop_map(move |v| v.map(|v| (p.name.into(), v.into())))
            })
            .collect();
        let sources = prop::collection::vec(name(), spec.inputs.len());
        let wired = if spec.inputs.len() > 1 { 0.9 } else { 0.2 };
        (prop::option::weighted(0.2, name()), params, prop::option::weighted(wired, sources)).prop_map(
            move |(name, params, inputs)| {
                let params = params.into_iter().flatten().collect();
                TaskSpec { name, inputs, params, ..TaskSpec::new(spec.name) }
            },
        )
    })
}

fn spec() -> impl Strategy<Value = PipelineSpec> {
    let list = || prop_oneof![6 => Just(Vec::new()), 1 => prop::collection::vec(name(), 0..3)];
    let head = prop::option::weighted(0.3, any::<String>().prop_map(Located::from));
    (head, list(), list(), prop::collection::vec(task(), 0..4)).prop_map(|(name, inputs, outputs, tasks)| {
        PipelineSpec { name, inputs, outputs, tasks, ..PipelineSpec::default() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused_with_a_place(text in soup()) {
        for read in [PipelineSpec::parse_toml(&text, "f"), PipelineSpec::parse_line(&text)] {
            match read {
                Ok(spec) => {
                    prop_assert!(spec.build().is_ok());
                    prop_assert_eq!(&PipelineSpec::parse_toml(&spec.to_toml(), "f").unwrap(), &spec);
                    prop_assert_eq!(&PipelineSpec::parse_line(&spec.to_line()).unwrap(), &spec);
                }
                Err(error) => prop_assert!(error.position().is_some(), "{error}"),
            }
        }
    }

    #[test]
    fn specs_survive_both_forms_or_are_refused_for_the_same_reason(spec in spec()) {
        let direct = spec.clone().settled();
        let toml = PipelineSpec::parse_toml(&spec.to_toml(), "f");
        let line = PipelineSpec::parse_line(&spec.to_line());
        match direct {
            Ok(direct) => {
                prop_assert_eq!(toml.as_ref(), Ok(&direct));
                prop_assert_eq!(line.as_ref(), Ok(&direct));
            }
            Err(error) => {
                prop_assert_eq!(toml.as_ref().map_err(GraphError::kind), Err(&error));
                // In a line `false` and 0 are words where words are wanted, so that the text may say it differently, and
                // may be right where text of any kind is.
                match &line {
                    Ok(spec) => {
                        let values = spec.tasks.iter().flat_map(|task| &task.params).map(|(_, value)| &value.value);
                        prop_assert!(values.clone().any(|value| matches!(value, Value::Text(_))));
                    }
                    // What is a word there may be refused for something else behind it.
                    Err(e) => {
                        let same = std::mem::discriminant(e.kind()) == std::mem::discriminant(&error);
                        prop_assert!(same || matches!(error, GraphError::Parameter { .. }), "{e} instead of {error}");
                    }
                }
            }
        }
    }
}

#[test]
fn random_specs_build_often_enough_to_mean_something() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let built = (0..200).filter(|_| spec().new_tree(&mut runner).unwrap().current().build().is_ok()).count();
    assert!(built > 20, "{built} of 200");
}
