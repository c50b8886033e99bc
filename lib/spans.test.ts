import { expect, test, vi } from "vitest";
import { Fault } from "./fault";
import { beginWork, recordsWork, traced, type Work } from "./spans";
import { recordedWork } from "./testing/recorded-work";

const workOf = (name: string): Work => ({ name, kind: "internal", attributes: {} });

test("without telemetry nothing is described, and the result is the work's own", () => {
  const describe = vi.fn(() => workOf("a"));
  expect(recordsWork()).toBe(false);
  expect(traced(describe, (work) => [work])).toEqual([undefined]);
  expect(describe).not.toHaveBeenCalled();
});

test("work ends when it returns, or when its promise does, with what was added to it", async () => {
  const ended = recordedWork();
  expect(recordsWork()).toBe(true);
  expect(
    traced(
      () => workOf("now"),
      () => 1,
    ),
  ).toBe(1);
  let answer: (value: number) => void = () => undefined;
  const later = traced(
    () => workOf("later"),
    (work) => {
      if (work !== undefined) work.attributes.rows = 3;
      return new Promise<number>((resolve) => {
        answer = resolve;
      });
    },
  );
  expect(ended.map(({ name }) => name)).toEqual(["now"]);
  answer(2);
  expect(await later).toBe(2);
  expect(ended).toMatchObject([{ name: "now" }, { name: "later", attributes: { rows: 3 } }]);
});

test.each([
  ["a refused caller is no failure", new Fault("unknown_ticker"), undefined, "unknown_ticker"],
  ["a fault of the service is one", new Fault("service_unavailable"), "service_unavailable", "service_unavailable"],
  ["another error has its code", Object.assign(new Error("no"), { code: "ECONNREFUSED" }), "ECONNREFUSED", undefined],
  ["or its name, never its message", new TypeError("a secret"), "TypeError", undefined],
])("%s", async (_, error, problem, told) => {
  const ended = recordedWork();
  const failing = () => {
    throw error;
  };
  expect(() => traced(() => workOf("now"), failing)).toThrow(error);
  await expect(
    traced(
      () => workOf("later"),
      async () => failing(),
    ),
  ).rejects.toBe(error);
  beginWork(workOf("by hand"))(error);
  expect(ended).toHaveLength(3);
  for (const work of ended) {
    expect(work.problem).toBe(problem);
    expect(work.attributes["spotwire.error"]).toBe(told);
  }
});
