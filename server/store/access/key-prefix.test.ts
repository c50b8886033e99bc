import { afterAll, beforeAll, expect, test } from "vitest";
import { isWellFormedKey } from "#lib/contract/key-text";
import { operations } from "#lib/operations/declarations";
import { makeLink } from "#server/testing/links";
import { TEST_SECRET, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { rotateKey } from "./keys";

/** An installation that has chosen another prefix. */
let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime({ variables: { BRAND_NAME: "Acme", KEY_PREFIX: "acme" } });
});
afterAll(() => t.close());

const { path } = operations.instruments;
const CALL = { operation: "instruments", query: "format=json" } as const;
/** What keys were made with before the prefix was chosen. */
const earlier = () => ({ ...t.keyContext, brand: { name: "Spotwire", keyPrefix: "sw" } });

test("new keys start with the prefix of the installation, and their lists show it with four random characters", async () => {
  const { text, record } = await t.issueKey();
  expect(text).toMatch(/^acme_live_[0-9A-Za-z]{36}$/);
  expect(isWellFormedKey(text)).toBe(true);
  expect(record.prefix).toBe(text.slice(0, "acme_live_".length + 4));
  expect((await t.ask(path, { key: text })).status).toBe(200);
});

test("a key made before the prefix changed keeps working, and its rotation has the new prefix", async () => {
  const { record } = await t.issueKey();
  const old = await rotateKey(earlier(), record.id, "1h");
  expect(old.text).toMatch(/^sw_live_/);
  await t.settle();
  expect((await t.ask(path, { key: old.text })).status).toBe(200);
  const next = await rotateKey(t.keyContext, old.record.id, "1h");
  expect(next.text).toMatch(/^acme_live_/);
});

test("a link made before the prefix changed keeps working", async () => {
  const { record } = await t.issueKey();
  const link = await makeLink({ ...earlier(), secret: TEST_SECRET }, record.id, CALL);
  const own = await makeLink({ ...t.keyContext, secret: TEST_SECRET }, record.id, CALL);
  expect([link.token, own.token]).toEqual([expect.stringMatching(/^sw_link_/), expect.stringMatching(/^acme_link_/)]);
  for (const { path: address } of [link, own]) expect((await t.ask(address, { key: null })).status).toBe(200);
  expect((await t.ask(link.path.replace("sw_link_", "acme_link_"), { key: null })).status).toBe(404);
  expect((await t.ask(own.path.replace("acme_link_", "sw_link_"), { key: null })).status).toBe(404);
});
