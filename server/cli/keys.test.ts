import { afterAll, beforeAll, expect, test } from "vitest";
import { isWellFormedKey } from "#lib/contract/key-text";
import { KEY_LIFETIME_DEFAULT_S } from "#lib/contract/limits";
import { listKeys } from "#server/store/access/keys";
import { openMailServer } from "#server/testing/mail-server";
import { createMember } from "#server/testing/portal-session";
import { type TestRuntime, testRuntime } from "#server/testing/runtime";
import { commandOutcome } from "#server/testing/terminal";
import { keysCommand } from "./keys";

let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

/** Runs the command and returns the lines it printed. */
async function run(...args: string[]): Promise<string[]> {
  const { output } = await commandOutcome(keysCommand, args, t.keyContext);
  return output.split("\n");
}
const QUOTE = "/api/v1/market/instruments";

test("npm run keys creates a key that works, prints it once, and lists it without its text", async () => {
  const [text = ""] = await run("create", "--account", "acme", "--plan", "standard", "--name", "server", "--venue", "sandbox");
  expect(isWellFormedKey(text)).toBe(true);
  const answer = await t.ask(QUOTE, { key: text });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("x-ratelimit-limit")).toBe("600");
  const listed = (await run("list", "--account", "acme")).join("\n");
  expect(listed).toContain("server");
  expect(listed).not.toContain(text);
});

test("npm run keys rotates a key with a grace period, and revokes it", async () => {
  const [old = ""] = await run("create", "--account", "turner", "--name", "k");
  const [{ id = "" } = {}] = await listKeys(t.keyContext, { account: "turner" });
  const [next = ""] = await run("rotate", id, "--grace", "1h");
  await t.settle();
  for (const key of [old, next]) expect((await t.ask(QUOTE, { key })).status).toBe(200);
  await run("revoke", id);
  await t.settle();
  expect((await t.ask(QUOTE, { key: old })).status).toBe(401);
  expect((await t.ask(QUOTE, { key: next })).status).toBe(200);
});

test("npm run keys emails the verified owner of a key that it creates, rotates or revokes, and nobody else", async () => {
  const mailServer = await openMailServer();
  const { accountId } = await t
    .issueKey({ account: "owned@example.com" })
    .then(({ record }) => t.db.prisma.apiKey.findUniqueOrThrow({ where: { id: record.id } }));
  await createMember(t.db, accountId, { email: "owned@example.com" });
  const call = (...args: string[]) =>
    commandOutcome(keysCommand, args, { ...t.keyContext, variables: { SMTP_URL: mailServer.url } });
  await call("create", "--account", "owned@example.com", "--name", "shop");
  const [{ id = "" } = {}] = await listKeys(t.keyContext, { account: "owned@example.com" });
  await call("rotate", id);
  for (let count = 0; count < 2; count += 1) await call("revoke", id);
  await call("create", "--account", "nobody's", "--name", "shop");
  const subjects = ["API key created", "API key rotated", "API key revoked"];
  expect(mailServer.received).toMatchObject(subjects.map((subject) => ({ to: "owned@example.com", subject })));
  await mailServer.close();
});

test("npm run keys creates and rotates no key for an owner who has not verified the address", async () => {
  await run("create", "--account", "squatter@example.com", "--name", "k");
  const [{ id = "" } = {}] = await listKeys(t.keyContext, { account: "squatter@example.com" });
  const { accountId } = await t.db.prisma.apiKey.findUniqueOrThrow({ where: { id } });
  await createMember(t.db, accountId, { email: "squatter@example.com", emailVerifiedAt: null });
  for (const args of [
    ["create", "--account", "squatter@example.com", "--name", "k"],
    ["rotate", id],
  ]) {
    const { exitCode, errors } = await commandOutcome(keysCommand, args, t.keyContext);
    expect(errors).toContain("has not verified their email address");
    expect(exitCode).toBe(2);
  }
  expect(await listKeys(t.keyContext, { account: "squatter@example.com" })).toHaveLength(1);
});

test("npm run keys limits a key to addresses, and lists them", async () => {
  const addresses = ["203.0.113.0/24", "2001:db8::1"];
  const [text = ""] = await run("create", "--account", "walled", "--name", "k", "--addresses", addresses.join());
  expect((await t.ask(QUOTE, { key: text, address: "203.0.113.9" })).status).toBe(200);
  expect((await t.ask(QUOTE, { key: text, address: "198.51.100.9" })).status).toBe(403);
  expect((await run("list", "--account", "walled")).join()).toContain(`addresses ${addresses.join()}`);
  const [{ id = "" } = {}] = await listKeys(t.keyContext, { account: "walled" });
  expect((await run("edit", id, "--addresses", "")).join()).not.toContain("addresses");
});

