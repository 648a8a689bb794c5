//! Golden images: what other libraries make of the same inputs where their definition is ours.
//!
//! They lie in `tests/golden` of the repository with the script that wrote them; `manifest.toml` there states for
//! each case the library's call, our operator and parameters, the tolerance and its reason.

mod files;
mod npy;
mod param;

use std::path::{Path, PathBuf};

use mip_core::{ImageBuffer, Layout, PixelFormat};
use serde::Deserialize;

use crate::Real;
use crate::compare::{Violations, check_contract, check_within};

pub use param::{Param, Params};

/// One case of the manifest, images loaded.
#[derive(Debug, Clone)]
pub struct GoldenCase {
    /// Unique name.
    pub name: String,
    /// Our operator.
    pub op: String,
    /// Its parameters; all others at their defaults.
    pub params: Params,
    /// Input images in slot order.
    pub inputs: Vec<ImageBuffer>,
    /// What must come out.
    pub expected: Expected,
    /// Library and version.
    pub library: String,
    /// The library's function.
    pub call: String,
    /// Why the tolerance is what it is.
    pub why: String,
}

/// The outcome of a golden case.
#[derive(Debug, Clone)]
pub enum Expected {
    /// Samples of the library, each within `tolerance` sample units of which ours must be.
    Pixels {
        /// The library's image.
        image: ImageBuffer,
        /// Largest difference allowed.
        tolerance: f64,
    },
    /// Exact values before the final rounding: the numeric contract applies.
    Exact(Real),
}

impl GoldenCase {
    /// Compares a result of ours.
    ///
    /// # Errors
    /// The samples that are wrong.
    ///
    /// # Panics
    /// When size, channels, or (for [`Expected::Pixels`]) format, dtype or layout differ.
    pub fn check(&self, actual: &ImageBuffer) -> Result<(), Box<Violations>> {
        match &self.expected {
            Expected::Pixels { image, tolerance } => {
                assert_eq!(actual.desc(), image.desc(), "{}: description of the result", self.name);
                check_within(&Real::from_buffer(actual), &Real::from_buffer(image), *tolerance)
            }
            Expected::Exact(exact) => check_contract(actual, exact, actual.desc().dtype()),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    case: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    op: String,
    library: String,
    call: String,
    why: String,
    tolerance: f64,
    params: Params,
    inputs: Vec<ImageFile>,
    expected: ImageFile,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ImageFile {
    file: PathBuf,
    format: PixelFormat,
    layout: Layout,
}

/// The folder of the golden images.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden")
}

/// All cases, in the manifest's order.
///
/// # Panics
/// When the manifest or an image cannot be read: the repository is incomplete then.
pub fn goldens() -> Vec<GoldenCase> {
    let path = folder().join("manifest.toml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let manifest: Manifest = toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    manifest.case.into_iter().map(load).collect()
}

fn load(entry: Entry) -> GoldenCase {
    let Entry { name, op, library, call, why, tolerance, params, inputs, expected } = entry;
    let read = |image: &ImageFile| files::read(&folder().join(&image.file), image.format, image.layout);
    let inputs = inputs.iter().map(|image| read(image).samples(image.format)).collect();
    let expected = match read(&expected) {
        files::Pixels::Exact(real) => Expected::Exact(real),
        files::Pixels::Samples(image) => Expected::Pixels { image, tolerance },
    };
    GoldenCase { name, op, params, inputs, expected, library, call, why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference;

    /// References and libraries know nothing of each other: where they agree, both are right.
    #[test]
    fn the_references_agree_with_the_other_libraries() {
        let cases = goldens();
        assert!(cases.len() >= 90, "{} cases", cases.len());
        let failures: Vec<String> = cases
            .iter()
            .filter_map(|case| {
                let inputs: Vec<&ImageBuffer> = case.inputs.iter().collect();
                let exact = reference::apply(&case.op, &case.params, &inputs);
                let (other, tolerance) = match &case.expected {
                    // No rounding has happened on either side, so the two only differ by errors of f64.
                    Expected::Exact(real) => (real.clone(), 1e-9),
                    Expected::Pixels { image, tolerance } => (Real::from_buffer(image), *tolerance),
                };
                let ours = match &case.expected {
                    Expected::Exact(_) => exact,
                    Expected::Pixels { image, .. } => exact.rounded(image.desc().dtype()),
                };
                let violations = check_within(&ours, &other, tolerance).err()?;
                Some(format!("{} ({}, {}): {violations}", case.name, case.library, case.call))
            })
            .collect();
        assert!(failures.is_empty(), "{} of {}\n{}", failures.len(), cases.len(), failures.join("\n"));
    }

    #[test]
    fn a_case_refuses_a_wrong_result() {
        let cases = goldens();
        let named = |name: &str| cases.iter().find(|c| c.name == name).unwrap();
        for (name, step) in [("flip_both", 1), ("gray_opencv_8", 2)] {
            let case = named(name);
            let Expected::Pixels { image, .. } = &case.expected else { panic!("samples expected") };
            assert!(case.check(image).is_ok());
            let mut wrong = image.clone();
            let mut view = wrong.view_mut();
            let sample = &mut view.row_mut(0, 0, 3)[4];
            *sample = if *sample < 128 { *sample + step } else { *sample - step };
            assert_eq!(case.check(&wrong).unwrap_err().count, 1, "{name}");
        }
        let case = named("sobel_reflect101");
        let Expected::Exact(exact) = &case.expected else { panic!("exact values expected") };
        let mut image = exact.to_buffer(*case.inputs[0].desc());
        assert!(case.check(&image).is_ok());
        image.view_mut().row_mut(0, 0, 0)[0] ^= 4;
        assert!(case.check(&image).is_err());
    }

    #[test]
    fn every_image_belongs_to_a_case_and_all_are_small() {
        let text = std::fs::read_to_string(folder().join("manifest.toml")).unwrap();
        let mut bytes = 0;
        for sub in ["inputs", "expected"] {
            for file in std::fs::read_dir(folder().join(sub)).unwrap() {
                let file = file.unwrap();
                let name = format!("\"{sub}/{}\"", file.file_name().to_string_lossy());
                assert!(text.contains(&name), "{name} is in no case");
                bytes += file.metadata().unwrap().len();
            }
        }
        assert!(bytes < 650_000, "{bytes} bytes of golden images");
    }
}
