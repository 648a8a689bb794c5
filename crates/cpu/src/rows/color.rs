use std::marker::PhantomData;

use mip_core::ImageDesc;
use mip_plan::ChannelMap;

use super::point::strided;
use super::row::{Row, RowMut};
use super::{Job, RowKernel};
use crate::simd::Pixel;

/// [`mip_plan::Known::Channels`] between any formats and layouts.
#[derive(Debug)]
pub(crate) struct Color<T> {
    input: ImageDesc,
    output: ImageDesc,
    channels: Vec<ChannelMap>,
    sample: PhantomData<T>,
}

impl<T: Pixel> Color<T> {
    pub(crate) fn new(input: ImageDesc, output: ImageDesc, channels: Vec<ChannelMap>) -> Self {
        Self { input, output, channels, sample: PhantomData }
    }

    fn samples<'a>(&self, row: &Row<'a>, channel: usize) -> impl Iterator<Item = &'a T> + use<'a, T> {
        let (plane, first, step) = strided(&self.input, channel);
        row.plane::<T>(plane)[first..].iter().step_by(step)
    }
}

impl<T: Pixel> RowKernel for Color<T> {
    fn compute(&self, job: &Job<'_>, _: &mut [u8], out: &mut RowMut<'_>) {
        let row = job.own(0);
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
