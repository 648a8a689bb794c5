use mip_ops::Value;

use super::PipelineSpec;
use crate::GraphError;

const EDGES: &str = r#"name = "edges"

[[task]]
name = "small"
op = "resize"
width = 1280
height = 720

[[task]]
name = "gray"
op = "color_convert"
to = "gray"

[[task]]
name = "soft"
op = "gaussian_blur"
kernel = 5
sigma = 1.1

[[task]]
name = "edges"
op = "sobel"
"#;

const STEREO: &str = r#"
inputs = ["left", "right"]
outputs = ["mix", "soft"]

# Used before it is defined.
[[task]]
name = "mix"
op = "blend"
inputs = ["soft", "@right"]

[[task]]
name = "soft"
op = "gaussian_blur"
inputs = ["@left"]
"#;

fn toml(text: &str) -> PipelineSpec {
    PipelineSpec::parse_toml(text, "p.toml").unwrap_or_else(|e| panic!("{e}"))
}

fn line(text: &str) -> PipelineSpec {
    PipelineSpec::parse_line(text).unwrap_or_else(|e| panic!("{e}"))
}

/// The complaint about a file.
fn refusal(text: &str) -> String {
    PipelineSpec::parse_toml(text, "p.toml").expect_err(text).to_string()
}

fn line_refusal(text: &str) -> String {
    PipelineSpec::parse_line(text).expect_err(text).to_string()
}

#[test]
fn a_file_becomes_a_graph() {
    let graph = toml(EDGES).build().unwrap();
    let names: Vec<&str> = graph.topological_order().iter().map(|&t| graph.name(t).unwrap()).collect();
    assert_eq!(names, ["small", "gray", "soft", "edges"]);
    assert_eq!(graph.inputs(), ["input"]);
    let soft = graph.task("soft").unwrap();
    assert_eq!(graph.parameter(soft, "sigma"), Ok(Some(Value::Float(1.1))));
}

#[test]
fn inputs_outputs_and_forward_references_are_wired() {
    let graph = toml(STEREO).build().unwrap();
    assert_eq!(graph.inputs(), ["left", "right"]);
    let names = |tasks: Vec<_>| tasks.iter().map(|&t| graph.name(t).unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(graph.topological_order()), ["soft", "mix"]);
    assert_eq!(names(graph.outputs()), ["mix", "soft"]);
}

#[test]
fn the_one_line_form_says_the_same() {
    let short =
        "resize width=1280 height=720 ! color_convert to=gray ! gaussian_blur kernel=5 sigma=1.1 ! sobel";
    let names: Vec<String> = line(short).names().unwrap();
    assert_eq!(names, ["resize", "color_convert", "gaussian_blur", "sobel"]);
    let full = "name=edges ! small:resize width=1280 height=720 ! gray:color_convert to=gray \
                ! soft:gaussian_blur kernel=5 sigma=1.1 ! edges:sobel";
    assert_eq!(line(full), toml(EDGES));
    assert_eq!(toml(EDGES).to_line(), full);
    let stereo =
        "inputs=left,right outputs=mix,soft ! mix:blend inputs=soft,@right ! soft:gaussian_blur inputs=@left";
    assert_eq!(line(stereo), toml(STEREO));
    assert_eq!(toml(STEREO).to_line(), stereo);
    // Blanks, brackets and quotes wherever they help.
    let spaced = " inputs = [left , \"right\"] outputs=[mix,soft]!blend name=mix inputs=[soft, @right] \
                  ! soft : gaussian_blur inputs=@left";
    assert!(line_refusal(spaced).contains("':' cannot stand here"), "{}", line_refusal(spaced));
    assert_eq!(line(&spaced.replace(" : ", ":")), toml(STEREO));
}

