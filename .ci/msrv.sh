#!/usr/bin/env bash
# Does what is published compile with the oldest Rust that Cargo.toml promises? Needs that toolchain, if it is not the one in use:
# rustup toolchain install VERSION
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
case "$version" in
  *.*.*) ;;
  *) version=$version.0 ;;
esac
# The toolchain in use may be the one.
toolchain=("+$version")
case "$(rustc --version)" in
  "rustc $version "*) toolchain=() ;;
esac
cargo "${toolchain[@]}" --version
cargo "${toolchain[@]}" check --quiet --locked --workspace --exclude mip-fuzzing --target-dir "${CARGO_TARGET_DIR:-target}/msrv"
cargo "${toolchain[@]}" check --quiet --locked -p mini-image-pipe --features image,ndarray --target-dir "${CARGO_TARGET_DIR:-target}/msrv"
echo "compiles with Rust $version"
