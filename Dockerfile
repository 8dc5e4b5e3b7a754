# Two images. `production` holds the built service and the packages that it runs with, and is what
# `docker build .` makes. `development` holds the whole project, and is what docker-compose.yml runs.

FROM node:24-bookworm-slim AS base
WORKDIR /app
ENV ORGWALLET_DATA_DIR=/data
RUN mkdir /data && chown node:node /data
VOLUME /data
EXPOSE 8443 8080 9090
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.OPS_PORT || 9090}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]

FROM base AS build
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/
COPY console/package.json console/
RUN npm ci
COPY . .
# The commit, which `orgwallet --version`, logs and metrics name: docker build --build-arg REVISION=$(git rev-parse --short=12 HEAD)
ARG REVISION=""
RUN ORGWALLET_REVISION=$REVISION npm run build

FROM build AS development
# The folder is built already; nothing is installed or compiled when a container starts.
ENV NODE_ENV=development ORGWALLET_PREBUILT=true
USER node
CMD ["node", "tools/dev/start.mjs"]

FROM base AS production
ENV NODE_ENV=production NODE_OPTIONS=--enable-source-maps
# One per upgrade: docs/upgrade.md. Without one, builds are not told apart.
ARG BUILD_ID=""
ENV TEMPORAL_BUILD_ID=$BUILD_ID
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/
COPY console/package.json console/
RUN npm ci --omit=dev && npm cache clean --force
COPY --from=build /app/dist/src dist/src
COPY --from=build /app/dist/activities dist/activities
COPY --from=build /app/dist/workflow-bundle.js /app/dist/revision dist/
COPY --from=build /app/client/dist client/dist
COPY --from=build /app/console/dist console/dist
# For `npx orgwallet` in a container.
RUN ln -s ../../dist/src/cli/main.js node_modules/.bin/orgwallet
USER node
CMD ["node", "dist/src/main.js"]
