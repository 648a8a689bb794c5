//! Writes what the fuzzer starts from: `fuzz/seeds` but for the pipelines in one line, which are written by hand, and
//! the dictionaries. Run it when an operator or a parameter is new: `cargo run -p mip-fuzzing --example seeds`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use mip_graph::PipelineSpec;
use mip_ops::{ParamKind, operators};
use mip_testkit::images::SplitMix64;

fn main() -> std::io::Result<()> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    pipelines(&fuzz)?;
    dictionary(&fuzz)?;
    let seeds = Seeds(fuzz.join("seeds"));
    pngs(&seeds)?;
    jpegs(&seeds)?;
    pictures(&seeds)?;
    videos(&seeds)?;
    graphs(&seeds)
}

struct Seeds(PathBuf);

impl Seeds {
    fn write(&self, target: &str, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        let folder = self.0.join(target);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(name), bytes)
    }
}

fn noise(len: usize) -> Vec<u8> {
    let mut random = SplitMix64::new(len as u64);
    (0..len).map(|_| random.below(256) as u8).collect()
}

/// Every one-line pipeline that is one, as a file.
fn pipelines(fuzz: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(fuzz.join("seeds/pipeline_line"))? {
        let path = entry?.path();
        if let Ok(spec) = PipelineSpec::parse_line(&std::fs::read_to_string(&path)?) {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            std::fs::write(fuzz.join(format!("seeds/pipeline_toml/{name}.toml")), spec.to_toml())?;
        }
    }
    Ok(())
}

/// Operators, parameters and words for both forms.
fn dictionary(fuzz: &Path) -> std::io::Result<()> {
    let mut words: Vec<String> =
        ["name", "op", "inputs", "outputs", "[[task]]", "@input", "\\\"", "true", "false"]
            .map(str::to_owned)
            .to_vec();
    words.extend(
        ["!", " ! ", "=", " = ", ",", "[", "]", "1e30", "-1", "0.5", "\\x0a", "'''", "#"].map(str::to_owned),
    );
    for spec in operators() {
        words.push(spec.name.to_owned());
        for param in spec.params {
            words.push(param.name.to_owned());
            if let ParamKind::Choice { words: allowed } = param.kind {
                words.extend(allowed.iter().map(|&word| word.to_owned()));
            }
        }
    }
    words.sort();
    words.dedup();
    let mut text = "# Written by `cargo run -p mip-fuzzing --example seeds`.\n".to_owned();
    for word in words {
        let _ = writeln!(text, "\"{word}\"");
    }
    std::fs::create_dir_all(fuzz.join("dictionaries"))?;
    for target in ["pipeline_toml", "pipeline_line"] {
        std::fs::write(fuzz.join(format!("dictionaries/{target}.dict")), &text)?;
    }
    Ok(())
}

fn chunk(kind: &[u8], body: &[u8]) -> Vec<u8> {
    let inside = [kind, body].concat();
    let sum = crc32fast::hash(&inside).to_be_bytes();
    [&(body.len() as u32).to_be_bytes()[..], &inside, &sum].concat()
}

/// Deflate without compression: one stored block in a zlib frame (RFC 1950, RFC 1951).
fn stored(data: &[u8]) -> Vec<u8> {
    let length = data.len() as u16;
    let (a, b) = data.iter().fold((1_u32, 0_u32), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % 65521;
        (a, (b + a) % 65521)
    });
    let head = [&[0x78, 0x01, 0x01][..], &length.to_le_bytes(), &(!length).to_le_bytes()].concat();
    [head, data.to_vec(), (b << 16 | a).to_be_bytes().to_vec()].concat()
}

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// A PNG file of noise. `color` and `bits` as in its header chunk; rows take the five filters in turn.
fn png(size: (u32, u32), color: u8, bits: u8, interlaced: bool, chunks: &[Vec<u8>]) -> Vec<u8> {
    let channels = [1, 0, 3, 1, 2, 0, 4][usize::from(color)];
    let mut data = Vec::new();
    // Start and step of columns and rows of the seven passes (PNG specification, 8.2).
    let passes: &[[u32; 4]] = if interlaced {
        &[[0, 8, 0, 8], [4, 8, 0, 8], [0, 4, 4, 8], [2, 4, 0, 4], [0, 2, 2, 4], [1, 2, 0, 2], [0, 1, 1, 2]]
    } else {
        &[[0, 1, 0, 1]]
    };
    for &[x, dx, y, dy] in passes {
        let (columns, rows) = (size.0.saturating_sub(x).div_ceil(dx), size.1.saturating_sub(y).div_ceil(dy));
        let bytes = (columns * channels * u32::from(bits)).div_ceil(8) as usize;
        for row in (0..rows).filter(|_| columns > 0) {
            data.push((row % 5) as u8);
            let mut samples = noise(bytes + row as usize).split_off(row as usize);
            if color == 3 {
                // Indices into a palette of two.
                for byte in &mut samples {
                    *byte &= if bits == 8 { 1 } else { 0x11 };
                }
            }
            data.extend(samples);
        }
    }
    let header =
        [&size.0.to_be_bytes()[..], &size.1.to_be_bytes(), &[bits, color, 0, 0, interlaced.into()]].concat();
    let mut file = [SIGNATURE, &chunk(b"IHDR", &header)].concat();
    file.extend(chunks.concat());
    file.extend(chunk(b"IDAT", &stored(&data)));
    file.extend(chunk(b"IEND", &[]));
    file
}

