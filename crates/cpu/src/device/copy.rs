use mip_core::{ImageBuffer, ImageView, ImageViewMut};
use mip_runtime::device::{BufferMemory, BufferRef, DeviceError};

use super::memory::{host, write};

/// Copies the caller's pixels to a block.
pub(super) fn upload(from: &ImageBuffer, to: &BufferRef) -> Result<(), DeviceError> {
    rows(from.view(), to)
}

/// Copies pixels from a block to another.
pub(super) fn download(from: &BufferRef, to: &BufferRef) -> Result<(), DeviceError> {
    match &from.memory {
        BufferMemory::Host(image) => rows(image.view(), to),
        BufferMemory::Block(memory) => {
            let bytes = host(&**memory)?.read(from.offset..from.offset + from.layout.span())?;
            let view =
                ImageView::new(from.layout, &bytes).map_err(|e| DeviceError::Conflict(e.to_string()))?;
            rows(view, to)
        }
    }
}

fn rows(from: ImageView<'_>, to: &BufferRef) -> Result<(), DeviceError> {
    let (source, target) = (from.layout(), &to.layout);
    if (source.desc, source.batch_size) != (target.desc, target.batch_size) {
        return Err(DeviceError::Conflict(format!(
            "a copy of {} {} to {} {}",
            source.batch_size, source.desc, target.batch_size, target.desc
        )));
    }
    let mut bytes = write(to)?;
    let mut view =
        ImageViewMut::new(*target, &mut bytes).map_err(|e| DeviceError::Conflict(e.to_string()))?;
    if source.is_tight() && target.is_tight() {
        view.data_mut().copy_from_slice(&from.data()[..source.span()]);
        return Ok(());
    }
    for frame in 0..source.batch_size {
        for plane in 0..source.desc.planes() {
            for y in 0..source.desc.height() as usize {
                view.row_mut(frame, plane, y).copy_from_slice(from.row(frame, plane, y));
            }
        }
    }
    Ok(())
}
