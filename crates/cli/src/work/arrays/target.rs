use std::path::{Path, PathBuf};

use mip_core::ImageDesc;
use mip_io::{FileFormat, input_name, is_direct, output_name};

use crate::failure::Failure;
use crate::files::{Clash, Files};
use crate::work::FormatArg;

/// Where arrays of all results go: `NAME.npy`, with `NAME.<task>.npy` for each of several outputs, `NAME-00000.npy` and so on
/// with a number of rows for each, and `NAME.index.json` beside them.
#[derive(Debug, Clone)]
pub(crate) struct ArrayTarget {
    /// The name that `-o` gives, without its extension.
    stem: PathBuf,
    extension: String,
    tasks: Vec<String>,
    shard: Option<u64>,
}

/// What the user says about arrays.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArrayRequest<'a> {
    pub(crate) out: Option<&'a Path>,
    pub(crate) format: Option<&'a FormatArg>,
    /// One array even of one image.
    pub(crate) stack: bool,
    /// Rows of each array.
    pub(crate) shard: Option<u64>,
    /// Whether there may be several images: a folder stays one when it happens to hold one picture.
    pub(crate) several: bool,
}

impl ArrayTarget {
    /// The arrays of a run, if that is what `-o` names.
    ///
    /// # Errors
    /// Options for arrays where none is named, and a format that is none.
    pub(crate) fn of(request: ArrayRequest<'_>, tasks: &[String]) -> Result<Option<Self>, Failure> {
        let ArrayRequest { out, format, stack, shard, several } = request;
        let refuse = |text: String| Err(Failure::Request(text));
        let asked = if shard.is_some() { Some("--shard") } else { stack.then_some("--stack") };
        let npy = |path: &&Path| {
            let folder = path.is_dir() || path.to_string_lossy().ends_with('/');
            FileFormat::from_path(path).ok() == Some(FileFormat::Npy) && !folder && !is_direct(path)
        };
        let (out, asked) = match (out.filter(npy), asked) {
            (Some(out), asked) => (out, asked.is_some()),
            (None, Some(option)) => {
                return refuse(format!("{option} is for one array of all results; name it with -o NAME.npy"));
            }
            (None, None) => return Ok(None),
        };
        if !asked && !several {
            return Ok(None);
        }
        if let Some(other) = format.filter(|asked| asked.format != FileFormat::Npy) {
            return refuse(format!(
                "-o {} is a NPY file, but --format asks for {}; leave one of them out",
                out.display(),
                other.format
            ));
        }
        let extension = out.extension().map(|e| e.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Some(Self { stem: out.with_extension(""), extension, tasks: tasks.to_vec(), shard }))
    }

    /// Refuses names under which one of the `originals` would be replaced; `images` is how many rows there may be.
    pub(crate) fn check(&self, images: usize, originals: &[PathBuf]) -> Result<(), Failure> {
        let mut files = Files::reading(originals);
        let shards = self.shard.map_or(1, |rows| (images as u64).div_ceil(rows).max(1));
        let arrays = (0..shards).flat_map(|shard| (0..self.tasks.len()).map(move |task| (task, shard)));
        let arrays = arrays.map(|(task, shard)| self.array(task, shard));
        for path in arrays.chain([self.index()]) {
            let refuse = |text: String| Err(Failure::Request(text));
            match files.claim(&path, &path) {
                Ok(()) => {}
                Err(Clash::Input(original)) => {
                    return refuse(format!(
                        "{} would replace the input {}; choose another name with -o",
                        output_name(&path),
                        input_name(&original)
                    ));
                }
                Err(Clash::Written(other)) => {
                    return refuse(format!(
                        "{} and {} are one file; choose another name with -o",
                        output_name(&path),
                        output_name(&other)
                    ));
                }
            }
        }
        Ok(())
    }

    /// The folder that has to exist.
    pub(crate) fn folder(&self) -> &Path {
        self.stem.parent().unwrap_or(Path::new(""))
    }

    pub(super) fn tasks(&self) -> &[String] {
        &self.tasks
    }

    /// Rows of an array, where there are several arrays.
    pub(super) const fn shard(&self) -> Option<u64> {
        self.shard
    }

