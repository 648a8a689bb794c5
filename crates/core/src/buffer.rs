use std::fmt;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};

use crate::{BatchLayout, ImageDesc, ImageError, ImageView, ImageViewMut};

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Heap bytes that start on a 64-byte boundary, so that they can be read as any sample type.
#[derive(Clone)]
pub struct AlignedBytes {
    lines: Vec<Line>,
    len: usize,
}

impl AlignedBytes {
    /// `len` zero bytes.
    pub fn zeroed(len: usize) -> Self {
        Self { lines: vec![Line([0; 64]); len.div_ceil(64)], len }
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }

    /// The bytes, writable.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len]
    }
}

impl fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AlignedBytes({} bytes)", self.len)
    }
}

/// Host memory owned by somebody else (a pool, a camera, another library) that stays readable and unchanged
/// while this object lives.
pub trait HostStorage: Send + Sync + fmt::Debug {
    /// The bytes. Must return the same memory every time.
    fn bytes(&self) -> &[u8];
}

#[derive(Debug, Clone)]
enum Storage {
    Owned(Arc<AlignedBytes>),
    Shared(Arc<dyn HostStorage>),
}

/// A batch of images of one shape in host memory. Cloning is cheap: pixels are shared until one clone is
/// written to.
///
/// For batch execution `batch_size` and `batch_stride` of [`ImageBuffer::layout`] are the truth.
#[derive(Debug, Clone)]
pub struct ImageBuffer {
    layout: BatchLayout,
    offset: usize,
    storage: Storage,
}

impl ImageBuffer {
    /// One zeroed image without padding.
    ///
    /// # Errors
    /// When the description is invalid.
    pub fn new(desc: ImageDesc) -> Result<Self, ImageError> {
        Self::with_layout(BatchLayout::tight(desc, 1)?)
    }

    /// Zeroed images with the given strides.
    ///
    /// # Errors
    /// When the layout is inconsistent.
    pub fn with_layout(layout: BatchLayout) -> Result<Self, ImageError> {
        layout.check()?;
        let storage = Storage::Owned(Arc::new(AlignedBytes::zeroed(layout.span())));
        Ok(Self { layout, offset: 0, storage })
    }

    /// One image from tightly packed bytes (native endian samples).
    ///
    /// # Errors
    /// When the description is invalid or `bytes` has not exactly its size.
    pub fn from_bytes(desc: ImageDesc, bytes: &[u8]) -> Result<Self, ImageError> {
        let mut image = Self::new(desc)?;
        if bytes.len() != desc.bytes() {
            return Err(ImageError::ShortData { given: bytes.len(), needed: desc.bytes(), desc, batch: 1 });
        }
        image.view_mut().data_mut().copy_from_slice(bytes);
        Ok(image)
    }

    /// Takes over aligned bytes without copying.
    ///
    /// # Errors
    /// When the layout is inconsistent or the memory too short.
    pub fn from_aligned(layout: BatchLayout, bytes: AlignedBytes) -> Result<Self, ImageError> {
        ImageView::new(layout, bytes.as_slice())?;
        Ok(Self { layout, offset: 0, storage: Storage::Owned(Arc::new(bytes)) })
    }

    /// Images inside memory owned by somebody else, starting `offset` bytes in; nothing is copied.
    ///
    /// # Errors
    /// When the layout is inconsistent or does not fit behind `offset`.
    pub fn from_storage(
        layout: BatchLayout,
        storage: Arc<dyn HostStorage>,
        offset: usize,
    ) -> Result<Self, ImageError> {
        ImageView::new(layout, storage.bytes().get(offset..).unwrap_or_default())?;
        Ok(Self { layout, offset, storage: Storage::Shared(storage) })
    }

    /// Shape of each image.
    pub const fn desc(&self) -> &ImageDesc {
        &self.layout.desc
    }

    /// Strides and shape.
    pub const fn layout(&self) -> &BatchLayout {
        &self.layout
    }

    /// Number of images.
    pub const fn batch_size(&self) -> usize {
        self.layout.batch_size
    }

    /// Bytes from an image to the next.
    pub const fn batch_stride(&self) -> usize {
        self.layout.batch_stride
    }

    /// Bytes from a row to the next.
    pub const fn row_stride(&self) -> usize {
        self.layout.row_stride
    }

