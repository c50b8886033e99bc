import { expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { collectingLog } from "#lib/testing/collecting-log";
import { watchProcess } from "./watch";

/** A process that answers while `answers` says so, and its watch. */
function watch(answers: () => boolean) {
  const clock = manualClock(0);
  const ended = new AbortController();
  const lines: Record<string, unknown>[] = [];
  const killed: unknown[] = [];
  const child = {
    kill(signal: unknown) {
      killed.push(signal);
      queueMicrotask(() => ended.abort());
      return true;
    },
  };
  const ask = async () => {
    if (!answers()) throw new Error("no answer");
  };
  const watching = watchProcess({ child, channel: { ask: ask as never }, ended: ended.signal }, "edge worker 1", {
    clock,
    log: collectingLog(lines, "warn"),
  });
  return { clock, killed, lines, watching, end: () => ended.abort() };
}

test("a process that answers is left alone, even if it misses a few pings", async () => {
  let pings = 0;
  const { clock, killed, end, watching } = watch(() => {
    pings += 1;
    return pings % 4 === 0;
  });
  await clock.advance(60_000);
  expect(pings).toBeGreaterThan(20);
  end();
  await watching;
  expect(killed).toEqual([]);
});

test("a process that answers four pings in a row with nothing is ended, by name", async () => {
  const { clock, killed, lines, watching } = watch(() => false);
  await clock.advance(10_000);
  await watching;
  expect(killed).toEqual(["SIGKILL"]);
  expect(lines.map(({ msg }) => msg)).toEqual(["edge worker 1 does not answer; ending it"]);
});
