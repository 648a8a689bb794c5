#!/usr/bin/env bash
# Writes the public interface of the crate mini-image-pipe, an item a line, to docs/api/mini-image-pipe.txt; with --check compares with what is
# there. A change of the interface then shows in a diff.
# Needs cargo-public-api: cargo install --locked --root target/tools cargo-public-api
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PWD/target/tools/bin:$PATH
listing=docs/api/mini-image-pipe.txt
json=${CARGO_TARGET_DIR:-target}/doc/mini_image_pipe.json

case "${1:-}" in
  "" | --check) ;;
  *) echo "usage: bash .ci/public-api.sh [--check]" >&2; exit 2 ;;
esac
if ! command -v cargo-public-api >/dev/null; then
  echo "no cargo-public-api: cargo install --locked --root target/tools cargo-public-api" >&2
  exit 2
fi

# JSON is a nightly feature of rustdoc, and this is the stable one of the toolchain in use.
RUSTC_BOOTSTRAP=1 cargo rustdoc --quiet -p mini-image-pipe --lib --features image,ndarray -- -Z unstable-options --output-format json
# Without what traits give to every type.
new=$(cargo-public-api --rustdoc-json "$json" -sss)

if [ "${1:-}" = --check ]; then
  if ! diff -u "$listing" - <<<"$new"; then
    echo "the public interface has changed: look at the lines above, then write it anew with bash .ci/public-api.sh" >&2
    exit 1
  fi
else
  mkdir -p "$(dirname "$listing")"
  printf '%s\n' "$new" >"$listing"
  echo "$listing: $(wc -l <"$listing") items"
fi
