#!/usr/bin/env bash
# Builds the book into target/book and checks every link of what was built. Uses mdbook where it is found, or installs it
# into target/tools; says so plainly when there is neither.
set -euo pipefail
cd "$(dirname "$0")/.."

export PATH="$PWD/target/tools/bin:$PATH"
if ! command -v mdbook >/dev/null; then
  echo "installing mdbook into target/tools: some minutes, once"
  CARGO_TARGET_DIR=$PWD/target/tools/build cargo install mdbook --locked --no-default-features --quiet --root target/tools || true
  rm -rf target/tools/build
fi
if ! command -v mdbook >/dev/null; then
  echo "SKIPPED: no mdbook, and none could be installed; the links of the book's sources are tested without it"
  exit 0
fi

# Pages that no longer exist would stay, and links to them would seem to lead somewhere.
rm -rf target/book
mkdir -p target
mdbook build 2>&1 | tee target/book.log
if grep -E 'WARN|ERROR' target/book.log; then
  echo "mdbook warns"
  exit 1
fi

cargo test --quiet -p mip-cli --test cli built_book -- --ignored
echo "the book: target/book/index.html"
