use mip_core::video::{ChromaSampling, Packing, VideoFormat};

/// How frames are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pixels {
    /// What ffmpeg calls the format.
    pub(super) name: String,
    pub(crate) format: VideoFormat,
    /// What is not as in the file.
    pub(crate) warning: Option<String>,
    /// Whether samples are made of RGB: then we say which.
    pub(crate) from_rgb: bool,
}

impl Pixels {
    /// The format of a file as it is, or the nearest that has all its bits.
    pub(crate) fn nearest(file: &str) -> Self {
        if let Some(format) = native(file) {
            return Self { name: file.to_owned(), format, warning: None, from_rgb: false };
        }
        // The same samples, their bytes the other way round.
        if let Some(format) = file.strip_suffix("be").and_then(|stem| native(&format!("{stem}le"))) {
            return Self { name: file.replace("be", "le"), format, warning: None, from_rgb: false };
        }
        let (format, from_rgb) = substitute(file);
        let name = ffmpeg_name(&format);
        let lost = if has_alpha(file) { ", without its alpha" } else { "" };
        let warning = Some(format!("its frames are {file}, which are read as {name}{lost}"));
        Self { name, format, warning, from_rgb }
    }
}

impl Pixels {
    /// What an engine for video makes of frames that ffmpeg calls so; `None` where it makes nothing of them.
    pub(crate) fn on_gpu(file: &str) -> Option<Self> {
        let format = match file {
            "yuv420p" | "yuvj420p" => VideoFormat::NV12,
            "yuv420p10le" => "p010".parse().ok()?,
            "yuv420p12le" => "p012".parse().ok()?,
            _ => return None,
        };
        Some(Self { name: file.to_owned(), format, warning: None, from_rgb: false })
    }
}

/// What planar formats are called.
pub(super) fn ffmpeg_name(format: &VideoFormat) -> String {
    let sampling = match format.sampling {
        ChromaSampling::C400 => "gray",
        ChromaSampling::C420 => "yuv420p",
        ChromaSampling::C422 => "yuv422p",
        ChromaSampling::C444 => "yuv444p",
    };
    if format.bits == 8 { sampling.to_owned() } else { format!("{sampling}{}le", format.bits) }
}

/// Formats that are read as they are.
fn native(name: &str) -> Option<VideoFormat> {
    let known = match name {
        "nv12" | "nv21" | "nv16" | "nv24" => Some(name),
        "yuyv422" => Some("yuyv"),
        "uyvy422" => Some("uyvy"),
        "p010le" => Some("p010"),
        "p012le" => Some("p012"),
        "p016le" => Some("p016"),
        _ => None,
    };
    if let Some(known) = known {
        return known.parse().ok();
    }
    let planar = [
        ("yuv420p", ChromaSampling::C420),
        ("yuvj420p", ChromaSampling::C420),
        ("yuv422p", ChromaSampling::C422),
        ("yuvj422p", ChromaSampling::C422),
        ("yuv444p", ChromaSampling::C444),
        ("yuvj444p", ChromaSampling::C444),
        ("gray", ChromaSampling::C400),
    ];
    planar.into_iter().find_map(|(stem, sampling)| {
        let bits = match name.strip_prefix(stem)? {
            "" => 8,
            depth => {
                depth.strip_suffix("le")?.parse().ok().filter(|bits| matches!(bits, 9 | 10 | 12 | 14 | 16))?
            }
        };
        Some(VideoFormat::planar(sampling, bits))
    })
}

/// A format that holds what another one does, and whether that is RGB.
fn substitute(name: &str) -> (VideoFormat, bool) {
    let rgb = ["rgb", "bgr", "gbr", "argb", "abgr", "0rgb", "0bgr", "pal8", "x2"]
        .iter()
        .any(|kind| name.starts_with(kind));
    let depth = |digits: &str| digits.trim_end_matches("le").trim_end_matches("be").parse::<u32>().ok();
    // `yuva420p10le`, `gbrp12le`: the depth follows the last `p`.
    let bits = name.rsplit_once('p').and_then(|(_, digits)| depth(digits));
    let bits = match name {
        _ if name.starts_with("rgb48") || name.starts_with("bgr48") => 16,
        _ if name.starts_with("rgba64") || name.starts_with("bgra64") || name.starts_with("ya16") => 16,
        _ if name.starts_with("x2") || name.starts_with('y') && name.contains("210") => 10,
        "monow" | "monob" | "ya8" | "pal8" | "yuv410p" | "yuv411p" | "uyyvyy411" => 8,
        _ if rgb && bits.is_none() => 8,
        _ if name.starts_with("yuv") && name.ends_with('p') => 8,
        // Whatever it is, 16 bits hold it.
        _ => bits.filter(|bits| matches!(bits, 9 | 10 | 12 | 14 | 16)).unwrap_or(16),
    };
    let sampling = match name {
        _ if name.starts_with("mono") || name.starts_with("ya") || name.starts_with("gray") => {
            ChromaSampling::C400
        }
        _ if name.contains("420") || name.contains("410") => ChromaSampling::C420,
        _ if name.contains("422") || name.contains("411") || name.starts_with("y210") => ChromaSampling::C422,
        _ => ChromaSampling::C444,
    };
    let format = VideoFormat { packing: Packing::Planar, ..VideoFormat::planar(sampling, bits) };
    (format, rgb)
}

fn has_alpha(name: &str) -> bool {
    let kinds = ["yuva", "rgba", "bgra", "argb", "abgr", "gbrap", "ya8", "ya16", "pal8"];
    kinds.iter().any(|kind| name.starts_with(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_read_as_they_are_where_we_know_them() {
        for name in ["yuv420p", "yuvj422p", "gray", "gray10le", "yuv444p12le", "nv12", "p010le", "yuyv422"] {
            let pixels = Pixels::nearest(name);
            assert_eq!((pixels.name.as_str(), &pixels.warning), (name, &None));
        }
        assert_eq!(Pixels::nearest("yuv420p10be").name, "yuv420p10le");
        assert_eq!(Pixels::nearest("p016le").format.to_string(), "p016");
    }

    #[test]
    fn others_become_the_nearest_with_as_many_bits() {
        for (name, near, rgb) in [
            ("yuva420p10le", "yuv420p10le", false),
            ("yuva444p", "yuv444p", false),
            ("yuv411p", "yuv422p", false),
            ("yuv440p", "yuv444p", false),
            ("rgb24", "yuv444p", true),
            ("bgr0", "yuv444p", true),
            ("gbrp", "yuv444p", true),
            ("gbrap12le", "yuv444p12le", true),
            ("rgb48le", "yuv444p16le", true),
            ("pal8", "yuv444p", true),
            ("monob", "gray", false),
            ("ya16le", "gray16le", false),
            ("something", "yuv444p16le", false),
        ] {
            let pixels = Pixels::nearest(name);
            assert_eq!((pixels.name.as_str(), pixels.from_rgb), (near, rgb), "{name}");
            assert!(pixels.warning.unwrap().contains(name));
        }
    }
}
