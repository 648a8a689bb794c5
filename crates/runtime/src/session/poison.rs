use std::sync::Arc;

use mip_core::{BatchLayout, DType, ImageBuffer, ImageDesc, PixelFormat};

use crate::device::{BufferMemory, BufferRef, Command, DeviceError, Stream};
use crate::{Block, RuntimeError};

/// What poisoned memory is filled with: no zero, no full scale, a large finite f32.
const POISON: u8 = 0xA5;

/// Bytes overwritten by one copy.
const CHUNK: usize = 1 << 24;

/// Fills blocks with poison and waits until it is done.
pub(super) fn fill<'a>(
    streams: &[Arc<dyn Stream>],
    blocks: impl Iterator<Item = &'a Block>,
) -> Result<(), RuntimeError> {
    // A plan without streams has nothing to run, nor to poison.
    let Some(stream) = streams.first() else { return Ok(()) };
    let filled = fill_blocks(&**stream, blocks);
    filled.map_err(|error| RuntimeError::Device { what: "filling memory with poison".to_owned(), error })
}

fn fill_blocks<'a>(stream: &dyn Stream, blocks: impl Iterator<Item = &'a Block>) -> Result<(), DeviceError> {
    for block in blocks {
        match block.memory().host() {
            Some(host) => host.write(0..block.memory().len())?.fill(POISON),
            None => upload(stream, block)?,
        }
    }
    stream.synchronize()
}

/// For memory the host cannot reach: copies gray images of poison there.
fn upload(stream: &dyn Stream, block: &Block) -> Result<(), DeviceError> {
    for offset in (0..block.len()).step_by(CHUNK) {
        let width = (block.len() - offset).min(CHUNK);
        let image = |error: mip_core::ImageError| DeviceError::Unsupported(error.to_string());
        let desc = ImageDesc::new(width as u32, 1, PixelFormat::Gray, DType::U8).map_err(image)?;
        let layout = BatchLayout::tight(desc, 1).map_err(image)?;
        let from = ImageBuffer::from_bytes(desc, &vec![POISON; width]).map_err(image)?;
        let to = BufferRef { memory: BufferMemory::Block(block.memory().clone()), offset, layout };
        stream.submit(Command::Upload { from, to })?;
    }
    Ok(())
}
