# syntax=docker/dockerfile:1

# One image for every role. ROLE and the other settings come from the environment; see .env.example.
# Node 26 is the LTS line. The minor version is pinned for repeatable builds; each build gets the latest patch.
ARG NODE_IMAGE=node:26.12-trixie-slim

# The build, without the packages that only tests need. What the service needs of it to run is gathered in /gathered.
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --no-audit --no-fund
COPY . .
RUN npm run generate && npm run build && node --import tsx server/cli/gather.ts /gathered

FROM ${NODE_IMAGE} AS run
ENV NODE_ENV=production NEXT_TELEMETRY_DISABLED=1 MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=1048576 MALLOC_TRIM_THRESHOLD_=4194304 PORT=3000 DATA_DIR=/data
# Owned by root: a process that runs as `node` cannot change its own program.
WORKDIR /app
COPY --from=build /gathered ./
COPY --from=build /app/package.json /app/LICENSE ./
# Data that the service reads beside its sources, such as migrations and files for download.
COPY --from=build /app/app app
COPY --from=build /app/lib lib
COPY --from=build /app/prisma prisma
COPY --from=build /app/server server
# The embedded database and generated secrets, unused with DATABASE_URL and NEXTAUTH_SECRET; backups, of Compose.
RUN install -d -o node -g node -m 0700 /data /data/backups
VOLUME /data
USER node
EXPOSE 3000
# Drains within 10 seconds: notifies clients, finishes requests, writes ticks.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=3 CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.PORT}/api/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node receives the signal directly, without a shell or npm. With --init, signals also work before the service handles them.
CMD ["node", ".next/spotwire/main.mjs"]
