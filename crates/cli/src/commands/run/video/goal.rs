use mip_core::text::quoted_path;
use mip_io::FileFormat;

use super::Args;
use crate::failure::Failure;
use crate::ffmpeg::Container;
use crate::video::Numbered;

/// How samples are written that nothing encodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RawVideo {
    Y4m,
    Yuv,
}

impl RawVideo {
    const ALL: [(Self, &'static str); 2] = [(Self::Y4m, "y4m"), (Self::Yuv, "yuv")];

    fn from_extension(extension: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, name)| extension.eq_ignore_ascii_case(name)).map(|(kind, _)| *kind)
    }
}

/// Where frames of a video go.
pub(super) enum Goal {
    Video(Container),
    /// Samples as they are: with headers (Y4M), or nothing else.
    Raw(RawVideo),
    Pictures(Numbered, FileFormat),
}

impl Goal {
    /// Where the frames go, and what of the options does not fit that.
    pub(super) fn of(args: &Args) -> Result<Self, Failure> {
        let refuse = |text: String| Err(Failure::Request(text));
        let Some(out) = args.out.as_deref() else {
            return refuse(
            "the input is a video: name a video file with -o (out.mp4), pictures (frames/%05d.png) or a folder for them".into(),
        );
        };
        let name = quoted_path(out);
        if mip_io::is_direct(out) {
            return refuse(format!(
                "-o {name}: a video file cannot be written into a pipe or device; name a file, or use `mip stream`"
            ));
        }
        let numbered = Numbered::parse(out);
        let extension = out.extension().map(|extension| extension.to_string_lossy().into_owned());
        let pictures = if let Some(numbered) = numbered {
            Some((numbered, FileFormat::from_path(out)?))
        } else if out.is_dir() || out.to_string_lossy().ends_with('/') || extension.is_none() {
            let (format, extension) = args
                .format
                .as_ref()
                .map_or((FileFormat::Png, "png"), |asked| (asked.format, asked.extension()));
            Some((Numbered::within(out, extension), format))
        } else {
            None
        };
        let Some((names, format)) = pictures else {
            let extension = extension.unwrap_or_default();
            if FileFormat::from_extension(&extension).is_some() {
                return refuse(format!(
                    "-o {name} names one picture for all frames; number them: NAME-%05d.png"
                ));
            }
            let raw = RawVideo::from_extension(&extension);
            let container = Container::from_path(out);
            if let (Some(_), Some(option)) = (raw, args.video.given_for_writing()) {
                return refuse(format!(
                    "{option} is for an encoder, and {name} holds samples as they are; leave it out"
                ));
            }
            let unfit = args.writing.given().or_else(|| args.format.is_some().then_some("--format"));
            return match unfit {
                Some("--quality") => {
                    refuse("--quality is for pictures; the quality of a video is --crf".into())
                }
                Some(option) => {
                    refuse(format!("{option} is for pictures, but a video is written; leave it out"))
                }
                None => match (container, raw) {
                    (Some(container), _) => Ok(Self::Video(container)),
                    (None, Some(raw)) => Ok(Self::Raw(raw)),
                    (None, None) => refuse(format!(
                        "-o {name}: video is written as {}, or as it is, .y4m or .yuv",
                        Container::names()
                    )),
                },
            };
        };
        match (&args.format, args.video.given_for_writing()) {
            (Some(asked), _) if asked.format != format => refuse(format!(
                "-o {name} names {format} files, but --format asks for {}; leave one of them out",
                asked.format
            )),
            (_, Some(option)) => {
                refuse(format!("{option} is for a video that is written; results are pictures"))
            }
            _ => Ok(Self::Pictures(names, format)),
        }
    }
}
