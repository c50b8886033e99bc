import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hashKey } from "#lib/access/key-format";
import { isWellFormedKey } from "#lib/contract/key-text";
import { KEY_ADDRESSES_MAX_COUNT, KEY_LIFETIME_DEFAULT_S, KEY_ORIGINS_MAX_COUNT } from "#lib/contract/limits";
import { HOUR_MS } from "#lib/units";
import { type TestRuntime, testRuntime } from "#server/testing/runtime";
import { putAccount } from "./accounts";
import { createKey, editKey, listKeys, revokeKey, revokeReplaced, rotateKey } from "./keys";

let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

const refused = (parameter: string) =>
  expect.objectContaining({ id: "invalid_parameter", data: expect.objectContaining({ parameter }) });
const inHours = (hours: number) => new Date(t.clock.now() + hours * HOUR_MS);

describe("creating a key", () => {
  test("gives the text once and keeps its hash, its first 12 and its last 4 characters", async () => {
    const { text, record } = await t.issueKey({ name: "  my key ", origins: ["https://App.example.com:443"], venue: "sandbox" });
    expect(isWellFormedKey(text)).toBe(true);
    const row = await t.db.prisma.apiKey.findUniqueOrThrow({ where: { id: record.id } });
    expect(Buffer.from(row.hash)).toEqual(hashKey(text));
    expect(record).toMatchObject({
      name: "my key",
      venue: "sandbox",
      state: "active",
      prefix: text.slice(0, 12),
      last4: text.slice(-4),
      origins: ["https://app.example.com"],
    });
    expect(JSON.stringify(row)).not.toContain(text.slice(8, 38));
  });

  test.each([
    ["name", { name: " " }],
    ["name", { name: "x".repeat(81) }],
    ["name", { name: "two\nlines" }],
    ["venue", { venue: "paper" }],
    ["scopes", { scopes: [] }],
    ["scopes", { scopes: ["market:write"] }],
    ["origins", { origins: ["*"] }],
    ["origins", { origins: Array.from({ length: KEY_ORIGINS_MAX_COUNT + 1 }, (_, index) => `https://a${index}.example.com`) }],
    ["addresses", { addresses: ["localhost"] }],
    ["addresses", { addresses: Array.from({ length: KEY_ADDRESSES_MAX_COUNT + 1 }, (_, index) => `192.0.2.${index}`) }],
    ["expires_at", { expiresAt: new Date(0) }],
  ])("names the setting it refuses: %s %j", async (parameter, settings) => {
    await expect(t.issueKey(settings)).rejects.toEqual(refused(parameter));
  });

  test("lets a key expire after a year, unless another expiry or none is chosen", async () => {
    const year = new Date(t.clock.now() + KEY_LIFETIME_DEFAULT_S * 1000);
    expect((await t.issueKey({ expiresAt: undefined })).record.expiresAt).toEqual(year);
    expect((await t.issueKey({ expiresAt: inHours(1) })).record.expiresAt).toEqual(inHours(1));
    expect((await t.issueKey({ expiresAt: null })).record.expiresAt).toBeNull();
  });

  test("refuses a plan that does not exist, and names those that do", async () => {
    await expect(t.issueKey({ plan: "gold" })).rejects.toMatchObject({
      id: "invalid_parameter",
      data: { parameter: "plan", allowed: expect.arrayContaining(["free", "pro"]) },
    });
  });

  test("never gives an account more active keys than it may have, not even at the same time; revoked ones do not count", async () => {
    const account = await putAccount(t.keyContext, "collector");
    const settings = { accountId: account.id, name: "k", venue: "live", scopes: ["market:read"], origins: [], expiresAt: null };
    const first = await createKey(t.keyContext, settings);
    const rows = Array.from({ length: 196 }, (_, index) => ({
      ...settings,
      hash: Buffer.from(`${index}`),
      prefix: "",
      last4: "",
    }));
    await t.db.prisma.apiKey.createMany({ data: rows });
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => createKey(t.keyContext, settings)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    expect(await t.db.prisma.apiKey.count({ where: { accountId: account.id } })).toBe(200);
    await expect(createKey(t.keyContext, settings)).rejects.toEqual(refused("account"));
    await expect(rotateKey(t.keyContext, first.record.id, "1h")).rejects.toEqual(refused("account"));
    const { record } = await rotateKey(t.keyContext, first.record.id, "now");
    await expect(createKey(t.keyContext, settings)).rejects.toEqual(refused("account"));
    await revokeKey(t.keyContext, record.id);
    await createKey(t.keyContext, settings);
  });
});

