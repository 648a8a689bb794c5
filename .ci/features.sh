#!/usr/bin/env bash
# Does the crate mini-image-pipe compile with every combination of its features? Some 220 of them; minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

count=0
for io in "" io "io exr" "io webp" "io exr webp" "io jxl" "io avif"; do
  for ((mask = 0; mask < 32; mask++)); do
    features=$io
    bit=0
    for feature in cpu cuda profiling image ndarray; do
      if (((mask >> bit) & 1)); then features+=" $feature"; fi
      bit=$((bit + 1))
    done
    if ! cargo clippy --quiet -p mini-image-pipe --lib --no-default-features --features "$features" -- -D warnings; then
      echo "does not compile with the features: ${features:-none}" >&2
      exit 1
    fi
    count=$((count + 1))
  done
done
echo "compiles with all $count combinations of features"