    /// The pixels.
    pub fn view(&self) -> ImageView<'_> {
        let bytes = match &self.storage {
            Storage::Owned(bytes) => bytes.as_slice(),
            Storage::Shared(storage) => storage.bytes(),
        };
        let data = &bytes[self.offset..self.offset + self.layout.span()];
        ImageView::new(self.layout, data).expect("checked when the buffer was made")
    }

    /// The pixels, writable. Copies first if they are shared with another buffer or borrowed from outside.
    pub fn view_mut(&mut self) -> ImageViewMut<'_> {
        let unique = match &mut self.storage {
            Storage::Owned(bytes) => Arc::get_mut(bytes).is_some(),
            Storage::Shared(_) => false,
        };
        if !unique {
            let view = self.view();
            let mut bytes = AlignedBytes::zeroed(view.data().len());
            bytes.as_mut_slice().copy_from_slice(view.data());
            self.storage = Storage::Owned(Arc::new(bytes));
            self.offset = 0;
        }
        let Storage::Owned(bytes) = &mut self.storage else { unreachable!("made owned above") };
        let bytes = Arc::get_mut(bytes).expect("made unique above");
        let data = &mut bytes.as_mut_slice()[self.offset..self.offset + self.layout.span()];
        ImageViewMut::new(self.layout, data).expect("checked when the buffer was made")
    }

    /// One frame of the batch, sharing the pixels.
    ///
    /// # Panics
    /// When `frame` is not below `batch_size`.
    #[must_use]
    pub fn frame(&self, frame: usize) -> Self {
        assert!(frame < self.layout.batch_size, "frame {frame} of a batch of {}", self.layout.batch_size);
        let offset = self.offset + frame * self.layout.batch_stride;
        Self { layout: self.layout.single(), offset, storage: self.storage.clone() }
    }

    /// All pixels without padding: frames, then planes, then rows.
    pub fn to_bytes(&self) -> Vec<u8> {
        let view = self.view();
        let desc = self.layout.desc;
        let mut bytes = Vec::with_capacity(desc.bytes() * self.layout.batch_size);
        for frame in 0..self.layout.batch_size {
            for plane in 0..desc.planes() {
                for y in 0..desc.height as usize {
                    bytes.extend_from_slice(view.row(frame, plane, y));
                }
            }
        }
        bytes
    }
}

impl PartialEq for ImageBuffer {
    /// Same shape and same pixel bytes; padding does not count.
    fn eq(&self, other: &Self) -> bool {
        self.desc() == other.desc() && self.batch_size() == other.batch_size() && {
            let (a, b) = (self.view(), other.view());
            (0..self.batch_size()).all(|f| {
                (0..self.desc().planes())
                    .all(|p| (0..self.desc().height as usize).all(|y| a.row(f, p, y) == b.row(f, p, y)))
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, PixelFormat};

    fn desc() -> ImageDesc {
        ImageDesc::new(3, 2, PixelFormat::Rgb, DType::U8).unwrap()
    }

    #[test]
    fn writing_to_a_clone_leaves_the_original_alone() {
        let a = ImageBuffer::from_bytes(desc(), &(0..18).collect::<Vec<u8>>()).unwrap();
        let mut b = a.clone();
        b.view_mut().row_mut(0, 0, 0)[0] = 99;
        assert_eq!(a.view().row(0, 0, 0)[0], 0);
        assert_ne!(a, b);
    }

    #[test]
    fn equality_ignores_padding() {
        let mut padded = ImageBuffer::with_layout(BatchLayout::pitched(desc(), 1, 64).unwrap()).unwrap();
        let tight = ImageBuffer::new(desc()).unwrap();
        padded.view_mut().data_mut()[20] = 7;
        assert_eq!(padded, tight);
    }

    #[derive(Debug)]
    struct Camera(Vec<u8>);
    impl HostStorage for Camera {
        fn bytes(&self) -> &[u8] {
            &self.0
        }
    }

    #[test]
    fn borrowed_memory_is_read_in_place_and_checked() {
        let camera = Arc::new(Camera((0..40).collect()));
        let layout = BatchLayout::tight(desc(), 2).unwrap();
        let image = ImageBuffer::from_storage(layout, camera.clone(), 4).unwrap();
        assert_eq!(image.frame(1).view().row(0, 0, 0)[0], 22);
        assert!(ImageBuffer::from_storage(layout, camera, 5).is_err());
    }

    #[test]
    fn a_frame_of_a_unique_batch_can_be_written_after_the_batch_is_gone() {
        let batch = ImageBuffer::with_layout(BatchLayout::tight(desc(), 2).unwrap()).unwrap();
        let mut second = batch.frame(1);
        drop(batch);
        second.view_mut().row_mut(0, 0, 1)[0] = 5;
        assert_eq!(second.to_bytes()[9], 5);
    }
}
