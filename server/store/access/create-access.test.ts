import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { mintKey } from "#lib/access/key-format";
import type { Principal } from "#lib/access/principal";
import { AUTH_FAILURES_NETWORK_PER_MINUTE_COUNT, AUTH_FAILURES_PER_MINUTE_COUNT, PLAN_DEFAULTS } from "#lib/contract/limits";
import { HOUR_MS } from "#lib/units";
import { openPortalSession } from "#server/testing/portal-session";
import { DEMO_KEY, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { putAccount } from "./accounts";
import { createAccess } from "./create-access";
import { revokeKey, rotateKey } from "./keys";

let t: TestRuntime;
let address = 0;
/** Number of look-ups in the database so far. */
let asked = 0;
const nextAddress = () => `198.51.100.${address}`;

beforeAll(async () => {
  t = await testRuntime();
  t.db.pool.on("acquire", () => {
    asked += 1;
  });
});
beforeEach(() => {
  address += 1;
});
afterAll(() => t.close());

const outcome = async (verify: () => Principal | Promise<Principal>) => {
  try {
    return (await verify()).keyId;
  } catch (error) {
    return (error as { id: string }).id;
  }
};
const verify = (text: string | null, from = nextAddress()) => outcome(() => t.access.verify(text, from));
const UNAUTHORIZED = "unauthorized";

describe("verifying a key", () => {
  test("gives its account, venue, scopes and plan", async () => {
    const { text, record } = await t.issueKey({ scopes: ["market:read", "market:stream"], venue: "sandbox", plan: "standard" });
    expect(await t.access.verify(text, nextAddress())).toMatchObject({
      keyId: record.id,
      venue: "sandbox",
      scopes: ["market:read", "market:stream"],
      plan: { name: "standard", ...PLAN_DEFAULTS.standard },
      suspended: false,
      perAddress: false,
    });
  });

  test("gives one answer for missing, malformed, mistyped and unknown keys", async () => {
    const { text } = await t.issueKey();
    for (const key of [null, "", "x", mintKey("live"), `${text.slice(0, -1)}${text.endsWith("0") ? "1" : "0"}`])
      expect(await verify(key)).toBe(UNAUTHORIZED);
  });

  test("asks the database once for a key that many requests bring at once, and not again while it is fresh", async () => {
    const { text, record } = await t.issueKey();
    const before = asked;
    const principals = await Promise.all(Array.from({ length: 50 }, () => t.access.verify(text, nextAddress())));
    expect(new Set(principals.map(({ keyId }) => keyId))).toEqual(new Set([record.id]));
    expect(t.access.verify(text, nextAddress())).not.toBeInstanceOf(Promise);
    expect(asked - before).toBe(1);
    t.clock.set(t.clock.now() + 60_000);
    const again = t.access.verify(text, nextAddress());
    expect(again).toBeInstanceOf(Promise);
    await again;
  });

  test("never asks the database for a key with a bad checksum, nor twice for an unknown one", async () => {
    const unknown = mintKey("live");
    const before = asked;
    expect(await verify(`sw_live_${"0".repeat(36)}`)).toBe(UNAUTHORIZED);
    expect(asked - before).toBe(0);
    expect(await verify(unknown)).toBe(UNAUTHORIZED);
    expect(await verify(unknown)).toBe(UNAUTHORIZED);
    expect(asked - before).toBe(1);
  });
});

describe("a key that ends", () => {
  test("is refused on the instant of its expiry", async () => {
    const { text, record } = await t.issueKey({ expiresAt: new Date(t.clock.now() + 10_000) });
    expect(await verify(text)).toBe(record.id);
    await t.clock.advance(9_999);
    expect(await verify(text)).toBe(record.id);
    await t.clock.advance(1);
    expect(await verify(text)).toBe(UNAUTHORIZED);
  });

  test("is refused at the end of its grace, and the new one is not", async () => {
    const { text, record } = await t.issueKey();
    expect(await verify(text)).toBe(record.id);
    const next = await rotateKey(t.keyContext, record.id, "1h");
    await vi.waitFor(async () => expect((await t.access.verify(text, nextAddress())).validUntil).toBe(t.clock.now() + HOUR_MS));
    await t.clock.advance(3_599_999);
    expect(await verify(text)).toBe(record.id);
    await t.clock.advance(1);
    expect(await verify(text)).toBe(UNAUTHORIZED);
    expect(await verify(next.text)).toBe(next.record.id);
  });

  test("is refused after its revocation by the control message, while the clock stands still", async () => {
    const { text, record } = await t.issueKey();
    expect(await verify(text)).toBe(record.id);
    await revokeKey(t.keyContext, record.id);
    await vi.waitFor(async () => expect(await verify(text)).toBe(UNAUTHORIZED), { interval: 5 });
  });

  test("is refused within a second also while control messages may be missed", async () => {
    const { text, record } = await t.issueKey();
    const disconnected = createAccess({ ...t, secret: "a secret for tests", controlConnected: () => false });
    expect(await outcome(() => disconnected.verify(text, nextAddress()))).toBe(record.id);
    await t.db.pool.query("UPDATE api_key SET revoked_at = now() WHERE id = $1", [record.id]);
    expect(await outcome(() => disconnected.verify(text, nextAddress()))).toBe(record.id);
    await t.clock.advance(1_000);
    expect(await outcome(() => disconnected.verify(text, nextAddress()))).toBe(UNAUTHORIZED);
    await disconnected.stop();
  });

  test("is not kept when the message came while it was looked up", async () => {
    const { text, record } = await t.issueKey();
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    // The database has read the row; its answer is still on the way.
    const answered = vi.fn();
    const pool = Object.create(t.db.pool, {
      query: {
        value: async (...asking: Parameters<typeof t.db.pool.query>) => {
          const answer = await t.db.pool.query(...asking);
          answered();
          await released;
          return answer;
        },
      },
    });
    const access = createAccess({ ...t, db: { pool }, secret: "a secret for tests", controlConnected: () => true });
    const looking = outcome(() => access.verify(text, nextAddress()));
    await vi.waitFor(() => expect(answered).toHaveBeenCalled());
    await t.db.pool.query("UPDATE api_key SET revoked_at = now() WHERE id = $1", [record.id]);
    access.apply({ kind: "keys", keyId: record.id });
    release();
    expect(await looking).toBe(record.id);
    expect(await outcome(() => access.verify(text, nextAddress()))).toBe(UNAUTHORIZED);
    await access.stop();
  });

  test("follows its account's suspension and plan at once", async () => {
    const { text } = await t.issueKey({ account: "changing" });
    expect(await t.access.verify(text, nextAddress())).toMatchObject({ suspended: false });
    await putAccount(t.keyContext, "changing", { suspended: true, plan: "free" });
    await vi.waitFor(async () =>
      expect(await t.access.verify(text, nextAddress())).toMatchObject({ suspended: true, plan: { name: "free" } }),
    );
  });
});

describe("failed authentications", () => {
  test("are limited per address, but valid keys, tokens and tickets from that address still pass", async () => {
    const good = await t.issueKey();
    const from = nextAddress();
    for (let index = 0; index < AUTH_FAILURES_PER_MINUTE_COUNT; index += 1)
      expect(await verify("sw_live_garbage", from)).toBe(UNAUTHORIZED);
    const before = asked;
    expect(await verify("sw_live_garbage", from)).toBe("rate_limited");
    expect(asked - before).toBe(0);
    expect(await verify(mintKey("live"), from)).toBe("rate_limited");
    expect(await verify(good.text, from)).toBe(good.record.id);
    const principal = await t.access.verify(good.text, from);
    const { ticket } = t.access.mintTicket(principal, null);
    expect((await t.access.redeemTicket(ticket, null, from)).keyId).toBe(good.record.id);
    await expect(t.access.redeemTicket(ticket, null, from)).rejects.toMatchObject({ id: "rate_limited" });
    const session = await openPortalSession(t.db, principal.accountId, t.clock.now());
    const claims = { key: good.record.id, session, origin: "https://spotwire.test" };
    expect(await verify(t.access.mintPortalToken(claims).token, from)).toBe(good.record.id);
    expect(await verify(mintKey("live"), "198.51.100.254")).toBe(UNAUTHORIZED);
    t.access.apply({ kind: "keys" });
    expect(await verify(good.text, from)).toBe(good.record.id);
    await t.clock.advance(60_000);
    expect(await verify(mintKey("live"), from)).toBe(UNAUTHORIZED);
  });

  test("are limited per network too, but valid keys from it still pass", async () => {
    const good = await t.issueKey();
    const from = (index: number) => `192.0.2.${index % 250}`;
    for (let index = 0; index < AUTH_FAILURES_NETWORK_PER_MINUTE_COUNT; index += 1)
      expect(await verify(mintKey("live"), from(index))).toBe(UNAUTHORIZED);
    expect(await verify(mintKey("live"), from(251))).toBe("rate_limited");
    expect(await verify(good.text, from(251))).toBe(good.record.id);
    expect(await verify(mintKey("live"), "192.0.3.1")).toBe(UNAUTHORIZED);
    await t.clock.advance(60_000);
    expect(await verify(mintKey("live"), from(251))).toBe(UNAUTHORIZED);
  });

  test("count an IPv6 /64 as one address, and a missing key as none", async () => {
    for (let index = 0; index < AUTH_FAILURES_PER_MINUTE_COUNT; index += 1) {
      expect(await verify(null, "2001:db8:9::1")).toBe(UNAUTHORIZED);
      expect(await verify(mintKey("live"), `2001:db8:9::${index.toString(16)}`)).toBe(UNAUTHORIZED);
    }
    expect(await verify(mintKey("live"), "2001:db8:9:0:ffff::1")).toBe("rate_limited");
    expect(await verify(mintKey("live"), "2001:db8:9:1::1")).toBe(UNAUTHORIZED);
  });
});

describe("the demo key", () => {
  test("reads and streams the sandbox from any origin, limited per address on the plan demo", async () => {
    const demo = await t.access.verify(DEMO_KEY, nextAddress());
    expect(demo).toMatchObject({
      venue: "sandbox",
      scopes: ["market:read", "market:stream"],
      origins: "any",
      perAddress: true,
      plan: { name: "demo" },
    });
    for (let index = 0; index < PLAN_DEFAULTS.demo.restBurst; index += 1)
      expect(await t.access.take(demo, 1, "192.0.2.1")).toMatchObject({ allowed: true });
    expect(await t.access.take(demo, 1, "192.0.2.1")).toMatchObject({ allowed: false });
    expect(await t.access.take(demo, 1, "192.0.2.2")).toMatchObject({ allowed: true });
  });

  test("can be switched off and replaced; one with a bad checksum stops the start with a message", async () => {
    const off = createAccess({
      ...t,
      secret: "a secret for tests",
      env: { ...t.env, DEMO_KEY: "off" },
      controlConnected: () => true,
    });
    expect(await outcome(() => off.verify(DEMO_KEY, nextAddress()))).toBe(UNAUTHORIZED);
    const own = mintKey("sandbox");
    const replaced = createAccess({
      ...t,
      secret: "a secret for tests",
      env: { ...t.env, DEMO_KEY: own },
      controlConnected: () => true,
    });
    expect(await outcome(() => replaced.verify(own, nextAddress()))).toBe("demo");
    expect(await outcome(() => replaced.verify(DEMO_KEY, nextAddress()))).toBe(UNAUTHORIZED);
    expect(() =>
      createAccess({
        ...t,
        secret: "a secret for tests",
        env: { ...t.env, DEMO_KEY: `sw_test_${"0".repeat(36)}` },
        controlConnected: () => true,
      }),
    ).toThrow(/DEMO_KEY.*checksum/);
    await off.stop();
    await replaced.stop();
  });
});

describe("last use", () => {
  test("is written in batches off the request path, with a coarse address", async () => {
    const { text, record } = await t.issueKey();
    const principal = await t.access.verify(text, "203.0.113.99");
    await t.access.take(principal, 1, "203.0.113.99");
    const usedAt = new Date(t.clock.now());
    await t.clock.advance(5_000);
    await vi.waitFor(async () => {
      const row = await t.db.prisma.apiKey.findUniqueOrThrow({ where: { id: record.id } });
      expect(row).toMatchObject({ lastUsedAt: usedAt, lastUsedAddress: "203.0.113.0/24" });
    });
  });
});

test("shares one bucket between all keys of an account", async () => {
  const a = await t.access.verify((await t.issueKey({ account: "sharing", plan: "free" })).text, nextAddress());
  const b = await t.access.verify((await t.issueKey({ account: "sharing", plan: "free" })).text, nextAddress());
  expect(await t.access.take(a, 30, nextAddress())).toMatchObject({ allowed: true, remaining: 90 });
  expect(await t.access.take(b, 10, nextAddress())).toMatchObject({ allowed: true, remaining: 80 });
  expect(await t.access.take(a, 1, nextAddress())).toMatchObject({ allowed: false });
});
