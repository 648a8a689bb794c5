use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use mip_io::{FileFormat, input_name, is_direct, is_stdin, is_stdout, output_name};

use super::Input;
use crate::failure::Failure;
use crate::files::{Clash, Files};

/// `--format`: an extension, and the format it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FormatArg {
    pub(crate) format: FileFormat,
    extension: String,
}

impl FormatArg {
    /// The extension as it was given.
    pub(crate) fn extension(&self) -> &str {
        &self.extension
    }
}

impl FromStr for FormatArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let extension = text.trim_start_matches('.').to_ascii_lowercase();
        let format = extension.parse::<FileFormat>().map_err(|e| e.to_string())?;
        Ok(Self { format, extension })
    }
}

/// Where results go when `-o` is not given.
pub(crate) const DEFAULT_FOLDER: &str = "out";

/// Extensions of image formats that are not written: as the end of `-o` they are a mistake, not a folder's name.
const FOREIGN: [&str; 10] = ["avif", "dds", "gif", "heic", "heif", "ico", "jp2", "jxl", "psd", "svg"];

/// Names of output files: `OUT/<stem>.png` for one output, `OUT/<stem>.<task>.png` for several, with `<stem>-00003` for a
/// page or frame of several, or the one file, pipe or device that `-o` names (`-`: stdout).
#[derive(Debug)]
pub(crate) struct Naming {
    target: Target,
    tasks: Vec<String>,
}

#[derive(Debug)]
enum Target {
    File { path: PathBuf, format: FileFormat },
    Folder { folder: PathBuf, format: FormatArg },
}

impl Naming {
    /// Decides all names for these input files and output tasks.
    ///
    /// Refused: a file name as `-o` for several pictures; two pictures with one name; a result that would
    /// replace one of the `originals`.
    pub(crate) fn new(
        out: Option<&Path>,
        format: Option<&FormatArg>,
        inputs: &[Input],
        tasks: &[String],
        originals: &[PathBuf],
    ) -> Result<Self, Failure> {
        let naming = Self { target: target(out, format, inputs.len() * tasks.len())?, tasks: tasks.to_vec() };
        naming.check_collisions(inputs, originals)?;
        Ok(naming)
    }

    pub(crate) const fn format(&self) -> FileFormat {
        match &self.target {
            Target::File { format, .. } => *format,
            Target::Folder { format, .. } => format.format,
        }
    }

    /// The folder that has to exist.
    pub(crate) fn folder(&self) -> &Path {
        match &self.target {
            Target::File { path, .. } => path.parent().unwrap_or(Path::new("")),
            Target::Folder { folder, .. } => folder,
        }
    }

    /// Whether the one result goes to stdout.
    pub(crate) fn is_stdout(&self) -> bool {
        matches!(&self.target, Target::File { path, .. } if is_stdout(path))
    }

    /// One path for each output task, in order.
    pub(crate) fn paths(&self, input: &Input) -> Vec<PathBuf> {
        let (folder, extension) = match &self.target {
            Target::File { path, .. } => return vec![path.clone()],
            Target::Folder { folder, format } => (folder, &format.extension),
        };
        let path = &input.path;
        let stem = if is_stdin(path) { OsStr::new("stdin") } else { path.file_stem().unwrap_or_default() };
        let page = input.suffix().unwrap_or_default();
        let name = |task: Option<&String>| {
            let mut name = stem.to_owned();
            name.push(&page);
            for part in task.into_iter().chain([extension]) {
                name.push(".");
                name.push(part);
            }
            folder.join(name)
        };
        match self.tasks.as_slice() {
            [_] => vec![name(None)],
            tasks => tasks.iter().map(|t| name(Some(t))).collect(),
        }
    }

    fn check_collisions(&self, inputs: &[Input], originals: &[PathBuf]) -> Result<(), Failure> {
        let mut files = Files::reading(originals);
        for input in inputs {
            for path in self.paths(input) {
                let refuse = |text: String| Err(Failure::Request(text));
                match files.claim(&path, Path::new(&input.name())) {
                    Ok(()) => {}
                    Err(Clash::Input(original)) => {
                        return refuse(format!(
                            "the result {} would replace the input {}; choose another folder with -o",
                            output_name(&path),
                            input_name(&original)
                        ));
                    }
                    Err(Clash::Written(other)) => {
                        return refuse(format!(
                            "{} and {} would both be written to {}; run them into different folders",
                            other.display(),
                            input.name(),
                            path.display()
                        ));
                    }
                }
            }
        }
        Ok(())
    }
}

