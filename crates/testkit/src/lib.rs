//! mip-testkit.
