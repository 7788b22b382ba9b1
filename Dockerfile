# One image for every process: docker run tintype migrate | api | worker | delivery | dispatcher | job hourly-rollup | doctor
# BASE needs Node 24 and nothing else; sources run as they are, there is no build.
ARG BASE=docker.io/library/node:24-bookworm-slim

FROM ${BASE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --omit=dev --no-audit --no-fund

FROM ${BASE}
LABEL org.opencontainers.image.title="tintype" \
      org.opencontainers.image.description="A multi-tenant image service for Kubernetes" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY runtime ./runtime
COPY operator ./operator
# A number and not a name, so that Kubernetes can see that it is not root.
USER 65532:65532
ENTRYPOINT ["node", "/app/runtime/main.ts"]
