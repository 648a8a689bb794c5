#!/usr/bin/env bash
# `mip stream` between two real ffmpegs: order, count and pixels; and video files through `mip run`. Usage: tests/ffmpeg.sh PATH_OF_MIP
set -euo pipefail
mip=$(realpath "$1")
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

# Video files. What ffprobe says of the video of a file, one entry a line; times of its frames; a hash of packets or frames.
says() { ffprobe -v error -select_streams v:0 -show_entries "stream=$2" -of default=nw=1 "$1" | sort; }
times() { ffprobe -v error -select_streams "${2-v:0}" -show_entries packet=pts_time -of csv=p=0 "$1" | sed 's/,.*//;/^$/d' | sort -n; }
hash() { ffmpeg "${quiet[@]}" -i "$1" "${@:2}" -f md5 -; }
same() { [ "$1" = "$2" ] || { printf '%s:\n%s\nis not\n%s\n' "$3" "$1" "$2" >&2; exit 1; }; }
cd "$place"
printf '1\n00:00:00,200 --> 00:00:01,000\nWords\n' >words.srt
# 25 of 50 frames, at uneven times; sound, subtitles, a title, a chapter; tags of their own; in a file that does not begin at 0.
printf ';FFMETADATA1\ntitle=A title\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=900\ntitle=One\n' >meta
tags=(-color_range tv -colorspace bt470bg -color_trc smpte170m -color_primaries bt470bg)
ffmpeg "${quiet[@]}" -f lavfi -i "testsrc2=size=96x64:rate=30000/1001:duration=2" -f lavfi -i sine=duration=2 -i words.srt -i meta \
  -map 0 -map 1 -map 2 -map_metadata 3 -map_chapters 3 -vf "select='not(mod(n,3)*mod(n,5))'" -fps_mode vfr "${tags[@]}" \
  -c:v libx264 -preset ultrafast -crf 5 -c:a aac -c:s mov_text in.mp4
entries=pix_fmt,color_range,color_space,color_transfer,color_primaries,chroma_location,time_base,width,height
"$mip" run -e flip --device cpu in.mp4 -o out.mp4 --crf 0
same "$(says out.mp4 $entries)" "$(says in.mp4 $entries)" "tags"
same "$(times out.mp4)" "$(times in.mp4)" "variable frame rate"
for streams in 0:a 0:s; do
  same "$(hash out.mp4 -map $streams -c copy)" "$(hash in.mp4 -map $streams -c copy)" "$streams"
done
same "$(times out.mp4 a:0)" "$(times in.mp4 a:0)" "times of sound"
ffprobe -v error -show_chapters -show_format out.mp4 | grep -q "title=A title"
[ "$(ffprobe -v error -show_chapters out.mp4 | grep -c 'TAG:title=One')" -eq 1 ]
# The frames that the pipeline sees are those of `ffmpeg | mip stream`: x264 without loss gives back what it got.
ffmpeg "${quiet[@]}" -i in.mp4 -map 0:v -fps_mode passthrough -f yuv4mpegpipe - |
  "$mip" stream -e flip --matrix 601 --device cpu >stream.y4m
same "$(hash out.mp4 -map 0:v -fps_mode passthrough -f rawvideo)" "$(hash stream.y4m -f rawvideo)" "frames"
"$mip" run -e flip --device cpu in.mp4 -o own.y4m
same "$(hash own.y4m -f rawvideo)" "$(hash stream.y4m -f rawvideo)" "frames written without ffmpeg"
"$mip" run -e flip --device cpu in.mp4 -o own.yuv
same "$(ffmpeg "${quiet[@]}" -f rawvideo -pix_fmt yuv420p -s 96x64 -i own.yuv -f md5 -)" "$(hash stream.y4m -f rawvideo)" "samples without headers"
echo "in.mp4 -> out.mp4: frames, times, tags, sound, subtitles, title and chapter kept"

# A transport stream: its own clock, sound that begins before the video; then Matroska.
ffmpeg "${quiet[@]}" -i in.mp4 -map 0:v -map 0:a -c copy in.ts
offset() { echo "$(times "$1" v:0 | head -1) $(times "$1" a:0 | head -1)" | awk '{ printf "%.2f", $1 - $2 }'; }
"$mip" run -e 'gaussian_blur kernel=3 inputs=@input-y' --device cpu in.ts -o ts.mkv
same "$(offset ts.mkv)" "$(offset in.ts)" "sound and video of a transport stream"
same "$(times ts.mkv | wc -l)" "$(times in.ts | wc -l)" "frames of a transport stream"

