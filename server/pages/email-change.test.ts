import { afterAll, beforeAll, expect, test } from "vitest";
import { mailedToken, type PortalBrowser, portalBrowser } from "#server/testing/portal-browser";
import { failed, type TestRuntime, testRuntime } from "#server/testing/runtime";

const PASSWORD = "correct horse battery";
const OTHER = "another long password";

let t: TestRuntime;
let people = 0;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

const newEmail = () => `changing${++people}@example.com`;
const signedIn = async (browser: PortalBrowser) => (await browser.send("GET /sessions")).status === 200;
const linkTo = (email: string) => ({ body: { token: mailedToken(t.capturedMails, email) } });
/** The link with which the old address cancels a change: the second of its email. */
const cancelLinkTo = (email: string) => {
  const text = t.capturedMails.list().find(({ to }) => to === email)?.text ?? "";
  return { body: { token: /cancel-email#token=([\w-]+)/.exec(text)?.[1] ?? "" } };
};
const addressOf = async (id: string) => (await t.db.prisma.user.findUniqueOrThrow({ where: { id } })).email;

/** An owner, and a thief who knows the password and has asked to change the address to their own. */
async function theft() {
  const [email, loot] = [newEmail(), newEmail()];
  const owner = portalBrowser();
  await owner.send("POST /sign-up", { body: { email, password: PASSWORD } });
  await owner.send("POST /verify", linkTo(email));
  await owner.signIn(email, PASSWORD);
  const thief = portalBrowser();
  await thief.signIn(email, PASSWORD);
  expect((await thief.send("POST /email", { body: { email: loot } })).status).toBe(200);
  return { email, loot, owner, thief };
}

test.each([
  ["a password change", (owner: PortalBrowser) => owner.send("POST /password", { body: { current: PASSWORD, password: OTHER } })],
  ["signing out everywhere", (owner: PortalBrowser) => owner.send("DELETE /sessions")],
] as const)("%s voids the link of a pending change of email", async (_, recover) => {
  const { email, loot, owner, thief } = await theft();
  expect((await recover(owner)).status).toBe(200);
  expect(await thief.send("POST /verify", linkTo(loot))).toMatchObject(failed("invalid_parameter", { parameter: "token" }));
  expect(await t.db.prisma.user.count({ where: { email } })).toBe(1);
});

test("the old address gets an email when a change of email is requested, and its link cancels the change and ends every session", async () => {
  const { email, loot, owner, thief } = await theft();
  const notice = t.capturedMails.list().find((mail) => mail.to === email);
  expect(notice).toMatchObject({ subject: "Your email address is about to change", text: expect.stringContaining(loot) });
  const link = cancelLinkTo(email);
  const [canceled, again] = [
    await portalBrowser().send("POST /email/cancel", link),
    await portalBrowser().send("POST /email/cancel", link),
  ];
  expect(canceled.body.data).toEqual({ email });
  expect(again).toMatchObject(failed("invalid_parameter", { parameter: "token" }));
  expect(await thief.send("POST /verify", linkTo(loot))).toMatchObject({ status: 400 });
  expect([await signedIn(owner), await signedIn(thief)]).toEqual([false, false]);
});

test("the old address gets the same email when the new one is taken", async () => {
  const { email: taken } = await theft();
  const { email, owner } = await theft();
  await t.clock.advance(60_000);
  await owner.send("POST /email", { body: { email: taken } });
  expect(t.capturedMails.list().find((mail) => mail.to === email)?.text).toContain(taken);
});

test("a thief who opens the link of the new address first gets nothing without the old address", async () => {
  const { email, loot, owner, thief } = await theft();
  const cancelLink = cancelLinkTo(email);
  expect((await thief.send("POST /verify", linkTo(loot))).body.data).toEqual({
    email,
    waiting_for: "old_address",
    entry: "none",
  });
  expect(await t.db.prisma.user.count({ where: { email: loot } })).toBe(0);
  expect((await owner.send("POST /email/cancel", cancelLink)).status).toBe(200);
  expect(t.capturedMails.list().find(({ to }) => to === email)?.subject).toBe("Your email address stays the same");
  expect(await signedIn(thief)).toBe(false);
});

test.each([
  ["new", "old"],
  ["old", "new"],
] as const)("a change takes effect when the links to the %s and to the %s address are opened, each once", async (...order) => {
  const { email, loot: next, owner, thief: asking } = await theft();
  const { id } = await t.db.prisma.user.findUniqueOrThrow({ where: { email } });
  const links = { new: linkTo(next), old: linkTo(email) };
  const [first, second] = [links[order[0]], links[order[1]]];
  expect((await asking.send("POST /verify", first)).body.data).toEqual({
    email,
    waiting_for: `${order[1]}_address`,
    entry: "none",
  });
  expect(await asking.send("POST /verify", first)).toMatchObject({ status: 400 });
  expect(await addressOf(id)).toBe(email);
  expect((await asking.send("POST /verify", second)).body.data).toEqual({ email: next, waiting_for: null, entry: "none" });
  expect(await addressOf(id)).toBe(next);
  expect(await signedIn(owner)).toBe(false);
});

test("a page learns what its link does without following it", async () => {
  const { email, loot: next, thief: asking } = await theft();
  const purposes = async () => {
    const links = [linkTo(next), linkTo(email), cancelLinkTo(email), { body: { token: "none" } }];
    return Promise.all(links.map(async (link) => (await asking.send("POST /verify/purpose", link)).body.data.purpose));
  };
  expect(await purposes()).toEqual(["change_email", "approve_email", null, null]);
  expect((await asking.send("POST /verify", linkTo(next))).body.data).toMatchObject({ waiting_for: "old_address" });
  expect(await purposes()).toEqual([null, "approve_email", null, null]);
});

test("two links opened at the same moment change the address once", async () => {
  const { email, loot: next, thief: asking } = await theft();
  const both = [linkTo(next), linkTo(email)];
  await Promise.all(both.map((link) => asking.send("POST /verify", link)));
  expect(await t.db.prisma.user.count({ where: { email: next } })).toBe(1);
  expect(await t.db.prisma.auditEntry.count({ where: { action: "account.email", actor: email } })).toBe(1);
});

test("an approval of one change is none of the next", async () => {
  const { email, owner, thief } = await theft();
  expect((await thief.send("POST /verify", linkTo(email))).body.data).toMatchObject({
    waiting_for: "new_address",
    entry: "none",
  });
  await t.clock.advance(60_000);
  const other = newEmail();
  await owner.send("POST /email", { body: { email: other } });
  expect((await owner.send("POST /verify", linkTo(other))).body.data).toEqual({
    email,
    waiting_for: "old_address",
    entry: "none",
  });
});

test("the old address approves in the browser that asked for the change, or with the password", async () => {
  const { email } = await theft();
  const approve = linkTo(email).body;
  const elsewhere = portalBrowser();
  expect(await elsewhere.send("POST /verify", { body: approve })).toMatchObject(
    failed("missing_parameter", { parameter: "password" }),
  );
  expect((await elsewhere.send("POST /verify", { body: { ...approve, password: PASSWORD } })).status).toBe(200);
});

test("an address that nobody verified need not approve", async () => {
  const [email, next] = [newEmail(), newEmail()];
  const browser = portalBrowser();
  await browser.send("POST /sign-up", { body: { email, password: PASSWORD } });
  await browser.signIn(email, PASSWORD);
  await browser.send("POST /email", { body: { email: next } });
  expect((await browser.send("POST /verify", linkTo(next))).body.data).toEqual({ email: next, waiting_for: null, entry: "none" });
});

test("the link that cancels a change works for nothing else, and not after the change", async () => {
  const { email, loot, thief } = await theft();
  const link = cancelLinkTo(email);
  const approve = linkTo(email);
  expect(await portalBrowser().send("POST /verify", link)).toMatchObject({ status: 400 });
  await thief.send("POST /verify", linkTo(loot));
  expect((await thief.send("POST /verify", approve)).status).toBe(200);
  expect(await portalBrowser().send("POST /email/cancel", link)).toMatchObject({ status: 400 });
});

test("a requested change of email is shown with the links that are not opened, and can be withdrawn", async () => {
  const { email, loot, owner, thief } = await theft();
  const pending = async () => (await owner.send("GET /email")).body.data;
  expect(await pending()).toEqual({ pending: { email: loot, new_address: true, old_address: true } });
  const link = linkTo(loot);
  expect((await thief.send("POST /verify", link)).status).toBe(200);
  expect(await pending()).toEqual({ pending: { email: loot, new_address: false, old_address: true } });
  expect((await owner.send("DELETE /email")).status).toBe(200);
  expect(await pending()).toEqual({ pending: null });
  expect(await owner.send("POST /verify", linkTo(email))).toMatchObject(failed("invalid_parameter", { parameter: "token" }));
});
