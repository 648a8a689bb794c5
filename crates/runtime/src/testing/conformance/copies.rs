use std::sync::Arc;

use mip_core::{BatchLayout, DType, ImageBuffer, ImageDesc, Layout, PixelFormat};

use super::rig::{download, read};
use crate::device::{BufferMemory, BufferRef, Command, Device, Space};
use crate::testing::padded;

fn round_trip(device: &dyn Device, from: &ImageBuffer, offset: usize, on_device: BatchLayout) {
    let stream = device.create_stream("copies").expect("a stream");
    let memory = device.allocate(Space::Device, offset + on_device.span()).expect("a little memory");
    let to = BufferRef { memory: BufferMemory::Block(Arc::clone(&memory)), offset, layout: on_device };
    stream.submit(Command::Upload { from: from.clone(), to: to.clone() }).expect("an upload is queued");
    let pinned = download(device, &*stream, to);
    stream.synchronize().expect("copies succeed");
    assert_eq!(read(&pinned, on_device), *from, "an image comes back as it went");
}

fn counting(layout: BatchLayout) -> ImageBuffer {
    let mut image = ImageBuffer::with_layout(layout).expect("a small image");
    image.view_mut().data_mut().iter_mut().zip(1_u64..).for_each(|(byte, i)| *byte = (i * 37 % 251) as u8);
    image
}

pub(super) fn strides_may_differ(device: &dyn Device) {
    for width in [1, 2, 5, 15, 16, 17, 33] {
        let desc = ImageDesc::new(width, 3, PixelFormat::Rgb, DType::U8).expect("a small image");
        let (tight, pitched) = (BatchLayout::tight(desc, 2), BatchLayout::pitched(desc, 2, 64));
        let layouts = [tight.expect("a layout"), pitched.expect("a layout"), padded(desc, 2, 7)];
        for from in layouts {
            for to in layouts {
                round_trip(device, &counting(from), 128, to);
            }
        }
    }
}

pub(super) fn order_of_samples_is_kept(device: &dyn Device) {
    for dtype in DType::ALL {
        for order in Layout::ALL {
            let desc =
                ImageDesc::new(5, 4, PixelFormat::Rgba, dtype).expect("a small image").with_layout(order);
            let (tight, pitched) = (BatchLayout::tight(desc, 3), BatchLayout::pitched(desc, 3, 64));
            round_trip(device, &counting(tight.expect("a layout")), 0, pitched.expect("a layout"));
        }
    }
}
