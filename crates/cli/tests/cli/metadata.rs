//! What files say beside their pixels: carried over, or its loss is said once.

use std::borrow::Cow;

use crate::support::Place;

/// The least that counts as a profile.
fn profile(space: [u8; 4]) -> Vec<u8> {
    let mut icc: Vec<u8> = (0..300_u32).map(|i| (i * 7 % 251) as u8).collect();
    icc[..4].copy_from_slice(&300_u32.to_be_bytes());
    icc[16..20].copy_from_slice(&space);
    icc[36..40].copy_from_slice(b"acsp");
    icc
}

/// A PNG of 4x3 rgb with a profile, a density, and a text if asked for.
fn png_file(place: &Place, name: &str, text: bool) {
    let mut info = png::Info::with_size(4, 3);
    info.color_type = png::ColorType::Rgb;
    info.icc_profile = Some(Cow::Owned(profile(*b"RGB ")));
    info.pixel_dims = Some(png::PixelDimensions { xppu: 11811, yppu: 5906, unit: png::Unit::Meter });
    let mut file = Vec::new();
    let mut encoder = png::Encoder::with_info(&mut file, info).unwrap();
    if text {
        encoder.add_text_chunk("Author".into(), "somebody".into()).unwrap();
    }
    encoder.write_header().unwrap().write_image_data(&[100; 36]).unwrap();
    std::fs::create_dir_all(place.path(name).parent().unwrap()).unwrap();
    std::fs::write(place.path(name), file).unwrap();
}

/// Profile and density of a PNG file.
fn found(place: &Place, name: &str) -> (Option<Vec<u8>>, Option<(u32, u32)>) {
    let file = place.bytes(name);
    let reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    let info = reader.info();
    (info.icc_profile.as_ref().map(|icc| icc.to_vec()), info.pixel_dims.map(|d| (d.xppu, d.yppu)))
}

#[test]
fn profile_and_density_go_with_the_result() {
    let place = Place::new();
    png_file(&place, "a.png", false);
    let ran = place.ok(&["run", "-e", "flip", "a.png", "-o", "out"]);
    assert!(!ran.stderr.contains("not carried over"), "{ran:?}");
    assert_eq!(found(&place, "out/a.png"), (Some(profile(*b"RGB ")), Some((11811, 5906))));
    // Through JPEG and back: its density is in pixels an inch.
    place.ok(&["run", "-e", "flip", "a.png", "-o", "b.jpg"]);
    place.ok(&["run", "-e", "flip", "b.jpg", "-o", "c.png"]);
    assert_eq!(found(&place, "c.png"), found(&place, "out/a.png"));
}

#[test]
fn every_picture_keeps_its_own_in_batches_and_by_name() {
    let place = Place::new();
    place.rgb("in/0.png", (4, 3), 1);
    png_file(&place, "in/1.png", false);
    place.rgb("in/2.png", (4, 3), 2);
    place.ok(&["run", "-e", "flip", "in", "-o", "out", "--batch", "2"]);
    for name in ["out/0.png", "out/2.png"] {
        assert_eq!(found(&place, name), (None, None), "{name}");
    }
    assert!(found(&place, "out/1.png").0.is_some());
    place.ok(&["run", "-e", "flip", "--input", "input=in/1.png", "-o", "named.png"]);
    assert!(found(&place, "named.png").0.is_some());
}

#[test]
fn what_is_lost_is_said_once() {
    let place = Place::new();
    for i in 0..12 {
        png_file(&place, &format!("in/{i}.png"), i < 3);
    }
    let ran = place.ok(&["run", "-e", "color_convert to=gray", "in", "-o", "out", "--json"]);
    let line = "not carried over to the results: ICC profile (of 12 images), texts (of 3 images)";
    assert_eq!(ran.stderr.matches("not carried over").count(), 1, "{ran:?}");
    assert!(ran.stderr.contains(&format!("note: {line}\n")), "{ran:?}");
    assert_eq!(ran.json()["warnings"], serde_json::json!([line]));
    assert_eq!(found(&place, "out/0.png"), (None, Some((11811, 5906))), "a gray result of an rgb profile");
}

#[test]
fn a_profile_that_is_none_is_said_to_be_lost() {
    let place = Place::new();
    place.rgb("a.jpg", (8, 8), 1);
    let mut file = place.bytes("a.jpg");
    let segment = [&[0xFF, 0xE2, 0, 20][..], b"ICC_PROFILE\0\x01\x01none"].concat();
    file.splice(2..2, segment);
    let exif = b"\xFF\xE1\0\x22Exif\0\0II*\0\x08\0\0\0\x01\0\x0f\x01\x02\0\x02\0\0\0A\0\0\0\0\0\0\0";
    file.splice(2..2, exif.iter().copied());
    std::fs::write(place.path("a.jpg"), file).unwrap();
    let ran = place.ok(&["run", "-e", "flip", "a.jpg"]);
    assert!(ran.stderr.contains("EXIF (of 1 image), ICC profile (of 1 image)"), "{ran:?}");
}
