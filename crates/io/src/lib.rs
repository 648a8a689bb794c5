//! mip-io.
