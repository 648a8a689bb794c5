//! Libraries that are C files, built by the host's compiler. They are loaded as real ones are, so what needs them runs in a process of
//! its own.

use std::path::Path;
use std::process::Command;

/// Builds a driver and an NVRTC into a folder, and one more library: its name, and its source (empty: the one in `testing/fake`), if
/// there is to be one.
fn libraries(folder: &Path, (name, file): (&str, &str), source: Option<&str>) {
    let fake = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testing/fake").join(name);
        std::fs::read_to_string(path).unwrap()
    };
    let own = source.map(|text| if text.is_empty() { fake(file) } else { text.to_owned() });
    let all = [("libcuda.so", Some(fake("cuda.c"))), ("libnvrtc.so", Some(fake("nvrtc.c"))), (name, own)];
    for (name, source) in all.into_iter().filter_map(|(name, source)| Some((name, source?))) {
        let code = folder.join("code.c");
        std::fs::write(&code, source).unwrap();
        let mut compiler = Command::new("cc");
        let built =
            compiler.args(["-shared", "-fPIC", "-O1", "-w", "-o"]).arg(folder.join(name)).arg(&code).output();
        let built = built.expect("a C compiler, which every Rust toolchain has for linking");
        assert!(built.status.success(), "{name}: {}", String::from_utf8_lossy(&built.stderr));
    }
}

/// Runs a test of the calling file in a process that finds the libraries, with a variable that says how the one more behaves; what
/// that one was asked for, which it writes to the file that the variable of that name with `_LOG` names.
pub(crate) fn run(
    test: &str,
    library: (&str, &str),
    source: Option<&str>,
    (variable, mode): (&str, &str),
) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    libraries(folder.path(), library, source);
    let log = folder.path().join("log");
    let ran = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", test, "--nocapture"])
        .env("LD_LIBRARY_PATH", folder.path())
        .env("MIP_CACHE_DIR", folder.path())
        .env(variable, mode)
        .env(format!("{variable}_LOG"), &log)
        .env_remove("MIP_NVRTC_LIB")
        .env_remove("MIP_NVJPEG_LIB")
        .output()
        .unwrap();
    let (out, error) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && out.contains("1 passed"), "{test}: {out}{error}");
    let text = std::fs::read_to_string(log).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}
