use super::header::{Part, Tiles, Window};
use crate::Reader;

fn attribute(name: &str, kind: &str, value: &[u8]) -> Vec<u8> {
    [name.as_bytes(), b"\0", kind.as_bytes(), b"\0", &(value.len() as u32).to_le_bytes(), value].concat()
}

fn window(name: &str, corners: [i32; 4]) -> Vec<u8> {
    attribute(name, "box2i", &corners.map(i32::to_le_bytes).concat())
}

/// A channel of 16 bits.
fn channel(name: &str) -> Vec<u8> {
    [name.as_bytes(), &[0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]].concat()
}

/// What a header needs but for its windows, with a method of compression.
fn usual(compression: u8) -> Vec<u8> {
    let channels = [channel("B"), channel("G"), channel("R"), vec![0]].concat();
    let numbers = [
        ("pixelAspectRatio", "float", &1_f32.to_le_bytes()[..]),
        ("screenWindowCenter", "v2f", &[0; 8]),
        ("screenWindowWidth", "float", &1_f32.to_le_bytes()),
        ("lineOrder", "lineOrder", &[0]),
        ("channels", "chlist", &channels),
        ("compression", "compression", &[compression]),
    ];
    numbers.map(|(name, kind, value)| attribute(name, kind, value)).concat()
}

/// A file with a header of such attributes and one block.
fn file(attributes: &[Vec<u8>], block: &[u8]) -> Vec<u8> {
    let header = [&b"\x76\x2F\x31\x01\x02\0\0\0"[..], &attributes.concat(), &[0]].concat();
    let start = header.len() as u64 + 8;
    [&header[..], &start.to_le_bytes(), &0_i32.to_le_bytes(), &(block.len() as u32).to_le_bytes(), block]
        .concat()
}

fn read(file: &[u8]) -> String {
    match Reader::default().read_bytes(file, "x.exr") {
        Ok(image) => image.desc().to_string(),
        Err(error) => error.to_string(),
    }
}

/// A file of one row whose windows are the same.
fn row(width: i32, compression: u8, block: &[u8]) -> Vec<u8> {
    let windows = ["dataWindow", "displayWindow"].map(|name| window(name, [0, 0, width - 1, 0]));
    file(&[windows.concat(), usual(compression)], block)
}

#[test]
fn headers_that_are_not_understood_are_refused() {
    let [data, shown] = ["dataWindow", "displayWindow"].map(|name| window(name, [0, 0, 1, 0]));
    let good = file(&[data.clone(), shown.clone(), usual(0)], &[0; 12]);
    assert!(read(&good).starts_with("2x1"), "{}", read(&good));
    for length in 8..good.len() {
        assert!(read(&good[..length]).contains("it stops"), "{length}: {}", read(&good[..length]));
    }
    let header = |attributes: &[Vec<u8>]| read(&file(attributes, &[0; 12]));
    let backwards = window("dataWindow", [52_173_828, 0, 2_836_809, 6]);
    let text = header(&[backwards, shown.clone(), usual(0)]);
    assert!(text.contains("a window from (52173828, 0) to (2836809, 6)"), "{text}");
    let endless = window("displayWindow", [i32::MIN, 0, i32::MAX, 0]);
    assert!(header(&[data.clone(), endless, usual(0)]).contains("a window from"));
    assert!(header(&[data.clone(), usual(0)]).contains("lacks displayWindow"));
    assert!(header(&[shown.clone(), usual(0)]).contains("lacks dataWindow"));
    let twice = [data.clone(), shown.clone(), data.clone(), usual(0)];
    assert!(header(&twice).contains("dataWindow is of a wrong type or there twice"));
    let other = attribute("dataWindow", "box2f", &[0; 16]);
    assert!(header(&[other, shown.clone(), usual(0)]).contains("dataWindow is of a wrong type"));
    let nameless = attribute("a", "", &[]);
    assert!(header(&[nameless, data.clone(), shown.clone(), usual(0)]).contains("is empty"));
    let tiles = attribute("tiles", "tiledesc", &[0; 9]);
    assert!(header(&[tiles, data, shown, usual(0)]).contains("tiles of 0x0"));
}

#[test]
fn blocks_hold_what_they_claim() {
    assert!(read(&row(2, 0, &[0; 12])).starts_with("2x1"));
    let mut cut = row(2, 0, &[0; 12]);
    cut.pop();
    assert!(read(&cut).contains("it stops"));
    assert!(read(&row(40_000, 3, &[0; 100])).contains("100 bytes cannot hold 40000x1 of its pixels"));
    let mut below = row(2, 0, &[0; 12]);
    let at = below.len() - 20;
    below[at] = 1;
    assert!(read(&below).contains("outside of its data window"));
}

#[test]
fn blocks_of_cosines_claim_no_more_than_their_pixels_have() {
    for number in [1, 6, 7, 8, 9] {
        let mut block = [0; 90];
        block[8 * number + 4] = 1;
        let text = read(&row(2, 8, &block));
        assert!(text.contains("a block claims 4294967296 of at most"), "{number}: {text}");
    }
    // Such a block may also hold its pixels as they are.
    assert!(read(&row(15, 8, &[0xFF; 90])).starts_with("15x1"));
}

#[test]
fn blocks_of_all_levels_are_counted() {
    let chunks = |levels, up| {
        let window = || Window { top: 0, width: 5, height: 3 };
        let tiles = Some(Tiles { width: 2, height: 2, levels, up });
        Part { shown: window(), data: window(), tiles, compression: 0, channels: vec![2; 3] }.chunks()
    };
    // 5x3, 2x1 and 1x1; rounded up, 5x3, 3x2, 2x1 and 1x1.
    assert_eq!((chunks(0, false), chunks(1, false), chunks(1, true)), (6, 6 + 1 + 1, 6 + 2 + 1 + 1));
    assert_eq!((chunks(2, false), chunks(2, true)), ((3 + 1 + 1) * (2 + 1), (3 + 2 + 1 + 1) * (2 + 1 + 1)));
}
