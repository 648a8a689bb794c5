use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use bytemuck::allocation::try_zeroed_vec;
use bytemuck::{Pod, Zeroable};

use crate::faults::{self, Fault};
use crate::{BatchLayout, ImageDesc, ImageError, ImageView, ImageViewMut, Reservation};

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Heap bytes that start on a 64-byte boundary, so that they can be read as any dtype.
#[derive(Clone)]
pub struct AlignedBytes {
    lines: Vec<Line>,
    len: usize,
}

impl AlignedBytes {
    /// `len` zero bytes.
    ///
    /// # Panics
    /// When there is no memory: see [`AlignedBytes::try_zeroed`].
    pub fn zeroed(len: usize) -> Self {
        Self::try_zeroed(len, "a buffer").unwrap_or_else(|error| panic!("{error}"))
    }

    /// `len` zero bytes; `what` they are for stands in the error.
    ///
    /// # Errors
    /// [`ImageError::OutOfMemory`].
    pub fn try_zeroed(len: usize, what: impl fmt::Display) -> Result<Self, ImageError> {
        let none = |()| ImageError::OutOfMemory { bytes: len, what: what.to_string() };
        if faults::strikes(Fault::Alloc) {
            return Err(none(()));
        }
        Ok(Self { lines: try_zeroed_vec(len.div_ceil(64)).map_err(none)?, len })
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

    /// Where the bytes begin, as an address that may be written through once nothing here reads them any more; `None` where
    /// they may only be read.
    fn start_mut(&self) -> Option<NonNull<u8>> {
        None
    }
}

#[derive(Debug, Clone)]
enum Storage {
    Owned(Arc<Owned>),
    Shared(Arc<dyn HostStorage>),
}

/// Memory, and what it counts as in a budget; given back in this order.
#[derive(Debug)]
struct Owned {
    bytes: AlignedBytes,
    _reservation: Option<Reservation>,
}

impl Owned {
    /// Zeroes for a layout.
    fn zeroed(layout: &BatchLayout, reservation: Option<Reservation>) -> Result<Self, ImageError> {
        let what = match layout.batch_size {
            1 => format!("an image of {}", layout.desc),
            several => format!("{several} images of {}", layout.desc),
        };
        Ok(Self { bytes: AlignedBytes::try_zeroed(layout.span(), what)?, _reservation: reservation })
    }
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
    /// When the description is invalid, or there is no memory.
    pub fn new(desc: ImageDesc) -> Result<Self, ImageError> {
        Self::with_layout(BatchLayout::tight(desc, 1)?)
    }

    /// Zeroed images with the given strides.
    ///
    /// # Errors
    /// When the layout is inconsistent, or there is no memory.
    pub fn with_layout(layout: BatchLayout) -> Result<Self, ImageError> {
        Self::make(layout, None)
    }

    /// As [`ImageBuffer::with_layout`]; the pixels count in a budget until the last clone is dropped.
    ///
    /// # Errors
    /// As [`ImageBuffer::with_layout`].
    pub fn reserved(layout: BatchLayout, reservation: Reservation) -> Result<Self, ImageError> {
        Self::make(layout, Some(reservation))
    }

    fn make(layout: BatchLayout, reservation: Option<Reservation>) -> Result<Self, ImageError> {
        layout.check()?;
        let storage = Storage::Owned(Arc::new(Owned::zeroed(&layout, reservation)?));
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
        Ok(Self { layout, offset: 0, storage: Storage::Owned(Arc::new(Owned { bytes, _reservation: None })) })
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
            Storage::Owned(owned) => owned.bytes.as_slice(),
            Storage::Shared(storage) => storage.bytes(),
        };
        let data = &bytes[self.offset..self.offset + self.layout.span()];
        ImageView::new(self.layout, data).expect("checked when the buffer was made")
    }

    /// Whether nobody else holds these pixels, so that writing copies nothing.
    pub fn is_unique(&mut self) -> bool {
        match &mut self.storage {
            Storage::Owned(owned) => Arc::get_mut(owned).is_some(),
            Storage::Shared(_) => false,
        }
    }

    /// Where the first sample lies, for foreign code (another language) that is to read and write the pixels as long as
    /// this buffer or a clone of it lives; nothing here may read them while they are written there. Frames of one batch
    /// have parts of the same memory, each its own. `None` for memory that is only lent, and for pixels on the heap
    /// that another buffer shares.
    pub fn start_mut(&mut self) -> Option<NonNull<u8>> {
        let start = match &mut self.storage {
            Storage::Owned(owned) => NonNull::new(Arc::get_mut(owned)?.bytes.as_mut_slice().as_mut_ptr())?,
            Storage::Shared(storage) => storage.start_mut()?,
        };
        NonNull::new(start.as_ptr().wrapping_add(self.offset))
    }

