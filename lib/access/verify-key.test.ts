import { beforeEach, describe, expect, test, vi } from "vitest";
import { type ManualClock, manualClock } from "#lib/clock";
import { KEY_TRUST_STORE_AWAY_S } from "#lib/contract/limits";
import { Fault } from "#lib/fault";
import { testPrincipal } from "#lib/testing/principal";
import { TEST_START_MS } from "#server/testing/runtime";
import { createMemoryBucketStore } from "./limits/bucket-store";
import { createFailures } from "./limits/failures";
import type { Principal } from "./principal";
import { createVerifier, type KeyVerifier } from "./verify-key";

const KEY = "key";
const ADDRESS = "198.51.100.7";
const TRUST_MS = KEY_TRUST_STORE_AWAY_S * 1000;

const principal = (keyId: string, part: Partial<Principal> = {}): Principal =>
  testPrincipal({ keyId, accountId: `account of ${keyId}`, ...part });

/** What the database has, and how it is. */
const store = new Map<string, Principal>();
let state: "well" | "refusing" | "silent" | "broken";
let asked: string[];
let answer: () => void;
let clock: ManualClock;
let verifier: KeyVerifier;

beforeEach(async () => {
  store.clear();
  for (const keyId of [KEY, "other"]) store.set(keyId, principal(keyId));
  state = "well";
  asked = [];
  clock = manualClock(TEST_START_MS);
  verifier = createVerifier({
    mayBeValid: () => true,
    async lookUp(text) {
      asked.push(text);
      if (state === "refusing") throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
      if (state === "broken") throw new Error("a mistake of ours");
      if (state === "silent") await new Promise<void>((resolve) => (answer = resolve));
      return store.get(text);
    },
    fault: new Fault("unauthorized"),
    failures: createFailures(createMemoryBucketStore(clock)),
    clock,
    controlConnected: () => state === "well",
    onFailure: () => undefined,
  });
  await verifier.verify(KEY, ADDRESS);
  asked = [];
});

const verify = async (text = KEY) => verifier.verify(text, ADDRESS);

