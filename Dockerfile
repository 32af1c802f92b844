# Subtext as a container: everything in one process tree by default, `--role api` or `--role worker` for many.
# docs/deploy.md explains how to run it; scripts/check-container tests every step below without a container engine.

# The Node.js version of package.json; a test compares the two.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim
ARG DEBIAN_IMAGE=debian:bookworm-slim

# --- The pages of the dashboard ---------------------------------------------------------------------------
FROM ${NODE_IMAGE} AS dashboard
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
RUN npm ci --ignore-scripts --no-audit
COPY client client
COPY dashboard dashboard
COPY server/src/admin/contract server/src/admin/contract
COPY server/src/db/enums.ts server/src/db/
RUN npm run build -w @subtext/dashboard

# --- The documentation site -----------------------------------------------------------------------------------
FROM ${NODE_IMAGE} AS site
WORKDIR /build/site
COPY site/package.json site/package-lock.json site/.npmrc site/tsconfig.json ./
RUN npm ci --ignore-scripts
COPY site/.vitepress .vitepress
COPY site/public public
COPY site/src src
COPY docs ../docs
RUN npm run build

# --- Only the packages that the service uses --------------------------------------------------------------
FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY captions/package.json captions/
COPY client/package.json client/
COPY speech/package.json speech/
COPY server/package.json server/
# The image's own Node.js replaces the npm package, and Debian's ffmpeg replaces node-av.
RUN npm pkg set --json 'workspaces=["captions","client","speech","server"]' \
 && npm pkg delete scripts dependencies devDependencies \
 && npm pkg delete --workspaces devDependencies optionalDependencies \
 && npm ci --omit=dev --omit=optional --ignore-scripts --no-audit \
 && npm sbom --omit=dev --omit=optional --sbom-format=cyclonedx > sbom.cdx.json
# Libraries for other platforms, and files that only debuggers and compilers read.
RUN arch=$(node -p process.arch) \
 && find node_modules/onnxruntime-node/bin -mindepth 3 -maxdepth 3 ! -path "*/linux/$arch" -exec rm -r {} + \
 && find node_modules/fs-native-extensions/prebuilds -mindepth 1 -maxdepth 1 ! -name "linux-$arch" -exec rm -r {} + \
 && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

# --- What runs --------------------------------------------------------------------------------------------
FROM ${DEBIAN_IMAGE}
# Debian's ffmpeg brings graphics drivers, a quarter of the image. They are loaded by name if there is a screen or a
# graphics card, so nothing here needs them.
RUN apt-get update \
 && apt-get install -y --no-install-recommends ffmpeg libstdc++6 tini \
 && cd /usr/lib/*-linux-gnu && rm -rf dri libLLVM-* libz3.so* mfx libmfxhw64* && ffmpeg -version > /dev/null && cd / \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/apt /var/log/dpkg.log \
 && groupadd --gid 10001 subtext \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin subtext \
 && install --directory --owner 10001 --group 10001 --mode 0700 /data /models \
 && ln -s /app/server/bin/subtext.js /usr/local/bin/subtext
COPY --from=packages /usr/local/bin/node /usr/local/bin/node
COPY --from=packages /app /app
COPY LICENSE /app/LICENSE
COPY --from=dashboard /build/dashboard/dist /app/dashboard/dist
COPY --from=site /build/site/dist /app/site/dist
COPY captions/src /app/captions/src
COPY client/src /app/client/src
COPY speech/bin /app/speech/bin
COPY speech/src /app/speech/src
COPY server/bin /app/server/bin
COPY server/src /app/server/src

LABEL org.opencontainers.image.title="Subtext" \
      org.opencontainers.image.description="Self-hosted transcription of every uploaded video" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
WORKDIR /app
USER 10001:10001
EXPOSE 8080
# The shell's own socket: starting Node.js every half minute would dominate the idle cost.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$PORT && printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3 && read -r line <&3 && [[ $line == *' 200 '* ]]"]
# tini is process 1: it forwards SIGTERM, even before the service handles it, and reaps the decoders of engines
# that were killed.
ENTRYPOINT ["tini", "--", "node", "server/bin/subtext.js"]
CMD ["serve"]
