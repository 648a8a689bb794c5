//! TGA (Truevision TGA 2.0), not compressed.

use mip_core::ImageDesc;

/// In the descriptor: rows from top to bottom.
const TOP_LEFT: u8 = 0x20;

/// A file of interleaved 8-bit pixels in gray, rgb or rgba order. Both sides were checked to fit 16 bits.
pub(super) fn encode(pixels: &[u8], desc: &ImageDesc) -> Vec<u8> {
    let (kind, bits, alpha) = match desc.channels() {
        1 => (3, 8, 0),
        3 => (2, 24, 0),
        _ => (2, 32, 8),
    };
    let [w0, w1] = (desc.width() as u16).to_le_bytes();
    let [h0, h1] = (desc.height() as u16).to_le_bytes();
    let header = [0, 0, kind, 0, 0, 0, 0, 0, 0, 0, 0, 0, w0, w1, h0, h1, bits, TOP_LEFT | alpha];
    let footer = b"\0\0\0\0\0\0\0\0TRUEVISION-XFILE.\0";
    let mut file = Vec::with_capacity(header.len() + pixels.len() + footer.len());
    file.extend(header);
    file.extend_from_slice(pixels);
    // Colours are stored blue first.
    for pixel in file[header.len()..].chunks_exact_mut(usize::from(bits) / 8).filter(|_| bits > 8) {
        pixel.swap(0, 2);
    }
    file.extend(footer);
    file
}
