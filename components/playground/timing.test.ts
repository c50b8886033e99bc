import { expect, test } from "vitest";
import { type Measured, timingOf } from "./timing";

const fresh: Measured = {
  startTime: 100,
  domainLookupStart: 102,
  domainLookupEnd: 105,
  connectStart: 105,
  secureConnectionStart: 109,
  connectEnd: 120,
  requestStart: 120,
  responseStart: 150,
  responseEnd: 153,
};

test("the parts of a call add up to its time", () => {
  const { parts, reused } = timingOf(fresh);
  expect(parts).toEqual([
    { name: "Queued in the browser", ms: 2 },
    { name: "DNS", ms: 3 },
    { name: "Connect", ms: 4 },
    { name: "TLS", ms: 11 },
    { name: "Wait for the first byte", ms: 30 },
    { name: "Download", ms: 3 },
  ]);
  expect(reused).toBe(false);
  expect(parts.reduce((sum, { ms }) => sum + ms, 0)).toBe(53);
});

test("a connection that was open already has neither DNS nor connect, and plain HTTP has no TLS", () => {
  const open = {
    ...fresh,
    domainLookupStart: 100,
    domainLookupEnd: 100,
    connectStart: 100,
    connectEnd: 100,
    secureConnectionStart: 0,
  };
  const { parts, reused } = timingOf({ ...open, requestStart: 101 });
  expect([reused, parts.map(({ name }) => name)]).toEqual([
    true,
    ["Queued in the browser", "Wait for the first byte", "Download"],
  ]);
  const names = timingOf({ ...fresh, secureConnectionStart: 0 }).parts.map(({ name }) => name);
  expect(names).not.toContain("TLS");
});

test("what the service says of its own work is kept, within a bound", () => {
  const serverTiming = Array.from({ length: 50 }, (_, index) => ({ name: `s${index}`, description: "", duration: 1 }));
  expect(timingOf({ ...fresh, serverTiming }).server).toHaveLength(10);
  expect(timingOf(fresh).server).toEqual([]);
});