# Frames picked: the rate of every fifth, the beginning of a part, and its sound.
ffmpeg "${quiet[@]}" -f lavfi -i "testsrc2=size=96x64:rate=25:duration=2" -f lavfi -i sine=duration=2 -c:v libx264 -c:a aac cfr.mp4
"$mip" run -e flip --device cpu cfr.mp4 -o fifth.mp4 --every 5
same "$(says fifth.mp4 avg_frame_rate,nb_frames,duration)" "$(printf 'avg_frame_rate=5/1\nduration=2.000000\nnb_frames=10')" "every fifth"
"$mip" run -e flip --device cpu cfr.mp4 -o part.mp4 --frames 10..20 --crf 0
same "$(says part.mp4 nb_frames,start_time,duration)" "$(printf 'duration=0.400000\nnb_frames=10\nstart_time=0.000000')" "a part"
ffprobe -v error -select_streams a -show_entries stream=duration -of csv=p=0 part.mp4 |
  awk '{ if ($1 < 0.35 || $1 > 0.47) { print "sound of a part lasts", $1; exit 1 } }'
"$mip" run -e flip --device cpu cfr.mp4 -o whole.mp4 --crf 0
same "$(hash part.mp4 -map 0:v -f rawvideo)" "$(hash whole.mp4 -map 0:v -vf trim=start_frame=10:end_frame=20 -f rawvideo)" "frames of a part"
echo "frames picked: rate, beginning, sound and pixels as they should be"

# Turned: results are upright, and nothing says to turn them again. Ten bits; full range.
ffmpeg "${quiet[@]}" -i cfr.mp4 -map 0:v -c copy -metadata:s:v:0 rotate=90 turned.mp4 2>/dev/null
ffprobe -v error -show_streams turned.mp4 | grep -q rotation= ||
  ffmpeg "${quiet[@]}" -display_rotation 90 -i cfr.mp4 -map 0:v -c copy -y turned.mp4
ffprobe -v error -show_streams turned.mp4 | grep -q rotation=
"$mip" run -e 'flip ! flip' --device cpu turned.mp4 -o upright.mp4
same "$(says upright.mp4 width,height)" "$(printf 'height=96\nwidth=64')" "turned"
if ffprobe -v error -show_streams upright.mp4 | grep -q rotation=; then echo "turned twice"; exit 1; fi
ffmpeg "${quiet[@]}" -i cfr.mp4 -map 0:v -frames:v 5 -pix_fmt yuv420p10le -c:v libx264 ten.mkv
"$mip" run -e 'gaussian_blur kernel=3 inputs=@input-y' --device cpu ten.mkv -o ten.mp4
same "$(says ten.mp4 pix_fmt)" "pix_fmt=yuv420p10le" "ten bits"
ffmpeg "${quiet[@]}" -i cfr.mp4 -map 0:v -frames:v 5 -pix_fmt yuvj420p -c:v mjpeg full.avi
"$mip" run -e flip --device cpu full.avi -o full.mp4 --crf 0
ffmpeg "${quiet[@]}" -i full.avi -f yuv4mpegpipe - | "$mip" stream -e flip --matrix 601 --range full --device cpu >full.y4m
same "$(hash full.mp4 -pix_fmt yuvj420p -f rawvideo)" "$(hash full.y4m -pix_fmt yuvj420p -f rawvideo)" "full range"
echo "turned, ten bits and full range"

# Out to pictures and in again.
"$mip" run -e flip --device cpu cfr.mp4 -o 'p/%04d.png' --frames 5..15 --every 3
same "$(ls p)" "$(printf '0005.png\n0008.png\n0011.png\n0014.png')" "pictures"
"$mip" run -e flip --device cpu 'p/%04d.png' -o p.webm --rate 10
same "$(times p.webm | tr '\n' ' ')" "0.000000 0.100000 0.200000 0.300000 " "a video of pictures"
# What ffmpeg refuses is said in its words, and nothing is left.
head -c 3000 in.mp4 >cut.mp4
if "$mip" run -e flip --device cpu cut.mp4 -o never.mp4 2>said; then exit 1; fi
grep -q 'moov atom not found' said && [ ! -e never.mp4 ] && [ -z "$(find . -name '.mip-*')" ]
echo "pictures out and in; a file that is cut is refused"