fn pngs(seeds: &Seeds) -> std::io::Result<()> {
    let palette = chunk(b"PLTE", &[10, 20, 30, 200, 100, 50]);
    let kinds = [
        (0, "gray", &[1, 2, 4, 8, 16][..]),
        (2, "rgb", &[8, 16]),
        (4, "gray_alpha", &[8, 16]),
        (6, "rgba", &[8, 16]),
    ];
    for (color, name, depths) in kinds {
        for &bits in depths {
            seeds.write("png", &format!("{name}{bits}.png"), &png((7, 5), color, bits, false, &[]))?;
        }
        seeds.write("png", &format!("{name}_interlaced.png"), &png((9, 9), color, 8, true, &[]))?;
    }
    for bits in [1, 2, 4, 8] {
        let file = png((7, 5), 3, bits, false, std::slice::from_ref(&palette));
        seeds.write("png", &format!("palette{bits}.png"), &file)?;
    }
    let clear = |body: &[u8]| chunk(b"tRNS", body);
    seeds.write("png", "palette_clear.png", &png((7, 5), 3, 4, false, &[palette.clone(), clear(&[0])]))?;
    seeds.write(
        "png",
        "palette_short.png",
        &png((7, 5), 3, 4, false, &[chunk(b"PLTE", &[10, 20, 30, 200])]),
    )?;
    seeds.write("png", "gray_clear.png", &png((7, 5), 0, 4, false, &[clear(&[0, 3])]))?;
    seeds.write("png", "rgb_clear.png", &png((3, 3), 2, 16, false, &[clear(&[0, 1, 0, 2, 0, 3])]))?;
    let extras = [
        chunk(b"gAMA", &45455_u32.to_be_bytes()),
        chunk(b"pHYs", &[0, 0, 0x0B, 0x13, 0, 0, 0x0B, 0x13, 1]),
        chunk(b"sRGB", &[0]),
        chunk(b"eXIf", b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"),
        chunk(b"tEXt", b"Comment\0a text"),
        chunk(b"zTXt", &[b"Comment\0\0", &stored(b"a text")[..]].concat()),
        chunk(b"iCCP", &[b"profile\0\0", &stored(b"no profile")[..]].concat()),
    ];
    for extra in &extras {
        let name = String::from_utf8_lossy(&extra[4..8]).to_lowercase();
        seeds.write(
            "png",
            &format!("with_{name}.png"),
            &png((3, 2), 2, 8, false, std::slice::from_ref(extra)),
        )?;
    }
    let frames = [
        chunk(b"acTL", &[0, 0, 0, 1, 0, 0, 0, 0]),
        chunk(b"fcTL", &[[0; 3].as_slice(), &[0, 0, 0, 0, 3, 0, 0, 0, 2], &[0; 14]].concat()),
    ];
    seeds.write("png", "animated.png", &png((3, 2), 2, 8, false, &frames))?;
    seeds.write("png", "one_pixel.png", &png((1, 1), 0, 8, true, &[]))
}

fn jpegs(seeds: &Seeds) -> std::io::Result<()> {
    let samplings = [
        ("444", SamplingFactor::F_1_1),
        ("422", SamplingFactor::F_2_1),
        ("440", SamplingFactor::F_1_2),
        ("420", SamplingFactor::F_2_2),
        ("411", SamplingFactor::F_4_1),
        ("410", SamplingFactor::F_4_2),
    ];
    for (name, sampling) in samplings {
        for (kind, progressive, restart) in
            [("", false, 0), ("_progressive", true, 0), ("_restarts", false, 1)]
        {
            let file = jpeg(ColorType::Rgb, |encoder| {
                encoder.set_sampling_factor(sampling);
                encoder.set_progressive(progressive);
                encoder.set_restart_interval(restart);
            });
            seeds.write("jpeg", &format!("{name}{kind}.jpg"), &file)?;
        }
    }
    seeds.write("jpeg", "gray.jpg", &jpeg(ColorType::Luma, |_| ()))?;
    seeds.write("jpeg", "cmyk.jpg", &jpeg(ColorType::Cmyk, |_| ()))?;
    seeds.write("jpeg", "ycck.jpg", &jpeg(ColorType::CmykAsYcck, |_| ()))?;
    seeds.write(
        "jpeg",
        "optimised.jpg",
        &jpeg(ColorType::Rgb, |encoder| encoder.set_optimized_huffman_tables(true)),
    )?;
    let exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    let turned =
        jpeg(ColorType::Luma, |encoder| encoder.add_app_segment(1, exif.to_vec()).expect("a short segment"));
    seeds.write("jpeg", "turned.jpg", &turned)
}

/// A JPEG file of 17x10 pixels: several units along both axes, with a rest.
fn jpeg(color: ColorType, set: impl FnOnce(&mut Encoder<&mut Vec<u8>>)) -> Vec<u8> {
    let channels = match color {
        ColorType::Luma => 1,
        ColorType::Rgb => 3,
        _ => 4,
    };
    let pixels: Vec<u8> = (0..17 * 10 * channels).map(|i| (i * 7 % 256) as u8).collect();
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, 50);
    set(&mut encoder);
    encoder.encode(&pixels, 17, 10, color).expect("a small image");
    file
}

