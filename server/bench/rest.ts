import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { operations } from "#lib/contract/operations";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { MINUTE_S } from "#lib/units";
import type { FixedAnswer } from "./anchor";
import { startChild } from "./child";
import { HISTORY_FROM_S, storeHistory } from "./history";
import { compare, type Effort, type Target } from "./load";
import { type Spotwire, startSpotwire } from "./product";
import { rounded, spreadText } from "./spread";
import { type Row, ratioOf } from "./table";

const STORED_ROWS_COUNT = 50_000;
const LIST_COUNT = 50;
const EXCERPT_BYTES = 500;
/** The check characters at its end are wrong. */
const MADE_UP_KEY = `sw_live_${"0".repeat(36)}`;
const FORWARDED = "x-forwarded-for";
/** Only a proxy can name the addresses of a flood. */
const BEHIND_PROXY = { TRUSTED_PROXIES: "127.0.0.1" };

/** A call of the product, and the anchor that sends the same bytes. */
interface RestCase {
  readonly id: string;
  readonly what: string;
  readonly path: string;
  readonly headers: (spotwire: Spotwire) => Readonly<Record<string, string>>;
  readonly status?: number;
  /** Asks for what the client already has. */
  readonly unchanged?: boolean;
  readonly vary?: Target["vary"];
  readonly anchor: keyof typeof ANCHORS;
  readonly target: number;
}

const ANCHORS = { fastify: "bare Fastify", http: "node:http" } as const;
/** What the anchor's answer needs to be understood; the product's other headers are work of its own. */
const KEPT_HEADERS = ["content-type", "content-encoding", "etag"];

const quotesOf = (count: number) => `${operations.latestQuotes.path}?tickers=${tickers(count)}`;
const KLINES = `${operations.klines.path}?ticker=XAUUSD&timeframe=M1`;
/** The newest thousand, an answer that may change at any time, and a thousand of the past, which do not change. */
const LATEST_KLINES = `${KLINES}&limit=1000`;
const PAST_KLINES = `${KLINES}&from=${HISTORY_FROM_S}&to=${HISTORY_FROM_S + 1_000 * MINUTE_S}&limit=1000`;
const asTest = ({ testKey }: Spotwire) => ({ authorization: `Bearer ${testKey}` });
const asLive = ({ liveKey }: Spotwire) => ({ authorization: `Bearer ${liveKey}` });

function tickers(count: number): string {
  const chosen = SANDBOX_LISTINGS.slice(0, count).map(({ ticker }) => ticker);
  if (chosen.length < count) throw new Error(`the sandbox has no ${count} tickers`);
  return chosen.join(",");
}

/** An address of any network, because one network is refused after some wrong keys. */
const anyAddress = () => ({ [FORWARDED]: `${11 + randomInt(100)}.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}` });

const klinesIn = (name: "newest" | "past", encoding?: "gzip" | "br"): RestCase => ({
  id: `klines-${name}-${encoding ?? "plain"}`,
  what: `\`klines\`, ${name === "newest" ? "the newest 1,000 rows" : "1,000 past rows"}, warm${encoding ? `, ${encoding}` : ""}`,
  path: name === "newest" ? LATEST_KLINES : PAST_KLINES,
  headers: (spotwire) => ({ ...asLive(spotwire), ...(encoding && { "accept-encoding": encoding }) }),
  anchor: "http",
  target: 0.6,
});

const CASES = {
  quotes: [
    {
      id: "quotes-2",
      what: "`quotes/latest`, 2 tickers, all guards, counted and logged",
      path: `${operations.latestQuotes.path}?tickers=EURUSD,XAUUSD`,
      headers: asTest,
      anchor: "fastify",
      target: 0.85,
    },
    {
      id: "quotes-50",
      what: `\`quotes/latest\`, ${LIST_COUNT} tickers`,
      path: quotesOf(LIST_COUNT),
      headers: asTest,
      anchor: "http",
      target: 0.7,
    },
  ],
  klines: (["newest", "past"] as const).flatMap((name) => [klinesIn(name), klinesIn(name, "gzip"), klinesIn(name, "br")]),
  unchanged: [
    {
      id: "klines-304",
      what: "`klines` with `If-None-Match`: 304",
      path: PAST_KLINES,
      headers: asLive,
      status: 304,
      unchanged: true,
      anchor: "fastify",
      target: 0.8,
    },
  ],
  refused: [
    {
      id: "wrong-key-401",
      what: "flood of made-up keys from many networks through a proxy: 401",
      path: quotesOf(2),
      headers: () => ({ authorization: `Bearer ${MADE_UP_KEY}`, [FORWARDED]: "10.0.0.1" }),
      status: 401,
      vary: anyAddress,
      anchor: "fastify",
      target: 0.9,
    },
  ],
  status: [
    {
      id: "status-50",
      what: `\`status\`, ${LIST_COUNT} tickers`,
      path: `${operations.marketStatus.path}?tickers=${tickers(LIST_COUNT)}`,
      headers: asTest,
      anchor: "fastify",
      target: 0.6,
    },
  ],
} as const satisfies Record<string, readonly RestCase[]>;

