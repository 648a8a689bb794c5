use crate::{BatchLayout, ImageError, Sample};

fn check(layout: &BatchLayout, given: usize) -> Result<(), ImageError> {
    layout.check()?;
    let needed = layout.span();
    if given < needed {
        let (desc, batch) = (layout.desc, layout.batch_size);
        return Err(ImageError::ShortData { given, needed, desc, batch });
    }
    Ok(())
}

/// Borrowed pixels of a batch of images.
#[derive(Debug, Clone, Copy)]
pub struct ImageView<'a> {
    layout: BatchLayout,
    data: &'a [u8],
}

impl<'a> ImageView<'a> {
    /// Binds a layout to memory.
    ///
    /// # Errors
    /// When the layout is inconsistent or the memory too short.
    pub fn new(layout: BatchLayout, data: &'a [u8]) -> Result<Self, ImageError> {
        check(&layout, data.len())?;
        Ok(Self { layout, data })
    }

    /// Strides and shape.
    pub const fn layout(&self) -> &BatchLayout {
        &self.layout
    }

    /// All bytes, padding included.
    pub const fn data(&self) -> &'a [u8] {
        self.data
    }

    /// Bytes of one row of one plane, without padding.
    #[inline]
    pub fn row(&self, frame: usize, plane: usize, y: usize) -> &'a [u8] {
        &self.data[self.layout.row_range(frame, plane, y)]
    }

    /// One row of one plane as samples.
    ///
    /// # Panics
    /// When `T` is not the image's dtype or the memory is not aligned for it. Buffers of this project
    /// are aligned to 64 bytes.
    #[inline]
    pub fn row_as<T: Sample>(&self, frame: usize, plane: usize, y: usize) -> &'a [T] {
        assert_eq!(T::DTYPE, self.layout.desc.dtype(), "row_as with the wrong dtype");
        bytemuck::cast_slice(self.row(frame, plane, y))
    }

    /// The sample at a pixel and channel, widened to f64: for tests and reference code.
    pub fn sample(&self, frame: usize, x: usize, y: usize, channel: usize) -> f64 {
        let desc = self.layout.desc;
        let (plane, index) = match desc.layout() {
            crate::Layout::Hwc => (0, x * desc.channels() + channel),
            crate::Layout::Chw => (channel, x),
        };
        let size = desc.dtype().size();
        let bytes = &self.row(frame, plane, y)[index * size..][..size];
        match desc.dtype() {
            crate::DType::U8 => f64::from(bytes[0]),
            crate::DType::U16 => f64::from(bytemuck::pod_read_unaligned::<u16>(bytes)),
            crate::DType::I16 => f64::from(bytemuck::pod_read_unaligned::<i16>(bytes)),
            crate::DType::I32 => f64::from(bytemuck::pod_read_unaligned::<i32>(bytes)),
            crate::DType::F16 => f64::from(bytemuck::pod_read_unaligned::<half::f16>(bytes)),
            crate::DType::F32 => f64::from(bytemuck::pod_read_unaligned::<f32>(bytes)),
        }
    }
}

/// Mutably borrowed pixels of a batch of images.
#[derive(Debug)]
pub struct ImageViewMut<'a> {
    layout: BatchLayout,
    data: &'a mut [u8],
}

impl<'a> ImageViewMut<'a> {
    /// Binds a layout to memory.
    ///
    /// # Errors
    /// When the layout is inconsistent or the memory too short.
    pub fn new(layout: BatchLayout, data: &'a mut [u8]) -> Result<Self, ImageError> {
        check(&layout, data.len())?;
        Ok(Self { layout, data })
    }

    /// Strides and shape.
    pub const fn layout(&self) -> &BatchLayout {
        &self.layout
    }

    /// The same pixels, read-only.
    pub const fn as_view(&self) -> ImageView<'_> {
        ImageView { layout: self.layout, data: self.data }
    }

    /// All bytes, padding included.
    pub const fn data_mut(&mut self) -> &mut [u8] {
        self.data
    }

    /// Gives the memory back with its original lifetime, to be split among threads.
    pub fn into_data(self) -> &'a mut [u8] {
        self.data
    }

    /// Bytes of one row of one plane, without padding.
    #[inline]
    pub fn row_mut(&mut self, frame: usize, plane: usize, y: usize) -> &mut [u8] {
        &mut self.data[self.layout.row_range(frame, plane, y)]
    }

    /// One row of one plane as samples.
    ///
    /// # Panics
    /// As for [`ImageView::row_as`].
    #[inline]
    pub fn row_as_mut<T: Sample>(&mut self, frame: usize, plane: usize, y: usize) -> &mut [T] {
        assert_eq!(T::DTYPE, self.layout.desc.dtype(), "row_as_mut with the wrong dtype");
        bytemuck::cast_slice_mut(self.row_mut(frame, plane, y))
    }
}
