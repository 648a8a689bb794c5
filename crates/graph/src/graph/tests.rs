use mip_ops::{Change, ParamError, Value};

use crate::testing::{TestOp, graph, rgb};
use crate::{GraphError, Source, TaskGraph, TaskHandle};

fn names(graph: &TaskGraph, tasks: &[TaskHandle]) -> Vec<String> {
    tasks.iter().map(|&t| graph.name(t).unwrap().to_owned()).collect()
}

#[test]
fn a_cycle_is_refused_with_its_path_and_the_graph_stays_as_it_was() {
    let mut g = TaskGraph::new();
    let [a, b, c] = ["a", "b", "c"].map(|n| g.add_task(n, TestOp::with_inputs(2)).unwrap());
    g.add_dependency(a, b).unwrap();
    g.add_dependency(b, c).unwrap();
    let before = (g.topology_version(), g.topological_order(), g.sources(a).unwrap());
    let error = g.add_dependency(c, a).unwrap_err();
    assert_eq!(error.to_string(), "connecting 'c' to 'a' would close the cycle c -> a -> b -> c");
    let error = g.add_dependency_slot(b, b, "b").unwrap_err();
    assert_eq!(error.to_string(), "connecting 'b' to 'b' would close the cycle b -> b");
    assert_eq!(before, (g.topology_version(), g.topological_order(), g.sources(a).unwrap()));
}

#[test]
fn slots_fill_in_declared_order_or_by_name() {
    let mut g = TaskGraph::new();
    let [a, b, c] = ["a", "b", "c"].map(|n| g.add_task(n, TestOp::with_inputs(1)).unwrap());
    let mix = g.add_task("mix", TestOp::with_inputs(3)).unwrap();
    g.add_dependency_slot(c, mix, "b").unwrap();
    g.add_dependency(a, mix).unwrap();
    let taken = g.add_dependency_slot(b, mix, "a").unwrap_err();
    assert_eq!(taken.to_string(), "input 'a' of task 'mix' is already fed by 'a'");
    g.add_dependency(b, mix).unwrap();
    assert_eq!(g.sources(mix).unwrap(), [a, c, b].map(|t| Some(Source::Task(t))));
    let full = g.add_dependency(b, mix).unwrap_err().to_string();
    assert_eq!(
        full,
        "task 'mix' (three) takes 3 input(s) and all are connected: 'a' by 'a', 'b' by 'c', 'c' by 'b'"
    );
    let unknown = g.connect_input_slot("input", mix, "aa").unwrap_err();
    assert!(matches!(&unknown, GraphError::UnknownSlot { known, .. } if known == "a, b, c"), "{unknown}");
    assert!(g.inputs().is_empty(), "a failed connection declares no input");
}

#[test]
fn inputs_are_declared_or_default() {
    let mut g = TaskGraph::new();
    let a = g.add_task("a", TestOp::with_inputs(2)).unwrap();
    g.connect_input("input", a).unwrap();
    assert_eq!(g.inputs(), ["input"]);
    g.declare_input("left").unwrap();
    let error = g.connect_input("leftt", a).unwrap_err().to_string();
    assert_eq!(error, "there is no pipeline input '@leftt' (did you mean '@left'?); inputs: @input, @left");
    assert!(matches!(g.declare_input("left"), Err(GraphError::Duplicate { .. })));
    assert!(matches!(g.declare_input("@left"), Err(GraphError::Name { .. })));
    g.connect_input("left", a).unwrap();
    assert_eq!(g.sources(a).unwrap(), [Some(Source::Input(0)), Some(Source::Input(1))]);
    assert_eq!(g.validate(), Ok(()));
}

#[test]
fn validation_names_task_and_slot() {
    let mut g = TaskGraph::new();
    assert_eq!(g.validate(), Err(GraphError::Empty));
    let a = g.add_task("a", TestOp::with_inputs(2)).unwrap();
    g.connect_input("input", a).unwrap();
    let error = g.validate().unwrap_err().to_string();
    assert!(error.contains("input 'b' of task 'a' (two)"), "{error}");
    g.connect_input("input", a).unwrap();
    g.declare_input("mask").unwrap();
    assert_eq!(g.validate(), Err(GraphError::UnusedInput { name: "mask".to_owned() }));
}

#[test]
fn names_are_unique_and_looked_up_with_suggestions() {
    let mut g = graph(&[("small", &["@input"]), ("gray", &["small"])]);
    assert!(matches!(g.add_task("gray", TestOp::with_inputs(1)), Err(GraphError::Duplicate { .. })));
    assert!(matches!(g.add_task("@gray", TestOp::with_inputs(1)), Err(GraphError::Name { .. })));
    let error = g.task("grey").unwrap_err().to_string();
    assert_eq!(error, "there is no task 'grey' (did you mean 'gray'?); tasks: small, gray");
}

