import { expect, test, vi } from "vitest";
import { IngestReceipt } from "#lib/contract/ingest";
import { HOUR_MS } from "#lib/units";
import { INGEST_PATH } from "../feeder";
import { openSocket } from "../socket";
import { OPEN_TICKER } from "./market";
import type { Scene } from "./scene";
import { untilState } from "./stores";
import { expectAgreement, memory, print, seconds, untilUpToDate } from "./verdict";

const LOOK = { interval: 50 };

/** Faults of the feed. */
export function feedCases(scene: () => Scene): void {
  test("a silent feed is reported with its reason", async () => {
    const { cluster, load } = scene();
    const [edge] = cluster.edges;
    // The pause of the case before may still show as stale.
    await untilState(scene(), "live");
    const socket = await openSocket(edge.url, { key: cluster.keys.crowd });
    await socket.ask("subscribe", { stream: "quote", tickers: [OPEN_TICKER] });
    await load.pause();
    const sinceMs = Date.now();
    await untilState(scene(), "stale");
    const staleMs = Date.now() - sinceMs;
    const lastState = () => socket.messages.findLast(({ type }) => type === "heartbeat" || type === "market_status");
    await vi.waitUntil(() => lastState()?.text.includes("stale"), LOOK);
    const toldMs = Date.now() - sinceMs;
    socket.close();
    load.resume();
    await untilUpToDate(scene(), Date.now());
    await untilState(scene(), "live");
    print(`silent feed: stale on both edges after ${seconds(staleMs)} s, clients notified after ${seconds(toldMs)} s`);
  });

  test("garbage, repeated, out-of-order, late and future ticks are rejected, each line with its reason", async () => {
    const { cluster, load, reference } = scene();
    const before = await memory(scene());
    await load.pause();
    const newest = reference.newest("EURUSD");
    if (newest === undefined) throw new Error("the feeder has fed");
    const lines: readonly (readonly [line: string | object, reason: string])[] = [
      ["rubbish", "malformed_line"],
      ["{", "malformed_line"],
      [{ ...newest, ticker: "NOSUCH" }, "unknown_ticker"],
      [{ ...newest, bid: 0 }, "bad_price"],
      [{ ...newest, bid: 2, ask: 1 }, "crossed_quote"],
      [newest, "duplicate"],
      [{ ...newest, time_msc: newest.time_msc - 1 }, "out_of_order"],
      [{ ...newest, time_msc: newest.time_msc - HOUR_MS }, "too_late"],
      [{ ...newest, time_msc: newest.time_msc + HOUR_MS }, "in_future"],
      ["x".repeat(5_000), "line_too_long"],
    ];
    const body = lines.map(([line]) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
    const headers = { authorization: `Bearer ${cluster.keys.ingest}`, "content-type": "application/x-ndjson" };
    for (const { url } of cluster.edges) {
      const response = await fetch(url + INGEST_PATH, { method: "POST", headers, body });
      const receipt = IngestReceipt.parse(((await response.json()) as { data: unknown }).data);
      expect(receipt.accepted).toBe(0);
      expect(receipt.rejections.map(({ reason }) => reason)).toEqual(lines.map(([, reason]) => reason));
    }
    load.resume();
    await expectAgreement(scene(), before);
  });
}