describe("allowed addresses of a key", () => {
  const [OFFICE, HOME] = ["203.0.113.7", "198.51.100.9"];
  const from = (key: string, address: string) => t.ask("/api/v1/market/instruments", { key, address });

  test("are stored in one form, as many as a key may have, and its successor has them too", async () => {
    const addresses = Array.from({ length: KEY_ADDRESSES_MAX_COUNT - 1 }, (_, index) => `192.0.2.${index}`);
    const { record } = await t.issueKey({ addresses: [...addresses, "2001:DB8::1/32"] });
    expect(record.addresses).toEqual([...addresses, "2001:db8::/32"]);
    expect((await t.issueKey({ addresses: [OFFICE, ` ${OFFICE}`] })).record.addresses).toEqual([OFFICE]);
    expect((await rotateKey(t.keyContext, record.id, "now")).record.addresses).toEqual(record.addresses);
  });

  test("are the only ones it can be used from; other keys can be used from anywhere", async () => {
    const { text } = await t.issueKey({ addresses: ["203.0.113.0/24", "2001:db8::1"] });
    for (const address of [OFFICE, `::ffff:${OFFICE}`, "2001:db8::1"]) expect((await from(text, address)).status).toBe(200);
    const refused = await from(text, HOME);
    expect(refused).toMatchObject({ status: 403, body: { code: 40304, message: "address_not_allowed" } });
    expect(refused.body.data.detail).toBe(`This key does not allow the IP address ${HOME}.`);
    expect((await from((await t.issueKey()).text, HOME)).status).toBe(200);
  });

  test("use nothing of the quota when they refuse a call", async () => {
    const { text } = await t.issueKey({ addresses: [OFFICE], plan: "free" });
    for (const _ of [1, 2]) expect((await from(text, HOME)).headers.get("ratelimit")).toBe('"plan";r=120;t=60');
  });

  test("count as soon as they are changed, and no longer when they are removed", async () => {
    const { text, record } = await t.issueKey({ addresses: [OFFICE] });
    expect([(await from(text, OFFICE)).status, (await from(text, HOME)).status]).toEqual([200, 403]);
    await editKey(t.keyContext, record.id, { addresses: [HOME] });
    await t.settle();
    expect([(await from(text, OFFICE)).status, (await from(text, HOME)).status]).toEqual([403, 200]);
    await editKey(t.keyContext, record.id, { addresses: [] });
    await t.settle();
    expect([(await from(text, OFFICE)).status, (await from(text, HOME)).status]).toEqual([200, 200]);
  });
});

describe("changing a key", () => {
  const instruments = async (key: string) => (await t.ask("/api/v1/market/instruments", { key })).status;

  test("moves its expiry, which counts at once, and removes it", async () => {
    const { text, record } = await t.issueKey({ expiresAt: inHours(1) });
    expect(await instruments(text)).toBe(200);
    expect(await editKey(t.keyContext, record.id, { expiresAt: inHours(3) })).toMatchObject({ expiresAt: inHours(3) });
    await t.settle();
    await t.clock.advance(2 * HOUR_MS);
    expect(await instruments(text)).toBe(200);
    await editKey(t.keyContext, record.id, { expiresAt: null });
    await t.settle();
    await t.clock.advance(2 * HOUR_MS);
    expect(await instruments(text)).toBe(200);
    await editKey(t.keyContext, record.id, { expiresAt: inHours(1) });
    await t.settle();
    await t.clock.advance(HOUR_MS);
    expect(await instruments(text)).toBe(401);
  });

  test("keeps what it does not name, and refuses an expiry that has passed", async () => {
    const { record } = await t.issueKey({ name: "kept", expiresAt: inHours(1) });
    const changed = await editKey(t.keyContext, record.id, { name: undefined, scopes: ["market:stream"] });
    expect(changed).toMatchObject({ name: "kept", scopes: ["market:stream"], expiresAt: inHours(1) });
    const before = inHours(-1);
    await expect(editKey(t.keyContext, record.id, { expiresAt: before })).rejects.toEqual(refused("expires_at"));
  });
});

