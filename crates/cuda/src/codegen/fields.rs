use std::borrow::Cow;
use std::fmt::Write as _;

use mip_core::BatchLayout;

/// Size of `Image` in generated code: a pointer and three strides.
const IMAGE_BYTES: usize = 32;

/// The parameter struct of a kernel: its text in CUDA C++, and its bytes with everything filled in that does
/// not change from launch to launch.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields {
    text: String,
    bytes: Vec<u8>,
    names: Vec<(Cow<'static, str>, usize)>,
}

impl Fields {
    fn add(
        &mut self,
        kind: &str,
        name: impl Into<Cow<'static, str>>,
        count: Option<usize>,
        align: usize,
        value: &[u8],
    ) {
        let name = name.into();
        let count = count.map_or_else(String::new, |n| format!("[{n}]"));
        let _ = writeln!(self.text, "    {kind} {name}{count};");
        let offset = self.bytes.len().next_multiple_of(align);
        self.bytes.resize(offset, 0);
        self.bytes.extend_from_slice(value);
        self.names.push((name, offset));
    }

    /// One image, set at launch.
    pub(crate) fn image(&mut self, name: &'static str) {
        self.add("Image", name, None, 8, &[0; IMAGE_BYTES]);
    }

    /// Several images, set at launch.
    pub(crate) fn images(&mut self, name: impl Into<Cow<'static, str>>, count: usize) {
        self.add("Image", name, Some(count), 8, &vec![0; IMAGE_BYTES * count]);
    }

    /// A signed 32-bit number.
    pub(crate) fn int(&mut self, name: impl Into<Cow<'static, str>>, value: u32) {
        self.add("int", name, None, 4, &value.to_ne_bytes());
    }

    /// An unsigned 32-bit number.
    pub(crate) fn uint(&mut self, name: impl Into<Cow<'static, str>>, value: u32) {
        self.add("u32", name, None, 4, &value.to_ne_bytes());
    }

    /// A binary32 number.
    pub(crate) fn float(&mut self, name: impl Into<Cow<'static, str>>, value: f32) {
        self.add("float", name, None, 4, &value.to_ne_bytes());
    }

    /// `count` binary32 numbers, set at launch.
    pub(crate) fn floats(&mut self, name: impl Into<Cow<'static, str>>, count: usize) {
        self.add("float", name, Some(count), 4, &vec![0; 4 * count]);
    }

    /// The address of a table of `kind`, set when the table has been uploaded.
    pub(crate) fn pointer(&mut self, kind: &str, name: impl Into<Cow<'static, str>>) {
        self.add(&format!("const {kind}*"), name, None, 8, &[0; 8]);
    }

    /// The struct's definition.
    pub(crate) fn definition(&self, name: &str) -> String {
        format!("struct {name} {{\n{}}};\n", self.text)
    }

    /// The struct's bytes, padded to its alignment.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    /// Where a field begins.
    pub(crate) fn offset(&self, name: &str) -> usize {
        self.names
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, offset)| *offset)
            .expect("a field the stage declared")
    }
}

/// Writes an address into parameter bytes.
pub(crate) fn put_pointer(bytes: &mut [u8], offset: usize, address: u64) {
    bytes[offset..offset + 8].copy_from_slice(&address.to_ne_bytes());
}

/// Writes an unsigned number into parameter bytes.
pub(crate) fn put_uint(bytes: &mut [u8], offset: usize, value: u32) {
    bytes[offset..offset + 4].copy_from_slice(&value.to_ne_bytes());
}

/// Writes numbers into parameter bytes.
pub(crate) fn put_floats(bytes: &mut [u8], offset: usize, values: &[f32]) {
    for (to, value) in bytes[offset..].chunks_exact_mut(4).zip(values) {
        to.copy_from_slice(&value.to_ne_bytes());
    }
}

/// Writes the `index`th image of a field into parameter bytes.
pub(crate) fn put_image(bytes: &mut [u8], offset: usize, index: usize, address: u64, layout: &BatchLayout) {
    let strides = [layout.row_stride, layout.plane_stride, layout.batch_stride].map(|s| s as u64);
    for (i, value) in std::iter::once(address).chain(strides).enumerate() {
        put_pointer(bytes, offset + index * IMAGE_BYTES + i * 8, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_follow_the_alignment_rules_of_c() {
        let mut fields = Fields::default();
        fields.int("width", 7);
        fields.image("in");
        fields.floats("u", 3);
        fields.pointer("u32", "table");
        let at = |name| fields.offset(name);
        assert_eq!((at("width"), at("in"), at("u"), at("table")), (0, 8, 40, 56));
        assert_eq!(fields.bytes().len(), 64);
        assert!(fields.definition("P").contains("    const u32* table;"));
    }
}