#[test]
fn what_is_written_is_read_back() {
    for spec in [toml(EDGES), toml(STEREO)] {
        assert_eq!(toml(&spec.to_toml()), spec);
        assert_eq!(line(&spec.to_line()), spec);
    }
    assert_eq!(toml(EDGES).to_toml(), EDGES);
    let mut odd = toml(EDGES);
    odd.name = Some("a \"name\" \\ with\nall! [of], it=\u{1} 5".into());
    assert_eq!(toml(&odd.to_toml()), odd);
    assert_eq!(line(&odd.to_line()), odd);
}

#[test]
fn values_are_brought_to_the_parameters_type() {
    let spec = toml("[[task]]\nop = \"gaussian_blur\"\nsigma = 2\n");
    assert_eq!(spec.tasks[0].params[0].1.value, Value::Float(2.0));
    assert_eq!(line("gaussian_blur sigma=2"), spec);
}

#[test]
fn names_left_out_are_the_operators_with_numbers() {
    let spec = line("sobel ! color_convert to=gray ! sobel ! sobel2:color_convert to=gray ! sobel");
    assert_eq!(spec.names().unwrap(), ["sobel", "color_convert", "sobel3", "sobel2", "sobel4"]);
    assert_eq!(toml(&spec.to_toml()), spec);
}

#[test]
fn mistakes_in_files_are_shown_where_they_are() {
    let task = |rest: &str| format!("[[task]]\nop = \"gaussian_blur\"\n{rest}");
    let cases = [
        ("nam = \"x\"\n".to_owned(), "p.toml:1:1: the pipeline has no key 'nam' (did you mean 'name'?)"),
        ("tasks = 1".to_owned(), "p.toml:1:1: the pipeline has no key 'tasks' (did you mean 'task'?)"),
        ("a = \n".to_owned(), "p.toml:1:5: "),
        ("name = \"a\"\nname = \"b\"\n".to_owned(), "p.toml:2:1: duplicate key"),
        (String::new(), "p.toml:1:1: the pipeline has no tasks"),
        ("[task]\nop = \"sobel\"".to_owned(), "p.toml:1:1: 'task' is a table, but must be a list of tables"),
        ("task = [1]".to_owned(), "p.toml:1:9: 'task' is 1, but"),
        ("[[task]]\nname = \"a\"".to_owned(), "p.toml:1:1: task 1 does not say which operator it is"),
        ("[[task]]\nop = 3".to_owned(), "p.toml:2:6: 'op' is 3, but must be a text in quotes"),
        (
            "[[task]]\nop = \"resise\"".to_owned(),
            "p.toml:2:6: task 'resise': there is no operator 'resise' (did you mean 'resize'?)",
        ),
        (
            task("kernal = 3"),
            "p.toml:3:1: task 'gaussian_blur' (gaussian_blur) has no key 'kernal' (did you mean 'kernel'?); it has: name, op, inputs, kernel",
        ),
        (task("input = [\"a\"]"), "p.toml:3:9: 'input' is a list, but"),
        (
            task("input = \"a\""),
            "p.toml:3:1: task 'gaussian_blur' (gaussian_blur) has no key 'input' (did you mean 'inputs'?)",
        ),
        (
            task("kernel = 4"),
            "p.toml:3:10: task 'gaussian_blur': parameter 'kernel' of 'gaussian_blur' is 4, but must be an odd whole number from 1 to 255",
        ),
        (
            task("kernel = \"big\""),
            "p.toml:3:10: task 'gaussian_blur': parameter 'kernel' of 'gaussian_blur' is \"big\"",
        ),
        (task("sigma = { x = 1 }"), "p.toml:3:9: 'sigma' is a table, but must be a number greater than 0"),
        (task("sigma = 1979-05-27"), "p.toml:3:9: 'sigma' is a date, but"),
        (task("kernel = 99999999999999999999"), "p.toml:3:10: 'kernel' is 99999999999999999999, but"),
        (task("name = \"a b\""), "p.toml:3:8: 'a b' cannot be the name of a task"),
        (
            "[[task]]\nname = \"a\"\nop = \"sobel\"\n[[task]]\nname = \"a\"\nop = \"sobel\"\n".to_owned(),
            "p.toml:5:8: there is already a task named 'a'",
        ),
        (
            task("inputs = [\"@inptu\"]"),
            "p.toml:3:11: there is no pipeline input '@inptu' (did you mean '@input'?); inputs: @input",
        ),
        (
            task("inputs = [\"gausian_blur\"]"),
            "p.toml:3:11: there is no task 'gausian_blur' (did you mean 'gaussian_blur'?)",
        ),
        (
            task("inputs = [\"gaussian_blur\"]"),
            "p.toml:3:11: connecting 'gaussian_blur' to 'gaussian_blur' would close the cycle",
        ),
        (
            task("inputs = \"@input\""),
            "p.toml:3:10: 'inputs' is the text \"@input\", but must be a list of names",
        ),
        (task("inputs = [1]"), "p.toml:3:11: 'inputs' is 1, but must be a text"),
        (
            task("inputs = []"),
            "p.toml:2:6: input 'in' of task 'gaussian_blur' (gaussian_blur) is not connected",
        ),
        (
            task("inputs = [\"@input\", \"@input\"]"),
            "p.toml:3:21: task 'gaussian_blur' (gaussian_blur) takes 1 input(s)",
        ),
        (
            "[[task]]\nop = \"blend\"".to_owned(),
            "p.toml:2:6: input 'b' of task 'blend' (blend) is not connected",
        ),
        (format!("outputs = [\"soft\"]\n{}", task("")), "p.toml:1:12: there is no task 'soft'"),
        (
            format!("outputs = [\"gaussian_blur\", \"gaussian_blur\"]\n{}", task("")),
            "p.toml:1:29: there is already an output",
        ),
        (format!("inputs = [\"a\", \"a\"]\n{}", task("")), "p.toml:1:16: there is already a pipeline input"),
        (format!("inputs = [\"a\", \"b\"]\n{}", task("")), "p.toml:1:16: pipeline input '@b' feeds no task"),
        (
            "[[task]]\nop = \"color_convert\"".to_owned(),
            "p.toml:2:6: task 'color_convert': 'color_convert' needs parameter 'to'",
        ),
        (
            "[[task]]\nop = \"crop\"\nwidth = 2\nheight = 2\ncenter = true\nx = 1".to_owned(),
            "p.toml:6:1: task 'crop': parameter 'x' of 'crop' cannot be given together with center = true",
        ),
    ];
    for (text, expected) in cases {
        let found = refusal(&text);
        assert!(found.starts_with(expected), "{text}\n  {found}\n  {expected}");
    }
}

