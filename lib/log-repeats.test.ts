import pino from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { sumRepeats } from "./log-repeats";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function scene() {
  const lines: { msg: string; repeated?: number; client?: number; part?: string }[] = [];
  const log = pino({ base: null, hooks: { logMethod: sumRepeats() } }, { write: (line) => void lines.push(JSON.parse(line)) });
  return { log, lines };
}

test("of one text ten lines are written in ten seconds, and at their end one says how many were left out", () => {
  const { log, lines } = scene();
  for (let client = 0; client < 422; client += 1) log.child({ part: "a" }).error({ client }, "a client failed");
  expect(lines.map(({ client }) => client)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  vi.advanceTimersByTime(10_000);
  expect(lines.at(-1)).toMatchObject({ msg: "a client failed (repeated 412 times)", repeated: 412, part: "a" });
  expect(lines).toHaveLength(11);
  log.error("a client failed");
  expect(lines.at(-1)).toMatchObject({ msg: "a client failed" });
  vi.advanceTimersByTime(10_000);
  expect(lines).toHaveLength(12);
});

test("other texts and other levels are counted for themselves, and a fatal line is always written", () => {
  const { log, lines } = scene();
  for (let count = 0; count < 20; count += 1) {
    log.warn("a");
    log.error("a");
    log.error("b");
    log.fatal("a");
  }
  expect(lines).toHaveLength(3 * 10 + 20);
});

test("past the bound of texts, lines are written as they come", () => {
  const { log, lines } = scene();
  for (let text = 0; text < 200; text += 1) log.info(`text ${text}`);
  for (let count = 0; count < 30; count += 1) log.info("one more");
  expect(lines).toHaveLength(230);
});
