//! Boxes beside the stream of a JPEG XL file. The ICC profile lies in the stream: decoding finds it.

use super::{Metadata, jpeg};
use crate::decode::boxes::boxes;

pub(super) fn read(file: &[u8]) -> Metadata {
    let mut metadata = Metadata::default();
    for found in boxes(file) {
        // Packed ones begin with the kind that they are of.
        let (kind, packed) = match (&found.kind, found.body.first_chunk::<4>()) {
            (b"brob", Some(kind)) => (*kind, true),
            _ => (found.kind, false),
        };
        match &kind {
            // Where it begins stands in front of it. Its orientation counts for nothing: the stream has its own.
            b"Exif" if packed || !jpeg::only_orientation(found.body.get(4..).unwrap_or_default()) => {
                _ = metadata.others.insert("EXIF");
            }
            b"xml " => _ = metadata.others.insert("XMP"),
            _ => {}
        }
    }
    metadata
}
