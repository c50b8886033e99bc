import fc from "fast-check";
import { expect, test } from "vitest";
import { createClientQueue } from "./client-queue";

const BOUNDS = { runningMaxCount: 2, waitingMaxCount: 5, clientWaitingMaxCount: 3 };

/** A queue, open unless said otherwise, with the names of runs in the order in which they began. */
function scene(open = true) {
  const queue = createClientQueue(BOUNDS);
  queue.open(open);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const displaced: string[] = [];
  /** Joins as a client, `network/client`; one without a network is in a network of its own. */
  const join = (who: string, name: string) => {
    const [network = "", client = who] = who.split("/");
    return queue.join(
      { network, client },
      {
        run(end) {
          begun.push(name);
          ends.set(name, end);
        },
        displaced: () => displaced.push(name),
      },
    );
  };
  return { queue, begun, displaced, join, end: (name: string) => ends.get(name)?.() };
}

test("clients are served in turn, however many requests each has waiting", () => {
  const { begun, join, end } = scene();
  for (const name of ["a1", "a2", "a3", "a4"]) join("a", name);
  join("b", "b1");
  expect(begun).toEqual(["a1", "a2"]);
  end("a1");
  end("a2");
  expect(begun).toEqual(["a1", "a2", "a3", "b1"]);
});

test("networks take turns, and the clients of each, so that a network gains nothing by its many clients", () => {
  const { begun, join, end } = scene();
  for (const name of ["1", "2", "3", "4", "5"]) join(`a/${name}`, `a${name}`);
  join("b/1", "b1");
  join("b/1", "b1 again");
  for (const name of ["a1", "a2", "a3", "b1", "a4"]) end(name);
  expect(begun).toEqual(["a1", "a2", "a3", "b1", "a4", "b1 again", "a5"]);
});

test("past its bound a client gets no place", () => {
  const { join } = scene(false);
  for (const name of ["a1", "a2", "a3"]) expect(join("a", name)).toBeDefined();
  expect(join("a", "a4")).toBeUndefined();
});

test("in a full queue the newest of the largest network loses its place to a smaller network, until none is larger", () => {
  const { queue, begun, displaced, join, end } = scene(false);
  for (const name of ["1", "2", "3", "4", "5"]) expect(join(`a/${name}`, `a${name}`)).toBeDefined();
  expect(join("a/6", "a6")).toBeUndefined();
  for (const name of ["b1", "b2"]) expect(join("b", name)).toBeDefined();
  expect(displaced).toEqual(["a5", "a4"]);
  expect(join("b", "b3")).toBeUndefined();
  expect(join("c", "c1")).toBeDefined();
  expect(displaced).toEqual(["a5", "a4", "a3"]);
  queue.open(true);
  for (const name of ["a1", "b1", "c1"]) end(name);
  expect(begun).toEqual(["a1", "b1", "c1", "a2", "b2"]);
});

test("within a network the newest of the client with most waiting loses its place to another client", () => {
  const { displaced, join } = scene(false);
  for (const name of ["x1", "x2", "x3"]) join("a/x", name);
  for (const name of ["y1", "y2"]) join("a/y", name);
  expect(join("a/z", "z1")).toBeDefined();
  expect(displaced).toEqual(["x3"]);
  expect(join("a/y", "y3")).toBeUndefined();
});

test("who was displaced leaves without taking another's place", () => {
  const { queue, begun, displaced, join } = scene(false);
  const leaves = ["1", "2", "3", "4", "5"].map((name) => join(`a/${name}`, `a${name}`));
  join("b", "b1");
  expect(displaced).toEqual(["a5"]);
  for (const leave of leaves) leave?.();
  queue.open(true);
  expect(begun).toEqual(["b1"]);
});

test("while it is closed nothing begins, and what left does not begin later", () => {
  const { queue, begun, join } = scene(false);
  const leave = join("a", "a1");
  join("a", "a2");
  leave?.();
  expect(begun).toEqual([]);
  queue.open(true);
  expect(begun).toEqual(["a2"]);
});

test("never more than the bound runs, and everything that waits and is not displaced runs in the end", () => {
  const step = fc.record({ client: fc.constantFrom("a/1", "a/2", "b/1", "c/1"), ends: fc.nat(3), twice: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = createClientQueue(BOUNDS);
      queue.open(true);
      const running: (() => void)[] = [];
      let joined = 0;
      let begun = 0;
      for (const { client, ends, twice } of steps) {
        const [network = ""] = client.split("/");
        const place = queue.join(
          { network, client },
          {
            run(end) {
              begun += 1;
              running.push(end);
            },
            displaced: () => {
              joined -= 1;
            },
          },
        );
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
