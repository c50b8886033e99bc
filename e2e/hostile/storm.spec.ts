import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { PLAN_DEFAULTS } from "#lib/contract/limits";
import { makeKey } from "../commands";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "../server";
import { openSocket, Refused, type StreamClient } from "../socket";
import { startBystander } from "./bystander";

const CLIENTS_COUNT = 1_000;
const PER_ACCOUNT_COUNT = PLAN_DEFAULTS.pro.streamConnections;
const ACCOUNTS_COUNT = CLIENTS_COUNT / PER_ACCOUNT_COUNT;
/** Maximum number of retries per client. On a busy machine, the database does not answer the first requests in time. */
const RETRIES_MAX_COUNT = 20;
/** So many handshakes of one account are refused before the end of any burst. */
const RESTLESS_COUNT = 200;
/** What a process may open is far less than what a service needs; a reserve of it is for its databases and files. */
const FILES_MAX_COUNT = 400;
const CONNECTIONS_COUNT = FILES_MAX_COUNT - 128;
const CASE_TIMEOUT_MS = 120_000;
const SOON = { interval: 50 };

/** A line of /metrics; 0 before the first count. */
async function counted({ baseUrl }: Product, line: string): Promise<number> {
  const lines = (await (await fetch(`${baseUrl}/metrics`)).text()).split("\n");
  return Number(lines.find((one) => one.startsWith(`${line} `))?.slice(line.length) ?? 0);
}

/** Opens a stream, and retries after a 503 with `retry_after`, as clients do. @throws Refused for any other answer */
async function openPatiently(baseUrl: string, shown: Parameters<typeof openSocket>[1]): Promise<StreamClient> {
  for (let retries = 0; ; retries += 1)
    try {
      return await openSocket(baseUrl, shown);
    } catch (error) {
      const { retry_after: waitS } = error instanceof Refused && error.status === 503 ? error.body.data : {};
      if (typeof waitS !== "number" || retries === RETRIES_MAX_COUNT) throw error;
      await wait(waitS * 1_000);
    }
}

/** Opens the streams of all clients at the same moment, each from a network of its own; the errors are those of refused ones. */
async function storm({ baseUrl }: Product, keys: readonly string[]) {
  const opened: StreamClient[] = [];
  const errors: unknown[] = [];
  const follow = async (client: number) => {
    const headers = { "x-forwarded-for": `10.${client >> 8}.${client & 255}.1` };
    const stream = await openPatiently(baseUrl, { key: keys[client % keys.length] ?? "", headers });
    opened.push(stream);
    expect(await stream.ask("subscribe", { stream: "quote", tickers: ["EURUSD"] })).toMatchObject({ type: "ack" });
  };
  const beganMs = performance.now();
  await Promise.all(Array.from({ length: CLIENTS_COUNT }, (_, client) => follow(client).catch((error) => errors.push(error))));
  return { opened, errors, tookMs: performance.now() - beganMs };
}

