//! `mip` as a user meets it: files, stdout, stderr, exit codes.

mod bench;
mod book;
mod commands;
mod damaged;
mod inputs;
#[cfg(target_os = "linux")]
mod limits;
mod pictures;
#[cfg(feature = "profiling")]
mod profile;
mod requests;
mod run;
mod stream;
mod support;
