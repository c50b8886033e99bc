import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { klineExample } from "#lib/contract/kline";
import { marketStatusExample } from "#lib/contract/status";
import { DEMO_KEY_DEFAULT } from "#lib/env";
import { createInbox, fail, type Inbox, quote, type ScriptedService, startScriptedService } from "#lib/testing/scripted-service";
import { type WatchedClock, watchedClock } from "#lib/testing/watched-clock";
import { commandOutcome } from "#server/testing/terminal";
import type { Output } from "./run-command";
import { streamCommand } from "./stream";

let service: ScriptedService;
let clock: WatchedClock;
let ended: AbortController;

beforeEach(async () => {
  service = await startScriptedService();
  clock = watchedClock();
  ended = new AbortController();
});
afterEach(() => service.stop());

/** An output that collects the whole text and each write. */
interface Sink extends Output {
  readonly text: string;
  readonly writes: Inbox<string>;
}

function createSink(terminal?: { columns: number; rows: number }): Sink {
  const writes = createInbox<string>();
  let text = "";
  return {
    writes,
    isTTY: terminal !== undefined,
    ...terminal,
    get text() {
      return text;
    },
    write(piece) {
      text += piece;
      writes.put(piece);
    },
  };
}

/** Starts the command against the scripted service. */
function start(args: readonly string[], size?: { columns: number; rows: number }, url: string | undefined = service.url) {
  const output = createSink(size);
  const errors = createSink();
  const terminal = { output, errors, clock, stopSignal: () => ended.signal };
  const outcome = commandOutcome(streamCommand, url === "" ? args : [...args, "--url", url], terminal);
  return { output, errors, code: outcome.then(({ exitCode }) => exitCode) };
}

describe("a wrong command", () => {
  test.each([
    ["an unknown stream", ["trade", "EURUSD"], "must be one of quote"],
    ["no tickers", ["quote"], "Missing argument: TICKERS."],
    ["klines without a timeframe", ["kline", "EURUSD"], "--timeframe, one of M1"],
    ["a timeframe that does not exist", ["kline", "EURUSD", "--timeframe", "M2"], "--timeframe, one of M1"],
    ["quotes with a timeframe", ["quote", "EURUSD", "--timeframe", "M1"], "only with kline"],
    ["an unknown option", ["quote", "EURUSD", "--fast"], "--fast"],
    ["a mistyped key", ["quote", "EURUSD", "--key", `${DEMO_KEY_DEFAULT.slice(0, -1)}x`], "checksum"],
    ["an invalid address", ["quote", "EURUSD", "--url", "localhost:3000"], "baseUrl"],
  ])("%s: npm run stream rejects it with a reason and exit code 2", async (_, args, words) => {
    const { code, errors, output } = start(args, undefined, "");
    expect(await code).toBe(2);
    expect(errors.text).toContain(words);
    expect(output.text).toBe("");
  });

  test("npm run stream requires --key without a demo key, and --url with PORT=0", async () => {
    const off = await commandOutcome(streamCommand, ["quote", "EURUSD"], { variables: { DEMO_KEY: "off" } });
    expect(off).toMatchObject({ exitCode: 2, errors: expect.stringContaining("--key") });
    const anyPort = await commandOutcome(streamCommand, ["quote", "EURUSD"], { variables: { PORT: "0" } });
    expect(anyPort).toMatchObject({ exitCode: 2, errors: expect.stringContaining("--url") });
  });
});

test("npm run stream -- --help prints the usage", async () => {
  const { code, output } = start(["--help"]);
  expect(await code).toBe(0);
  expect(output.text).toContain("npm run stream --");
});

