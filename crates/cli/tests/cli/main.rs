//! `mip` as a user meets it: files, stdout, stderr, exit codes.

mod arrays;
mod bench;
mod book;
mod built_book;
mod commands;
mod damaged;
mod diagrams;
mod documents;
mod faults;
#[cfg(unix)]
mod files;
#[cfg(unix)]
mod folder;
mod formats;
#[cfg(target_os = "linux")]
mod gpu_jpeg;
#[cfg(target_os = "linux")]
mod gpu_video;
mod inputs;
#[cfg(target_os = "linux")]
mod libraries;
#[cfg(target_os = "linux")]
mod limits;
mod links;
mod manual;
mod markdown;
mod metadata;
mod pages;
#[cfg(feature = "profiling")]
mod profile;
mod reading;
mod requests;
mod run;
mod shell;
#[cfg(unix)]
mod signals;
mod snippets;
#[cfg(target_os = "linux")]
mod start;
#[cfg(unix)]
mod storm;
mod stream;
mod support;
mod texts;
#[cfg(target_os = "linux")]
mod video_files;
