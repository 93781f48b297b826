# Sentry for production: PostgreSQL and Chroma are separate (see compose.yaml), so nothing embedded is inside.
# Debian, not Alpine: some packages bring binaries for glibc only.
#
# To build on one base for good: docker build --build-arg BASE=node:20-bookworm-slim@sha256:… (the digest that your registry
# names for it; `docker buildx imagetools inspect node:20-bookworm-slim` prints it).

ARG BASE=node:20-bookworm-slim

FROM ${BASE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# With optional packages: the compiler's own program is one.
RUN npm ci --include=dev --include=optional --ignore-scripts
# .dockerignore names what there is to copy.
COPY . .
RUN node scripts/build.mjs

FROM ${BASE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Optional packages are the embedded servers' programs; chromadb's own binding is one of them and is not needed to
# talk to a server.
RUN npm ci --omit=dev --omit=optional --ignore-scripts && npm cache clean --force
# What is inside, for scanners: /app/sbom.cdx.json (CycloneDX 1.5).
RUN npm sbom --package-lock-only --omit=dev --omit=optional --sbom-format=cyclonedx > sbom.cdx.json

FROM ${BASE}
ENV NODE_ENV=production \
    SENTRY_DATA_DIR=/data \
    SENTRY_HTTP_HOST=0.0.0.0 \
    SENTRY_HTTP_PORT=3000
# A user of its own, without shell and home; /data is all it can write.
RUN groupadd --gid 10001 sentry \
 && useradd --no-log-init --uid 10001 --gid sentry --no-create-home --shell /usr/sbin/nologin sentry \
 && install --directory --owner=sentry --group=sentry --mode=0750 /data
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=dependencies /app/sbom.cdx.json ./sbom.cdx.json
COPY --from=build /app/dist ./dist
COPY package.json LICENSE manifest.yml ./
COPY prisma ./prisma
COPY runbooks ./runbooks
COPY deploy ./deploy
COPY evals/incidents ./evals/incidents
USER 10001:10001
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.SENTRY_HTTP_PORT + '/health', { signal: AbortSignal.timeout(2500) }).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1: it gets SIGTERM, and Sentry drains before it ends. compose.yaml adds an init for children.
ENTRYPOINT ["node", "--enable-source-maps", "dist/src/main.js"]
CMD ["start"]
