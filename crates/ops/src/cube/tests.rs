use std::fmt::Write as _;

use super::*;
use crate::expr::{b, g, r};

fn message(text: &str) -> String {
    Cube::parse(text).unwrap_err()
}

/// A table of `steps` along each axis with the colour that `of` makes of each corner.
fn cube(steps: usize, of: impl Fn([f64; 3]) -> [f64; 3]) -> Cube {
    let last = (steps - 1) as f64;
    let mut text = format!("TITLE \"a title\"\r\n# note\n\nLUT_3D_SIZE {steps}\n");
    for i in 0..steps.pow(3) {
        let corner = [i % steps, i / steps % steps, i / steps / steps].map(|step| step as f64 / last);
        let [r, g, b] = of(corner);
        writeln!(text, "{r} {g}\t {b}").unwrap();
    }
    Cube::parse(&text).unwrap()
}

fn looked_up(cube: &Cube, rgb: [f32; 3], method: LutMethod) -> [f32; 3] {
    let expr = Term::compile(&cube.colors([r(), g(), b()], 1.0, method), false).unwrap();
    let mip_plan::Results::Channels(results) = expr.results() else { unreachable!("three results") };
    let mut values = Vec::new();
    let input = |_, channel, _| match channel {
        mip_plan::Channel::Red => rgb[0],
        mip_plan::Channel::Green => rgb[1],
        _ => rgb[2],
    };
    expr.evaluate((0, 0), input, &[], &mut values);
    [0, 1, 2].map(|channel| values[usize::from(results[channel])])
}

#[test]
fn errors_name_the_line() {
    let of_two = |rows: &str| message(&format!("LUT_1D_SIZE 2\n{rows}"));
    assert_eq!(message(""), "neither LUT_1D_SIZE nor LUT_3D_SIZE is given");
    assert_eq!(message("\n0 0 0\n"), "line 2: numbers before LUT_1D_SIZE or LUT_3D_SIZE");
    assert_eq!(message("LUT_3D_SIZE 66"), "line 1: the size must be one whole number from 2 to 65");
    assert_eq!(message("LUT_1D_SIZE 1"), "line 1: the size must be one whole number from 2 to 65536");
    assert!(message("LUT_3D_SIZE 9999999999999999999999").starts_with("line 1: the size"));
    assert!(message("LUT_1D_SIZE 2\nLUT_3D_SIZE 2").starts_with("line 2: a second size"));
    assert_eq!(of_two("0 0 0\n"), "it ends after 1 rows, but a table of 2 has 2");
    assert_eq!(of_two("0 0 0\n1 1 1\n2 2 2"), "line 4: more than the 2 rows of a table of 2");
    assert_eq!(of_two("0 0\n"), "line 2: three numbers are needed, red, green and blue, but there are 2");
    assert!(of_two("0 0 0 0 0 0\n").ends_with("but there are 4"));
    for word in ["nan", "inf", "1e7", "0,5", "-"] {
        assert_eq!(
            of_two(&format!("0 {word} 0")),
            format!("line 2: '{word}' is no number from -1000000 to 1000000")
        );
    }
    assert!(
        message("LUT_IN_VIDEO_RANGE\n")
            .starts_with("line 1: 'LUT_IN_VIDEO_RANGE' means nothing here; known are TITLE")
    );
    assert_eq!(
        message("DOMAIN_MIN 0 0 0\nDOMAIN_MIN 0 0 0"),
        "line 2: 'DOMAIN_MIN' says again what has been said"
    );
    assert!(message("LUT_3D_INPUT_RANGE 0\n").contains("takes two numbers"));
    assert!(of_two("DOMAIN_MAX 1 0 1\n0 0 0\n1 1 1").starts_with("the domain ends at [1.0, 0.0, 1.0]"));
}

#[test]
fn grays_and_corners_are_exact() {
    let square = cube(5, |rgb| rgb.map(|v| v * v));
    for method in LutMethod::ALL {
        assert_eq!(looked_up(&square, [0.25, 0.5, 0.75], method), [0.0625, 0.25, 0.5625]);
        assert_eq!(looked_up(&square, [1.0, 0.0, 1.0], method), [1.0, 0.0, 1.0]);
        assert_eq!(looked_up(&square, [9.0, -1.0, f32::NAN], method), [1.0, 0.0, 0.0], "{method}: cut off");
        assert_eq!(looked_up(&square, [0.375; 3], method), [0.15625; 3]);
    }
    // Between other corners than the method says it would be another number.
    let product = cube(2, |[r, g, b]| [r * g, g * b, r * b]);
    let at = |method| looked_up(&product, [0.5, 0.25, 0.75], method);
    assert_eq!(at(LutMethod::Tetrahedral), [0.25, 0.25, 0.5]);
    assert_eq!(at(LutMethod::Trilinear), [0.125, 0.1875, 0.375]);
}

#[test]
fn domains_say_where_a_table_begins_and_ends() {
    let rows = "0 0 0\n10 20 30\n";
    let text = format!("\u{FEFF}LUT_1D_SIZE 2\nDOMAIN_MIN -1 0 0.5\nDOMAIN_MAX 1 2 1\n{rows}");
    let method = LutMethod::default();
    let curve = Cube::parse(&text).unwrap();
    assert_eq!(looked_up(&curve, [0.0, 0.5, 0.75], method), [5.0, 5.0, 15.0]);
    let range = Cube::parse(&format!("LUT_1D_SIZE 2\nLUT_1D_INPUT_RANGE 0.5 1.5\n{rows}")).unwrap();
    assert_eq!(looked_up(&range, [0.25, 1.0, 9.0], method), [0.0, 10.0, 30.0]);
}

#[test]
fn paths_are_read_and_what_is_wrong_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("curve.cube");
    std::fs::write(&path, b"TITLE \"\xFF\"\nLUT_1D_SIZE 2\n0 0 0\n1 1 1").unwrap();
    let of = |path: &std::path::Path| CubeFile::new(path.to_str().unwrap());
    assert_eq!(**of(&path).cube().unwrap(), Cube::parse("LUT_1D_SIZE 2\n0 0 0\n1 1 1").unwrap());
    assert_eq!(of(folder.path()).cube(), Err("it is no file"));
    assert!(of(&folder.path().join("none")).cube().unwrap_err().starts_with("it cannot be read: "));
    std::fs::File::create(&path).unwrap().set_len(33 << 20).unwrap();
    assert_eq!(of(&path).cube(), Err("it has more than 33554432 bytes"));
}
