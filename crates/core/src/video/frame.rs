use crate::{BatchLayout, ImageBuffer, ImageError};

use super::{Plane, VideoFormat};

/// One frame of video: its planes, each with strides of its own, owned or borrowed.
#[derive(Debug, Clone, PartialEq)]
pub struct VideoFrame {
    format: VideoFormat,
    planes: Vec<ImageBuffer>,
}

impl VideoFormat {
    /// Whether images are the planes of a frame, in the order of [`VideoFormat::planes`], wherever they lie.
    ///
    /// # Errors
    /// [`ImageError::Planes`] when they are not, and when the size is impossible.
    pub fn check_planes(&self, width: u32, height: u32, planes: &[BatchLayout]) -> Result<(), ImageError> {
        let expected = self.planes(width, height)?;
        let fits = |(plane, given): (&Plane, &BatchLayout)| plane.desc == given.desc && given.batch_size == 1;
        if planes.len() == expected.len() && expected.iter().zip(planes).all(fits) {
            return Ok(());
        }
        let list = |descs: Vec<String>| descs.join(", ");
        Err(ImageError::Planes {
            frame: format!("{width}x{height} {self}"),
            given: list(planes.iter().map(|plane| plane.desc.to_string()).collect()),
            expected: list(expected.iter().map(|plane| plane.desc.to_string()).collect()),
        })
    }
}

impl VideoFrame {
    /// A frame of planes that lie anywhere, in the order of [`VideoFormat::planes`].
    ///
    /// # Errors
    /// [`ImageError::Planes`] when they are not the planes of such a frame.
    pub fn new(
        format: VideoFormat,
        width: u32,
        height: u32,
        planes: Vec<ImageBuffer>,
    ) -> Result<Self, ImageError> {
        let layouts: Vec<BatchLayout> = planes.iter().map(|image| *image.layout()).collect();
        format.check_planes(width, height, &layouts)?;
        Ok(Self { format, planes })
    }

    /// A frame whose planes lie behind each other without padding in the memory of `whole`, which is shared: a frame that
    /// was read in one piece.
    ///
    /// # Errors
    /// When that memory is too small, or the size impossible.
    pub fn in_one_piece(
        format: VideoFormat,
        width: u32,
        height: u32,
        whole: &ImageBuffer,
    ) -> Result<Self, ImageError> {
        let mut offset = 0;
        let mut part = |plane: Plane| {
            let image = whole.part(BatchLayout::tight(plane.desc, 1)?, offset)?;
            offset += plane.desc.bytes();
            Ok(image)
        };
        let planes = format.planes(width, height)?.into_iter().map(&mut part);
        Ok(Self { format, planes: planes.collect::<Result<_, ImageError>>()? })
    }

    /// How its samples are arranged.
    pub const fn format(&self) -> &VideoFormat {
        &self.format
    }

    /// Its planes, in the order of [`VideoFormat::planes`].
    pub fn planes(&self) -> &[ImageBuffer] {
        &self.planes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, ImageDesc, PixelFormat};

    #[test]
    fn planes_of_one_piece_follow_each_other() {
        let nv12: VideoFormat = "nv12".parse().unwrap();
        let bytes: Vec<u8> = (0..27).collect();
        let desc = ImageDesc::new(27, 1, PixelFormat::Gray, DType::U8).unwrap();
        let whole = ImageBuffer::from_bytes(desc, &bytes).unwrap();
        let frame = VideoFrame::in_one_piece(nv12, 5, 3, &whole).unwrap();
        let [luma, chroma] = frame.planes() else { panic!("two planes") };
        assert_eq!((luma.to_bytes(), chroma.to_bytes()), (bytes[..15].to_vec(), bytes[15..].to_vec()));
        assert!(VideoFrame::in_one_piece(nv12, 5, 4, &whole).is_err());
        let again = VideoFrame::new(nv12, 5, 3, vec![luma.clone(), chroma.clone()]).unwrap();
        assert_eq!(again, frame);
        let error = VideoFrame::new(nv12, 5, 3, vec![luma.clone()]).unwrap_err().to_string();
        assert!(error.contains("5x3 nv12") && error.contains("6x2 gray u8"), "{error}");
    }
}
