import fc from "fast-check";
import { expect, test } from "vitest";
import { createTurns } from "./turns";

const BOUNDS = { runningMaxCount: 2, waitingMaxCount: 5, clientWaitingMaxCount: 3 };

/** A queue, open unless said otherwise, with the names of runs in the order in which they began. */
function scene(open = true) {
  const turns = createTurns(BOUNDS);
  turns.open(open);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const join = (client: string, name: string) =>
    turns.join(client, (end) => {
      begun.push(name);
      ends.set(name, end);
    });
  return { turns, begun, join, end: (name: string) => ends.get(name)?.() };
}

test("clients take turns, whoever has more waiting", () => {
  const { begun, join, end } = scene();
  for (const name of ["a1", "a2", "a3", "a4"]) join("a", name);
  join("b", "b1");
  expect(begun).toEqual(["a1", "a2"]);
  end("a1");
  end("a2");
  expect(begun).toEqual(["a1", "a2", "a3", "b1"]);
});

test("past its bound a client gets no place, and past the bound of all nobody does", () => {
  const { join } = scene(false);
  for (const name of ["a1", "a2", "a3"]) expect(join("a", name)).toBeDefined();
  expect(join("a", "a4")).toBeUndefined();
  for (const name of ["b1", "b2"]) expect(join("b", name)).toBeDefined();
  expect(join("c", "c1")).toBeUndefined();
});

test("while it is closed nothing begins, and what left does not begin later", () => {
  const { turns, begun, join } = scene(false);
  const leave = join("a", "a1");
  join("a", "a2");
  leave?.();
  expect(begun).toEqual([]);
  turns.open(true);
  expect(begun).toEqual(["a2"]);
});

test("never more than the bound runs, and everything that waits runs in the end", () => {
  const step = fc.record({ client: fc.constantFrom("a", "b", "c"), ends: fc.nat(3), twice: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const turns = createTurns(BOUNDS);
      turns.open(true);
      const running: (() => void)[] = [];
      let joined = 0;
      let begun = 0;
      for (const { client, ends, twice } of steps) {
        const place = turns.join(client, (end) => {
          begun += 1;
          running.push(end);
        });
        if (place !== undefined) joined += 1;
        expect(running.length).toBeLessThanOrEqual(BOUNDS.runningMaxCount);
        for (let left = ends; left > 0; left -= 1) {
          const end = running.shift();
          end?.();
          if (twice) end?.();
        }
      }
      while (running.length > 0) running.shift()?.();
      expect(begun).toBe(joined);
    }),
  );
});
