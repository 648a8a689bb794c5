#!/usr/bin/env bash
# What a GPU machine has to show, correctness before speed. Needs `mip` and `parity` built elsewhere or here:
#   cargo build --release -p mip-cli -p mip-cuda --bin mip --example parity
# Usage: check.sh FOLDER_OF_BINARIES FOLDER_FOR_LOGS [validate|parity|sanitize|time]...
set -u
bin=$1 out=$2
shift 2
mkdir -p "$out"
[ -n "${MIP_NVRTC_LIB:-}" ] || export MIP_NVRTC_LIB=/usr/local/cuda/lib64
failed=0
step() {
  name=$1
  shift
  echo "== $name"
  timeout "${LIMIT:-240}" "$@" >"$out/$name.log" 2>"$out/$name.err"
  rc=$?
  tail -n "${TAIL:-40}" "$out/$name.log" | cut -c1-250
  [ $rc -eq 0 ] || { failed=1; echo "$name: exit $rc"; tail -n 15 "$out/$name.err" | cut -c1-400; }
}
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
step devices "$bin/mip" devices
for what in "$@"; do
  case $what in
    validate) step validate "$bin/mip" validate --device cuda --repeat "${REPEAT:-2000}" --graphs 60 ;;
    parity) step parity "$bin/parity" --every "${EVERY:-5}" ;;
    sanitize)
      # The check that runs into a fault does so on purpose. initcheck takes copies of fewer than 16 bytes for whole ones.
      for tool in memcheck racecheck initcheck; do
        exact=$([ $tool = initcheck ] && echo 1 || echo 0)
        step "$tool" env MIP_EXACT_COPIES=$exact compute-sanitizer --tool $tool --error-exitcode 9 "$bin/mip" validate --device cuda --skip "attributed to its task" --small --repeat 5 --graphs 5
      done ;;
    time) step time "$bin/parity" --time ;;
  esac
done
exit $failed
