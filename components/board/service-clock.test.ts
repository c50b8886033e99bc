import { expect, test } from "vitest";
import type { Dialer, SocketHandlers } from "#lib/client/socket";
import { withServiceClock } from "./service-clock";

test("the service's clock is read from the middle of a ping's round trip, and the shortest trip counts", () => {
  let nowMs = 1_000_000;
  let wire: SocketHandlers | undefined;
  const sent: string[] = [];
  const ahead: number[] = [];
  const heard: string[] = [];
  const dialer: Dialer = {
    sendsHeaders: false,
    dial(_url, _handshake, handlers) {
      wire = handlers;
      return { send: (text) => void sent.push(text), close: () => undefined, drop: () => undefined };
    },
  };
  const clock = withServiceClock(
    dialer,
    (ms) => ahead.push(ms),
    () => nowMs,
  );
  clock.dial("wss://x", { protocols: [], headers: {} }, { onText: (text) => void heard.push(text), onEnd: () => undefined });
  const pong = (time_msc: number) =>
    wire?.onText(JSON.stringify({ type: "ack", id: "clock", method: "ping", code: 0, data: { time_msc } }));
  wire?.onText('{"type":"welcome"}');
  expect(sent).toEqual(['{"id":"clock","method":"ping"}']);
  nowMs += 40;
  pong(1_005_020);
  expect(ahead).toEqual([5_000]);
  nowMs += 30_000;
  wire?.onText('{"type":"heartbeat"}');
  expect(sent).toHaveLength(2);
  nowMs += 900;
  pong(0);
  expect(ahead, "a slower trip says less").toEqual([5_000]);
  expect(heard).toHaveLength(4);
});