    /// The array of a task.
    pub(super) fn array(&self, task: usize, shard: u64) -> PathBuf {
        let task = if self.tasks.len() > 1 { format!(".{}", self.tasks[task]) } else { String::new() };
        let shard = if self.shard.is_some() { format!("-{shard:05}") } else { String::new() };
        self.named(&format!("{task}{shard}.{}", self.extension))
    }

    /// The index beside them.
    pub(crate) fn index(&self) -> PathBuf {
        self.named(".index.json")
    }

    fn named(&self, end: &str) -> PathBuf {
        let mut name = self.stem.clone().into_os_string();
        name.push(end);
        name.into()
    }
}

/// Whether results can be rows of the arrays whose rows before are `rows`.
///
/// # Errors
/// The task whose result is another, and what makes it alike.
pub(crate) fn check_alike(
    results: &[ImageDesc],
    rows: &[ImageDesc],
    tasks: &[String],
) -> Result<(), Failure> {
    let all = results.iter().zip(rows).zip(tasks);
    let Some(((result, row), task)) = all.into_iter().find(|((result, row), _)| result != row) else {
        return Ok(());
    };
    let change = if result.format() != row.format() {
        format!("`color_convert to={}`", row.format())
    } else if result.dtype() != row.dtype() {
        format!("`cast to={}`", row.dtype())
    } else {
        format!("`resize width={} height={}`", row.width(), row.height())
    };
    Err(Failure::Request(format!(
        "the result of task '{task}' is {result}, but the rows before it are {row}; an array holds results of one shape and \
         type: add {change} to the pipeline, or write files (-o FOLDER --format npy)"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mip_core::{DType, PixelFormat};

    fn request(out: &str) -> ArrayRequest<'_> {
        ArrayRequest { out: Some(Path::new(out)), format: None, stack: false, shard: None, several: true }
    }

    fn target(request: ArrayRequest<'_>, tasks: &[&str]) -> Result<Option<ArrayTarget>, String> {
        let tasks: Vec<String> = tasks.iter().map(ToString::to_string).collect();
        ArrayTarget::of(request, &tasks).map_err(|failure| failure.message().unwrap().to_owned())
    }

    #[test]
    fn names_of_arrays() {
        let one = target(request("o/x.y.npy"), &["a"]).unwrap().unwrap();
        assert_eq!((one.array(0, 0), one.index()), ("o/x.y.npy".into(), "o/x.y.index.json".into()));
        let several =
            target(ArrayRequest { shard: Some(10), ..request("x.NPY") }, &["a", "b"]).unwrap().unwrap();
        assert_eq!(several.array(1, 12), PathBuf::from("x.b-00012.NPY"));
        several.check(35, &[]).unwrap();
        assert_eq!(one.folder(), Path::new("o"));
    }

    #[test]
    fn one_named_image_stays_one_image_unless_asked_for() {
        let single = ArrayRequest { several: false, ..request("x.npy") };
        assert!(target(single, &["a"]).unwrap().is_none());
        assert!(target(ArrayRequest { stack: true, ..single }, &["a"]).unwrap().is_some());
        assert!(target(request("x.png"), &["a"]).unwrap().is_none());
        let text = target(ArrayRequest { stack: true, ..request("x") }, &["a"]).unwrap_err();
        assert!(text.contains("--stack") && text.contains("-o NAME.npy"), "{text}");
        let png = "png".parse().unwrap();
        let text = target(ArrayRequest { format: Some(&png), ..request("x.npy") }, &["a"]).unwrap_err();
        assert!(text.contains("--format asks for PNG"), "{text}");
    }

    #[test]
    fn what_is_not_alike_says_what_makes_it_so() {
        let desc = |side, format, dtype| [ImageDesc::new(side, side, format, dtype).unwrap()];
        let rows = desc(4, PixelFormat::Rgb, DType::F32);
        let said = |result: [ImageDesc; 1]| {
            let failure = check_alike(&result, &rows, &["t".to_owned()]).unwrap_err();
            failure.message().unwrap().to_owned()
        };
        assert!(check_alike(&rows, &rows, &["t".to_owned()]).is_ok());
        assert!(said(desc(5, PixelFormat::Rgb, DType::F32)).contains("`resize width=4 height=4`"));
        assert!(said(desc(4, PixelFormat::Gray, DType::F32)).contains("`color_convert to=rgb`"));
        assert!(said(desc(4, PixelFormat::Rgb, DType::U8)).contains("`cast to=f32`"));
    }
}