describe("while the database is unavailable", () => {
  beforeEach(() => {
    state = "refusing";
    clock.set(TEST_START_MS + 1_000);
  });

  test("a verified key keeps working as long as is promised, and is answered service_unavailable after that", async () => {
    expect(await verify()).toMatchObject({ keyId: KEY });
    clock.set(TEST_START_MS + TRUST_MS - 1);
    expect(await verify()).toMatchObject({ keyId: KEY });
    clock.set(TEST_START_MS + TRUST_MS);
    await expect(verify()).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  test("its requests are answered at once, and the database is asked again once a second at most", async () => {
    await verify();
    asked = [];
    for (let request = 0; request < 100; request += 1) {
      expect(verifier.verify(KEY, ADDRESS)).toMatchObject({ keyId: KEY });
      await clock.advance(50);
    }
    expect(asked).toHaveLength(5);
  });

  test("not more than a few keys are asked for again at once", async () => {
    state = "well";
    const keys = Array.from({ length: 50 }, (_, index) => `key ${index}`);
    for (const key of keys) store.set(key, principal(key));
    for (const key of keys) await verify(key);
    clock.set(clock.now() + 1_000);
    state = "refusing";
    await verify();
    state = "silent";
    asked = [];
    for (const key of keys) expect(verifier.verify(key, ADDRESS)).toMatchObject({ keyId: key });
    expect(asked).toHaveLength(8);
  });

  test("a key that was never verified here is not trusted", async () => {
    await expect(verify("other")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  test.each([
    ["its key", { kind: "keys", keyId: KEY }],
    ["perhaps any key", { kind: "keys" }],
    ["its account", { kind: "account", accountId: `account of ${KEY}` }],
  ] as const)("a key is not trusted after a message about %s", async (_what, message) => {
    await verify();
    verifier.apply(message);
    await expect(verify()).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  test("a portal token is not trusted after its session ended", async () => {
    state = "well";
    const portal = { key: KEY, session: "s", origin: "https://a.example", until: clock.now() + 60_000 };
    store.set("token", principal(KEY, { portal, validUntil: portal.until }));
    await verify("token");
    clock.set(clock.now() + 1_000);
    state = "refusing";
    expect(await verify("token")).toMatchObject({ portal });
    verifier.apply({ kind: "sessions", sessionId: "s" });
    await expect(verify("token")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  test("a key stays trusted when messages about others came, or may have been missed", async () => {
    verifier.apply({ kind: "keys", keyId: "other" });
    verifier.apply({ kind: "everything" });
    expect(await verify()).toMatchObject({ keyId: KEY });
  });

  test("a key is not trusted past its own end, and stays suspended", async () => {
    state = "well";
    store.set("ends", principal("ends", { validUntil: TEST_START_MS + 3_000, suspended: true }));
    await verify("ends");
    state = "refusing";
    clock.set(TEST_START_MS + 2_999);
    expect(await verify("ends")).toMatchObject({ suspended: true });
    clock.set(TEST_START_MS + 3_000);
    await expect(verify("ends")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  test("what the database says counts as soon as one look-up finds it back", async () => {
    await verify();
    store.delete(KEY);
    state = "well";
    expect(await verify("other")).toMatchObject({ keyId: "other" });
    clock.set(clock.now() + 60_000);
    await expect(verify()).rejects.toMatchObject({ id: "unauthorized" });
  });

  test("the database decides again as soon as control messages arrive", async () => {
    await verify();
    store.delete(KEY);
    state = "well";
    verifier.apply({ kind: "everything" });
    await expect(verify()).rejects.toMatchObject({ id: "unauthorized" });
  });
});

describe("a database that does not answer", () => {
  beforeEach(() => {
    state = "silent";
    clock.set(TEST_START_MS + 1_000);
  });

  test("holds up a verified key for 2 seconds, once", async () => {
    const verifying = verify();
    let settled = false;
    void verifying.finally(() => {
      settled = true;
    });
    await clock.advance(1_999);
    expect(settled).toBe(false);
    await clock.advance(1);
    expect(await verifying).toMatchObject({ keyId: KEY });
    expect(verifier.verify(KEY, ADDRESS)).toMatchObject({ keyId: KEY });
  });

  test("makes a key it was not asked for before service_unavailable; its late answer counts", async () => {
    const verifying = verify("other");
    const refusal = expect(verifying).rejects.toMatchObject({ id: "service_unavailable", data: { retry_after: 1 } });
    await clock.advance(2_000);
    await refusal;
    answer();
    state = "well";
    asked = [];
    await vi.waitFor(() => expect(verifier.verify("other", ADDRESS)).toMatchObject({ keyId: "other" }));
    expect(asked).toEqual([]);
  });
});

test("unknown keys of a client that failed too often are looked up only while few look-ups are under way", async () => {
  const keys = (name: string) => Array.from({ length: 50 }, (_, index) => `${name} ${index}`);
  for (const key of keys("wrong")) await verify(key).catch(() => undefined);
  expect(await verify("other")).toMatchObject({ keyId: "other" });
  state = "silent";
  const waiting = keys("slow").map((key) => verifier.verify(key, "198.51.100.8"));
  store.set("third", principal("third"));
  await expect(verify("third")).rejects.toMatchObject({ id: "rate_limited" });
  expect(asked).not.toContain("third");
  const refused = waiting.map((one) => expect(one).rejects.toMatchObject({ id: "service_unavailable" }));
  await clock.advance(2_000);
  await Promise.all(refused);
});

test.each([
  ["of changes that may have been missed leaves the key trusted", { kind: "everything" }, true],
  ["about the key leaves it untrusted", { kind: "keys", keyId: KEY }, false],
] as const)("a message during a look-up %s while the database is then unavailable", async (_what, message, trusted) => {
  verifier.apply({ kind: "everything" });
  state = "silent";
  const verifying = verify();
  verifier.apply(message);
  answer();
  await verifying;
  state = "refusing";
  if (trusted) expect(await verify()).toMatchObject({ keyId: KEY });
  else await expect(verify()).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

test("an error of our own does not count as an unavailable database", async () => {
  state = "broken";
  clock.set(TEST_START_MS + 60_000);
  await expect(verify()).rejects.toThrow("a mistake of ours");
});

test("a key that a blocked address verified before keeps working there, and so it does after it had to be looked up again", async () => {
  state = "well";
  const text = (index: number) => `unknown ${index}`;
  const failures = Array.from({ length: 1_000 }, (_, index) => verify(text(index)).catch((error: unknown) => error));
  expect(await Promise.all(failures)).toContainEqual(expect.objectContaining({ id: "rate_limited" }));
  expect(await verify()).toMatchObject({ keyId: KEY });
  verifier.apply({ kind: "keys", keyId: KEY });
  state = "silent";
  const waiting = Array.from({ length: 50 }, (_, index) => verify(text(2_000 + index)).catch(() => undefined));
  const again = verify();
  expect(asked.at(-1)).toBe(KEY);
  answer();
  expect(await again).toMatchObject({ keyId: KEY });
  void waiting;
});

test("a refusal that was read before a message of a change is not kept: the key may have been made meanwhile", async () => {
  state = "silent";
  const early = verify("new").catch((error: unknown) => error);
  verifier.apply({ kind: "keys", keyId: "new" });
  answer();
  expect(await early).toBeInstanceOf(Fault);
  state = "well";
  store.set("new", principal("new"));
  expect(await verify("new")).toMatchObject({ keyId: "new" });
});
