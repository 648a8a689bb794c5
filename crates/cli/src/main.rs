//! `mip`
fn main() {}
