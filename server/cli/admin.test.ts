import { afterAll, beforeAll, expect, test } from "vitest";
import { createUser } from "#server/store/users/users";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { openMailServer } from "#server/testing/mail-server";
import { commandOutcome } from "#server/testing/terminal";
import { adminCommand } from "./admin";

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  const made = { name: "", passwordHash: null, terms: null };
  await db.prisma.$transaction((tx) =>
    createUser(tx, 0, { ...made, email: "ada@example.com", verified: true }, { waits: false }, "::1"),
  );
  await db.prisma.$transaction((tx) =>
    createUser(tx, 0, { ...made, email: "eve@example.com", verified: false }, { waits: false }, "::1"),
  );
});
afterAll(() => db.close());

const run = (...args: string[]) => commandOutcome(adminCommand, args, { db });
const list = async () => (await run("list")).output;

test("npm run admin grants, lists and revokes, with an audit log entry for each change", async () => {
  expect(await list()).toContain("No operators yet");
  expect((await run("grant", " ADA@example.com")).output).toMatch(
    /^ada@example.com can now open \/admin.\nTheir account can use the live venue\. A passkey /,
  );
  expect(await list()).toBe("ada@example.com");
  expect((await run("revoke", "ada@example.com")).output).toMatch(
    /^ada@example.com can no longer open \/admin.\nTheir account keeps live access/,
  );
  expect(await list()).toContain("No operators yet");
  const entries = await db.prisma.auditEntry.findMany({ where: { actor: "command line" }, orderBy: { id: "asc" } });
  expect(entries).toMatchObject([
    { action: "operator.grant", target: "ada@example.com", before: { operator: false }, after: { operator: true } },
    { action: "operator.revoke", before: { operator: true }, after: { operator: false } },
  ]);
});

test("npm run admin grants live access by name or email, lists it and withdraws it, with an audit log entry for each", async () => {
  const account = "ada@example.com";
  await run("withdraw-live", account);
  expect((await run("list-live")).output).not.toContain(account);
  expect((await run("grant-live", "ADA@example.com")).output).toBe("ada@example.com can now use the live venue.");
  const variables = { LIVE_FEED: "tiingo", TIINGO_TOKEN: "t" };
  expect((await commandOutcome(adminCommand, ["grant-live", account], { db, variables })).output).toBe(
    "ada@example.com can now use the live venue.\ntiingo: The data is for internal use.",
  );
  expect((await run("list-live")).output).toContain(account);
  expect((await run("withdraw-live", account)).output).toBe("ada@example.com can no longer use the live venue.");
  const changes = await db.prisma.auditEntry.findMany({ where: { action: "account.change" }, orderBy: { id: "asc" } });
  expect(changes.slice(-2)).toMatchObject([{ after: { live_access: true } }, { after: { live_access: false } }]);
  expect(changes.at(-1)).toMatchObject({ actor: "command line", target: account });
  expect(await run("grant-live", "nobody")).toMatchObject({ exitCode: 2, errors: expect.stringContaining("nobody") });
});

test("npm run admin resets the second factors of a user, with an audit log entry", async () => {
  const where = { email: "ada@example.com" };
  const { id: userId } = await db.prisma.user.update({ where, data: { totpSince: new Date(0) } });
  await db.prisma.recoveryCode.create({ data: { userId, hash: new Uint8Array(32) } });
  const done = await run("reset", "ada@example.com");
  expect(done.output).toContain("no second factor any more");
  expect(done.errors).toBe('No email "Your sign-in settings were changed" was sent to ada@example.com: SMTP_URL is not set.');
  expect(await db.prisma.user.findUnique({ where, include: { recoveryCodes: true } })).toMatchObject({
    totpSince: null,
    recoveryCodes: [],
  });
  const [entry] = await db.prisma.auditEntry.findMany({ where: { action: "second_factor.reset" } });
  expect(entry).toMatchObject({ actor: "command line", before: { authenticator_app: true, passkeys: 0 } });
  const again = await run("reset", "ada@example.com");
  expect(again).toMatchObject({ exitCode: 2, errors: expect.stringContaining("no passkey and no authenticator app") });
});

test("npm run admin moves a user to another address, voids sessions and links, and emails both addresses", async () => {
  const mailServer = await openMailServer();
  const made = { name: "", passwordHash: null, terms: null, email: "old@example.com", verified: true };
  const { id: userId } = await db.prisma.$transaction((tx) => createUser(tx, 0, made, { waits: false }, "::1"));
  await db.prisma.portalSession.create({ data: { userId, expiresAt: new Date(Date.now() + 1e6) } });
  await db.prisma.oneTimeToken.create({
    data: { hash: new Uint8Array(32), purpose: "reset", userId, email: made.email, expiresAt: new Date(Date.now() + 1e6) },
  });
  const move = (...args: string[]) =>
    commandOutcome(adminCommand, ["move", ...args], { db, variables: { SMTP_URL: mailServer.url } });
  for (const [to, reason] of [
    ["ada@example.com", "ada@example.com has an account already"],
    ["rubbish", "rubbish is not an email address"],
  ] as const)
    expect(await move("old@example.com", to)).toMatchObject({ exitCode: 2, errors: expect.stringContaining(reason) });
  expect(mailServer.received).toEqual([]);
  expect((await move("old@example.com", "New@example.com")).output).toMatch(/^old@example.com is now new@example.com/);
  const user = { where: { id: userId }, include: { sessions: true, oneTimeTokens: true } };
  const stored = await db.prisma.user.findUniqueOrThrow(user);
  expect(stored).toMatchObject({ email: "new@example.com", emailVerifiedAt: expect.any(Date), oneTimeTokens: [] });
  expect(stored.sessions).toMatchObject([{ revokedAt: expect.any(Date) }]);
  const [entry] = await db.prisma.auditEntry.findMany({ where: { action: "account.email", target: "old@example.com" } });
  expect(entry).toMatchObject({
    actor: "command line",
    before: { email: "old@example.com" },
    after: { email: "new@example.com" },
  });
  expect(mailServer.received).toMatchObject([
    { to: "old@example.com", subject: "Your email address was changed" },
    { to: "new@example.com", subject: "This is now the email of your account" },
  ]);
  expect(mailServer.received[0]?.source).toContain("By: an operator of this installation");
  await mailServer.close();
  expect(await move("new@example.com", "newer@example.com")).toMatchObject({
    exitCode: 0,
    errors: expect.stringContaining('No email "Your email address was changed" was sent to new@example.com: '),
  });
});

test.each([
  ["nobody@example.com", "No user has the address nobody@example.com"],
  ["eve@example.com", "not verified yet"],
])("npm run admin does not grant access to %s, who has no verified address", async (email, reason) => {
  expect(await run("grant", email)).toMatchObject({ exitCode: 2, errors: expect.stringContaining(reason) });
  expect(await list()).toContain("No operators yet");
});

test.each([
  ["crown ada@example.com", 'Unknown command "crown"'],
  ["grant", "Missing argument: EMAIL."],
  ["move a@example.com", "Missing argument: NEW_EMAIL."],
  ["grant a@example.com b@example.com", 'Unexpected argument "b@example.com".'],
  ["list ada@example.com", 'Unexpected argument "ada@example.com".'],
])("npm run admin rejects %j with exit code 2", async (line, reason) => {
  expect(await run(...line.split(" "))).toMatchObject({ exitCode: 2, errors: expect.stringContaining(reason) });
});
