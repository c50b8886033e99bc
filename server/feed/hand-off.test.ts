import { expect, test } from "vitest";
import { createHandOff } from "./hand-off";

test("each source waits until the reader asks for the next batch, and batches keep their order", async () => {
  const { put, read } = createHandOff<string>();
  const taken: string[] = [];
  const stop = new AbortController();
  const batches = read(stop.signal);
  for (const batch of ["a", "b", "c"]) void put(batch).then(() => taken.push(batch));
  expect((await batches.next()).value).toBe("a");
  expect(taken).toEqual([]);
  expect((await batches.next()).value).toBe("b");
  expect(taken).toEqual(["a"]);
  const waiting = (await batches.next()).value;
  expect([waiting, taken]).toEqual(["c", ["a", "b"]]);
  const next = batches.next();
  void put("d");
  expect((await next).value).toBe("d");
});

test("once the reader has stopped, no source waits any more", async () => {
  const { put, read } = createHandOff<string>();
  const stop = new AbortController();
  const batches = read(stop.signal);
  const puts = [put("a"), put("b")];
  await batches.next();
  stop.abort();
  expect((await batches.next()).done).toBe(true);
  await Promise.all([...puts, put("c")]);
});