describe("rotating a key", () => {
  test.each([
    ["now", 0],
    ["1h", 1],
    ["24h", 24],
    ["7d", 168],
  ] as const)("makes one with the same settings and leaves the old one valid for %s", async (grace, hours) => {
    const old = await t.issueKey({ name: "rotating", scopes: ["market:stream"], origins: ["https://a.example.com"] });
    const { text, record, replaced } = await rotateKey(t.keyContext, old.record.id, grace);
    expect(text).not.toBe(old.text);
    expect(record).toMatchObject({
      name: "rotating",
      scopes: ["market:stream"],
      origins: ["https://a.example.com"],
      state: "active",
    });
    expect(replaced).toMatchObject({
      state: hours === 0 ? "revoked" : "grace",
      graceUntil: inHours(hours),
      replacedBy: record.id,
    });
  });

  test("lets the keys that one replaced be revoked with it, of those in their grace, and no others", async () => {
    const [a, other] = [await t.issueKey({ name: "chain" }), await t.issueKey()];
    const b = await rotateKey(t.keyContext, a.record.id, "7d");
    const c = await rotateKey(t.keyContext, b.record.id, "now");
    const d = await rotateKey(t.keyContext, c.record.id, "1h");
    await rotateKey(t.keyContext, other.record.id, "7d");
    const by = { actor: { name: "somebody" }, accountId: randomUUID(), address: null };
    await expect(revokeReplaced(t.keyContext, d.record.id, by)).rejects.toMatchObject({ id: "not_found" });
    expect(await revokeReplaced(t.keyContext, d.record.id)).toBe(2);
    const states = new Map((await listKeys(t.keyContext)).map(({ id, state }) => [id, state]));
    const stateOf = ({ record }: { record: { id: string } }) => states.get(record.id);
    expect([a, b, c, d, other].map(stateOf)).toEqual(["revoked", "revoked", "revoked", "active", "grace"]);
    for (const { text } of [a, b, c]) expect((await t.ask("/api/v1/key", { key: text })).status).toBe(401);
    expect(await revokeReplaced(t.keyContext, d.record.id)).toBe(0);
  });

  test("never lets the grace reach past the old key's own expiry", async () => {
    const expiresAt = inHours(2);
    const { record } = await t.issueKey({ expiresAt });
    const { replaced, record: next } = await rotateKey(t.keyContext, record.id, "24h");
    expect(replaced.graceUntil).toEqual(expiresAt);
    expect(next.expiresAt).toEqual(expiresAt);
  });

  test("refuses a key that is revoked, was rotated before, or does not exist", async () => {
    const { record } = await t.issueKey();
    await rotateKey(t.keyContext, record.id, "1h");
    await expect(rotateKey(t.keyContext, record.id, "1h")).rejects.toEqual(refused("id"));
    const other = await t.issueKey();
    await revokeKey(t.keyContext, other.record.id);
    await expect(rotateKey(t.keyContext, other.record.id, "1h")).rejects.toEqual(refused("id"));
    for (const id of ["nope", "00000000-0000-7000-8000-000000000000"])
      await expect(revokeKey(t.keyContext, id)).rejects.toEqual(refused("id"));
  });

  test("gives one new key to two rotations at once", async () => {
    const { record } = await t.issueKey({ account: "racing" });
    const outcomes = await Promise.allSettled([
      rotateKey(t.keyContext, record.id, "1h"),
      rotateKey(t.keyContext, record.id, "1h"),
    ]);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await listKeys(t.keyContext, { account: "racing" })).toHaveLength(2);
  });
});

test("lists the keys of an account, newest first, without any text", async () => {
  const first = await t.issueKey({ account: "lister", name: "first" });
  await t.clock.advance(1_000);
  const second = await t.issueKey({ account: "lister", name: "second" });
  const records = await listKeys(t.keyContext, { account: "lister" });
  expect(records.map(({ name }) => name)).toEqual(["second", "first"]);
  for (const { text } of [first, second]) expect(JSON.stringify(records)).not.toContain(text);
});
