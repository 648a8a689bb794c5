use crate::support::Place;

const BLEND: &str = r#"
inputs = ["left", "right"]

[[task]]
name = "mix"
op = "blend"
inputs = ["@left", "@right"]
alpha = 0.5
"#;

#[test]
fn several_inputs_by_name() {
    let place = Place::new();
    place.write("blend.toml", BLEND);
    let (a, b) = (place.rgb("a.png", (8, 6), 1), place.rgb("b.png", (8, 6), 2));
    let ran =
        place.ok(&["run", "blend.toml", "--input", "right=b.png", "--input", "left=a.png", "-o", "out"]);
    assert_eq!(ran.lines(), ["out/a.png"]);
    let mixed = place.read("out/a.png").to_bytes();
    for ((m, a), b) in mixed.iter().zip(a.to_bytes()).zip(b.to_bytes()) {
        assert!((f64::from(*m) - f64::midpoint(f64::from(a), f64::from(b))).abs() <= 0.5);
    }
}

#[test]
fn one_input_fixed_and_the_other_from_many_files() {
    let place = Place::new();
    place.write("blend.toml", BLEND);
    place.rgb("logo.png", (8, 6), 9);
    for i in 0..3 {
        place.rgb(&format!("in/{i}.png"), (8, 6), i);
    }
    place.ok(&["run", "blend.toml", "in", "--input", "right=logo.png", "-o", "out"]);
    assert_eq!(place.list("out"), ["0.png", "1.png", "2.png"]);
    assert_ne!(place.bytes("out/0.png"), place.bytes("out/1.png"));
    place.refused(
        &["run", "blend.toml", "in", "--input", "right=logo.png", "--batch", "2"],
        &["--batch needs a pipeline with one input"],
    );
}

#[test]
fn inputs_that_do_not_add_up_are_refused() {
    let place = Place::new();
    place.write("blend.toml", BLEND);
    place.rgb("a.png", (8, 6), 1);
    place.refused(&["run", "blend.toml", "a.png"], &["left, right", "--input NAME=FILE"]);
    place.refused(&["run", "blend.toml", "--input", "lfet=a.png"], &["lfet", "did you mean 'left'"]);
    place.refused(&["run", "blend.toml", "--input", "left=a.png"], &["no input images given"]);
    place.refused(&["run", "blend.toml", "--input", "left"], &["NAME=FILE"]);
    place.refused(
        &["run", "blend.toml", "a.png", "--input", "left=a.png", "--input", "right=a.png"],
        &["leave the other images out"],
    );
    place.refused(&["run", "-e", "sobel"], &["no input images given"]);
    assert_eq!(place.list("out"), [""; 0]);
}

#[test]
fn folders_globs_and_natural_order() {
    let place = Place::new();
    for name in ["in/f10.png", "in/f9.jpg", "other/x1.png", "other/y.png"] {
        place.rgb(name, (6, 5), 1);
    }
    let ran = place.ok(&["run", "-e", "color_convert to=gray", "in", "other/x*.png", "-o", "out"]);
    assert_eq!(ran.lines(), ["out/f9.png", "out/f10.png", "out/x1.png"]);
    place.refused(&["run", "-e", "sobel", "gone.png"], &["'gone.png' does not exist"]);
    place.refused(&["run", "-e", "sobel", "in/*.tif"], &["'in/*.tif' matches no file"]);
}

#[test]
fn results_never_overwrite_each_other_or_their_inputs() {
    let place = Place::new();
    let original = place.rgb("a/x.png", (6, 5), 1);
    place.rgb("b/x.jpg", (6, 5), 1);
    place.refused(&["run", "-e", "sobel", "a/x.png", "b/x.jpg"], &["would both be written to out/x.png"]);
    place.refused(&["run", "-e", "sobel", "a/x.png", "-o", "a"], &["would replace the input a/x.png"]);
    place.refused(&["run", "-e", "sobel", "a/x.png", "b/x.jpg", "-o", "e.png"], &["names one file"]);
    assert_eq!(place.read("a/x.png"), original);
    assert_eq!(place.list("out"), [""; 0]);
}
