use mip_core::ImageView;
use mip_plan::Uniforms;

use super::program::{Cache, Rows};
use crate::rows::{Input, MAX_INPUTS, Origin, RowStage};
use crate::simd::Level;

/// What all workers of a launch share.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    pub(super) program: &'a Rows,
    pub(super) level: Level,
    pub(super) inputs: &'a [ImageView<'a>],
    pub(super) uniforms: &'a [Uniforms],
}

impl<'a> Shared<'a> {
    /// Where the rows of a stage's inputs are; those of inputs that there are not do not matter.
    #[inline]
    pub(super) fn origins<'m>(
        &self,
        step: &RowStage,
        before: &'m [u8],
        frame: usize,
    ) -> [Origin<'m>; MAX_INPUTS]
    where
        'a: 'm,
    {
        let mut origins = [self.origin(step.inputs[0], before, frame); MAX_INPUTS];
        for (origin, &input) in origins.iter_mut().zip(&step.inputs).skip(1) {
            *origin = self.origin(input, before, frame);
        }
        origins
    }

    /// Where the rows of an input are; `before` is the memory of earlier stages.
    #[inline]
    pub(super) fn origin<'m>(&self, input: Input, before: &'m [u8], frame: usize) -> Origin<'m>
    where
        'a: 'm,
    {
        match input {
            Input::Buffer(buffer) => {
                let (layout, data) = (self.inputs[buffer].layout(), self.inputs[buffer].data());
                Origin {
                    data,
                    start: frame * layout.batch_stride,
                    advance: layout.row_stride,
                    stride: layout.plane_stride,
                    bytes: layout.desc.row_bytes(),
                }
            }
            Input::Stage(stage) => {
                let Cache { shape, offset, .. } = self.program.caches[stage];
                let (stride, bytes) = (shape.stride, shape.bytes);
                Origin { data: before, start: offset, advance: shape.slot(), stride, bytes }
            }
        }
    }
}
