import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { STREAM_PATH } from "#lib/contract/stream";
import { openSocket, Refused, type StreamClient } from "../socket";
import { TICKERS } from "./market";
import type { Node } from "./node";
import type { Scene } from "./scene";
import { expectAgreement, memory, print, seconds, untilUpToDate } from "./verdict";

const FLOOD_COUNT = 200;
/** Connections of an account on the plan of the flood. */
const ALLOWED_COUNT = 5;
const SLOW_COUNT = 1_000;
/** Connections opened at the same time, as a crowd of clients with jitter would. */
const OPENED_TOGETHER_COUNT = 50;
const REFUSALS = [42901, 42902];
/** How long the latency of ticks is measured, without the crowd and with it. */
const CALM_MS = 1_500;
const CROWDED_MS = 4_000;

/** A text message as a client sends it, with a mask of zeros. */
function frame(text: string): Buffer {
  const body = Buffer.from(text);
  const length =
    body.length < 126 ? Buffer.from([0x80 | body.length]) : Buffer.from([0x80 | 126, body.length >> 8, body.length & 255]);
  return Buffer.concat([Buffer.from([0x81]), length, Buffer.alloc(4), body]);
}

/** A client that subscribes and never reads again. */
function openSlow({ url }: Node, key: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const subscribe = JSON.stringify({ method: "subscribe", params: { stream: "quote", tickers: TICKERS } });
  const head = `GET ${STREAM_PATH} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(head));
    socket.once("error", reject);
    socket.once("data", (answer) => {
      if (!answer.toString("latin1").startsWith("HTTP/1.1 101")) return reject(new Error(answer.toString("latin1")));
      socket.pause();
      socket.write(frame(subscribe));
      socket.on("error", () => undefined);
      resolve(socket);
    });
  });
}

/** Faults of clients. */
export function crowdCases(scene: () => Scene): void {
  test("a flood of connections beyond the limit is refused on every edge", async () => {
    const { cluster } = scene();
    const before = await memory(scene());
    const sinceMs = Date.now();
    const openings = Array.from({ length: FLOOD_COUNT }, (_, index) =>
      openSocket(cluster.edges[index % 2]?.url ?? "", { key: cluster.keys.flood }),
    );
    const outcomes = await Promise.allSettled(openings);
    const opened = outcomes.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const refused: unknown[] = outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    const codes = new Map<number, number>();
    for (const reason of refused) {
      if (!(reason instanceof Refused)) throw reason;
      expect(reason.status).toBe(429);
      codes.set(reason.body.code, (codes.get(reason.body.code) ?? 0) + 1);
    }
    expect(opened).toHaveLength(ALLOWED_COUNT);
    expect(REFUSALS).toEqual(expect.arrayContaining([...codes.keys()]));
    const upToDateMs = await untilUpToDate(scene(), Date.now());
    for (const socket of opened) await closed(socket);
    const shown = [...codes].map(([code, count]) => `${count} × ${code}`).join(", ");
    print(
      `flood: ${opened.length} of ${FLOOD_COUNT} accepted, refused ${shown} within ${seconds(Date.now() - sinceMs)} s; others up to date after ${seconds(upToDateMs)} s`,
    );
    await expectAgreement(scene(), before);
  });

  test("1,000 clients that do not read do not affect the others", async () => {
    const { cluster, followers } = scene();
    const before = await memory(scene());
    const [, edge] = cluster.edges;
    const delays = () => followers.flatMap((follower) => follower.delays());
    delays();
    await untilUpToDate(scene(), Date.now() + CALM_MS);
    const calmMs = percentile(delays());
    const slow: Socket[] = [];
    while (slow.length < SLOW_COUNT) {
      const more = Array.from({ length: OPENED_TOGETHER_COUNT }, () => openSlow(edge, cluster.keys.crowd));
      slow.push(...(await Promise.all(more)));
    }
    delays();
    const upToDateMs = await untilUpToDate(scene(), Date.now());
    await untilUpToDate(scene(), Date.now() + CROWDED_MS);
    const crowdedMs = percentile(delays());
    for (const socket of slow) socket.destroy();
    await untilUpToDate(scene(), Date.now());
    print(
      `1,000 slow readers: p99 from tick to client ${calmMs} ms before, ${crowdedMs} ms with them; others had new data after ${seconds(upToDateMs)} s`,
    );
    await expectAgreement(scene(), before);
  });
}

async function closed(socket: StreamClient): Promise<void> {
  socket.close();
  await socket.closed();
}

function percentile(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
}