#[test]
fn a_cycle_through_files_is_named_at_the_reference_that_closes_it() {
    let text = r#"
[[task]]
name = "a"
op = "sobel"
inputs = ["c"]
[[task]]
name = "b"
op = "sobel"
[[task]]
name = "c"
op = "sobel"
"#;
    let error = PipelineSpec::parse_toml(text, "p.toml").unwrap_err();
    assert_eq!(
        error.to_string(),
        "p.toml:11:6: connecting 'b' to 'c' would close the cycle b -> c -> a -> b"
    );
    assert!(matches!(error.kind(), GraphError::Cycle { .. }));
    assert_eq!(error.position().map(|p| (p.line, p.column)), Some((11, 6)));
}

#[test]
fn mistakes_in_lines_are_shown_where_they_are() {
    let cases = [
        ("", "pipeline:1:1: the pipeline has no tasks"),
        ("!", "pipeline:1:1: an operator is missing here"),
        ("sobel ! ", "pipeline:1:8: an operator is missing here"),
        ("sobel ! ! sobel", "pipeline:1:9: an operator is missing here"),
        ("sobel ! kernel=5", "pipeline:1:9: an operator is missing here; only the first"),
        ("sobel sobel", "pipeline:1:7: 'sobel' cannot stand here"),
        ("sobel kernel=", "pipeline:1:14: a value is missing here"),
        ("sobel kernel= !", "pipeline:1:15: a value is missing here"),
        ("gaussian_blur kernel=3 kernel=5", "pipeline:1:24: 'kernel' is given twice"),
        ("gaussian_blur kernel=\"3", "pipeline:1:22: the quotes that open here are never closed"),
        ("normalize mean=[1 2]", "pipeline:1:19: the list needs ',' or ']' here"),
        ("normalize mean=[1,", "pipeline:1:19: a value is missing here"),
        ("normalize mean=1,x", "pipeline:1:16: 'mean' is a list with other things than numbers"),
        ("nam=x ! sobel", "pipeline:1:1: the pipeline (the first part names no operator) has no key 'nam'"),
        ("name=x,y ! sobel", "pipeline:1:6: 'name' is a list, but must be one word"),
        ("a:sobel name=b", "pipeline:1:14: the task already has a name"),
        ("sobl", "pipeline:1:1: task 'sobl': there is no operator 'sobl' (did you mean 'sobel'?)"),
        (
            "gray:color_convert to=grey",
            "pipeline:1:23: task 'gray': parameter 'to' of 'color_convert' is \"grey\"",
        ),
        ("gaussian_blur sigm=1", "pipeline:1:15: task 'gaussian_blur' (gaussian_blur) has no key 'sigm'"),
        ("sobel ! blend inputs=sobel,@lft", "pipeline:1:28: there is no pipeline input '@lft'"),
    ];
    for (text, expected) in cases {
        let found = line_refusal(text);
        assert!(found.starts_with(expected), "{text}\n  {found}\n  {expected}");
    }
}

