import { afterAll, beforeAll, expect, test } from "vitest";
import { createUser } from "#lib/access/users/users";
import { systemClock } from "#lib/clock";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { runAdmin } from "./admin";

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  const made = { name: "", passwordHash: null };
  await db.prisma.$transaction((tx) => createUser(tx, 0, { ...made, email: "ada@example.com", verified: true }, "::1"));
  await db.prisma.$transaction((tx) => createUser(tx, 0, { ...made, email: "eve@example.com", verified: false }, "::1"));
});
afterAll(() => db.close());

async function run(...args: string[]): Promise<string> {
  const lines: string[] = [];
  await runAdmin(args, { db, clock: systemClock }, (line) => lines.push(line));
  return lines.join("\n");
}

test("grants, lists and revokes, with an entry in the audit log each", async () => {
  expect(await run("list")).toContain("Nobody yet");
  expect(await run("grant", " ADA@example.com")).toBe("ada@example.com may open /admin now.");
  expect(await run("list")).toBe("ada@example.com");
  expect(await run("revoke", "ada@example.com")).toContain("not open /admin any more");
  expect(await run("list")).toContain("Nobody yet");
  const entries = await db.prisma.auditEntry.findMany({ where: { actor: "command line" }, orderBy: { id: "asc" } });
  expect(entries).toMatchObject([
    { action: "operator.grant", target: "ada@example.com", before: { operator: false }, after: { operator: true } },
    { action: "operator.revoke", before: { operator: true }, after: { operator: false } },
  ]);
});

test("refuses who never signed up, and who did not show that the address is theirs", async () => {
  await expect(run("grant", "nobody@example.com")).rejects.toThrow("Nobody has signed up as nobody@example.com");
  await expect(run("grant", "eve@example.com")).rejects.toThrow("not verified yet");
  expect(await run("list")).toContain("Nobody yet");
});

test("says what it takes", async () => {
  expect(await run()).toContain("npm run admin --");
  await expect(run("crown", "ada@example.com")).rejects.toThrow("Unknown command crown");
  await expect(run("grant")).rejects.toThrow("takes one e-mail address");
  await expect(run("grant", "a@example.com", "b@example.com")).rejects.toThrow("takes one e-mail address");
  await expect(run("list", "ada@example.com")).rejects.toThrow("takes nothing");
});
