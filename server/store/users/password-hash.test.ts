import { describe, expect, test } from "vitest";
import { isFault } from "#lib/fault";
import { createPasswords } from "./password-hash";

const PASSWORD = "correct horse battery";

describe("passwords", () => {
  test("a password matches its hash and no other", async () => {
    const passwords = createPasswords();
    const [first, second] = await Promise.all([passwords.hash(PASSWORD), passwords.hash(PASSWORD)]);
    expect(first).not.toBe(second);
    expect(await passwords.matches(first, PASSWORD)).toBe(true);
    expect(await passwords.matches(second, `${PASSWORD} `)).toBe(false);
  });

  test("no password matches without a hash", async () => {
    expect(await createPasswords().matches(null, PASSWORD)).toBe(false);
  });

  test("checking a password takes about the same time without a hash", async () => {
    const passwords = createPasswords();
    const stored = await passwords.hash(PASSWORD);
    const took = async (hash: string | null) => {
      const startMs = performance.now();
      await passwords.matches(hash, "another password");
      return performance.now() - startMs;
    };
    await took(null);
    const known: number[] = [];
    const unknown: number[] = [];
    for (let round = 0; round < 15; round += 1) {
      known.push(await took(stored));
      unknown.push(await took(null));
    }
    const median = (values: number[]) => values.sort((a, b) => a - b)[7] ?? 0;
    expect(median(unknown)).toBeGreaterThan(median(known) / 3);
    expect(median(unknown)).toBeLessThan(median(known) * 3);
  });

  test("at most thirty-two passwords wait for their turn, and further ones are rejected at once", async () => {
    const passwords = createPasswords();
    const outcomes = await Promise.allSettled(Array.from({ length: 40 }, () => passwords.hash(PASSWORD)));
    const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    expect(refused).toHaveLength(40 - 2 - 32);
    expect(refused.every((error) => isFault(error) && error.id === "rate_limited")).toBe(true);
    await expect(passwords.hash(PASSWORD)).resolves.toMatch(/^\$argon2id\$/);
  });
});
