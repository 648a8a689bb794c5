//! Libraries of CUDA that are broken, and paths of the environment that lead to strange ones.

use std::path::Path;
use std::process::Command;

use crate::support::{Place, Ran};

/// Builds a shared library; every Rust toolchain has the linker that this takes.
pub(crate) fn library(place: &Place, name: &str, source: &str) {
    let (code, file) = (place.path("library.c"), place.path(name));
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&code, source).unwrap();
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&file, &code]).status();
    assert!(built.expect("a C compiler").success());
}

/// Builds the driver and the NVRTC of mip-cuda's tests into `driver`, and what else of theirs is named: a library and its file.
pub(crate) fn fake_driver(place: &Place, others: &[(&str, &str)]) {
    for (name, file) in [("libcuda.so", "cuda.c"), ("libnvrtc.so", "nvrtc.c")].iter().chain(others) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cuda/testing/fake").join(file);
        library(place, &format!("driver/{name}"), &std::fs::read_to_string(path).unwrap());
    }
}

/// Names in quotes of a list in the driver's sources.
fn functions(list: &str) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cuda/src/driver/library.rs");
    let text = std::fs::read_to_string(file).unwrap();
    let (_, rest) = text.split_once(&format!("const {list}: &[&str] = &[")).expect("the list");
    let (list, _) = rest.split_once("];").unwrap();
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

const VERSION: &str = "int cuDriverGetVersion(int *v) { *v = 13000; return 0; }\n\
    int cuGetErrorName(int e, const char **t) { *t = \"CUDA_ERROR_NO_DEVICE\"; return 0; }\n\
    int cuGetErrorString(int e, const char **t) { *t = \"text\"; return 0; }\n";

/// A driver that has all functions, and no device.
fn whole_driver() -> String {
    let rest = functions("FUNCTIONS");
    assert!(rest.len() > 40, "{rest:?}");
    rest.iter().fold(VERSION.to_owned(), |source, name| format!("{source}int {name}() {{ return 100; }}\n"))
}

fn mip(place: &Place, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
    let mut command = place.command();
    for variable in ["CUDA_HOME", "CUDA_PATH", "MIP_NVRTC_LIB"] {
        command.env_remove(variable);
    }
    let driver = place.path("driver");
    Ran::of(command.args(arguments).env("LD_LIBRARY_PATH", driver).envs(environment.iter().copied()))
}

#[test]
fn a_driver_without_a_function_is_a_reason_and_no_panic() {
    let place = Place::new();
    place.rgb("a.png", (6, 5), 1);
    let next = &functions("FUNCTIONS")[0];
    for (source, lacks) in [("int nothing;", "cuDriverGetVersion"), (VERSION, next)] {
        library(&place, "driver/libcuda.so", source);
        let devices = mip(&place, &["devices"], &[]);
        assert_eq!(devices.code, 0, "{devices:?}");
        assert!(
            devices.stdout.contains(&format!("has no function {lacks}; install a driver")),
            "{devices:?}"
        );
        let asked = mip(&place, &["run", "-e", "flip", "a.png", "--device", "cuda"], &[]);
        assert_eq!(asked.code, 1, "{asked:?}");
        assert!(asked.stderr.contains(lacks) && !asked.stderr.contains("panicked"), "{asked:?}");
        let auto = mip(&place, &["run", "-e", "flip", "a.png"], &[]);
        assert_eq!(auto.code, 0, "{auto:?}");
    }
}

#[test]
fn a_compiler_without_a_function_is_no_panic() {
    let place = Place::new();
    library(&place, "driver/libcuda.so", &whole_driver());
    library(&place, "driver/libnvrtc.so", "int nvrtcVersion(int *a, int *b) { *a = 13; *b = 0; return 0; }");
    let devices = mip(&place, &["devices", "--json"], &[]);
    assert_eq!(devices.code, 0, "{devices:?}");
    let cuda = &devices.json()["devices"][1];
    assert_eq!((&cuda["driver"], &cuda["nvrtc"]), (&"13.0".into(), &serde_json::Value::Null), "{cuda}");
}

/// A compiler's library that leaves a mark where it is loaded.
const MARKING: &str = "#include <stdio.h>\n#include <stdlib.h>\n\
    __attribute__((constructor)) static void mark(void) { FILE *f = fopen(getenv(\"MARK\"), \"w\"); if (f) fclose(f); }\n";

#[test]
fn libraries_come_from_absolute_folders_only_and_with_a_driver_only() {
    let place = Place::new();
    library(&place, "lib64/libnvrtc.so", MARKING);
    let (here, folder) = (place.path(""), place.path("lib64"));
    let (here, folder) = (here.to_str().unwrap(), folder.to_str().unwrap());
    let mark = place.path("mark");
    let loads = |environment: &[(&str, &str)]| {
        let _ = std::fs::remove_file(&mark);
        let environment = [environment, &[("MARK", mark.to_str().unwrap())]].concat();
        let ran = mip(&place, &["devices"], &environment);
        assert_eq!(ran.code, 0, "{ran:?}");
        mark.exists()
    };
    // Without a driver that works nothing is loaded, from nowhere.
    library(&place, "driver/libcuda.so", VERSION);
    for variable in ["CUDA_HOME", "CUDA_PATH", "MIP_NVRTC_LIB"] {
        assert!(!loads(&[(variable, here)]) && !loads(&[(variable, folder)]), "{variable}");
    }
    library(&place, "driver/libcuda.so", &whole_driver());
    assert!(loads(&[("CUDA_HOME", here)]), "this test can fail");
    assert!(loads(&[("CUDA_PATH", here)]) && loads(&[("MIP_NVRTC_LIB", folder)]));
    for relative in ["", ".", "./", "../x/.."] {
        assert!(!loads(&[("CUDA_HOME", relative)]) && !loads(&[("CUDA_PATH", relative)]), "{relative:?}");
    }
    for relative in ["", "lib64", "./lib64"] {
        assert!(!loads(&[("MIP_NVRTC_LIB", relative)]), "{relative:?}");
    }
}
