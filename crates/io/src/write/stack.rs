//! Many images as one array of NumPy's.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use mip_core::{ImageBuffer, ImageDesc, PixelFormat};

use super::{WholeFile, write_error};
use crate::encode::{self, stacked_header, stacked_shape};
use crate::format::in_files;
use crate::{FileFormat, IoError};

/// A `.npy` file of images of one shape and type, written one after another: (N, height, width) of gray ones, (N, height,
/// width, channels) of interleaved ones, (N, channels, height, width) of planar ones; bgr becomes rgb.
///
/// Memory does not grow with N. As [`WholeFile`] it appears under its name only when it is complete, and its header says
/// then how many images there are.
#[derive(Debug)]
pub struct NpyStack {
    file: WholeFile,
    path: PathBuf,
    desc: ImageDesc,
    images: u64,
}

impl NpyStack {
    /// Begins an array of such images.
    ///
    /// # Errors
    /// [`IoError::Refused`] for what NumPy has no type for, [`IoError::Write`] also for pipes and devices: the header is
    /// written last.
    pub fn create(path: impl Into<PathBuf>, desc: &ImageDesc) -> Result<Self, IoError> {
        let path = path.into();
        encode::check_encodable(desc, FileFormat::Npy)?;
        let file = WholeFile::create(&path)?;
        if file.is_direct() {
            let text = "an array of many images cannot be written into a pipe or device; name a file";
            return Err(write_error(&path, std::io::Error::other(text)));
        }
        let mut stack = Self { file, path, desc: *desc, images: 0 };
        stack.write(&stacked_header(0, desc))?;
        Ok(stack)
    }

    /// Adds an image.
    ///
    /// # Errors
    /// [`IoError::Refused`] for an image of another shape or type, after which more can be added; [`IoError::Write`],
    /// after which the array is lost.
    pub fn push(&mut self, image: &ImageBuffer) -> Result<(), IoError> {
        if *image.desc() != self.desc {
            return Err(IoError::Refused {
                image: *image.desc(),
                format: FileFormat::Npy,
                reason: format!("the images before it in the array are {}", self.desc),
                remedy: "an array holds images of one shape and type".to_owned(),
            });
        }
        let samples = encode::array_samples(image)?;
        self.write(&samples)?;
        self.images += 1;
        Ok(())
    }

    /// Images so far.
    pub const fn images(&self) -> u64 {
        self.images
    }

    /// Where it will stand.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The order of its channels: gray, rgb or rgba.
    pub const fn format(&self) -> PixelFormat {
        in_files(self.desc.format())
    }

    /// The shape that the array has in NumPy.
    pub fn shape(&self) -> Vec<u64> {
        stacked_shape(self.images, &self.desc)
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn keep(mut self) -> Result<(), IoError> {
        let header = stacked_header(self.images, &self.desc);
        self.file.write_over(&header).map_err(|source| write_error(&self.path, source))?;
        self.file.keep()
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), IoError> {
        self.file.write_all(bytes).map_err(|source| write_error(&self.path, source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mip_core::DType;

    fn image(format: PixelFormat, first: u8) -> ImageBuffer {
        let mut image = ImageBuffer::new(ImageDesc::new(2, 1, format, DType::U8).unwrap()).unwrap();
        let mut view = image.view_mut();
        view.row_mut(0, 0, 0).iter_mut().zip(first..).for_each(|(to, value)| *to = value);
        image
    }

    #[test]
    fn images_follow_each_other_and_the_header_counts_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        let mut stack = NpyStack::create(&path, image(PixelFormat::Bgr, 0).desc()).unwrap();
        stack.push(&image(PixelFormat::Bgr, 10)).unwrap();
        let other = stack.push(&image(PixelFormat::Gray, 0)).unwrap_err().to_string();
        assert!(other.contains("2x1 gray u8") && other.contains("before it in the array are 2x1 bgr u8"));
        stack.push(&image(PixelFormat::Bgr, 20)).unwrap();
        assert!(!path.exists());
        assert_eq!(stack.shape(), [2, 1, 2, 3]);
        stack.keep().unwrap();
        let file = std::fs::read(&path).unwrap();
        assert!(String::from_utf8_lossy(&file[..128]).contains("'shape': (2, 1, 2, 3), }"));
        assert_eq!(file[128..], [12, 11, 10, 15, 14, 13, 22, 21, 20, 25, 24, 23]);
    }

    #[test]
    fn what_is_given_up_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        let mut stack = NpyStack::create(&path, image(PixelFormat::Rgb, 0).desc()).unwrap();
        stack.push(&image(PixelFormat::Rgb, 1)).unwrap();
        drop(stack);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_refused() {
        let desc = *image(PixelFormat::Rgb, 0).desc();
        assert!(NpyStack::create("/dev/null", &desc).unwrap_err().to_string().contains("name a file"));
    }
}