/// Files by other programs in all other formats, as the tests of `mip-io` have them; the small ones, of which a fuzzer
/// tries more.
fn pictures(seeds: &Seeds) -> std::io::Result<()> {
    for (folder, target) in [("pictures", "picture"), ("avif", "avif"), ("jxl", "jxl")] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../io/tests").join(folder);
        for line in std::fs::read_to_string(folder.join("cases.txt"))?.lines() {
            let name = line.split(' ').next().unwrap_or_default();
            let bytes = std::fs::read(folder.join(name))?;
            if bytes.len() <= 1500 {
                seeds.write(target, name, &bytes)?;
            }
        }
    }
    Ok(())
}

fn videos(seeds: &Seeds) -> std::io::Result<()> {
    let kinds = [
        ("C420jpeg", 5 * 3 + 2 * 3 * 2),
        ("C420mpeg2 XYSCSS=420MPEG2", 5 * 3 + 2 * 3 * 2),
        ("C420paldv F25:1", 5 * 3 + 2 * 3 * 2),
        ("C420 Ip A1:1", 5 * 3 + 2 * 3 * 2),
        ("C422 F30000:1001 XCOLORRANGE=LIMITED", 5 * 3 + 2 * 3 * 3),
        ("C444 XCOLORRANGE=FULL", 3 * 5 * 3),
        ("Cmono", 5 * 3),
        ("I? XYSCSS=411", 5 * 3 + 2 * 2 * 3),
        ("It C420jpeg", 5 * 3 + 2 * 3 * 2),
        ("C420p10 XYSCSS=420P10", 2 * (5 * 3 + 2 * 3 * 2)),
        ("C444alpha", 4 * 5 * 3),
    ];
    for (index, (rest, bytes)) in kinds.into_iter().enumerate() {
        let head = format!("YUV4MPEG2 W5 H3 {rest}\n");
        let frames = [b"FRAME\n", &noise(bytes)[..], b"FRAME Ip\n", &noise(bytes)].concat();
        let word = rest.split([' ', '=']).next().unwrap_or_default().trim_matches('?');
        seeds.write("y4m", &format!("{index:02}_{word}.y4m"), &[head.as_bytes(), &frames].concat())?;
    }
    seeds.write("y4m", "huge.y4m", b"YUV4MPEG2 W20000 H20000 C444\nFRAME\n")?;
    seeds.write("y4m", "empty_stream.y4m", b"YUV4MPEG2 W2 H2\n")?;
    seeds.write("y4m", "cut.y4m", b"YUV4MPEG2 W2 H2 Cmono\nFRAME\n\x10\x80\xEB")
}

/// Bytes that the target reads as graphs: any are one.
fn graphs(seeds: &Seeds) -> std::io::Result<()> {
    (1..=40_usize).try_for_each(|index| seeds.write("run", &format!("{index:02}"), &noise(20 + 9 * index)))
}
