//! `--decode`: what is refused, and what `auto` takes.

use std::path::PathBuf;

use mini_image_pipe::{DeviceJpegDecoder, Pipeline};
use mip_io::{FileFormat, expand_inputs};
use mip_runtime::device::DeviceKind;

use super::Args;
use super::video::Job;
use crate::args::DecodeArg;
use crate::console;
use crate::failure::Failure;
use crate::work::DECODED_AT_ONCE;

/// Bytes of JPEG files for each thread of the host from which on a GPU is sooner done with them, its decoder's start included
/// (docs/performance/devices.md has the measurement).
const BYTES_A_THREAD: u64 = 24_000_000;

impl Args {
    /// Refuses inputs that are not decoded in the way that is asked for.
    pub(super) fn check_decode(&self, job: Option<&Job>) -> Result<(), Failure> {
        let is_video = job.is_some();
        if is_video && self.reading.pages().is_some() {
            let text = "--pages is for images; frames of a video are picked with --frames";
            return Err(Failure::Request(text.to_owned()));
        }
        let refuse = |text: &str| Err(Failure::Request(format!("--decode gpu {text}; leave it out")));
        if let Some(option) = self.reading.changes_pixels() {
            if matches!(job, Some(Job::OfVideo(_))) {
                let text = format!("{option} is for pictures, and this is a video; leave it out");
                return Err(Failure::Request(text));
            }
            if self.decode == DecodeArg::Gpu {
                return refuse(&format!("is for pixels as they are stored, and {option} for the CPU"));
            }
        }
        match self.decode {
            DecodeArg::Gpu if job == Some(&Job::OfPictures) => {
                refuse("does not make videos of pictures; they are decoded on the CPU")
            }
            DecodeArg::Gpu if is_video && self.video.deinterlace => {
                refuse("does not deinterlace, and --deinterlace is what ffmpeg does when it decodes")
            }
            DecodeArg::Gpu if self.reading.pages().is_some() => {
                refuse("is for JPEG files, which hold one picture, and --pages for files of several")
            }
            DecodeArg::Cpu | DecodeArg::Gpu | DecodeArg::Auto => Ok(()),
        }
    }

    /// Whether a GPU is to decode. With `auto` that depends on the machine and on the inputs, and on nothing that differs from one
    /// run to the next: pixels do.
    pub(super) fn decodes_on_gpu(&self, job: Option<&Job>, inputs: &[PathBuf]) -> bool {
        match self.decode {
            DecodeArg::Cpu => false,
            DecodeArg::Gpu => true,
            DecodeArg::Auto => {
                let as_stored = self.reading.changes_pixels().is_none() && self.reading.pages().is_none();
                let bytes = if job.is_none() && as_stored { jpeg_bytes(inputs) } else { 0 };
                if bytes == 0 || !self.execution.is_on_one_gpu() {
                    return false;
                }
                let threads = std::thread::available_parallelism().map_or(1, usize::from);
                let enough = threads as u64 * BYTES_A_THREAD;
                if bytes < enough {
                    let [bytes, enough] = [bytes, enough].map(|bytes| bytes.div_ceil(1_000_000));
                    console::note(format_args!(
                        "--decode auto: {bytes} MB of JPEG files are decoded by the CPU; the GPU is sooner done from {enough} MB on"
                    ));
                }
                bytes >= enough
            }
        }
    }

    /// Images that are run at once.
    pub(super) fn batch(&self, decodes_on_gpu: bool) -> usize {
        let unsaid = if decodes_on_gpu { DECODED_AT_ONCE } else { 1 };
        self.batch.map_or(unsaid, usize::from)
    }

    /// Refuses `--decode gpu` where the pipeline runs on no GPU.
    pub(super) fn check_gpu(&self, pipeline: &Pipeline) -> Result<(), Failure> {
        const REMEDY: &str = "choose a GPU (--device cuda), or decode on the CPU (--decode cpu)";
        if self.decode != DecodeArg::Gpu {
            return Ok(());
        }
        if let Some(note) = self.execution.device_note() {
            return Err(Failure::Running(format!("--decode gpu: {note}; {REMEDY}")));
        }
        let device = pipeline.config().device.info()?;
        if device.kind != DeviceKind::CUDA {
            let text = format!("--decode gpu needs a GPU, and the pipeline runs on {}", device.id());
            return Err(Failure::Request(format!("{text}; {REMEDY}")));
        }
        Ok(())
    }

    /// What decodes JPEG files on the GPU; `None` where `auto` takes the CPU for want of it.
    pub(super) fn decoder(
        &self,
        pipeline: &Pipeline,
        streams: bool,
    ) -> Result<Option<DeviceJpegDecoder>, Failure> {
        if !streams {
            let text = "--decode gpu is for the images after the pipeline, and there are none; leave it out";
            return Err(Failure::Request(text.to_owned()));
        }
        self.check_gpu(pipeline)?;
        match pipeline.jpeg_decoder() {
            Err(error) if self.decode == DecodeArg::Auto => {
                console::note(format_args!("--decode auto: {error}; the CPU decodes"));
                Ok(None)
            }
            decoder => decoder.map(Some).map_err(|error| Failure::from(error).about("--decode gpu")),
        }
    }
}

/// How large the JPEG files among the inputs are, by their names. What cannot be listed is refused later.
fn jpeg_bytes(inputs: &[PathBuf]) -> u64 {
    let files = expand_inputs(inputs).unwrap_or_default();
    let jpegs = files
        .iter()
        .filter(|file| FileFormat::from_path(file).is_ok_and(|format| format == FileFormat::Jpeg));
    jpegs.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
}
