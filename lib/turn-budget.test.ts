import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createTurnBudget } from "./turn-budget";

const MAX_MS = 5;

/** Callers that each work for `eachMs` once there is time, and what happened in which turn of the event loop. */
async function work(callers: number, eachMs: number): Promise<readonly string[][]> {
  let nowMs = 1_000;
  const budget = createTurnBudget(MAX_MS, () => nowMs);
  const turns: string[][] = [[]];
  const done = Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      await budget();
      turns.at(-1)?.push(`caller ${caller}`);
      nowMs += eachMs;
    }),
  );
  let isDone = false;
  void done.then(() => {
    isDone = true;
  });
  for (;;) {
    // Everything else that a turn does comes after what had time in it.
    await nextTurn();
    if (isDone) return turns;
    turns.push([]);
  }
}

test("short work is done at once, however many callers there are", async () => {
  const turns = await work(100, 0);
  expect(turns[0]).toHaveLength(100);
});

test("long work of many callers is spread over turns, in their order, and each turn has some of it", async () => {
  const turns = (await work(8, 3)).filter((turn) => turn.length > 0);
  expect(turns.map(({ length }) => length)).toEqual([2, 2, 2, 2]);
  expect(turns.flat()).toEqual(Array.from({ length: 8 }, (_, caller) => `caller ${caller}`));
});

test("work that takes longer than a turn has is done alone in it", async () => {
  const turns = (await work(4, 100)).filter((turn) => turn.length > 0);
  expect(turns.map(({ length }) => length)).toEqual([1, 1, 1, 1]);
});
