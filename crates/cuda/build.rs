//! Packs the text of the kernels: less than a third is left, and a program that uses no GPU never unpacks it.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Of `miniz_oxide`: the slowest, which 200 kB can bear.
const LEVEL: u8 = 10;

fn main() -> io::Result<()> {
    let folder = Path::new("src/kernels");
    println!("cargo:rerun-if-changed={}", folder.display());
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("no OUT_DIR"))?);
    pack(folder, &out)
}

/// `name.cu` of a folder and of those in it becomes `name.z`: names are unique.
fn pack(folder: &Path, out: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            pack(&path, out)?;
        } else if let Some(name) = path.file_stem() {
            let packed = miniz_oxide::deflate::compress_to_vec(&fs::read(&path)?, LEVEL);
            fs::write(out.join(name).with_extension("z"), packed)?;
        }
    }
    Ok(())
}
