use std::path::Path;

use mip_core::text::quoted_path;
use mip_io::y4m::Y4mHeader;
use mip_io::yuv::Sampling;

use crate::failure::Failure;

/// A kind of file that video is written into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    Mp4,
    Mov,
    Matroska,
    WebM,
    Ts,
}

impl Container {
    const ALL: [(Self, &'static [&'static str]); 5] = [
        (Self::Mp4, &["mp4", "m4v"]),
        (Self::Mov, &["mov"]),
        (Self::Matroska, &["mkv"]),
        (Self::WebM, &["webm"]),
        (Self::Ts, &["ts", "mts", "m2ts"]),
    ];

    /// The container that a name asks for.
    pub(crate) fn from_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_string_lossy().to_ascii_lowercase();
        Self::ALL.iter().find(|(_, names)| names.contains(&&*extension)).map(|(container, _)| *container)
    }

    /// The names that are known, for a sentence.
    pub(crate) fn names() -> String {
        let names = Self::ALL.iter().flat_map(|(_, names)| *names);
        names.map(|name| format!(".{name}")).collect::<Vec<_>>().join(", ")
    }

    /// What ffmpeg calls it.
    pub(super) const fn muxer(self) -> &'static str {
        match self {
            Self::Mp4 => "mp4",
            Self::Mov => "mov",
            Self::Matroska => "matroska",
            Self::WebM => "webm",
            Self::Ts => "mpegts",
        }
    }

    /// The encoder for frames, with its settings. `crf` is its constant quality, lower is better.
    ///
    /// # Errors
    /// Frames that it does not take.
    pub(super) fn encoder(
        self,
        frames: &Y4mHeader,
        crf: Option<u8>,
        path: &Path,
    ) -> Result<Vec<String>, Failure> {
        let words = |text: String| Ok(text.split(' ').map(str::to_owned).collect());
        let refuse = |text: String| Err(Failure::Request(format!("{}: {text}", quoted_path(path))));
        let Y4mHeader { bits, width, height, sampling, .. } = *frames;
        match self {
            Self::WebM if matches!(bits, 8 | 10 | 12) => {
                words(format!("-c:v libvpx-vp9 -b:v 0 -row-mt 1 -crf {}", crf.unwrap_or(24)))
            }
            _ if self != Self::WebM && matches!(bits, 8 | 10) => {
                // Chroma has half the width, or the height: x264 takes no half samples.
                let (across, down) = sampling.subsampling().unwrap_or((1, 1));
                if width % across != 0 || height % down != 0 {
                    return refuse(format!(
                        "H.264 holds {sampling} of even sizes only, and results have {width}x{height}; add a crop or resize to \
                         even sizes at the end, or write .webm",
                        sampling = name(sampling)
                    ));
                }
                words(format!("-c:v libx264 -crf {}", crf.unwrap_or(18)))
            }
            Self::Matroska if crf.is_some() => {
                refuse(format!("{bits} bits are written without loss (FFV1); leave --crf out"))
            }
            Self::Matroska => words("-c:v ffv1 -level 3".to_owned()),
            _ => refuse(format!("results have {bits} bits, which its encoder does not hold; write .mkv")),
        }
    }
}

const fn name(sampling: Sampling) -> &'static str {
    sampling.chroma().name()
}

#[test]
fn names_tell_the_container_and_odd_sizes_are_refused_where_they_do_not_fit() {
    let path = Path::new("a/B.M4V");
    assert_eq!(Container::from_path(path), Some(Container::Mp4));
    assert_eq!(Container::from_path(Path::new("mp4")), None);
    let odd = Y4mHeader::new(5, 4, Sampling::C420, None);
    let encoder = |container: Container, frames: &Y4mHeader, crf| container.encoder(frames, crf, path);
    let error = encoder(Container::Mp4, &odd, None).unwrap_err();
    assert!(error.message().unwrap().contains("even sizes"), "{error:?}");
    assert!(encoder(Container::WebM, &odd, Some(30)).unwrap().contains(&"30".to_owned()));
    let deep = Y4mHeader { bits: 12, ..odd };
    assert!(encoder(Container::Mp4, &deep, None).is_err());
    assert!(encoder(Container::Matroska, &deep, None).unwrap().contains(&"ffv1".to_owned()));
}
