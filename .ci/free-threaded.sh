#!/usr/bin/env bash
# The Python package where Python has no GIL: its wheel for CPython 3.14t, and the tests under a free-threaded interpreter. Not a part of
# .ci/run: the first time takes half an hour, most of it for compiling. What it cannot do here it skips, and says so.
#
# The interpreter is MIP_PYTHON_FREE_THREADED or python3.14t, where there is one. Else CPython is built without the GIL from the source package
# of Debian: of 3.14 where the mirror has it, else of 3.13. For 3.13t a copy of the package is built with PyO3 0.28, the last that knows it.
#
# MIP_PYTHON_RELEASE=1 builds as for a release; MIP_THREADS_SECONDS (120) is how long threads call everything at once. Needs Rust, Python 3.11
# with pip, and to build CPython apt, a C compiler, make, zlib1g-dev, libffi-dev and libssl-dev.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target} CARGO_INCREMENTAL=0
work=$CARGO_TARGET_DIR/free-threaded
release=${MIP_PYTHON_RELEASE:+--release}
mkdir -p "$work"

step() { printf '\n== %s (%ss)\n' "$1" "$SECONDS"; }
skip() {
  echo "SKIPPED: $1"
  exit 0
}

step "tools"
has_tools() { python3 -m venv "$work/tools" && "$work/tools/bin/python" -m pip install --quiet --disable-pip-version-check maturin; }
has_tools || skip "no Python 3.11 with pip and maturin; nothing is built or tested"
maturin=$work/tools/bin/maturin

step "the wheel for CPython 3.14t"
# maturin knows this interpreter without having it: the wheel is built where only the tests below need one.
rm -rf "$work/wheels"
(cd crates/python && "$maturin" build --quiet --locked $release --interpreter python3.14t --out "$work/wheels")
ls -l "$work"/wheels/*-cp314-cp314t-*.whl

# Fetches the newest source of these Debian packages that the mirror has, the first package first, by a list of apt's of its own.
fetch_source() {
  local mirror package version
  mirror=$(apt-get indextargets --format '$(SITE)' | grep '/debian$' | sort -u | head -n 1) && [ -n "$mirror" ] || return 1
  mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial" "$work/source"
  printf "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror %s main\n" sid trixie > "$work/apt/sources.list"
  local apt=(-qq -o Dir::Etc::SourceList="$work/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
  apt-get "${apt[@]}" update || return 1
  for package in "$@"; do
    for version in $(apt-cache "${apt[@]}" showsrc --only-source "$package" | sed -n 's/^Version: //p' | sort -V -r -u); do
      if (cd "$work/source" && apt-get "${apt[@]}" source --download-only "$package=$version") > "$work/apt/log" 2>&1; then
        echo "$package $version"
        return
      fi
      echo "the mirror has no source of $package $version" >&2
    done
  done
  return 1
}

build_cpython() {
  local found
  command -v apt-get > "$work/log" && command -v cc > "$work/log" && command -v make > "$work/log" || return 1
  found=$(fetch_source python3.14 python3.13) || return 1
  echo "building CPython without the GIL: $found"
  rm -rf "$work/cpython"
  mkdir -p "$work/cpython/build"
  tar -xf "$work/source/${found% *}"_*.orig.tar.* -C "$work/cpython" --strip-components 1 || return 1
  (cd "$work/cpython/build" && ../configure -q --prefix="$work/python" --disable-gil --disable-test-modules --with-ensurepip=install OPT="-DNDEBUG -O2" &&
    make -s -j "$(nproc)" && make -s install) > "$work/cpython.log" 2>&1 || { tail -n 20 "$work/cpython.log"; return 1; }
  rm -rf "$work/cpython" "$work/source" "$work/apt"
}

step "an interpreter without the GIL"
interpreter() {
  local python
  for python in "${MIP_PYTHON_FREE_THREADED:-}" "$(command -v python3.14t)" "$work"/python/bin/python3.1?t; do
    if [ -x "$python" ]; then
      echo "$python"
      return
    fi
  done
  return 1
}
python=$(interpreter) || { build_cpython && python=$(interpreter); } || skip "no python3.14t, and none can be built here; the wheel is not tested"
"$python" -c 'import sys; print(sys.version); assert not sys._is_gil_enabled()'
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
[[ $version = 3.1[34] ]] || skip "the package is built for no free-threaded Python $version; the wheel is not tested"

step "the tests' packages"
"$python" -m venv --clear "$work/venv"
venv=$work/venv/bin/python
pip=("$venv" -m pip --quiet --disable-pip-version-check)
"${pip[@]}" install --only-binary :all: numpy pillow pytest hypothesis
"${pip[@]}" install --only-binary :all: opencv-python-headless 2> "$work/log" ||
  echo "SKIPPED: OpenCV has no wheel for this interpreter; the tests that compare with it are left out"

if [ "$version" = 3.13 ]; then
  step "the package for CPython 3.13t, with PyO3 0.28"
  crate=$work/crate
  rm -rf "$crate"
  mkdir "$crate"
  git ls-files crates/python | tar -cf - -T - | tar -xf - -C "$crate" --strip-components 2
  sed -i "s|path = \"../mini-image-pipe\"|path = \"$root/crates/mini-image-pipe\"|; s|^pyo3 = .*|pyo3 = \"0.28\"|" "$crate/Cargo.toml"
  # maturin no longer knows this interpreter either.
  (cd "$crate" && cargo update --quiet --package pyo3 && PYO3_BUILD_EXTENSION_MODULE=1 PYO3_PYTHON=$python cargo build --quiet $release)
  profile=${release:+release}
  cp "$CARGO_TARGET_DIR/${profile:-debug}/lib_native.so" "$crate/python/mini_image_pipe/_native$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')"
  echo "$crate/python" > "$("$venv" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/mini_image_pipe.pth"
else
  "${pip[@]}" install --no-deps "$work"/wheels/*-cp314-cp314t-*.whl
fi

# Not with -X gil=0, which would hide a module that asks for the GIL: test_free_threading.py asserts that none has.
step "the tests"
tests=(crates/python/tests/test_*.py)
"$venv" -c 'import cv2' 2> "$work/log" || mapfile -t tests < <(grep -L '^import cv2' "${tests[@]}")
"$venv" -m pytest --quiet -p no:cacheprovider -rs "${tests[@]}"

step "threads that call everything at once"
MIP_THREADS_SECONDS=${MIP_THREADS_SECONDS:-120} "$venv" -m pytest --quiet -p no:cacheprovider -s crates/python/tests/test_free_threading.py
"$venv" benchmarks/python/leaks.py --calls 100000 --threads 8
"$venv" benchmarks/python/threads.py

step "done"
