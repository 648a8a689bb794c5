//! `mip` as a user meets it: files, stdout, stderr, exit codes.

mod bench;
mod book;
mod commands;
mod damaged;
mod documents;
mod inputs;
#[cfg(target_os = "linux")]
mod libraries;
#[cfg(target_os = "linux")]
mod limits;
mod metadata;
mod pictures;
#[cfg(feature = "profiling")]
mod profile;
mod requests;
mod run;
mod stream;
mod support;
mod texts;