/** Makes one call and keeps the bytes as they came, not decompressed. */
async function answerOf(url: string, headers: Readonly<Record<string, string>>) {
  const response = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
    request(url, { headers }, resolve).on("error", reject).end();
  });
  return { status: response.statusCode ?? 0, headers: response.headers, body: await buffer(response) };
}

async function measure(spotwire: Spotwire, rest: RestCase, effort: Effort, folder: string): Promise<Row> {
  const { id, what, status = 200, anchor, target } = rest;
  const url = spotwire.url + rest.path;
  const given = rest.headers(spotwire);
  const etag = rest.unchanged === true ? (await answerOf(url, given)).headers.etag : undefined;
  const headers = { ...given, ...(etag !== undefined && { "if-none-match": etag }) };
  const answer = await answerOf(url, headers);
  if (answer.status !== status)
    throw new Error(`${what}: status ${answer.status} instead of ${status}: ${answer.body.toString("utf8", 0, EXCERPT_BYTES)}`);
  const kept = Object.fromEntries(KEPT_HEADERS.map((name) => [name, answer.headers[name]]).filter(([, value]) => value));
  const [plainPath = ""] = rest.path.split("?");
  const fixed: FixedAnswer = { path: plainPath, status, headers: kept, body: answer.body.toString("base64") };
  const file = path.join(folder, `${id}.json`);
  writeFileSync(file, JSON.stringify(fixed));
  const rival = await startChild("server/bench/anchor.ts", {}, { args: [anchor, file] });
  try {
    const common = { path: rest.path, headers, status, ...(rest.vary && { vary: rest.vary }) };
    const result = await compare({ server: spotwire, ...common }, { server: rival, ...common }, effort);
    const against = anchor === "fastify" ? ANCHORS.fastify : `${ANCHORS.http} sending prebuilt bytes`;
    return {
      id,
      what: `${what} (${rounded(answer.body.byteLength)} bytes)`,
      value: `${spreadText(result.own)} per CPU-second`,
      anchor: `${spreadText(result.anchor)} per CPU-second`,
      ratio: ratioOf(result.ratio, { target, against }),
    };
  } finally {
    await rival.stop();
  }
}

async function benchRest(
  names: readonly (keyof typeof CASES)[],
  effort: Effort,
  env: Readonly<Record<string, string>> = {},
  ids?: readonly string[],
): Promise<Row[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  const chosen = names.flatMap((name): readonly RestCase[] => CASES[name]).filter(({ id }) => ids?.includes(id) ?? true);
  const asksKlines = chosen.some(({ path: asked }) => asked.startsWith(KLINES));
  const spotwire = await startSpotwire(env, asksKlines ? (db) => storeHistory(db, STORED_ROWS_COUNT) : undefined);
  try {
    const rows: Row[] = [];
    for (const rest of chosen) rows.push(await measure(spotwire, rest, effort, folder));
    return rows;
  } finally {
    await spotwire.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a short run measures: one case of each kind. */
const SHORT_IDS = ["quotes-2", "quotes-50", "klines-past-plain", "klines-304", "status-50"];

/** Latest quotes against bare Fastify, and many of them against prebuilt bytes. */
export const benchQuotes = (effort: Effort) => benchRest(["quotes"], effort);
/** A thousand cached klines, plain and compressed, against prebuilt bytes. */
export const benchKlines = (effort: Effort) => benchRest(["klines"], effort);
/** Klines that the client already has. */
export const benchUnchanged = (effort: Effort) => benchRest(["unchanged"], effort);
/** Keys that nobody was given, sent through a proxy. */
export const benchRefused = (effort: Effort) => benchRest(["refused"], effort, BEHIND_PROXY);
/** The market status of many tickers. */
export const benchStatus = (effort: Effort) => benchRest(["status"], effort);
/** A part of all of them. */
export async function benchShortRest(effort: Effort): Promise<Row[]> {
  const open = await benchRest(["quotes", "klines", "unchanged", "status"], effort, {}, SHORT_IDS);
  return [...open, ...(await benchRefused(effort))];
}
