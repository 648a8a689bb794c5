#!/usr/bin/env bash
# Prints the SBOM of `mip` (CycloneDX, JSON): what is linked into the program, with versions and licences. Called by .ci/release.sh.
#   bash .ci/sbom.sh TARGET    # the same text for the same commit, in any folder
# Needs cargo-cyclonedx: cargo install --locked --root target/tools cargo-cyclonedx
set -euo pipefail
cd "$(dirname "$0")/.."
target=$1
PATH=$PWD/target/tools/bin:$PATH
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}

# Of a copy: the tool writes a file beside every Cargo.toml, and counts what only tests of a crate switch on in another.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git archive HEAD Cargo.toml Cargo.lock crates examples docs README.md LICENSE-MIT LICENSE-APACHE | tar --extract --directory "$copy"
rm -r "$copy/crates/fuzzing"
for manifest in "$copy"/crates/*/Cargo.toml; do
  awk '/^\[/ { dev = $0 == "[dev-dependencies]" } !dev' "$manifest" >"$manifest.new"
  mv "$manifest.new" "$manifest"
done

# Everything was downloaded for the build; versions are those of Cargo.lock.
CARGO_NET_OFFLINE=true cargo-cyclonedx cyclonedx --quiet --manifest-path "$copy/crates/cli/Cargo.toml" --format json \
  --target "$target" --spec-version 1.5 --no-build-deps
sed "s#file://$copy/#file:///#g" "$copy/crates/cli/mip-cli.cdx.json"
