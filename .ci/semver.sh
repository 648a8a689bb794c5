#!/usr/bin/env bash
# Is the version right for what has changed in the public interfaces since the last release, or since the commit that is given?
#   bash .ci/semver.sh [COMMIT]
# Needs cargo-semver-checks: cargo install --locked --root target/tools cargo-semver-checks
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PWD/target/tools/bin:$PATH

# The tag of this very commit is the release that is being made.
baseline=${1:-$(git describe --tags --abbrev=0 --match 'v[0-9]*' 'HEAD^' 2>/dev/null || true)}
if [ -z "$baseline" ]; then
  echo "SKIPPED: no release before this one, so there is nothing to compare with"
  exit 0
fi
if ! command -v cargo-semver-checks >/dev/null; then
  echo "no cargo-semver-checks: cargo install --locked --root target/tools cargo-semver-checks" >&2
  exit 2
fi
# `mip` is a program and mip-fuzzing is not published.
cargo-semver-checks semver-checks --workspace --exclude mip-cli --exclude mip-fuzzing --baseline-rev "$baseline"