describe("without a terminal", () => {
  test("without a terminal, records are printed line by line to stdout and all other messages to stderr, with exit code 0", async () => {
    const { code, output, errors } = start(["quote", "EURUSD,xauusd"]);
    const peer = await service.welcomed();
    expect(peer.headers.authorization).toBe(`Bearer ${DEMO_KEY_DEFAULT}`);
    expect(await peer.ack()).toMatchObject({ params: { stream: "quote", tickers: ["EURUSD", "XAUUSD"] } });
    peer.send({ type: "market_status", ticker: "EURUSD", data: marketStatusExample });
    peer.send(quote("EURUSD", 7, { event: "snapshot" }));
    peer.send(quote("EURUSD", 10, { merged: 2 }));
    peer.send(quote("EURUSD", 12));
    const time = "2026-01-01T00:00:00.123Z";
    expect(await output.writes.next()).toBe(`${time} quote EURUSD 1.08543 1.08551 snapshot e1/7\n`);
    expect(await output.writes.next()).toBe(`${time} quote EURUSD 1.08543 1.08551 update e1/10 merged 2\n`);
    expect(await output.writes.next()).toBe(`${time} quote EURUSD 1.08543 1.08551 update e1/12\n`);
    ended.abort();
    expect(await code).toBe(0);
    expect(await peer.closed).toBe(1000);
    expect(errors.text).toBe("connecting\nopen\nEURUSD market closed\nEURUSD gap: 11 to 12\nclosed\n");
  });

  test("without a terminal, klines are printed with their timeframe and a mark if they are closed", async () => {
    const { code, output } = start(["kline", "EURUSD", "--timeframe", "H1"]);
    const peer = await service.welcomed();
    await peer.ack();
    peer.send({ ...quote("EURUSD", 1), type: "kline", timeframe: "H1", closed: true, data: klineExample });
    expect(await output.writes.next()).toBe(
      "2026-01-01T00:00:00.000Z kline EURUSD H1 1.08502 1.08571 1.08466 1.08543 update e1/1 closed\n",
    );
    ended.abort();
    expect(await code).toBe(0);
  });

  test.each([
    [
      "a rejected key",
      () => service.refuseHandshakes(fail("unauthorized", { detail: "No such key." })),
      "unauthorized: No such key.",
    ],
    ["a suspended account", () => service.refuseHandshakes(fail("account_suspended")), "account_suspended"],
  ])("npm run stream exits with 1 for %s", async (_, prepare, words) => {
    prepare();
    const { code, errors } = start(["quote", "EURUSD"]);
    expect(await code).toBe(1);
    expect(errors.text.split(words)).toHaveLength(2);
  });

  test("npm run stream exits with 1 when all tickers are unknown", async () => {
    const { code, errors } = start(["quote", "XXXYYY"]);
    await (await service.welcomed()).ack(["XXXYYY"]);
    expect(await code).toBe(1);
    expect(errors.text).toContain("unknown_ticker: XXXYYY");
  });

  test("npm run stream exits with 1 when the service cannot be reached", async () => {
    const { url } = service;
    await service.stop();
    const { code, errors } = start(["quote", "EURUSD"], undefined, url);
    expect(await code).toBe(1);
    expect(errors.text).toContain("ECONNREFUSED");
    expect(errors.text).toContain("--url http://");
    service = await startScriptedService();
  });

  test("npm run stream exits at once when it is stopped before it connects", async () => {
    ended.abort();
    expect(await start(["quote", "EURUSD"]).code).toBe(0);
    expect(service.handshakes).toBe(0);
  });
});

describe("on a terminal", () => {
  const SIZE = { columns: 80, rows: 24 };

  test("on a terminal, the table is drawn in place, at most ten times a second, and the terminal is restored at the end", async () => {
    const { code, output } = start(["quote", "EURUSD"], SIZE);
    const peer = await service.welcomed();
    await peer.ack();
    const before = output.text.length;
    for (let seq = 1; seq <= 50; seq += 1) peer.send(quote("EURUSD", seq));
    peer.send({ type: "heartbeat", time_msc: 1, quiet: [] });
    await clock.waitingFor(100);
    // With spaces: the port in the title may have the same digits.
    while (!output.text.includes(" 50 ")) await clock.advance(100);
    const draws = output.text.slice(before).split("\u001b[J").length - 1;
    expect(draws).toBeLessThanOrEqual(clock.now() / 100 + 1);
    expect(output.text).toMatch(/EURUSD {2}1\.08543 {2}1\.08551/);
    ended.abort();
    expect(await code).toBe(0);
    expect(output.text.startsWith("\u001b[?25l")).toBe(true);
    expect(output.text.endsWith("\u001b[?25h")).toBe(true);
    await clock.advance(5_000);
    expect(output.text.endsWith("\u001b[?25h")).toBe(true);
  });

  test("on a terminal, ages are updated when no records arrive", async () => {
    const { code, output } = start(["quote", "EURUSD"], SIZE);
    const peer = await service.welcomed();
    await peer.ack();
    peer.send(quote("EURUSD", 1));
    while (!output.text.includes("1.08543")) await clock.advance(100);
    await clock.advance(5_000);
    expect(output.text).toMatch(/[45](\.\d)? s/);
    ended.abort();
    await code;
  });

  test("on a terminal, --lines prints lines", async () => {
    const { code, output } = start(["quote", "EURUSD", "--lines"], SIZE);
    const peer = await service.welcomed();
    await peer.ack();
    peer.send(quote("EURUSD", 1));
    expect(await output.writes.next()).toContain("quote EURUSD");
    ended.abort();
    expect(await code).toBe(0);
    expect(output.text).not.toContain("\u001b");
  });

  test("on a terminal, the full reason of a failure stays visible at the end", async () => {
    const detail = `No such key. ${"Ask the operator for another one. ".repeat(5)}`;
    service.refuseHandshakes(fail("unauthorized", { detail }));
    const { code, errors } = start(["quote", "EURUSD"], SIZE);
    expect(await code).toBe(1);
    expect(errors.text).toContain(detail);
  });
});
