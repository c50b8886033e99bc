import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import Fastify from "fastify";
import pg from "pg";

/** The anchors: bare Fastify sending fixed bytes, and a plain klines server on Fastify + pg + JSON.stringify. */

const { values } = parseArgs({
  options: { body: { type: "string" }, database: { type: "string" }, ticker: { type: "string", default: "XAUUSD" } },
});

const app = Fastify({ logger: false });

if (values.body !== undefined) {
  const body = readFileSync(values.body, "utf8");
  app.get("/api/v1/market/quotes/latest", (request, reply) => {
    if (request.headers.authorization?.startsWith("Bearer ") !== true) return reply.code(401).send();
    return reply.header("content-type", "application/json; charset=utf-8").send(body);
  });
}

if (values.database !== undefined) {
  const pool = new pg.Pool({ connectionString: values.database, max: 10 });
  const text = `SELECT time::float8 AS time, open, high, low, close, tick_volume::float8 AS tick_volume, real_volume, spread
    FROM kline WHERE venue = 'live' AND ticker = $1 AND timeframe = 'M1' ORDER BY time DESC LIMIT $2`;
  app.get<{ Querystring: { ticker: string; limit: string } }>("/api/v1/market/klines", async (request, reply) => {
    if (request.headers.authorization?.startsWith("Bearer ") !== true) return reply.code(401).send();
    const { ticker, limit } = request.query;
    const { rows } = await pool.query({ name: "klines", text, values: [ticker, Number(limit)] });
    const items = rows.reverse().map((row) => ({ type: "kline", ticker, timeframe: "M1", ...row }));
    const data = { ticker, timeframe: "M1", count: items.length, limit: Number(limit), items };
    return reply.header("content-type", "application/json").send(JSON.stringify({ code: 0, message: "success", data }));
  });
}

const address = await app.listen({ port: 0, host: "127.0.0.1" });
process.stdout.write(`listening on ${address}\n`);
process.on("SIGTERM", () => process.exit(0));