#[test]
fn specs_made_in_code_have_errors_without_places() {
    let spec = PipelineSpec { tasks: vec![super::TaskSpec::new("blurr")], ..PipelineSpec::default() };
    assert!(spec.build().unwrap_err().to_string().starts_with("task 'blurr': there is no operator 'blurr'"));
}

#[test]
fn no_parameter_has_the_name_of_another_key() {
    for spec in mip_ops::operators() {
        assert!(spec.params.iter().all(|p| !super::build::TASK_KEYS.contains(&p.name)), "{}", spec.name);
    }
}

/// Files are found beside the pipeline's own, wherever it is written out to.
#[test]
fn paths_of_files_count_from_the_pipelines_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(file("curve.cube"), "LUT_1D_SIZE 2\n0 0 0\n1 1 1\n").unwrap();
    let text = |path: &str| format!("[[task]]\nop = \"lut\"\nfile = \"{path}\"\n");
    let spec = PipelineSpec::parse_toml(&text("curve.cube"), &file("pipeline.toml")).unwrap();
    assert_eq!(spec.tasks[0].params[0].1.value, Value::from(file("curve.cube")));
    for again in [
        PipelineSpec::parse_toml(&spec.to_toml(), "elsewhere/p.toml"),
        PipelineSpec::parse_line(&spec.to_line()),
    ] {
        assert_eq!(again.unwrap(), spec);
    }
    let refusal = |text: &str| PipelineSpec::parse_toml(text, &file("p.toml")).unwrap_err().to_string();
    let missing = refusal(&text("curve.cub"));
    let wanted = format!(
        "p.toml:3:1: task 'lut': parameter 'file' of 'lut' is \"{}\", but must be",
        file("curve.cub")
    );
    assert!(missing.contains(&wanted) && missing.contains("a .cube file: it cannot be read"), "{missing}");
    // What has a line break is no path.
    let inside = text("LUT_1D_SIZE 2\\n0 0 0\\n1 x 1");
    assert!(
        refusal(&inside).ends_with("a .cube file: line 3: 'x' is no number from -1000000 to 1000000"),
        "{}",
        refusal(&inside)
    );
    let inside = PipelineSpec::parse_toml(&inside.replace('x', "9"), "p.toml").unwrap();
    assert_eq!(PipelineSpec::parse_line(&inside.to_line()).unwrap(), inside);
    assert_eq!(PipelineSpec::parse_toml(&inside.to_toml(), "p.toml").unwrap(), inside);
}
