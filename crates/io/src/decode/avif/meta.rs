//! The boxes that say what an AVIF file holds (ISO/IEC 23008-12, HEIF, and AV1 Image File Format): items, where they lie, what they
//! are, and what each has to do with others.

use std::collections::BTreeMap;

use super::super::Fault;
use super::super::boxes::{Box, boxes};
use super::cursor::{Cursor, damaged};

/// What a file holds.
pub(super) struct Meta<'a> {
    pub(super) primary: u32,
    pub(super) items: BTreeMap<u32, Item>,
    references: Vec<Reference>,
    /// Properties, which items name by their number.
    properties: Vec<Box<'a>>,
    /// Data within the box of all this.
    data: &'a [u8],
    /// Whether the file says that it has a sequence too.
    pub(super) sequence: bool,
}

/// An item: a picture, a part of one, or what goes with it.
#[derive(Default)]
pub(super) struct Item {
    pub(super) kind: [u8; 4],
    protected: bool,
    /// Numbers of its properties, counted from 1, and whether it cannot be understood without them; in the order of their use.
    properties: Vec<(u16, bool)>,
    place: Option<Place>,
}

/// Where an item lies.
struct Place {
    method: u64,
    /// Where a part begins, and its length; 0 stands for all that is left.
    parts: Vec<(u64, u64)>,
}

/// What an item is to others.
struct Reference {
    kind: [u8; 4],
    from: u32,
    to: Vec<u32>,
}

impl<'a> Meta<'a> {
    /// From a file or its front, as far as that holds the box.
    pub(super) fn of(file: &'a [u8]) -> Result<Self, Fault> {
        let none = || Fault::Truncated("it stops before it says what it holds".to_owned());
        let found = boxes(file).find(|found| found.kind == *b"meta").ok_or_else(none)?;
        let mut meta = Self {
            primary: 0,
            items: BTreeMap::new(),
            references: Vec::new(),
            properties: Vec::new(),
            data: &[],
            sequence: file.get(8..12) == Some(b"avis"),
        };
        let mut primary = None;
        let mut body = Cursor(found.whole()?);
        body.number(4)?;
        for part in boxes(body.0) {
            let contents = part.whole()?;
            let mut cursor = Cursor(contents);
            match &part.kind {
                b"pitm" => {
                    let version = cursor.version()?;
                    primary = Some(cursor.number(if version == 0 { 2 } else { 4 })? as u32);
                }
                b"iinf" => meta.read_items(cursor)?,
                b"iloc" => meta.read_places(cursor)?,
                b"iref" => meta.read_references(cursor)?,
                b"iprp" => meta.read_properties(contents)?,
                b"idat" => meta.data = contents,
                _ => {}
            }
        }
        meta.primary = primary.ok_or_else(|| Fault::Corrupt("it names no picture to show".to_owned()))?;
        Ok(meta)
    }

    fn read_items(&mut self, mut cursor: Cursor<'a>) -> Result<(), Fault> {
        let version = cursor.version()?;
        cursor.number(if version == 0 { 2 } else { 4 })?;
        for found in boxes(cursor.0).filter(|found| found.kind == *b"infe") {
            let mut cursor = Cursor(found.whole()?);
            let id = match cursor.version()? {
                2 => cursor.number(2)?,
                3 => cursor.number(4)?,
                version => return Err(damaged(&format!("an item is described in version {version}"))),
            };
            let item = self.items.entry(id as u32).or_default();
            item.protected = cursor.number(2)? != 0;
            item.kind = cursor.kind()?;
        }
        Ok(())
    }

