//! The pictures of `mip demo`.

mod canvas;
mod picture;
mod sheet;

pub(crate) use picture::test_picture;
pub(crate) use sheet::{Tile, contact_sheet};