test("npm run keys gives a key tickers, limits and a time from which it is valid, and removes them", async () => {
  const limits = [
    "--rest-per-minute",
    "60",
    "--rest-burst",
    "9",
    "--stream-connections",
    "1",
    "--subscriptions-per-connection",
    "7",
  ];
  const [text = "", listed = ""] = await run(
    ...[
      "create",
      "--account",
      "narrow",
      "--name",
      "k",
      "--tickers",
      "eurusd,XAUUSD",
      ...limits,
      "--not-before",
      "2030-01-01T00:00:00Z",
    ],
  );
  for (const part of ["scheduled", "tickers EURUSD,XAUUSD", "rest-per-minute 60", "rest-burst 9", "stream-connections 1"])
    expect(listed).toContain(part);
  expect(listed).toContain("subscriptions-per-connection 7  not before 2030-01-01T00:00:00.000Z");
  expect(await t.ask(QUOTE, { key: text })).toMatchObject({ status: 401, body: { message: "key_not_yet_valid" } });
  const [{ id = "" } = {}] = await listKeys(t.keyContext, { account: "narrow" });
  const none = limits.map((word) => (word.startsWith("--") ? word : "none"));
  const [changed = ""] = await run("edit", id, "--tickers", "", ...none, "--not-before", "none");
  expect(changed).toContain("active");
  expect(changed).not.toMatch(/tickers|rest-|stream-|subscriptions-|not before/);
  await t.settle();
  expect((await t.ask(QUOTE, { key: text })).status).toBe(200);
});

test("npm run keys lets a key expire after a year by default, and changes or removes its expiry", async () => {
  const keyOf = async () => (await listKeys(t.keyContext, { account: "expiring" }))[0];
  await run("create", "--account", "expiring", "--name", "k");
  const { id = "", expiresAt } = (await keyOf()) ?? {};
  expect(expiresAt).toEqual(new Date(t.clock.now() + KEY_LIFETIME_DEFAULT_S * 1000));
  expect(await run("edit", id, "--expires", "2027-06-30T00:00:00Z")).toContainEqual(
    expect.stringContaining("expires 2027-06-30T00:00:00.000Z"),
  );
  await run(
    "edit",
    id,
    "--expires",
    "never",
    "--name",
    "renamed",
    "--scopes",
    "market:read",
    "--origins",
    "https://a.example.com",
  );
  const changed = { expiresAt: null, name: "renamed", scopes: ["market:read"], origins: ["https://a.example.com"] };
  expect(await keyOf()).toMatchObject(changed);
  await run("create", "--account", "expiring", "--name", "endless", "--expires", "never");
  expect(await keyOf()).toMatchObject({ name: "endless", expiresAt: null });
});

test.each([
  [["create"], /--name/],
  [["create", "--name", "k", "--venue", "paper"], /live/],
  [["create", "--name", "k", "--scopes", "all"], /market:read/],
  [["create", "--name", "k", "--origins", "*"], /scheme/],
  [["create", "--name", "k", "--addresses", "localhost"], /IP address/],
  [["create", "--name", "k", "--expires", "soon"], /--expires soon/],
  [["create", "--name", "k", "--tickers", "EURUSD,EURUSX"], /no instruments EURUSX/],
  [["create", "--name", "k", "--rest-per-minute", "0"], /--rest-per-minute 0: must be "none", or a whole number/],
  [["create", "--name", "k", "--account", "small", "--plan", "free", "--rest-burst", "41"], /at most 40.*"free"/],
  [["create", "--name", "k", "--not-before", "soon"], /--not-before soon/],
  [["create", "--name", "k", "--plan", "gold"], /standard/],
  [["create", "--nme", "k"], /--nme/],
  [["create", "--name", "k", "--expires", "2020-01-01T00:00:00Z"], /future/],
  [["edit"], /ID/],
  [["edit", "x"], /Nothing to change/],
  [["edit", "x", "--venue", "live"], /--venue: cannot be changed/],
  [["edit", "x", "--name", "k"], /No key has this id/],
  [["rotate"], /ID/],
  [["rotate", "x", "--grace", "2h"], /now, 1h, 24h, 7d/],
  [["revoke", "x"], /id/],
  [["delete", "x"], /Unknown command "delete"/],
  [["list", "x"], /Unexpected argument "x"/],
])("npm run keys rejects %j with exit code 2", async (args, reason) => {
  const { exitCode, errors } = await commandOutcome(keysCommand, args, t.keyContext);
  expect(errors).toMatch(reason);
  expect(exitCode).toBe(2);
});
