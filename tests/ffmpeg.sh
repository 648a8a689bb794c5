#!/usr/bin/env bash
# `mip stream` between two real ffmpegs: order, count and pixels. Usage: tests/ffmpeg.sh PATH_OF_MIP
set -euo pipefail
mip=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
quiet=(-hide_banner -loglevel error -nostdin)
size=101x67 frames=25
source=(-f lavfi -i "testsrc2=size=$size:rate=25:duration=1" -vf "scale=${size%x*}:${size#*x}:flags=neighbor")

# Gray: the very bytes that ffmpeg's own filter gives.
ffmpeg "${quiet[@]}" "${source[@]}" -pix_fmt gray -f yuv4mpegpipe -strict -1 - |
  "$mip" stream -e flip --device cpu |
  ffmpeg "${quiet[@]}" -f yuv4mpegpipe -i - -f rawvideo -pix_fmt gray "$place/ours.raw"
ffmpeg "${quiet[@]}" "${source[@]}" -pix_fmt gray -f yuv4mpegpipe -strict -1 "$place/gray.y4m"
ffmpeg "${quiet[@]}" -i "$place/gray.y4m" -vf hflip -f rawvideo -pix_fmt gray "$place/theirs.raw"
cmp "$place/ours.raw" "$place/theirs.raw"
echo "gray $size: $frames frames equal to ffmpeg's hflip"

# Colour: there and back through RGB, every sampling; the same frames in the same order, close to what they were.
for format in yuv420p yuv422p yuv444p; do
  ffmpeg "${quiet[@]}" "${source[@]}" -pix_fmt "$format" -f yuv4mpegpipe "$place/in.y4m" -y
  "$mip" stream -e 'flip ! flip' --device cpu --frames-in-flight 3 <"$place/in.y4m" >"$place/out.y4m"
  "$mip" stream -e 'flip ! flip' --device cpu --frames-in-flight 1 <"$place/in.y4m" | cmp - "$place/out.y4m"
  [ "$(stat -c %s "$place/in.y4m")" -eq "$(stat -c %s "$place/out.y4m")" ] ||
    [ "$(grep -ac '^FRAME' "$place/in.y4m")" -eq "$(grep -ac '^FRAME' "$place/out.y4m")" ]
  psnr=$(ffmpeg -hide_banner -nostdin -i "$place/in.y4m" -i "$place/out.y4m" -lavfi psnr -f null - 2>&1 |
    sed -n 's/.*PSNR.* min:\([0-9.inf]*\).*/\1/p')
  echo "$format $size: the least similar frame has a PSNR of $psnr dB"
  awk -v p="$psnr" 'BEGIN { exit !(p == "inf" || p + 0 >= 30) }'
done
