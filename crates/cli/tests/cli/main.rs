//! `mip` as a user meets it: files, stdout, stderr, exit codes.

mod book;
mod bench;
mod commands;
mod damaged;
mod inputs;
#[cfg(feature = "profiling")]
mod profile;
mod requests;
mod run;
mod stream;
mod support;
