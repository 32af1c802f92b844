# Subtext as a container: everything in one process tree by default, `--role api` or `--role worker` for many.
# docs/deploy.md explains how to run it; scripts/check-container tests every step below without a container engine.

# The Node.js version of package.json; a test compares the two.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim
ARG DEBIAN_IMAGE=debian:bookworm-slim

# --- Node.js without debug symbols, and an ffmpeg that decodes audio and common video --------------------
# Debian's package ffmpeg takes 284 MB with its libraries: see docs/decisions/0064-image-contents.md. All demuxers are
# included, so that errors can name the format of an unsupported file.
FROM ${NODE_IMAGE} AS programs
WORKDIR /build
RUN sed --in-place 's/^Types: deb$/Types: deb deb-src/' /etc/apt/sources.list.d/debian.sources \
 && apt-get update \
 && apt-get install -y --no-install-recommends dpkg-dev gcc libc6-dev make nasm zlib1g-dev \
 && apt-get source ffmpeg
RUN cd ffmpeg-*/ \
 && audio=$(sed -n '/^\/\* audio codecs/,/^\/\* subtitles/s/^extern const FFCodec ff_\(\w*\)_decoder;/\1/p' libavcodec/allcodecs.c) \
 && filters=aformat,aresample,pan,select,trim,scale,setsar,format,transpose,hflip,vflip \
 && video=h263,h264,hevc,mjpeg,mpeg1video,mpeg2video,mpeg4,msmpeg4v2,msmpeg4v3,prores,dvvideo,theora,vp8,vp9 \
 && ./configure --disable-autodetect --enable-zlib --disable-debug --disable-doc --disable-ffplay \
      --disable-avdevice --disable-postproc \
      --disable-decoders --enable-decoder="$(echo $audio speex s302m dvaudio $video | tr ' ' ,)" \
      --disable-encoders --enable-encoder=pcm_f32le,mjpeg --disable-muxers --enable-muxer=matroska,mjpeg \
      --disable-filters --enable-filter=$filters --disable-protocols --enable-protocol=file,pipe \
      --extra-cflags="$(dpkg-buildflags --get CFLAGS) $(dpkg-buildflags --get CPPFLAGS) -g0" \
      --extra-ldflags="$(dpkg-buildflags --get LDFLAGS)" \
 && make --jobs="$(nproc)" \
 && make install-progs \
 && install -D --mode=0644 --target-directory=/usr/share/doc/ffmpeg COPYING.LGPLv2.1 debian/copyright \
 && dpkg-parsechangelog --show-field Version > /usr/share/doc/ffmpeg/version \
 && strip /usr/local/bin/node \
 && rm -r /build/*

# --- The npm packages, built and installed --------------------------------------------------------------------
FROM ${NODE_IMAGE} AS packages
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY captions/package.json captions/
COPY client/package.json client/
COPY dashboard/package.json dashboard/
COPY speech/package.json speech/
COPY server/package.json server/
COPY demo/package.json demo/
COPY bench/package.json bench/
COPY test/faults/package.json test/faults/
COPY examples/package.json examples/
RUN npm ci --ignore-scripts
COPY . .
# Without optional packages there is no node-av: the image has ffmpeg.
RUN npm run --silent package \
 && npm install --prefix /app --omit=optional ./dist-packages/*.tgz
WORKDIR /app
RUN npm pkg set name=subtext version="$(node -p 'require("/build/package.json").version')" \
 && npm sbom --omit=dev --omit=optional --sbom-format=cyclonedx > sbom.cdx.json \
 && arch=$(node -p process.arch) \
 && find node_modules -path '*/prebuilds/*' -prune ! -name "linux-$arch" -exec rm -r {} + \
 && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

# --- Debian with what the service needs ----------------------------------------------------------------------------
FROM ${DEBIAN_IMAGE} AS system
RUN apt-get update \
 && apt-get install -y --no-install-recommends libstdc++6 tini \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/apt /var/log/dpkg.log \
 && groupadd --gid 10001 subtext \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin subtext \
 && install --directory --owner 10001 --group 10001 --mode 0700 /data /models \
 && ln -s /app/node_modules/.bin/subtext /usr/local/bin/subtext

# --- The list of everything in the image ---------------------------------------------------------------------
FROM packages AS contents
COPY --from=system /usr/lib/os-release /system/usr/lib/os-release
COPY --from=system /var/lib/dpkg/status /system/var/lib/dpkg/status
COPY --from=system /usr/share/doc /system/usr/share/doc
COPY --from=programs /usr/share/doc/ffmpeg /system/usr/share/doc/ffmpeg
RUN node /build/packaging/image-sbom.ts sbom.cdx.json /system

# --- What runs --------------------------------------------------------------------------------------------
FROM system
COPY --from=programs /usr/local/bin/node /usr/local/bin/ffmpeg /usr/local/bin/ffprobe /usr/local/bin/
COPY --from=programs /usr/share/doc/ffmpeg /usr/share/doc/ffmpeg
COPY --from=contents /app /app

LABEL org.opencontainers.image.title="Subtext" \
      org.opencontainers.image.description="Self-hosted transcription of every uploaded video" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
WORKDIR /app
USER 10001:10001
EXPOSE 8080
# Uses the shell, because starting Node.js every 30 seconds would dominate the CPU time of an idle service.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$PORT && printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3 && read -r line <&3 && [[ $line == *' 200 '* ]]"]
# tini is process 1: it forwards SIGTERM, even before the service handles it, and reaps the decoders of engines
# that were killed.
ENTRYPOINT ["tini", "--", "subtext"]
CMD ["serve"]