    fn read_places(&mut self, mut cursor: Cursor<'a>) -> Result<(), Fault> {
        let version = cursor.version()?;
        let sizes = cursor.number(2)? as usize;
        let (of_offset, of_length, of_base) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15);
        let of_index = if version == 0 { 0 } else { sizes & 15 };
        let of_id = if version < 2 { 2 } else { 4 };
        for _ in 0..cursor.number(of_id)? {
            let id = cursor.number(of_id)? as u32;
            let method = if version == 0 { 0 } else { cursor.number(2)? & 15 };
            if cursor.number(2)? != 0 {
                return Err(damaged("a part of it lies in another file"));
            }
            let base = cursor.number(of_base)?;
            let count = cursor.number(2)?;
            // Parts that take no bytes could be any number.
            if of_offset + of_length + of_index == 0 && count > 1 {
                return Err(damaged("an item lies in many places at once"));
            }
            let mut parts = Vec::new();
            for _ in 0..count {
                cursor.number(of_index)?;
                let offset = base.checked_add(cursor.number(of_offset)?);
                parts.push((
                    offset.ok_or_else(|| damaged("an item lies nowhere"))?,
                    cursor.number(of_length)?,
                ));
            }
            self.items.entry(id).or_default().place = Some(Place { method, parts });
        }
        Ok(())
    }

    fn read_references(&mut self, mut cursor: Cursor<'a>) -> Result<(), Fault> {
        let of_id = if cursor.version()? == 0 { 2 } else { 4 };
        for found in boxes(cursor.0) {
            let mut cursor = Cursor(found.whole()?);
            let from = cursor.number(of_id)? as u32;
            let count = cursor.number(2)?;
            let to: Result<_, Fault> = (0..count).map(|_| Ok(cursor.number(of_id)? as u32)).collect();
            self.references.push(Reference { kind: found.kind, from, to: to? });
        }
        Ok(())
    }

    fn read_properties(&mut self, contents: &'a [u8]) -> Result<(), Fault> {
        for found in boxes(contents) {
            let mut cursor = Cursor(found.whole()?);
            match &found.kind {
                b"ipco" => self.properties = boxes(cursor.0).collect(),
                b"ipma" => {
                    let flags = cursor.number(4)?;
                    let (of_id, wide) = (if flags >> 24 == 0 { 2 } else { 4 }, flags & 1 == 1);
                    for _ in 0..cursor.number(4)? {
                        let id = cursor.number(of_id)? as u32;
                        for _ in 0..cursor.number(1)? {
                            let (index, essential) = if wide {
                                let value = cursor.number(2)?;
                                (value & 0x7FFF, value >> 15 == 1)
                            } else {
                                let value = cursor.number(1)?;
                                (value & 0x7F, value >> 7 == 1)
                            };
                            self.items.entry(id).or_default().properties.push((index as u16, essential));
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn item(&self, id: u32) -> Result<&Item, Fault> {
        let none = || damaged(&format!("there is no item {id}"));
        let item = self.items.get(&id).ok_or_else(none)?;
        if item.protected {
            return Err(Fault::Corrupt("its picture is encrypted".to_owned()));
        }
        Ok(item)
    }

    /// The properties of an item, in the order of their use, and whether it cannot be understood without each.
    pub(super) fn properties(&self, item: &Item) -> impl Iterator<Item = Result<(Box<'a>, bool), Fault>> {
        item.properties.iter().filter(|(index, _)| *index > 0).map(|&(index, essential)| {
            let property = self.properties.get(usize::from(index) - 1);
            let property = property.ok_or_else(|| damaged(&format!("there is no property {index}")))?;
            Ok((*property, essential))
        })
    }

    /// The items that one points at, as a reference of that kind.
    pub(super) fn referred(&self, from: u32, kind: [u8; 4]) -> &[u32] {
        let found = self.references.iter().find(|reference| reference.from == from && reference.kind == kind);
        found.map_or(&[], |reference| &reference.to)
    }

    /// The items that point at one.
    pub(super) fn referring(&self, to: u32, kind: [u8; 4]) -> impl Iterator<Item = u32> {
        let found = self.references.iter().filter(move |r| r.kind == kind && r.to.contains(&to));
        found.map(|reference| reference.from)
    }

    /// The bytes of an item, in whose parts they lie one behind another.
    pub(super) fn bytes(&self, file: &[u8], item: &Item) -> Result<Vec<u8>, Fault> {
        let place = item.place.as_ref().ok_or_else(|| damaged("an item lies nowhere"))?;
        let source = match place.method {
            0 => file,
            1 => self.data,
            _ => return Err(damaged("an item is a part of another")),
        };
        let mut bytes = Vec::new();
        for &(begin, length) in &place.parts {
            let begin = usize::try_from(begin).unwrap_or(usize::MAX);
            let rest = source.get(begin..).unwrap_or_default();
            let length = if length == 0 { rest.len() } else { usize::try_from(length).unwrap_or(usize::MAX) };
            let cut = || Fault::Truncated(format!("its picture has {} of {length} bytes", rest.len()));
            let part = rest.get(..length).ok_or_else(cut)?;
            // Many parts could be the same bytes.
            if bytes.len() + part.len() > source.len() {
                return Err(damaged("the parts of an item are longer than the file"));
            }
            bytes.extend_from_slice(part);
        }
        if bytes.is_empty() {
            return Err(Fault::Truncated("its picture has no bytes".to_owned()));
        }
        Ok(bytes)
    }
}
