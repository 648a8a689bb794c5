#!/usr/bin/env bash
# Fuzzes: bash fuzz/run.sh [SECONDS] [TARGET...]     60 seconds each and all targets if left out; two run side by side.
# Every target runs to its end; exit code 1 when one of them found something. See docs/fuzzing.md.
#   SANITIZER=address   also finds wrong memory accesses in dependencies; builds and runs slower. Default: none
#   JOBS=N              targets side by side, 2 by default
#   SEED=N              nearly the same inputs in the same order from the same corpus; left out, others each time
#   RUNS=N              ends after N inputs, from seeds and found inputs alone; SECONDS is then a limit that is said when
#                       it is met. RUNS=gate: as many as the gate tries of each target, which .ci/run does
set -euo pipefail
cd "$(dirname "$0")"

seconds=${1:-60}
shift || true
sanitizer=${SANITIZER:-none}
seed=${SEED:-0} # 0: libFuzzer takes one from the clock
runs=${RUNS:-}
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

# Inputs that the gate tries: what two slow cores try in some 15 seconds. A number and not a time, for a fast
# machine tries more in a minute, and finds what a slow one does not.
gate_runs() {
  case $1 in
    run) echo 400 ;;
    pipeline_line) echo 100000 ;;
    picture) echo 80000 ;;
    expression) echo 120000 ;;
    jpeg) echo 160000 ;;
    avif) echo 1500 ;;
    jxl) echo 10000 ;;
    pipeline_toml) echo 200000 ;;
    png) echo 400000 ;;
    y4m) echo 600000 ;;
    *) echo 40000 ;; # a target that is new
  esac
}

# One target. What it finds lies in artifacts/TARGET, what it learned in corpus/TARGET.
fuzz() {
  local target=$1 log="$PWD/artifacts/$1.log" wanted=$runs corpus="corpus/$1" options=()
  mkdir -p "artifacts/$target"
  if [ -n "$wanted" ]; then
    if [ "$wanted" = gate ]; then wanted=$(gate_runs "$target"); fi
    # Nothing that another run has learned, and nothing that depends on the time.
    corpus=$(mktemp -d)
    options+=("-runs=$wanted" -reload=0)
  fi
  mkdir -p "$corpus"
  if [ -f "dictionaries/$target.dict" ]; then options+=("-dict=dictionaries/$target.dict"); fi
  # As a list, for folders are read in another order on another machine.
  find "seeds/$target" "found/$target" -type f 2>/dev/null | LC_ALL=C sort | paste -sd, | tr -d '\n' >"artifacts/$target.inputs"
  # MiB for all that libFuzzer keeps; what one input may take is counted by the target itself.
  local rss=1024
  if [ "$sanitizer" != none ]; then rss=3072; fi
  local result=0 begun=$SECONDS
  "$binaries/$target" "$corpus" "-seed_inputs=@artifacts/$target.inputs" "${options[@]}" \
    "-artifact_prefix=artifacts/$target/" "-max_total_time=$seconds" "-rss_limit_mb=$rss" -malloc_limit_mb=0 \
    "-seed=$seed" -timeout=60 -max_len=4096 -print_final_stats=1 >"$log" 2>&1 || result=1
  if [ -n "$wanted" ]; then rm -r "$corpus"; fi
  if [ "$result" -ne 0 ]; then
    printf '%-14s FOUND SOMETHING; from artifacts/%s.log:\n' "$target" "$target"
    grep -E -A 2 'panicked at|ERROR|Test unit written' "$log" | head -n 40
    return 1
  fi
  local tried
  tried=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  printf '%-14s nothing found; %s inputs in %s s, coverage %s' "$target" "$tried" $((SECONDS - begun)) \
    "$(grep -o 'cov: [0-9]*' "$log" | tail -n 1 | cut -c 6-)"
  if [ -n "$wanted" ] && [ "$tried" -lt "$wanted" ]; then
    printf '; stopped after %s s, short of %s inputs' "$seconds" "$wanted"
  fi
  echo
}
export -f fuzz gate_runs
export binaries seconds sanitizer seed runs
printf '%s\n' "${targets[@]}" | xargs -P "${JOBS:-2}" -I{} bash -c 'fuzz {}' || exit 1
