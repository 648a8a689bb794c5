//! How pictures are read: scaled, and made sRGB.

use std::path::Path;

use crate::support::Place;

/// A picture of the tests of mip-io.
fn given(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../io/tests").join(name);
    path.to_str().unwrap().to_owned()
}

fn size(place: &Place, name: &str) -> (u32, u32) {
    let image = mip_io::read_image(place.path(name)).unwrap();
    (image.desc().width(), image.desc().height())
}

#[test]
fn jpeg_files_are_decoded_smaller_and_others_as_they_are() {
    let place = Place::new();
    place.rgb("in/a.jpg", (33, 17), 1);
    place.rgb("in/b.png", (33, 17), 1);
    for (scale, wanted) in [("1", (33, 17)), ("1/2", (17, 9)), ("1/4", (9, 5)), ("1/8", (5, 3))] {
        let out = format!("out{}", scale.len() + usize::from(scale.as_bytes()[scale.len() - 1]));
        place.ok(&["run", "-e", "flip", "in", "-o", &out, "--format", "png", "--jpeg-scale", scale]);
        assert_eq!(size(&place, &format!("{out}/a.png")), wanted);
        assert_eq!(size(&place, &format!("{out}/b.png")), (33, 17));
    }
    // The pixels of libjpeg, upright, also for an input by its name.
    let file = given("jpeg/420_33x17.jpg");
    let name = format!("input={file}");
    place.ok(&[
        "run",
        "-e",
        "crop width=17 height=9",
        "--input",
        &name,
        "-o",
        "named.png",
        "--jpeg-scale",
        "1/2",
    ]);
    let wanted = mip_io::read_image(given("jpeg/scaled/420_33x17_2.png")).unwrap();
    assert_eq!(mip_io::read_image(place.path("named.png")).unwrap(), wanted);
    place.ok(&["profile", "-e", "flip", &file, "--jpeg-scale", "1/8", "--repeat", "1"]);
}

#[test]
fn profiles_are_applied_when_asked_for_and_gone_then() {
    let place = Place::new();
    let file = given("pictures/icc_rgb.png");
    place.ok(&["run", "-e", "crop width=11 height=9", &file, "-o", "kept.png"]);
    place.ok(&["run", "-e", "crop width=11 height=9", &file, "-o", "srgb.png", "--icc", "srgb"]);
    let profile = |name: &str| {
        let file = std::io::Cursor::new(place.bytes(name));
        png::Decoder::new(file).read_info().unwrap().info().icc_profile.is_some()
    };
    assert!(profile("kept.png") && !profile("srgb.png"));
    let pixels = |name: &str| mip_io::read_image(place.path(name)).unwrap().to_bytes();
    let wanted = std::fs::read(given("pictures/icc_rgb.png.srgb.raw")).unwrap();
    assert!(pixels("srgb.png").iter().zip(&wanted).all(|(a, b)| a.abs_diff(*b) <= 1));
    assert_ne!(pixels("kept.png"), pixels("srgb.png"));
}

#[test]
fn a_picture_that_cannot_be_made_srgb_is_one_failure() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("in")).unwrap();
    std::fs::copy(given("pictures/icc_rgb.png"), place.path("in/b.png")).unwrap();
    // The profile of gray for colours.
    let gray = std::io::Cursor::new(std::fs::read(given("pictures/icc_gray.png")).unwrap());
    let profile = png::Decoder::new(gray).read_info().unwrap().info().icc_profile.clone();
    let mut info = png::Info::with_size(1, 1);
    (info.color_type, info.icc_profile) = (png::ColorType::Rgb, profile);
    let mut file = Vec::new();
    let mut writer = png::Encoder::with_info(&mut file, info).unwrap().write_header().unwrap();
    writer.write_image_data(&[1, 2, 3]).unwrap();
    drop(writer);
    std::fs::write(place.path("in/a.png"), file).unwrap();
    let ran = place.mip(&["run", "-e", "flip", "in", "-o", "out", "--icc", "srgb", "--keep-going"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let said = "a.png cannot be converted to sRGB by its ICC profile: it is for Gray colours, and the pixels are rgb; leave";
    assert!(ran.stderr.contains(said), "{ran:?}");
    assert!(place.path("out/b.png").exists() && !place.path("out/a.png").exists());
}

#[test]
fn both_are_for_pictures_that_the_cpu_decodes() {
    let place = Place::new();
    place.rgb("a.jpg", (8, 8), 1);
    std::fs::write(place.path("a.mp4"), "no video").unwrap();
    for option in [["--jpeg-scale", "1/2"], ["--icc", "srgb"]] {
        let of_video = ["run", "-e", "flip", "a.mp4", "-o", "b.mp4"];
        let ran = place.mip(&[&of_video[..], &option].concat());
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains(option[0]) && ran.stderr.contains("is for pictures"), "{ran:?}");
        let on_gpu = ["run", "-e", "flip", "a.jpg", "--decode", "gpu"];
        let ran = place.mip(&[&on_gpu[..], &option].concat());
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains("--decode gpu is for pixels as they are stored"), "{ran:?}");
        let profiled = place.mip(&[&["profile", "-e", "flip", "a.mp4"][..], &option].concat());
        assert!(
            profiled.code == 2 && profiled.stderr.contains("is for images, not for a video"),
            "{profiled:?}"
        );
    }
    let ran = place.mip(&["run", "-e", "flip", "a.jpg", "--jpeg-scale", "1/3"]);
    assert!(ran.code == 2 && ran.stderr.contains("1/8"), "{ran:?}");
}
