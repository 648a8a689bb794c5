use std::path::{Path, PathBuf};
use std::process::Command;

use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};
use mip_io::{WriteOptions, read_image, write_image};
use serde_json::Value;

/// A folder that `mip` runs in.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `mip` in this folder, to be given arguments and an environment.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mip"));
        command.current_dir(self.folder.path());
        command
    }

    pub(crate) fn mip(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command().args(arguments))
    }

    /// A command of the shell in this folder, which knows the binary as `$MIP`.
    #[cfg(target_os = "linux")]
    pub(crate) fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).env("MIP", env!("CARGO_BIN_EXE_mip")).current_dir(self.folder.path());
        command
    }

    /// Runs a line of shell in which `$MIP` is the program.
    #[cfg(unix)]
    pub(crate) fn sh(&self, line: &str) -> Ran {
        let output = Command::new("sh")
            .args(["-c", line])
            .env("MIP", env!("CARGO_BIN_EXE_mip"))
            .current_dir(self.folder.path())
            .output()
            .expect("there is a shell");
        Ran {
            code: output.status.code().unwrap_or_else(|| panic!("{line}: {}", output.status)),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Starts a command whose ends are pipes, with signals as from a terminal: whoever runs the tests may ignore some.
    #[cfg(unix)]
    pub(crate) fn start(&self, arguments: &[&str]) -> std::process::Child {
        let piped = std::process::Stdio::piped;
        Command::new("env")
            .arg("--default-signal=INT,TERM,HUP")
            .arg(env!("CARGO_BIN_EXE_mip"))
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(piped())
            .stdout(piped())
            .stderr(piped())
            .spawn()
            .expect("there is `env`")
    }

    /// A picture of noise: as large in a file as in memory.
    pub(crate) fn noise(&self, name: &str, size: (u32, u32)) -> ImageBuffer {
        let desc = ImageDesc::new(size.0, size.1, PixelFormat::Rgb, DType::U8).unwrap();
        let mut image = ImageBuffer::new(desc).unwrap();
        let mut state = 1_u32;
        for y in 0..desc.height() {
            image.view_mut().row_mut(0, 0, y as usize).iter_mut().for_each(|sample| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *sample = (state >> 24) as u8;
            });
        }
        write_image(self.path(name), &image, &WriteOptions::default()).unwrap();
        image
    }

    /// Runs a command that must succeed.
    pub(crate) fn ok(&self, arguments: &[&str]) -> Ran {
        let ran = self.mip(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        ran
    }

    /// Runs a command whose request is wrong, and checks what stderr says about it.
    pub(crate) fn refused(&self, arguments: &[&str], because: &[&str]) {
        let ran = self.mip(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {ran:?}");
        for text in because {
            assert!(ran.stderr.contains(text), "{arguments:?} should say {text:?}: {}", ran.stderr);
        }
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Writes a picture of a smooth pattern that depends on `seed`.
    pub(crate) fn picture(
        &self,
        name: &str,
        size: (u32, u32),
        format: PixelFormat,
        dtype: DType,
        seed: u32,
    ) -> ImageBuffer {
        let desc = ImageDesc::new(size.0, size.1, format, dtype).unwrap();
        let mut image = ImageBuffer::new(desc).unwrap();
        let channels = desc.channels() as u32;
        for y in 0..desc.height() {
            let value = |i: u32| (i / channels * 3 + y * 5 + i % channels * 40 + seed * 31) % 251;
            let row = y as usize;
            match dtype {
                DType::U16 => {
                    let row = image.view_mut();
                    let mut row = row;
                    let samples = row.row_as_mut::<u16>(0, 0, y as usize);
                    samples.iter_mut().zip(0..).for_each(|(s, i)| *s = value(i) as u16 * 259 + i as u16 % 7);
                }
                _ => image
                    .view_mut()
                    .row_mut(0, 0, row)
                    .iter_mut()
                    .zip(0..)
                    .for_each(|(s, i)| *s = value(i) as u8),
            }
        }
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        write_image(path, &image, &WriteOptions::default()).unwrap();
        image
    }

    /// An 8-bit rgb picture.
    pub(crate) fn rgb(&self, name: &str, size: (u32, u32), seed: u32) -> ImageBuffer {
        self.picture(name, size, PixelFormat::Rgb, DType::U8, seed)
    }

    pub(crate) fn read(&self, name: &str) -> ImageBuffer {
        read_image(self.path(name)).unwrap()
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Names of the files in a folder, sorted.
    pub(crate) fn list(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path(folder)) else { return Vec::new() };
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Ran {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().expect("the binary was built for this test");
        Self {
            code: output.status.code().expect("ended by itself"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("no JSON document ({e}): {self:?}"))
    }

    /// Lines of stdout, as paths with forward slashes.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.stdout.lines().map(|l| Path::new(l).display().to_string()).collect()
    }
}
