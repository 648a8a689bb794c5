#!/usr/bin/env bash
# Fuzzes: bash fuzz/run.sh [SECONDS] [TARGET...]     60 seconds each and all targets if left out; two run side by side.
# Every target runs to its end; exit code 1 when one of them found something. See docs/fuzzing.md.
#   SANITIZER=address   also finds wrong memory accesses in dependencies; builds and runs slower. Default: none
#   JOBS=N              targets side by side, 2 by default
#   SEED=N              the same inputs in the same order from the same corpus; left out, others each time
set -euo pipefail
cd "$(dirname "$0")"

seconds=${1:-60}
shift || true
sanitizer=${SANITIZER:-none}
seed=${SEED:-0} # 0: libFuzzer takes one from the clock
export CARGO_TARGET_DIR="$PWD/target/$sanitizer"
# cargo-fuzz instruments through flags of the compiler that are open to nightly toolchains only, unless this is set.
export RUSTC_BOOTSTRAP=1

tools="$PWD/target/tools"
export PATH="$tools/bin:$PATH"
if ! command -v cargo-fuzz >/dev/null &&
  ! CARGO_TARGET_DIR="$tools/build" cargo install --quiet --locked --root "$tools" cargo-fuzz; then
  echo "SKIPPED: no cargo-fuzz, and it could not be installed; nothing was fuzzed (cargo test replays seeds and found inputs)"
  exit 0
fi

if [ "$#" -gt 0 ]; then targets=("$@"); else mapfile -t targets < <(cargo fuzz list); fi
# Without `cfg(fuzzing)`: dependencies would leave out checksums and more, and what is found here would not be found
# again by the tests, nor by a user.
build=(cargo fuzz build --sanitizer "$sanitizer" --no-cfg-fuzzing)
if [ "${#targets[@]}" -eq 1 ]; then build+=("${targets[0]}"); fi
"${build[@]}"
binaries="$CARGO_TARGET_DIR/$(rustc -vV | sed -n 's/^host: //p')/release"

# One target. What it finds lies in artifacts/TARGET, what it learned in corpus/TARGET.
fuzz() {
  local target=$1 log="$PWD/artifacts/$1.log" dictionary=() known=("seeds/$1")
  mkdir -p "corpus/$target" "artifacts/$target"
  if [ -f "dictionaries/$target.dict" ]; then dictionary=("-dict=dictionaries/$target.dict"); fi
  if [ -d "found/$target" ]; then known+=("found/$target"); fi
  # MiB for all that libFuzzer keeps; what one input may take is counted by the target itself.
  local rss=1024
  if [ "$sanitizer" != none ]; then rss=3072; fi
  if "$binaries/$target" "corpus/$target" "${known[@]}" "${dictionary[@]}" \
    "-artifact_prefix=artifacts/$target/" "-max_total_time=$seconds" "-rss_limit_mb=$rss" -malloc_limit_mb=0 \
    "-seed=$seed" -timeout=60 -max_len=4096 -print_final_stats=1 >"$log" 2>&1; then
    printf '%-14s nothing found; %s inputs in %s s, coverage %s\n' "$target" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" "$seconds" \
      "$(grep -o 'cov: [0-9]*' "$log" | tail -n 1 | cut -c 6-)"
  else
    printf '%-14s FOUND SOMETHING; from artifacts/%s.log:\n' "$target" "$target"
    grep -E -A 2 'panicked at|ERROR|Test unit written' "$log" | head -n 40
    return 1
  fi
}
export -f fuzz
export binaries seconds sanitizer seed
printf '%s\n' "${targets[@]}" | xargs -P "${JOBS:-2}" -I{} bash -c 'fuzz {}' || exit 1
