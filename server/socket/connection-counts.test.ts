import { expect, test } from "vitest";
import { createAskedConnections, createConnectionCounts } from "./connection-counts";

/** Workers that ask for their places, each answer in a later turn. */
function open(count: number) {
  const places = createConnectionCounts();
  const workers = Array.from({ length: count }, (_, worker) =>
    createAskedConnections({
      open: async (id, owner, max) => places.open(worker, id, owner, max),
      hasRoom: async (owner, max) => places.hasRoom(owner, max),
      close: (id) => places.close(worker, id),
    }),
  );
  return { places, workers, take: (worker: number, max = 3) => workers[worker]?.open("account", max) };
}

test("an owner has no more connections at all workers together than its plan allows, however they are spread", async () => {
  const { workers, take } = open(3);
  const opened = await Promise.all([0, 1, 2, 0, 1, 2, 0].map((worker) => take(worker)));
  expect(opened.filter(Boolean)).toHaveLength(3);
  const held = workers.findIndex(({ count }) => count("account") > 0);
  workers[held]?.close("account");
  expect(await take((held + 1) % 3)).toBe(true);
  expect(await take(held)).toBe(false);
});

test("a worker that asks for room hears of the connections of all workers, and takes none", async () => {
  const { workers, take } = open(2);
  const room = () => Promise.all(workers.map(({ hasRoom }) => hasRoom("account", 2)));
  expect(await room()).toEqual([true, true]);
  await take(0, 2);
  expect(await room()).toEqual([true, true]);
  await take(0, 2);
  expect(await room()).toEqual([false, false]);
  workers[0]?.close("account");
  expect(await room()).toEqual([true, true]);
});

test("a worker that dies frees its places, and only those", async () => {
  const { places, take } = open(2);
  expect([await take(0), await take(0), await take(1), await take(1)]).toEqual([true, true, true, false]);
  places.free(0);
  expect([await take(1), await take(1), await take(1)]).toEqual([true, true, false]);
});

test("a place that is released twice, or by another worker, is released once", async () => {
  const { places, workers, take } = open(2);
  await take(0, 2);
  await take(0, 2);
  places.close(1, 1);
  expect(await take(1, 2)).toBe(false);
  places.close(0, 1);
  places.close(0, 1);
  workers[1]?.close("account");
  expect([await take(1, 2), await take(1, 2)]).toEqual([true, false]);
});

test("while the market process does not answer, a worker counts for itself, and what it took late is given back", async () => {
  const places = createConnectionCounts();
  let answers = false;
  const alone = createAskedConnections({
    async open(id, owner, max) {
      const opened = places.open(0, id, owner, max);
      if (!answers) throw new Error("no answer");
      return opened;
    },
    async hasRoom() {
      throw new Error("no answer");
    },
    close: (id) => places.close(0, id),
  });
  expect([await alone.open("account", 2), await alone.open("account", 2), await alone.open("account", 2)]).toEqual([
    true,
    true,
    false,
  ]);
  expect([await alone.hasRoom("account", 2), await alone.hasRoom("account", 3)]).toEqual([false, true]);
  answers = true;
  alone.close("account");
  expect(await alone.open("account", 2)).toBe(true);
  expect(places.open(1, 1, "account", 2)).toBe(false);
});

test("handshakes that wait for an answer are bounded by the limit of their owner", () => {
  const silent = createAskedConnections({
    open: () => new Promise(() => undefined),
    hasRoom: () => new Promise(() => undefined),
    close: () => undefined,
  });
  expect(silent.open("account", 2)).toBeInstanceOf(Promise);
  expect(silent.open("account", 2)).toBeInstanceOf(Promise);
  expect(silent.open("account", 2)).toBe(false);
  expect(silent.hasRoom("account", 2)).toBe(false);
});
