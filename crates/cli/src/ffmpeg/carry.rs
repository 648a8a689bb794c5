//! What of a file beside its video goes on into another one.

use super::Container;
use super::probe::{Other, Probe};

/// Streams that go on, and what gets lost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Carried {
    /// Numbers of streams, and how each is written.
    pub(super) streams: Vec<(u32, &'static str)>,
    pub(super) lost: Vec<String>,
}

impl Carried {
    /// Decides for every stream but the video. `own_audio` says that the user chose how audio is written.
    pub(super) fn of(probe: &Probe, container: Container, own_audio: bool) -> Self {
        let mut carried = Self::default();
        for other in &probe.others {
            let Other { index, kind, codec } = other;
            let written = match kind.as_str() {
                "audio" if own_audio => Some("copy"),
                "audio" => container.takes_audio(codec).then_some("copy"),
                "subtitle" => container.subtitles(codec),
                "attachment" if container == Container::Matroska => Some("copy"),
                _ => None,
            };
            match written {
                Some(written) => carried.streams.push((*index, written)),
                None => carried.lost.push(other.to_string()),
            }
        }
        carried.lost.extend(probe.video.lost.iter().cloned());
        carried
    }
}

impl Container {
    /// Whether audio can be copied into it.
    fn takes_audio(self, codec: &str) -> bool {
        match self {
            Self::Mp4 => {
                matches!(
                    codec,
                    "aac" | "mp3" | "mp2" | "ac3" | "eac3" | "alac" | "opus" | "flac" | "dts" | "vorbis"
                )
            }
            Self::Mov => {
                matches!(codec, "aac" | "mp3" | "ac3" | "eac3" | "alac") || codec.starts_with("pcm_")
            }
            Self::Matroska => codec != "unknown",
            Self::WebM => matches!(codec, "opus" | "vorbis"),
            Self::Ts => matches!(codec, "aac" | "mp3" | "mp2" | "ac3" | "eac3" | "opus" | "dts" | "truehd"),
        }
    }

    /// How subtitles are written into it: copied, or, where they are text, as its own kind of text.
    fn subtitles(self, codec: &str) -> Option<&'static str> {
        let text = matches!(codec, "subrip" | "ass" | "ssa" | "webvtt" | "mov_text" | "text");
        let pictures = matches!(codec, "dvd_subtitle" | "hdmv_pgs_subtitle" | "dvb_subtitle");
        match self {
            Self::Mp4 | Self::Mov if codec == "mov_text" => Some("copy"),
            Self::Mp4 | Self::Mov => text.then_some("mov_text"),
            Self::Matroska if codec == "mov_text" => Some("srt"),
            Self::Matroska => (text || pictures).then_some("copy"),
            Self::WebM if codec == "webvtt" => Some("copy"),
            Self::WebM => text.then_some("webvtt"),
            Self::Ts => matches!(codec, "dvb_subtitle" | "dvb_teletext").then_some("copy"),
        }
    }
}
