import { afterAll, beforeAll, expect, test } from "vitest";
import { freshAddress, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { createLocalConnections } from "./connections";
import { createAdmissions } from "./handshake";

let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

test("an admission releases its slot when a drain began while the slot was taken", async () => {
  const { text: key } = await t.issueKey({ scopes: ["market:stream"] });
  const { accountId } = await t.access.verify(key, freshAddress());
  const connections = createLocalConnections();
  let taken = false;
  const admissions = createAdmissions({
    access: t.access,
    connections,
    // The process is asked to stop at the moment the slot is taken.
    draining: () => {
      taken ||= connections.count(accountId) > 0;
      return taken;
    },
    publicUrl: undefined,
    generation: () => 0,
    onFull: () => undefined,
    metrics: { refused: () => undefined },
  });
  const coming = admissions.admit({
    key,
    ticket: null,
    origin: null,
    host: null,
    address: freshAddress(),
    id: "one",
    traceparent: null,
  });
  await expect(coming).rejects.toMatchObject({ id: "service_unavailable" });
  expect([taken, connections.count(accountId)]).toEqual([true, 0]);
});
