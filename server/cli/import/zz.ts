import { spawnSync } from "node:child_process";
import { systemClock } from "#lib/clock";
import { readEnv } from "#lib/env";
import { createLog } from "#lib/log";
import { acquireDatabase } from "#server/database";

const db = await acquireDatabase({ ...readEnv(), DATA_DIR: "/tmp/imp-data" }, createLog("warn"), systemClock);
const url = String(db.db.pool.options.connectionString);
const log = (x: unknown) => process.stdout.write(`${x}\n`);
for (let k = 0; k < 3; k++) {
  await db.db.pool.query("truncate kline; truncate import_job");
  let t = performance.now();
  const r = spawnSync(
    "psql",
    [
      url,
      "-c",
      "\\copy kline(venue,ticker,timeframe,time,open,high,low,close,tick_volume,real_volume,spread) from /tmp/copy.csv csv",
    ],
    { encoding: "utf8" },
  );
  const a = performance.now() - t;
  log(r.stdout + r.stderr);
  await db.db.pool.query("truncate kline; truncate import_job");
  t = performance.now();
  const q = spawnSync(
    process.execPath,
    ["--import", "tsx", ...(process.env.XARGS?.split(" ") ?? []), "server/cli/import/index.ts", "/tmp/EURUSD_plain.csv"],
    { encoding: "utf8", env: { ...process.env, DATABASE_URL: url } },
  );
  const b = performance.now() - t;
  if (k == 0) log(q.stdout + q.stderr);
  log([a, b, a / b].join(" "));
}
await db.release();
