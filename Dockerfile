# One image for all roles and the operator: Node, what it links, the production packages and the code. No shell.
ARG BASE=node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d

FROM ${BASE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional
COPY LICENSE ./
COPY proto proto
COPY charts/image charts/image
COPY services services
COPY operator operator
COPY clients/typescript/src clients/typescript/src
RUN node charts/image/assemble.ts /image

FROM scratch
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="fxd" \
      org.opencontainers.image.description="A market data service: live and historical OHLCV bars over REST and WebSocket" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /image/base /
COPY --from=build /image/packages /
COPY --from=build /image/code /
COPY --from=build --chown=65532:65532 /image/data /
# With an arena for each thread the system's allocator keeps tens of megabytes that nobody uses. Clients are outside of the container.
ENV PATH=/usr/local/bin MALLOC_ARENA_MAX=2 FXD_DATA_DIR=/data \
    FXD_HTTP_ADDR=0.0.0.0:8080 FXD_GRPC_ADDR=0.0.0.0:8090 FXD_OPS_ADDR=0.0.0.0:9464
WORKDIR /app
USER 65532:65532
EXPOSE 8080 8090 9464
# The same flags as bin/node, which says why.
ENTRYPOINT ["/usr/local/bin/node", "--expose-gc", "--min-semi-space-size=16", "--max-semi-space-size=16", "--no-parallel-scavenge", "--heap-growing-percent=50", "/app/services/main.ts"]
CMD ["all"]
