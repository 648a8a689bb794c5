//! The images of a call: all in the host's memory, or all on a GPU.

use mini_image_pipe::ImageBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::array::{Given, Meaning, given};
use crate::errors::Failed;
use crate::gpu::OnGpu;
use crate::image::Kind;

/// Images with the inputs' names; those without are for the first inputs, in order.
pub(crate) enum Inputs<'py> {
    /// With how the first one came.
    Host(Kind, Vec<(Option<String>, ImageBuffer)>),
    Gpu(Vec<(Option<String>, OnGpu<'py>)>),
}

/// Images for one input.
pub(crate) enum Batch<'py> {
    /// With how the first one came.
    Host(Kind, Vec<ImageBuffer>),
    /// `stacked`: one tensor with an axis of images in front.
    Gpu { tensors: Vec<OnGpu<'py>>, stacked: bool },
}

/// Images as they come in, apart by where they are.
#[derive(Default)]
struct Apart<'py> {
    kind: Option<Kind>,
    host: Vec<(Option<String>, ImageBuffer)>,
    gpu: Vec<(Option<String>, OnGpu<'py>)>,
}

impl<'py> Apart<'py> {
    fn take(&mut self, name: Option<String>, object: &Bound<'py, PyAny>, meaning: Meaning) -> PyResult<()> {
        if self.kind.is_none() {
            self.kind = Some(Kind::of(object)?);
        }
        match given(object, meaning)? {
            Given::Host(image) => self.host.push((name, image)),
            Given::Gpu(tensor) => self.gpu.push((name, tensor)),
        }
        if self.host.is_empty() || self.gpu.is_empty() {
            return Ok(());
        }
        let text = "the images of one run lie together: some of these lie on a GPU and some on the CPU; tensor.cuda() or tensor.cpu() \
                    copies them";
        Err(Failed::usage(text).into())
    }
}

impl<'py> Inputs<'py> {
    pub(crate) fn read(
        images: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
        meaning: Meaning,
    ) -> PyResult<Self> {
        let mut apart = Apart::default();
        for image in images {
            apart.take(None, &image, meaning)?;
        }
        for (name, image) in named.into_iter().flatten() {
            apart.take(Some(name.extract()?), &image, meaning)?;
        }
        Ok(match apart {
            Apart { gpu, host, .. } if host.is_empty() && !gpu.is_empty() => Self::Gpu(gpu),
            Apart { host, kind, .. } => Self::Host(kind.unwrap_or(Kind::Array), host),
        })
    }

    pub(crate) fn read_batch(images: &Bound<'py, PyAny>, meaning: Meaning) -> PyResult<Batch<'py>> {
        // A tensor by itself: its images are those along its first axis, and it is not to be taken apart into tensors.
        if OnGpu::ours(images).is_none()
            && let Some(tensor) = OnGpu::tensor(images, meaning)?
        {
            return Ok(Batch::Gpu { tensors: vec![tensor], stacked: true });
        }
        let mut apart = Apart::default();
        for image in images.try_iter()? {
            apart.take(None, &image?, meaning)?;
        }
        Ok(match apart {
            Apart { gpu, host, .. } if host.is_empty() && !gpu.is_empty() => {
                let tensors = gpu.into_iter().map(|(_, tensor)| tensor).collect();
                Batch::Gpu { tensors, stacked: false }
            }
            Apart { host, kind, .. } => {
                let frames = host.into_iter().map(|(_, image)| image).collect();
                Batch::Host(kind.unwrap_or(Kind::Array), frames)
            }
        })
    }
}
