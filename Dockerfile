# Two images. `production` holds the built service and the packages that it runs with, and is what
# `docker build .` makes. `development` holds the whole project, and is what docker-compose.yml runs.

# A copy in a registry of your own, or one pinned by its digest, can take its place.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS base
WORKDIR /app
ENV ORGWALLET_DATA_DIR=/data
RUN mkdir /data && chown node:node /data
VOLUME /data
EXPOSE 8443 8080 9090
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.OPS_PORT || 9090}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]

FROM base AS packages
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/
COPY console/package.json console/
RUN npm ci --omit=dev

FROM base AS build
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/
COPY console/package.json console/
RUN npm ci
COPY . .
# The commit, which `orgwallet --version`, logs and metrics name: --build-arg REVISION=$(git rev-parse --short=12 HEAD)
ARG REVISION=""
RUN ORGWALLET_REVISION=$REVISION npm run build

FROM build AS development
# The folder is built already; nothing is installed or compiled when a container starts.
ENV NODE_ENV=development ORGWALLET_PREBUILT=true
USER node
CMD ["node", "tools/dev/start.mjs"]

FROM base AS production
ENV NODE_ENV=production NODE_OPTIONS=--enable-source-maps HOME=/nonexistent
# Nothing is installed here any more, and nobody has a home.
RUN rm -rf /home/node /opt/yarn* /usr/local/lib/node_modules \
  && rm -f /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg
COPY --from=packages /app ./
COPY --from=build /app/dist/src dist/src
COPY --from=build /app/dist/activities dist/activities
COPY --from=build /app/dist/workflow-bundle.js /app/dist/revision /app/dist/rescue.html dist/
COPY --from=build /app/client/dist client/dist
COPY --from=build /app/console/dist console/dist
COPY orgwallet LICENSE ./
RUN ln -s /app/orgwallet /usr/local/bin/orgwallet
# One per upgrade: docs/upgrade.md. Without one, builds are not told apart.
ARG BUILD_ID=""
ENV TEMPORAL_BUILD_ID=$BUILD_ID
ARG REVISION=""
LABEL org.opencontainers.image.title="orgwallet" \
  org.opencontainers.image.description="A service through which organizations run shared blockchain wallets." \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="0.1.0" \
  org.opencontainers.image.revision=$REVISION
USER node
CMD ["node", "dist/src/main.js"]
