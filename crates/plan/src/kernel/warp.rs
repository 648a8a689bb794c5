use super::AxisMap;

/// A change of geometry whose source column depends on the output's row, or the reverse: quarter turns, transposition.
/// (Where each axis goes its own way it is a [`super::Gather`].)
///
/// It reads a whole image in memory: no part of it may be computed by a stage of the same group. Format, sample type and
/// memory order stay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Warp {
    /// Copies the pixel at column `x.map(output row)` and row `y.map(output column)`: exact, in integers. With
    /// `Offset { first: 0 }` for both it is the transposed image. No uniforms.
    Transposed {
        /// Source column of an output row.
        x: AxisMap,
        /// Source row of an output column.
        y: AxisMap,
    },
}

impl Warp {
    /// Whether both are the same but for where a crop begins.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Transposed { x, y }, Self::Transposed { x: other_x, y: other_y }) => {
                x.is_alike(*other_x) && y.is_alike(*other_y)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{AlignedBytes, BatchLayout, DType, ImageDesc, ImageView, ImageViewMut, PixelFormat};

    use super::*;
    use crate::{Access, Axis, Kernel, evaluate};

    fn gray(width: u32, height: u32) -> ImageDesc {
        ImageDesc::new(width, height, PixelFormat::Gray, DType::U8).unwrap()
    }

    fn transposed(x: AxisMap, y: AxisMap) -> Kernel {
        Kernel::Warp(Warp::Transposed { x, y })
    }

    #[test]
    fn a_transposed_image_has_columns_for_rows() {
        let rows = [1_u8, 2, 3, 4, 5, 6];
        let view = ImageView::new(BatchLayout::tight(gray(3, 2), 1).unwrap(), &rows).unwrap();
        let of = |kernel: Kernel| {
            let mut bytes = AlignedBytes::zeroed(6);
            let layout = BatchLayout::tight(gray(2, 3), 1).unwrap();
            kernel.check(0, &[gray(3, 2)], gray(2, 3)).unwrap();
            let mut output = ImageViewMut::new(layout, bytes.as_mut_slice()).unwrap();
            evaluate(&kernel, &[], &[view], &mut output).unwrap();
            bytes.as_slice().to_vec()
        };
        let same = AxisMap::Offset { first: 0 };
        assert_eq!(of(transposed(same, same)), [1, 4, 2, 5, 3, 6]);
        assert_eq!(of(transposed(same, AxisMap::Flip { last: 1 })), [4, 1, 5, 2, 6, 3], "clockwise");
        assert_eq!(of(transposed(AxisMap::Flip { last: 2 }, same)), [3, 6, 2, 5, 1, 4], "counter-clockwise");
    }

    #[test]
    fn it_reads_the_whole_image() {
        let same = AxisMap::Offset { first: 0 };
        let kernel = transposed(same, same);
        assert_eq!((kernel.access(), kernel.window()), (Access::Whole, None));
        assert_eq!(kernel.footprint(Axis::X, 5..6), 0..i64::from(u32::MAX));
        assert_eq!((kernel.uniform_count(&[gray(3, 2)]), kernel.taps(Axis::Y)), (Some(0), 1));
        let refusal = |output| kernel.check(0, &[gray(3, 2)], output).unwrap_err();
        assert_eq!(refusal(gray(2, 4)), "warp from 3x2 gray u8 to 2x4 gray u8: columns outside the source");
        assert!(refusal(gray(3, 3)).ends_with("rows outside the source"));
        assert!(refusal(gray(2, 3).with_dtype(DType::F32)).ends_with("the sample type must stay"));
    }

    #[test]
    fn turns_of_crops_of_any_place_are_alike() {
        let turn = |first, last| transposed(AxisMap::Offset { first }, AxisMap::Flip { last });
        assert!(turn(1, 9).is_alike(&turn(700, 9)));
        assert!(!turn(1, 9).is_alike(&turn(1, 8)));
    }
}
