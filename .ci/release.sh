#!/usr/bin/env bash
# Builds target/dist/mip-VERSION-TARGET.tar.gz: `mip`, completions, man pages, licences, SBOM, checksums. The same commit, toolchain and
# linker give the same bytes in any folder and at any time: names of folders are remapped, times are the commit's.
#   bash .ci/release.sh [TARGET]    # the host's target if left out; what is built is run, so it must run here
# Needs Rust, git, GNU tar, gzip, and for the SBOM cargo-cyclonedx: cargo install --locked --root target/tools cargo-cyclonedx
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
target_dir=${CARGO_TARGET_DIR:-$root/target}
tools=$root/target/tools/bin
PATH=$tools:$PATH

if [ -n "$(git status --porcelain)" ]; then
  echo "there are changes that no commit has, and an archive names its commit: commit or stash them first" >&2
  exit 2
fi
if ! command -v cargo-cyclonedx >/dev/null; then
  echo "no cargo-cyclonedx, which writes the SBOM: cargo install --locked --root target/tools cargo-cyclonedx" >&2
  exit 2
fi

target=${1:-$(rustc -vV | sed -n 's/^host: //p')}
version=$(cargo pkgid -p mip-cli | sed 's/.*[@#]//')
name=mip-$version-$target
dist=$root/target/dist
stage=$dist/$name
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
MIP_COMMIT=$(git rev-parse --short=12 HEAD)
export SOURCE_DATE_EPOCH MIP_COMMIT LC_ALL=C TZ=UTC
umask 022

# A target folder of its own: other flags would make everything else compile anew. Where two prefixes fit, the later counts.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_RELEASE_STRIP=symbols
export RUSTFLAGS="--remap-path-prefix=$root=/mip --remap-path-prefix=$target_dir=/target --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
cargo build --release --locked -p mip-cli --target "$target" --target-dir "$target_dir/release-archive"
unset RUSTFLAGS

rm -rf "$stage" "$dist/$name.tar.gz"
mkdir -p "$stage/completions"
mip=$stage/mip
cp "$target_dir/release-archive/$target/release/mip" "$mip"
for folder in "$root" "$target_dir" "${CARGO_HOME:-$HOME/.cargo}"; do
  if grep -qF -- "$folder/" "$mip"; then
    echo "the program names the folder $folder: it would differ elsewhere" >&2
    exit 1
  fi
done
bytes=$(wc -c <"$mip")
# What grows shows here and not at a user's; whoever releases may decide that it is worth it.
limit=${MIP_SIZE_LIMIT:-14000000}
if [ "$bytes" -ge "$limit" ]; then
  echo "the program has $bytes bytes, and the limit is $limit: cargo bloat --release -p mip-cli tells what grew; MIP_SIZE_LIMIT sets another" >&2
  exit 1
fi

[ "$("$mip" --version)" = "mip $version" ]
"$mip" completions bash >"$stage/completions/mip.bash"
"$mip" completions zsh >"$stage/completions/_mip"
"$mip" completions fish >"$stage/completions/mip.fish"
"$mip" man "$stage/man/man1" >/dev/null
cp LICENSE-MIT LICENSE-APACHE README.md CHANGELOG.md "$stage"
bash .ci/sbom.sh "$target" >"$stage/sbom.cdx.json"

(cd "$stage" && find . -type f ! -name SHA256SUMS | sed 's#^\./##' | sort | xargs sha256sum >SHA256SUMS)
tar --create --directory "$dist" --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mode='u=rwX,go=rX' \
  --mtime="@$SOURCE_DATE_EPOCH" "$name" | gzip -9 -n >"$dist/$name.tar.gz"
(cd "$dist" && sha256sum "$name.tar.gz" | tee "$name.tar.gz.sha256")
echo "$dist/$name.tar.gz: $(wc -c <"$dist/$name.tar.gz") bytes, mip in it $bytes"