test(
  "1,000 clients that come back at the same moment after a restart are all served, and who tries again and again is refused",
  async () => {
    let product = await startProduct({ TRUSTED_PROXIES: "127.0.0.1" });
    try {
      const settings = { venue: "sandbox", scopes: "market:read,market:stream" } as const;
      const keys: string[] = [];
      while (keys.length < ACCOUNTS_COUNT)
        keys.push((await makeKey(product, { ...settings, account: `storm ${keys.length}` })).text);
      const { text: other } = await makeKey(product, settings);
      const before = await storm(product, keys);
      const gone = Promise.all(before.opened.map((stream) => stream.closed()));
      await product.kill9();
      await gone;
      product = await product.restart({ PORT: new URL(product.baseUrl).port });

      const bystander = startBystander(product.baseUrl, other);
      const after = await storm(product, keys);
      const { answers, wrong, worstMs } = await bystander.stop();
      process.stdout.write(
        `  ${after.opened.length} streams are back after ${Math.round(after.tookMs)} ms; a client got ${answers} answers, the slowest after ${Math.round(worstMs)} ms\n`,
      );
      expect([after.errors, wrong]).toEqual([[], []]);
      expect(after.opened).toHaveLength(CLIENTS_COUNT);

      const tries = Array.from({ length: RESTLESS_COUNT }, () => openSocket(product.baseUrl, { key: other }));
      const refused = (await Promise.allSettled(tries)).flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
      for (const one of refused) expect(one).toBeInstanceOf(Refused);
      const limited = (refused as Refused[]).filter(({ body }) => body.message === "rate_limited");
      expect(limited.length).toBeGreaterThan(0);
      for (const { body } of limited) expect(body.data.retry_after).toBeGreaterThan(0);
      const refusals = ["rate_limited", "too_many_connections"].map((reason) =>
        counted(product, `spotwire_refused_total{where="handshake",reason="${reason}"}`),
      );
      expect(await Promise.all(refusals)).toEqual([limited.length, refused.length - limited.length]);
    } finally {
      await product.dispose();
    }
  },
  CASE_TIMEOUT_MS + SERVER_TIMEOUT_MS,
);

/** Connections that send nothing, and how many of them the service closed. */
function idlers(baseUrl: string) {
  const { hostname, port } = new URL(baseUrl);
  const held: Socket[] = [];
  let closed = 0;
  const onClose = () => {
    closed += 1;
  };
  return {
    closed: () => closed,
    /** As many as the service may open files, from the address of each. */
    open(addressOf: (index: number) => string): void {
      for (let index = 0; index < FILES_MAX_COUNT; index += 1) {
        const socket = connect({ port: Number(port), host: hostname, localAddress: addressOf(index) });
        held.push(socket.on("error", () => undefined).on("close", onClose));
      }
    },
    end(): void {
      for (const socket of held.splice(0)) socket.off("close", onClose).destroy();
      closed = 0;
    },
  };
}

test(
  "a service that may open few files says so, closes idle connections for those that ask, and refuses those for which it has no file",
  async () => {
    const product = await startProduct({ TRUSTED_PROXIES: "127.0.0.1" }, { filesMaxCount: FILES_MAX_COUNT });
    const idle = idlers(product.baseUrl);
    const refused = (reason: string) => counted(product, `spotwire_refused_total{where="tcp",reason="${reason}"}`);
    try {
      expect(product.output()).toContain("few files may be open");
      const { text: key } = await makeKey(product, { venue: "sandbox", scopes: "market:read,market:stream" });
      const stream = await openSocket(product.baseUrl, { key });
      expect(await stream.ask("subscribe", { stream: "quote", tickers: ["EURUSD"] })).toMatchObject({ type: "ack" });

      const bystander = startBystander(product.baseUrl, key);
      idle.open((index) => `127.0.${1 + (index % 100)}.1`);
      await vi.waitFor(() => expect(idle.closed()).toBe(FILES_MAX_COUNT - CONNECTIONS_COUNT / 2), SOON);
      expect(await refused("too_many")).toBe(idle.closed());
      expect((await fetch(`${product.baseUrl}/signin`)).status).toBe(200);
      const { answers, wrong } = await bystander.stop();
      expect(wrong).toEqual([]);
      expect(answers).toBeGreaterThan(0);
      idle.end();

      // Through the proxy, whose connections no other bound counts.
      idle.open(() => "127.0.0.1");
      await vi.waitFor(() => expect(idle.closed()).toBeGreaterThanOrEqual(FILES_MAX_COUNT - CONNECTIONS_COUNT), SOON);
      const seen = stream.messages.length;
      await vi.waitFor(() => expect(stream.messages.length).toBeGreaterThan(seen), SOON);
      expect(await refused("too_many_files")).toBe(idle.closed());
      idle.end();
      await vi.waitFor(() => openSocket(product.baseUrl, { key }), SOON);
    } finally {
      idle.end();
      await product.dispose();
    }
  },
  CASE_TIMEOUT_MS + SERVER_TIMEOUT_MS,
);
