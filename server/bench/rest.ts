import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { operations } from "#lib/operations/declarations";
import { MINUTE_S } from "#lib/units";
import { type Contestant, startChild } from "./child";
import { HISTORY_FROM_S, storeHistory } from "./history";
import { anyAddress, BEHIND_PROXY, compare, type Effort, type Target } from "./load";
import { type Spotwire, startSpotwire } from "./product";
import type { Answered, Known } from "./rest-rivals";
import { rounded } from "./spread";
import type { Row } from "./table";

const STORED_ROWS_COUNT = 2_000;
const LIST_COUNT = 50;
const EXCERPT_BYTES = 500;
/** The check characters at its end are wrong. */
const MADE_UP_KEY = `sw_live_${"0".repeat(36)}`;

/** See rest-rivals.ts. */
const RIVALS = {
  equal: "Fastify with the same duties",
  bare: "bare Fastify",
  http: "`node:http` that sends bytes made before",
} as const;
type RivalName = keyof typeof RIVALS;

/** A call of the service, and the ratio to reach against each rival. */
interface RestCase {
  readonly id: string;
  readonly what: string;
  readonly path: string;
  readonly headers: (spotwire: Spotwire) => Readonly<Record<string, string>>;
  readonly status?: number;
  /** Asks for what the client already has. */
  readonly unchanged?: boolean;
  readonly vary?: Target["vary"];
  readonly reach: Partial<Record<RivalName, number>>;
}

/** What the answer of a rival needs to be understood; the service's other headers are work of its own. */
const KEPT_HEADERS = ["content-type", "etag"];

/** A thousand minutes of the past, which do not change. */
const KLINES = `${operations.klines.path}?ticker=XAUUSD&timeframe=M1&from=${HISTORY_FROM_S}&to=${HISTORY_FROM_S + 1_000 * MINUTE_S}&limit=1000`;
const QUOTES = `${operations.latestQuotes.path}?tickers=EURUSD,XAUUSD`;
const LISTED = SANDBOX_LISTINGS.slice(0, LIST_COUNT).map(({ ticker }) => ticker);
const asTest = ({ testKey }: Spotwire) => ({ authorization: `Bearer ${testKey}` });
const asLive = ({ liveKey }: Spotwire) => ({ authorization: `Bearer ${liveKey}` });

const CASES: readonly RestCase[] = [
  {
    id: "quotes",
    what: "`quotes/latest`, 2 tickers",
    path: QUOTES,
    headers: asTest,
    reach: { equal: 1, bare: 0.5, http: 0.4 },
  },
  {
    id: "status",
    what: `\`status\`, ${LIST_COUNT} tickers`,
    path: `${operations.marketStatus.path}?tickers=${LISTED.join(",")}`,
    headers: asTest,
    reach: { equal: 1.2, bare: 0.9 },
  },
  { id: "klines", what: "`klines`, 1,000 past rows", path: KLINES, headers: asLive, reach: { equal: 0.6 } },
  {
    id: "unchanged",
    what: "`klines` that the client has: 304",
    path: KLINES,
    headers: asLive,
    status: 304,
    unchanged: true,
    reach: { equal: 0.8, bare: 0.4 },
  },
  {
    id: "refused",
    what: "made-up keys from many networks through a proxy: 401",
    path: QUOTES,
    headers: () => ({ authorization: `Bearer ${MADE_UP_KEY}`, ...anyAddress() }),
    status: 401,
    vary: anyAddress,
    reach: { equal: 0.65 },
  },
];

/** Makes one call and keeps the bytes as they came, not decompressed. */
async function answerOf(url: string, headers: Readonly<Record<string, string>>) {
  const response = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
    request(url, { headers }, resolve).on("error", reject).end();
  });
  return { status: response.statusCode ?? 0, headers: response.headers, body: await buffer(response) };
}

/** A case with what the service answered to it, and the headers to ask with. */
interface Prepared {
  readonly rest: RestCase;
  readonly answered: Answered;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: number;
}

/** @throws Error when the service answers with another status */
async function prepared(spotwire: Spotwire, rest: RestCase): Promise<Prepared> {
  const { what, path: asked, headers: headersOf, status = 200, unchanged } = rest;
  const url = spotwire.url + asked;
  const given = headersOf(spotwire);
  const full = await answerOf(url, given);
  const { etag } = full.headers;
  const headers = { ...given, ...(unchanged && etag !== undefined && { "if-none-match": etag }) };
  const answer = await answerOf(url, headers);
  if (answer.status !== status)
    throw new Error(`${what}: status ${answer.status} instead of ${status}: ${answer.body.toString("utf8", 0, EXCERPT_BYTES)}`);
  const kept = KEPT_HEADERS.flatMap((name) => (full.headers[name] ? [[name, String(full.headers[name])]] : []));
  const answered = { path: asked, status: full.status, headers: Object.fromEntries(kept), body: full.body.toString("base64") };
  return { rest, answered, headers, bytes: answer.body.byteLength };
}

async function measure(
  spotwire: Spotwire,
  rivals: Readonly<Record<RivalName, Contestant>>,
  { rest, headers, bytes }: Prepared,
  effort: Effort,
): Promise<Row[]> {
  const { id, what, path: asked, status = 200, vary, reach } = rest;
  const common = { path: asked, headers, status, ...(vary && { vary }) };
  const kinds = Object.entries(reach) as [RivalName, number][];
  const targets = kinds.map(([kind]) => ({ server: rivals[kind], ...common }));
  const compared = await compare({ server: spotwire, ...common }, targets, effort);
  return kinds.flatMap(([kind, target], index) => {
    const figures = compared[index];
    const title = `${what} (${rounded(bytes)} bytes), calls per CPU-second`;
    const question = { id: `${id}-${kind}`, what: title, against: RIVALS[kind], target, bound: "at least" } as const;
    return figures === undefined ? [] : [{ ...question, ...figures }];
  });
}

/** Calls with all guards, counted and logged, against what somebody would build with Fastify, and against the least that they can cost. */
export async function benchRest(effort: Effort): Promise<Row[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  const started: Contestant[] = [];
  try {
    const spotwire = await startSpotwire(BEHIND_PROXY, (db) => storeHistory(db, STORED_ROWS_COUNT));
    started.push(spotwire);
    const cases: Prepared[] = [];
    for (const rest of CASES) cases.push(await prepared(spotwire, rest));
    const databaseUrl = await spotwire.withDatabase(async ({ pool }) => String(pool.options.connectionString));
    const known: Known = { databaseUrl, answers: cases.map(({ answered }) => answered) };
    const file = path.join(folder, "answers.json");
    writeFileSync(file, JSON.stringify(known));
    const rival = async (kind: RivalName) => {
      const server = await startChild("server/bench/rest-rivals.ts", {}, [kind, file]);
      started.push(server);
      return server;
    };
    const rivals = { equal: await rival("equal"), bare: await rival("bare"), http: await rival("http") };
    const rows: Row[] = [];
    for (const one of cases) rows.push(...(await measure(spotwire, rivals, one, effort)));
    return rows;
  } finally {
    await Promise.all(started.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}
