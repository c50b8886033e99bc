import { expect, test } from "vitest";
import { DEFAULT_BRAND } from "#lib/brand";
import { createSteadyClock } from "#lib/steady-clock";
import { collectingLog } from "#lib/testing/collecting-log";
import { readEnv } from "./env";
import { createNode, parts, partsOf, type Role } from "./node";
import { PARTS, rolesOf } from "./parts";

function base(logged: Record<string, unknown>[] = []) {
  const log = collectingLog(logged, "warn");
  return {
    env: readEnv({}),
    brand: DEFAULT_BRAND,
    kind: "market" as const,
    clock: createSteadyClock({ log }),
    log,
    leave: () => {},
    print: () => {},
  };
}

type OnStop = (part: string, stop: () => Promise<void>) => void;

/** A table of three parts, which note when they start and stop; the second one does what the test says. */
function threeParts(work: (onStop: OnStop) => unknown = () => undefined) {
  const noted: string[] = [];
  const note = (name: string, onStop: OnStop) => {
    noted.push(`${name} starts`);
    onStop(name, async () => void noted.push(`${name} stops`));
  };
  const { list } = parts()
    .part("first", ["market", "worker"], async ({ onStop }) => note("first", onStop))
    .part("second", ["market"], async ({ onStop }) => {
      note("second", onStop);
      await work(onStop);
      return { secret: "secret" };
    })
    .part("last", ["market"], async ({ onStop, secret }) => note(`last with ${secret}`, onStop));
  return { list, noted };
}

test("parts start in the order of the table, get what those before them offer, and stop in the reverse order", async () => {
  const { list, noted } = threeParts();
  const node = createNode(base(), list);
  await node.start();
  expect(noted.splice(0)).toEqual(["first starts", "second starts", "last with secret starts"]);
  await Promise.all([node.stop(), node.stop()]);
  expect(noted).toEqual(["last with secret stops", "second stops", "first stops"]);
});

test("a process has the parts of its roles, in the order of the table", () => {
  const { list } = threeParts();
  const names = (...roles: Role[]) => partsOf(list, roles).map(({ name }) => name);
  expect(names("market")).toEqual(["first", "second", "last"]);
  expect(names("worker")).toEqual(["first"]);
  expect(names("portal", "jobs")).toEqual([]);
});

test("when a part fails, what it and those before it opened is stopped, and none after it starts", async () => {
  const { list, noted } = threeParts(() => Promise.reject(new Error("no room")));
  await expect(createNode(base(), list).start()).rejects.toThrow("no room");
  expect(noted).toEqual(["first starts", "second starts", "second stops", "first stops"]);
});

test("the parent of a process hears why it could not start", async () => {
  const told: unknown[] = [];
  const parent = { ask: async (...asked: unknown[]) => void told.push(asked) };
  const { list } = parts()
    .part("parent", ["worker"], async () => ({ parent }))
    .part("failing", ["worker"], () => Promise.reject(new Error("no room")));
  await expect(createNode(base(), list).start()).rejects.toThrow("no room");
  expect(told).toEqual([["failed", "no room"]]);
});

test("a part that does not stop cleanly is logged, and those before it stop", async () => {
  const logged: Record<string, unknown>[] = [];
  const { list, noted } = threeParts((onStop) => onStop("stuck", () => Promise.reject(new Error("stuck"))));
  const node = createNode(base(logged), list);
  await node.start();
  await node.stop();
  expect(noted.slice(-2)).toEqual(["second stops", "first stops"]);
  expect(logged).toMatchObject([{ part: "stuck", msg: "component did not stop cleanly" }]);
});

test("a stop during the start stops what has started, and nothing else starts", async () => {
  const { list, noted } = threeParts(() => node.stop());
  const node = createNode(base(), list);
  await node.start();
  expect(noted).toEqual(["first starts", "second starts", "second stops", "first stops"]);
});

test("the compiler refuses a part that needs what no part before it offers in each of its roles", () => {
  const table = parts().part("given", ["market"], async () => ({ secret: "known" }));
  const needing = async ({ secret }: { readonly secret: string }) => void secret;
  table.part("needing", ["market"], needing);
  table.part("needing", ["operators"], needing);
  // @ts-expect-error: an edge worker has no part that offers it
  table.part("needing", ["worker"], needing);
  // @ts-expect-error: not every process with jobs is a market process
  table.part("needing", ["jobs"], needing);
  // @ts-expect-error: nothing before offers it
  parts().part("needing", ["market"], needing);
});

const partsAt = (...roles: Role[]) => partsOf(PARTS, roles).map(({ name }) => name);
const named = (text: string) => text.trim().split(/,\s+/);

test("the market process gets its roles from the settings", () => {
  const roles = (variables: Record<string, string>, cores = 2) => rolesOf(readEnv(variables), cores).join(" ");
  expect(roles({})).toBe("market pages");
  expect(roles({ PORTAL: "off" })).toBe("market jobs");
  expect(roles({}, 4)).toBe("market pages workers");
  expect(roles({ WORKERS: "2", PORTAL: "off", METRICS_PORT: "9464" })).toBe("market jobs workers operators");
  const cluster = { REDIS_URL: "redis://localhost", DATABASE_URL: "postgres://localhost/spotwire" };
  expect(roles({ ...cluster, ROLE: "edge" }, 4)).toBe("market pages");
  expect(roles({ ...cluster, ROLE: "ingest", LIVE_FEED: "push" }, 4)).toBe("market jobs");
});

test("a market process without pages and workers does everything itself", () => {
  expect(partsAt("market", "jobs", "operators")).toEqual(
    named(`
      metrics, settings, mail server, telemetry, redis, database, time, changes, access, usage, disk, markets, addresses, streams,
      reports, runtime, operators' port, http, health, mails, jobs, node reports, leaving, listening
    `),
  );
});

test("a market process with pages and edge workers leaves the jobs to the portal's process", () => {
  expect(partsAt("market", "workers", "pages")).toEqual(
    named(`
      metrics, settings, mail server, telemetry, portal, redis, database, time, changes, portalStop, bank, access, usage, disk,
      markets, addresses, streams, reports, workers, runtime, http, health, node reports, pages, leaving, listening
    `),
  );
});

test("an edge worker has the parts that serve clients", () => {
  expect(partsAt("worker")).toEqual(
    named(`
      metrics, parent, telemetry, redis, database, time, changes, access, usage, markets, addresses, streams, runtime,
      http, leaving
    `),
  );
});

test("the portal's process has pages and jobs", () => {
  expect(partsAt("portal", "jobs")).toEqual(
    named("next, metrics, parent, telemetry, redis, database, time, access, mails, users, jobs, pages"),
  );
});
