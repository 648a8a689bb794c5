//! `mip` as a user meets it: files, stdout, stderr, exit codes.

mod bench;
mod book;
mod commands;
mod damaged;
mod documents;
#[cfg(unix)]
mod files;
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
#[cfg(unix)]
mod signals;
mod stream;
mod support;
mod texts;
