#!/bin/sh
# Creates sample.mp4: espeak-ng reads sample.txt, and the video shows the waveform. Needs espeak-ng and ffmpeg.
set -eu
cd "$(dirname "$0")"
speech=$(mktemp --suffix=.wav)
trap 'rm -f "$speech"' EXIT
espeak-ng -v en-us+steph -s 120 -g 1 -p 40 -f sample.txt -w "$speech"
ffmpeg -nostdin -v error -y -i "$speech" -filter_complex \
  "[0:a]showwaves=s=640x360:mode=cline:rate=12:colors=0x7aa2f7[wave];color=0x1a1b26:s=640x360:r=12[back];[back][wave]overlay=shortest=1,format=yuv420p[picture]" \
  -map '[picture]' -map 0:a -c:v libx264 -preset veryslow -crf 42 -c:a aac -b:a 48k -ac 1 -ar 24000 \
  -movflags +faststart sample.mp4