#[test]
fn a_handle_of_another_graph_is_refused_even_after_cloning() {
    let mut g = graph(&[("a", &["@input"]), ("b", &["a"])]);
    let (a, b) = (g.task("a").unwrap(), g.task("b").unwrap());
    let mut other = g.clone();
    assert_eq!(other.name(a), Err(GraphError::ForeignHandle));
    assert_eq!(other.add_dependency(a, b), Err(GraphError::ForeignHandle));
    assert_eq!(other.connect_input("input", a), Err(GraphError::ForeignHandle));
    assert_eq!(other.mark_output(a), Err(GraphError::ForeignHandle));
    assert_eq!(other.are_independent(a, b), Err(GraphError::ForeignHandle));
    assert_eq!(other.set_parameter(a, "gain", Value::Float(1.0)), Err(GraphError::ForeignHandle));
    assert_eq!(g.are_independent(a, b), Ok(false));
    g.mark_output(a).unwrap();
    assert_eq!(names(&other, &other.outputs()), ["b"]);
}

#[test]
fn order_is_by_dependency_then_insertion() {
    let mut g = TaskGraph::new();
    let [z, y, x, w] = ["z", "y", "x", "w"].map(|n| g.add_task(n, TestOp::with_inputs(1)).unwrap());
    g.add_dependency(w, z).unwrap();
    g.add_dependency(x, w).unwrap();
    assert_eq!(names(&g, &g.topological_order()), ["y", "x", "w", "z"]);
    assert_eq!(g.are_independent(y, z), Ok(true));
    assert_eq!(g.are_independent(z, x), Ok(false));
    assert_eq!(g.are_independent(y, y), Ok(false));
    assert_eq!(names(&g, &g.consumers(x).unwrap()), ["w"]);
}

#[test]
fn outputs_are_what_nobody_reads_or_what_is_marked() {
    let mut g = graph(&[("a", &["@input"]), ("b", &["a"]), ("c", &["a"])]);
    assert_eq!(names(&g, &g.outputs()), ["b", "c"]);
    let version = g.topology_version();
    for name in ["c", "a", "c"] {
        g.mark_output(g.task(name).unwrap()).unwrap();
    }
    assert_eq!(names(&g, &g.outputs()), ["c", "a"]);
    assert_eq!(g.topology_version(), version + 2);
}

#[test]
fn parameters_are_checked_and_say_what_they_cost() {
    let mut g = graph(&[("soft", &["@input"])]);
    let soft = g.task("soft").unwrap();
    let versions = |g: &TaskGraph| (g.topology_version(), g.uniform_version());
    let (topology, uniform) = versions(&g);
    assert_eq!(g.set_parameter(soft, "gain", Value::Float(2.5)), Ok(Change::Uniform));
    assert_eq!(versions(&g), (topology, uniform + 1));
    assert_eq!(g.set_parameter(soft, "scale", Value::Int(4)), Ok(Change::Structural));
    assert_eq!(versions(&g), (topology + 1, uniform + 1));
    // The same value again costs nothing.
    assert_eq!(g.set_parameter(soft, "scale", Value::Int(4)), Ok(Change::Structural));
    assert_eq!(versions(&g), (topology + 1, uniform + 1));
    assert_eq!(g.parameter(soft, "gain"), Ok(Some(Value::Float(2.5))));
    let error = g.set_parameter(soft, "gain", Value::Float(9.0)).unwrap_err();
    let text = error.to_string();
    assert!(["soft", "gain", "9", "8"].iter().all(|part| text.contains(part)), "{text}");
    let error = g.set_parameter(soft, "gian", Value::Float(1.0)).unwrap_err();
    assert!(
        matches!(&error, GraphError::Parameter { source: ParamError::Unknown { suggestion: Some(s), .. }, .. } if s == "gain"),
        "{error}"
    );
    assert_eq!(versions(&g), (topology + 1, uniform + 1));
}

#[test]
fn shapes_go_through_the_graph_and_errors_name_the_task() {
    let mut g = graph(&[("a", &["@input"]), ("b", &["a"])]);
    let b = g.task("b").unwrap();
    g.set_parameter(b, "scale", Value::Int(4)).unwrap();
    assert_eq!(g.infer(&[rgb(64, 32)]), Ok(vec![rgb(64, 32), rgb(16, 8)]));
    let error = g.infer(&[rgb(2, 2)]).unwrap_err();
    assert!(error.to_string().starts_with("task 'b': an image of 0x0"), "{error}");
    assert!(matches!(g.infer(&[]), Err(GraphError::InputCount { .. })));
}
