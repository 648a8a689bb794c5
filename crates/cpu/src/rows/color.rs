use std::marker::PhantomData;

use mip_core::ImageDesc;
#[cfg(target_arch = "x86_64")]
use mip_core::{DType, Layout};
use mip_plan::ChannelMap;

use super::point::strided;
use super::row::{Row, RowMut};
use super::{Job, RowKernel};
use crate::simd::Pixel;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Level, Shuffle};

/// [`mip_plan::Known::Channels`] between any formats and layouts.
#[derive(Debug)]
pub(crate) struct Color<T> {
    input: ImageDesc,
    output: ImageDesc,
    channels: Vec<ChannelMap>,
    /// Of interleaved bytes that are only moved.
    #[cfg(target_arch = "x86_64")]
    shuffle: Option<Shuffle>,
    sample: PhantomData<T>,
}

impl<T: Pixel> Color<T> {
    pub(crate) fn new(input: ImageDesc, output: ImageDesc, channels: Vec<ChannelMap>) -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            shuffle: shuffle(&input, &output, &channels),
            input,
            output,
            channels,
            sample: PhantomData,
        }
    }

    fn samples<'a>(&self, row: &Row<'a>, channel: usize) -> impl Iterator<Item = &'a T> + use<'a, T> {
        let (plane, first, step) = strided(&self.input, channel);
        row.plane::<T>(plane)[first..].iter().step_by(step)
    }
}

#[cfg(target_arch = "x86_64")]
fn shuffle(input: &ImageDesc, output: &ImageDesc, channels: &[ChannelMap]) -> Option<Shuffle> {
    let moves = |channel: &ChannelMap| match *channel {
        ChannelMap::Input(from) => Some(Some(from)),
        ChannelMap::Opaque => Some(None),
        ChannelMap::Luma(_) => None,
    };
    let interleaved = |desc: &ImageDesc| desc.layout() == Layout::Hwc || desc.channels() == 1;
    let bytes = (input.dtype(), output.dtype()) == (DType::U8, DType::U8);
    if !bytes || !interleaved(input) || !interleaved(output) {
        return None;
    }
    Some(Shuffle::new(input.channels(), &channels.iter().map(moves).collect::<Option<Vec<_>>>()?))
}

impl<T: Pixel> RowKernel for Color<T> {
    fn compute(&self, job: &Job<'_>, _: &mut [u8], out: &mut RowMut<'_>) {
        let row = job.own(0);
        #[cfg(target_arch = "x86_64")]
        if let Level::Avx2(v3) = job.level
            && let Some(shuffle) = &self.shuffle
        {
            let (src, channels) = (row.plane::<u8>(0), (self.input.channels(), self.output.channels()));
            let out = out.plane::<u8>(0);
            let done = shuffle.run(v3, src, out);
            let src = src[done * channels.0..].chunks_exact(channels.0);
            for (out, src) in out[done * channels.1..].chunks_exact_mut(channels.1).zip(src) {
                for (out, channel) in out.iter_mut().zip(&self.channels) {
                    *out = if let ChannelMap::Input(from) = *channel { src[from] } else { u8::MAX };
                }
            }
            return;
        }
        for (c, &channel) in self.channels.iter().enumerate() {
            let (plane, first, step) = strided(&self.output, c);
            let out = out.plane::<T>(plane)[first..].iter_mut().step_by(step);
            job.level.vectorize(
                #[inline(always)]
                || match channel {
                    ChannelMap::Input(from) => out.zip(self.samples(&row, from)).for_each(|(o, s)| *o = *s),
                    ChannelMap::Opaque => {
                        out.for_each(|o| *o = T::from_f32(T::DTYPE.full_scale() as f32));
                    }
                    ChannelMap::Luma([r, g, b]) => {
                        let (r, g) = (self.samples(&row, r), self.samples(&row, g));
                        for (((o, r), g), b) in out.zip(r).zip(g).zip(self.samples(&row, b)) {
                            *o = T::luma(*r, *g, *b);
                        }
                    }
                },
            );
        }
    }
}