fn target(out: Option<&Path>, format: Option<&FormatArg>, pictures: usize) -> Result<Target, Failure> {
    let folder = |path: &Path| Target::Folder {
        folder: path.to_owned(),
        format: format.cloned().unwrap_or(FormatArg { format: FileFormat::Png, extension: "png".into() }),
    };
    let Some(out) = out else {
        return Ok(folder(Path::new(DEFAULT_FOLDER)));
    };
    let text = out.to_string_lossy();
    if is_direct(out) {
        if pictures > 1 {
            return Err(Failure::Request(format!(
                "-o {text} takes one picture, but {pictures} will be written; give a folder instead"
            )));
        }
        let own = FileFormat::from_path(out).unwrap_or(FileFormat::Png);
        return Ok(Target::File { path: out.to_owned(), format: format.map_or(own, |asked| asked.format) });
    }
    let extension = out.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    if out.is_dir() || text.ends_with('/') || extension.is_empty() {
        return Ok(folder(out));
    }
    let Ok(own) = extension.parse::<FileFormat>() else {
        if FOREIGN.contains(&extension.as_str()) || FileFormat::from_extension(&extension).is_some() {
            FileFormat::from_path(out)?;
        }
        return Ok(folder(out));
    };
    if pictures > 1 {
        let text = format!(
            "-o {text} names one file, but {pictures} pictures will be written; give a folder instead"
        );
        return Err(Failure::Request(text));
    }
    match format {
        Some(asked) if asked.format != own => Err(Failure::Request(format!(
            "-o {text} is a {own} file, but --format asks for {}; leave one of them out",
            asked.format
        ))),
        _ => Ok(Target::File { path: out.to_owned(), format: own }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(
        out: Option<&str>,
        format: Option<&str>,
        inputs: &[&str],
        tasks: &[&str],
    ) -> Result<Vec<String>, String> {
        let inputs: Vec<PathBuf> = inputs.iter().map(PathBuf::from).collect();
        let tasks: Vec<String> = tasks.iter().map(ToString::to_string).collect();
        let format = format.map(|f| f.parse().unwrap());
        let whole = Input::whole(&inputs);
        let naming = Naming::new(out.map(Path::new), format.as_ref(), &whole, &tasks, &inputs)
            .map_err(|e| e.message().unwrap_or_default().to_owned())?;
        Ok(whole.iter().flat_map(|i| naming.paths(i)).map(|p| p.to_string_lossy().into_owned()).collect())
    }

    #[test]
    fn one_output_is_named_after_its_input_and_several_after_their_tasks_too() {
        assert_eq!(names(None, None, &["a/x.y.jpg"], &["edges"]).unwrap(), ["out/x.y.png"]);
        assert_eq!(
            names(Some("o"), Some("jpeg"), &["x.png", "z"], &["edges"]).unwrap(),
            ["o/x.jpeg", "o/z.jpeg"]
        );
        assert_eq!(names(Some("o/"), None, &["x.png"], &["a", "b"]).unwrap(), ["o/x.a.png", "o/x.b.png"]);
        assert_eq!(names(Some("v1.2"), None, &["x.png"], &["a"]).unwrap(), ["v1.2/x.png"]);
    }

    #[test]
    fn a_file_name_is_for_a_single_picture() {
        assert_eq!(names(Some("o/e.JPG"), None, &["x.png"], &["a"]).unwrap(), ["o/e.JPG"]);
        assert!(names(Some("e.jpg"), None, &["x.png", "y.png"], &["a"]).unwrap_err().contains("2 pictures"));
        assert!(names(Some("e.jpg"), None, &["x.png"], &["a", "b"]).unwrap_err().contains("give a folder"));
        assert!(
            names(Some("e.jpg"), Some("png"), &["x.png"], &["a"])
                .unwrap_err()
                .contains("--format asks for PNG")
        );
        assert!(names(Some("e.pbm"), None, &["x.png"], &["a"]).unwrap_err().contains(".pbm"));
        assert!(names(Some("e.avif"), None, &["x.png"], &["a"]).unwrap_err().contains(".avif"));
    }

    #[test]
    fn pictures_never_overwrite_each_other_or_an_input() {
        let text = names(Some("o"), None, &["a/x.png", "b/x.jpg"], &["t"]).unwrap_err();
        assert_eq!(
            text,
            "a/x.png and b/x.jpg would both be written to o/x.png; run them into different folders"
        );
        let text = names(Some("o"), None, &["x.png", "x.a.png"], &["a", "a.a"]).unwrap_err();
        assert!(text.contains("would both be written"), "{text}");

        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("x.png");
        std::fs::write(&input, "").unwrap();
        let (input, out) = (input.to_str().unwrap(), folder.path().to_str().unwrap());
        let text = names(Some(out), None, &[input], &["a"]).unwrap_err();
        assert!(text.contains("would replace the input"), "{text}");
        assert!(names(Some(out), Some("jpg"), &[input], &["a"]).is_ok());
    }

    #[test]
    fn unknown_formats_list_the_known_ones() {
        assert!("gif".parse::<FormatArg>().unwrap_err().contains("png, jpg, jpeg"));
        assert_eq!(".JPG".parse::<FormatArg>().unwrap().extension, "jpg");
    }
}
