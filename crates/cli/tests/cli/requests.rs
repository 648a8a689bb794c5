use crate::support::Place;

#[test]
fn wrong_command_lines_exit_with_2() {
    let place = Place::new();
    place.refused(&[], &["Usage: mip"]);
    place.refused(&["chek"], &["similar subcommand", "check"]);
    place.refused(&["run"], &["no pipeline given"]);
    place.refused(&["run", "-e", "sobel", "x.png", "--batch", "0"], &["--batch"]);
    place.refused(&["run", "-e", "sobel", "x.png", "--streams", "0"], &["--streams"]);
    place.refused(&["run", "-e", "sobel", "x.png", "--format", "gif"], &["png, jpg, jpeg"]);
    place.refused(&["run", "-e", "sobel", "x.png", "--allocator", "pool"], &["pooled", "stream-ordered"]);
    place.refused(&["check", "-e", "sobel"], &["--size"]);
    place.refused(&["check", "-e", "sobel", "--size", "12"], &["WIDTHxHEIGHT"]);
    place.refused(
        &["plan", "-e", "sobel", "--size", "8x8", "--format", "png"],
        &["png", "text, json, dot, mermaid, svg"],
    );
}

#[test]
fn a_device_that_is_not_there_fails_with_the_reason() {
    let place = Place::new();
    place.rgb("a.png", (8, 8), 0);
    // No machine has that many.
    let ran = place.mip(&["run", "-e", "sobel", "a.png", "--device", "cuda:4000"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("--device cuda:4000: "), "{}", ran.stderr);
    assert_eq!(place.list("out"), [""; 0]);
    place.refused(&["run", "-e", "sobel", "a.png", "--device", "cpuu"], &["did you mean 'cpu'"]);
}

#[test]
fn wrong_pipelines_exit_with_2_and_say_where() {
    let place = Place::new();
    place.rgb("a.png", (8, 8), 0);
    place.refused(&["run", "-e", "gausian_blur", "a.png"], &["gausian_blur", "did you mean 'gaussian_blur'"]);
    place.refused(&["run", "-e", "gaussian_blur kernel=4", "a.png"], &["kernel", "4", "odd"]);
    place.refused(&["run", "gone.toml", "a.png"], &["gone.toml"]);
    place.refused(&["run", "color_convert to=gray", "a.png"], &["the one-line form goes after -e"]);
    place.refused(&["run", "a.png"], &["the pipeline goes before the images"]);
    place.write("bad.toml", "[[task]]\nname = \"a\"\nop = \"sobel\"\nbordr = \"wrap\"\n");
    place.refused(&["run", "bad.toml", "a.png"], &["bad.toml", "4", "bordr", "did you mean 'border'"]);
}

#[test]
fn with_json_a_wrong_request_is_a_document_too() {
    let place = Place::new();
    let ran = place.mip(&["run", "-e", "sobell", "a.png", "--json"]);
    assert_eq!(ran.code, 2);
    assert_eq!(ran.json()["exit_code"], 2);
    assert!(ran.json()["error"].as_str().unwrap().contains("sobell"));
}