    /// The pixels, writable. Copies first if they are shared with another buffer or borrowed from outside.
    ///
    /// # Panics
    /// When there is no memory for the copy: see [`ImageBuffer::try_view_mut`].
    pub fn view_mut(&mut self) -> ImageViewMut<'_> {
        self.try_view_mut().unwrap_or_else(|error| panic!("{error}"))
    }

    /// As [`ImageBuffer::view_mut`], for pixels that others may hold.
    ///
    /// # Errors
    /// [`ImageError::OutOfMemory`] when there is no memory for a copy.
    pub fn try_view_mut(&mut self) -> Result<ImageViewMut<'_>, ImageError> {
        if !self.is_unique() {
            let mut copy = Owned::zeroed(&self.layout, None)?;
            copy.bytes.as_mut_slice().copy_from_slice(self.view().data());
            self.storage = Storage::Owned(Arc::new(copy));
            self.offset = 0;
        }
        let Storage::Owned(owned) = &mut self.storage else { unreachable!("made owned above") };
        let owned = Arc::get_mut(owned).expect("made unique above");
        let data = &mut owned.bytes.as_mut_slice()[self.offset..self.offset + self.layout.span()];
        Ok(ImageViewMut::new(self.layout, data).expect("checked when the buffer was made"))
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

    /// Other images inside this one's memory, from `offset` bytes behind its first sample on, sharing it: the planes of a
    /// frame that was read in one piece.
    ///
    /// # Errors
    /// When the layout is inconsistent or does not fit into this image's memory.
    pub fn part(&self, layout: BatchLayout, offset: usize) -> Result<Self, ImageError> {
        ImageView::new(layout, self.view().data().get(offset..).unwrap_or_default())?;
        Ok(Self { layout, offset: self.offset + offset, storage: self.storage.clone() })
    }

    /// All pixels without padding: frames, then planes, then rows.
    ///
    /// # Panics
    /// When there is no memory: see [`ImageBuffer::try_to_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        self.try_to_bytes().unwrap_or_else(|error| panic!("{error}"))
    }

    /// As [`ImageBuffer::to_bytes`], for images of any size.
    ///
    /// # Errors
    /// [`ImageError::OutOfMemory`].
    pub fn try_to_bytes(&self) -> Result<Vec<u8>, ImageError> {
        let view = self.view();
        let desc = self.layout.desc;
        let size = desc.bytes() * self.layout.batch_size;
        let mut bytes = Vec::new();
        let none = |_| ImageError::OutOfMemory { bytes: size, what: format!("a packed copy of {desc}") };
        faults::try_reserve_exact(&mut bytes, size).map_err(none)?;
        for frame in 0..self.layout.batch_size {
            for plane in 0..desc.planes() {
                for y in 0..desc.height() as usize {
                    bytes.extend_from_slice(view.row(frame, plane, y));
                }
            }
        }
        Ok(bytes)
    }
}

impl PartialEq for ImageBuffer {
    /// Same shape and same pixel bytes; padding does not count.
    fn eq(&self, other: &Self) -> bool {
        self.desc() == other.desc() && self.batch_size() == other.batch_size() && {
            let (a, b) = (self.view(), other.view());
            (0..self.batch_size()).all(|f| {
                (0..self.desc().planes())
                    .all(|p| (0..self.desc().height() as usize).all(|y| a.row(f, p, y) == b.row(f, p, y)))
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
    fn only_pixels_that_nobody_else_holds_have_an_address_to_write_to() {
        let mut a = ImageBuffer::with_layout(BatchLayout::tight(desc(), 2).unwrap()).unwrap();
        assert_eq!(a.start_mut().unwrap().as_ptr().cast_const(), a.view().data().as_ptr());
        let mut second = a.frame(1);
        assert!(a.start_mut().is_none() && second.start_mut().is_none());
        drop(a);
        assert_eq!(second.start_mut().unwrap().as_ptr().cast_const(), second.view().data().as_ptr());
        let camera = Arc::new(Camera(vec![0; 18]));
        let layout = BatchLayout::tight(desc(), 1).unwrap();
        assert!(ImageBuffer::from_storage(layout, camera, 0).unwrap().start_mut().is_none());
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
    fn memory_that_cannot_be_had_is_an_error_that_names_the_image() {
        // More than any address space holds.
        let huge = ImageDesc::new(1 << 30, 1 << 30, PixelFormat::Rgb, DType::U8).unwrap();
        let text = ImageBuffer::new(huge).unwrap_err().to_string();
        assert!(text.contains("3.00 EiB for an image of 1073741824x1073741824 rgb u8"), "{text}");
        let error = AlignedBytes::try_zeroed(isize::MAX as usize - 64, "a test").unwrap_err();
        assert!(error.to_string().contains("for a test cannot be had"), "{error}");
    }

    #[test]
    fn pixels_count_in_the_budget_until_the_last_clone_is_gone() {
        let budget = Arc::new(crate::MemoryBudget::new(1000));
        let layout = BatchLayout::tight(desc(), 1).unwrap();
        let mut image = ImageBuffer::reserved(layout, budget.reserve(18).unwrap()).unwrap();
        let mut clone = image.clone();
        assert!(!image.is_unique());
        clone.view_mut().data_mut()[0] = 1;
        assert!(image.is_unique() && clone.is_unique());
        drop(clone);
        assert_eq!(budget.held(), 18);
        drop(image);
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn parts_share_memory_and_stay_inside_it() {
        let bytes: Vec<u8> = (0..18).collect();
        let whole = ImageBuffer::from_bytes(desc(), &bytes).unwrap();
        let gray = |width| {
            let desc = ImageDesc::new(width, 2, PixelFormat::Gray, DType::U8).unwrap();
            BatchLayout::tight(desc, 1).unwrap()
        };
        let part = whole.part(gray(3), 12).unwrap();
        assert_eq!(part.to_bytes(), [12, 13, 14, 15, 16, 17]);
        assert_eq!(part.part(gray(1), 4).unwrap().to_bytes(), [16, 17]);
        assert!(part.part(gray(1), 5).is_err() && whole.part(gray(3), 13).is_err());
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
