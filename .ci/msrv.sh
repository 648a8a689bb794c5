#!/usr/bin/env bash
# Does what is published compile with the oldest Rust that Cargo.toml promises? Needs that toolchain: rustup toolchain install VERSION
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
case "$version" in
  *.*.*) ;;
  *) version=$version.0 ;;
esac
cargo "+$version" --version
cargo "+$version" check --quiet --locked --workspace --exclude mip-fuzzing --target-dir "${CARGO_TARGET_DIR:-target}/msrv"
cargo "+$version" check --quiet --locked -p mini-image-pipe --features image,ndarray --target-dir "${CARGO_TARGET_DIR:-target}/msrv"
echo "compiles with Rust $version"
