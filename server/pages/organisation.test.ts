import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ALERT_SWITCHES } from "#lib/contract/alerts";
import { MEMBERS_MAX_COUNT } from "#lib/contract/organisation";
import { INVITATION_LIFETIME_S, RIGHTS, ROLES, type Role } from "#lib/contract/roles";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import { COMMAND_LINE } from "#server/store/access/audit";
import { writeCalls } from "#server/store/usage/store";
import { createInvitation } from "#server/store/users/invitations";
import {
  type PortalBrowser,
  portalBrowser,
  type Send,
  signedInAs,
  signedInBrowser,
  tokenMailedBy,
} from "#server/testing/portal-browser";
import { createMember } from "#server/testing/portal-session";
import { failed, freshAddress, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { PORTAL_ROUTES, type PortalRouteName } from "./api";
import { setPortal } from "./runtime";

const PASSWORD = "correct horse battery";

let t: TestRuntime;
let count = 0;
beforeAll(async () => {
  t = await testRuntime();
});
afterEach(() => setPortal(t));
afterAll(() => t.close());

const fresh = (name: string) => `${name}${++count}@example.com`;

interface Person {
  readonly email: string;
  readonly browser: PortalBrowser;
}

/** Somebody who signed up and verified the address. */
async function person(name: string): Promise<Person> {
  const email = fresh(name);
  const browser = portalBrowser();
  const token = await tokenMailedBy(t.capturedMails, email, () =>
    browser.send("POST /sign-up", { body: { email, password: PASSWORD } }),
  );
  await browser.send("POST /verify", { body: { token } });
  expect(await browser.signInBy("entry")).toBeNull();
  return { email, browser };
}

const organisationOf = async ({ browser }: Person) => (await browser.send("GET /organisation")).body.data;
const memberOf = async (owner: Person, email: string) =>
  (await organisationOf(owner)).members.find((member: { email: string }) => member.email === email);

/** The token of a copied invitation. */
async function invited(owner: Person, email: string, role: Role = "developer"): Promise<string> {
  const { body } = await owner.browser.send("POST /organisation/invitations", { body: { email, role, mail: false } });
  return new URLSearchParams(new URL(body.data.link).hash.slice(1)).get("token") ?? "";
}

/** A member of the organisation of an owner. */
async function member(owner: Person, role: Role): Promise<Person> {
  const joined = await person(role);
  const token = await invited(owner, joined.email, role);
  expect((await joined.browser.send("POST /invitations/accept", { body: { token } })).status).toBe(200);
  return joined;
}

const userIdOf = async (email: string) => (await t.db.prisma.user.findUniqueOrThrow({ where: { email } })).id;
const accept = ({ browser }: Person, token: string) => browser.send("POST /invitations/accept", { body: { token } });
const INVALID = failed("invalid_parameter", { parameter: "token" });

describe("an invitation", () => {
  test("makes its address a member, who works in that organisation and no longer has the unused one of the sign-up", async () => {
    const owner = await person("owner");
    const dev = await member(owner, "developer");
    const { id, members } = await organisationOf(owner);
    expect(members).toMatchObject([
      { email: owner.email, role: "owner" },
      { email: dev.email, role: "developer" },
    ]);
    expect((await dev.browser.send("GET /organisations")).body.data.items).toEqual([
      { id, name: owner.email, role: "developer" },
    ]);
    expect(await organisationOf(dev)).toMatchObject({ id, invitations: [] });
  });

  test("keeps an organisation of the sign-up that has a key, and lets its owner switch between both", async () => {
    const owner = await person("owner");
    const dev = await person("dev");
    const key = { name: "k", venue: "sandbox", scopes: ["market:read"], origins: [], expires_at: null };
    expect((await dev.browser.send("POST /keys", { body: key })).status).toBe(200);
    await accept(dev, await invited(owner, dev.email));
    const { items } = (await dev.browser.send("GET /organisations")).body.data;
    expect(items.map(({ name }: { name: string }) => name).sort()).toEqual([dev.email, owner.email].sort());
    expect((await dev.browser.send("GET /keys")).body.data.items).toEqual([]);
    const own = items.find(({ name }: { name: string }) => name === dev.email);
    await dev.browser.send("POST /organisations/current", { body: { id: own.id } });
    expect((await dev.browser.send("GET /keys")).body.data.items).toHaveLength(1);
  });

  test("works once, for its address alone, until it expires or is withdrawn, and only while whoever invited may invite", async () => {
    const owner = await person("owner");
    const [ann, bob] = [await person("ann"), await person("bob")];
    const token = await invited(owner, ann.email);
    expect(await accept(bob, token)).toMatchObject(INVALID);
    expect(await accept(ann, "nonsense")).toMatchObject(INVALID);
    expect((await accept(ann, token)).status).toBe(200);
    expect(await accept(ann, token)).toMatchObject(INVALID);

    const withdrawn = await invited(owner, bob.email);
    const [{ id }] = (await organisationOf(owner)).invitations;
    expect((await owner.browser.send("DELETE /organisation/invitations/[id]", { params: { id } })).status).toBe(200);
    expect(await accept(bob, withdrawn)).toMatchObject(INVALID);

    const second = await member(owner, "owner");
    const bySecond = await invited(second, bob.email);
    const { id: secondId } = await memberOf(owner, second.email);
    await owner.browser.send("PATCH /organisation/members/[id]", { params: { id: secondId }, body: { role: "developer" } });
    expect(await accept(bob, bySecond)).toMatchObject(INVALID);

    const third = await member(owner, "owner");
    const byThird = await invited(third, bob.email);
    expect((await third.browser.send("POST /organisation/leave")).status).toBe(200);
    expect(await accept(bob, byThird)).toMatchObject(INVALID);

    const fourth = await member(owner, "owner");
    const byFourth = await invited(fourth, bob.email);
    expect((await fourth.browser.send("DELETE /account", { body: { confirm: fourth.email } })).status).toBe(200);
    expect(await accept(bob, byFourth)).toMatchObject(INVALID);
  });

  test("works for nobody after its end: it is neither shown, nor accepted, nor signed up with, nor by the link of a verification", async () => {
    const owner = await person("owner");
    const bob = await person("bob");
    const known = await invited(owner, bob.email);
    const unknown = await invited(owner, fresh("new"));
    const waiting = fresh("waiting");
    const copied = await invited(owner, waiting);
    await t.clock.advance(INVITATION_LIFETIME_S * SECOND_MS - 1);
    expect((await portalBrowser().send("POST /invitations/read", { body: { token: known } })).status).toBe(200);
    const browser = portalBrowser();
    const verify = await tokenMailedBy(t.capturedMails, waiting, () =>
      browser.send("POST /invitations/sign-up", { body: { token: copied, password: PASSWORD } }),
    );
    await t.clock.advance(1);
    expect(await portalBrowser().send("POST /invitations/read", { body: { token: known } })).toMatchObject(INVALID);
    expect(await accept({ ...bob, browser: await signedInAs(t, await userIdOf(bob.email)) }, known)).toMatchObject(INVALID);
    expect(
      await portalBrowser().send("POST /invitations/sign-up", { body: { token: unknown, password: PASSWORD } }),
    ).toMatchObject(INVALID);
    expect((await browser.send("POST /verify", { body: { token: verify } })).status).toBe(200);
    const { members } = await organisationOf({ ...owner, browser: await signedInAs(t, await userIdOf(owner.email)) });
    expect(members).toMatchObject([{ email: owner.email }]);
  });

  test("leaves a member in the role they have: an old one does not take the last owner from an organisation", async () => {
    const owner = await person("owner");
    const { id } = await organisationOf(owner);
    const ann = await person("ann");
    const { token } = await createInvitation(t.keyContext, id, { email: ann.email, role: "developer", mail: true }, COMMAND_LINE);
    // Joins by the domain of the address, or is made a member by an operator, while the invitation waits.
    await t.db.prisma.membership.create({ data: { accountId: id, userId: await userIdOf(ann.email), role: "owner" } });
    expect((await owner.browser.send("POST /organisation/leave")).status).toBe(200);
    expect((await accept(ann, token)).status).toBe(200);
    expect(await organisationOf(ann)).toMatchObject({ id, members: [{ email: ann.email, role: "owner" }], invitations: [] });
    expect(await accept(ann, token)).toMatchObject(INVALID);
  });

  test("makes nobody a member of an organisation that has become full", async () => {
    const owner = await person("owner");
    const { id } = await organisationOf(owner);
    const ann = await person("ann");
    const [mailed, waiting] = [fresh("mailed"), fresh("waiting")];
    const token = await invited(owner, ann.email);
    const invitation = { email: mailed, role: "reader", mail: true } as const;
    const { token: mailedToken } = await createInvitation(t.keyContext, id, invitation, COMMAND_LINE);
    const passedOn = await invited(owner, waiting);
    const users = Array.from({ length: MEMBERS_MAX_COUNT - 1 }, () => ({
      id: randomUUID(),
      accountId: id,
      email: fresh("many"),
    }));
    await t.db.prisma.user.createMany({ data: users });
    const memberships = users.map((user) => ({ accountId: id, userId: user.id, role: "reader" }));
    await t.db.prisma.membership.createMany({ data: memberships });

    expect(await accept(ann, token)).toMatchObject(INVALID);
    const signUp = (browser: PortalBrowser, invitation: string) =>
      browser.send("POST /invitations/sign-up", { body: { token: invitation, password: PASSWORD } });
    expect(await signUp(portalBrowser(), mailedToken)).toMatchObject(INVALID);
    const browser = portalBrowser();
    const verify = await tokenMailedBy(t.capturedMails, waiting, () => signUp(browser, passedOn));
    expect((await browser.send("POST /verify", { body: { token: verify } })).status).toBe(200);
    expect(await t.db.prisma.membership.count({ where: { accountId: id } })).toBe(MEMBERS_MAX_COUNT);

    await t.db.prisma.user.delete({ where: { id: users[0]?.id ?? "" } });
    expect((await accept(ann, token)).status).toBe(200);
  });

  test("of two uses at the same time only one succeeds", async () => {
    const owner = await person("owner");
    const ann = await person("ann");
    const token = await invited(owner, ann.email);
    const statuses = await Promise.all([accept(ann, token), accept(ann, token)]);
    expect(statuses.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test("that is accepted while calls of its user are read does not sign them out", async () => {
    const owner = await person("owner");
    for (let round = 0; round < 10; round += 1) {
      const ann = await person("ann");
      const accepting = accept(ann, await invited(owner, ann.email));
      const others = await Promise.all(Array.from({ length: 8 }, () => ann.browser.send("GET /organisation")));
      expect([(await accepting).status, ...others.map(({ status }) => status)]).toEqual(Array(9).fill(200));
    }
  });

  test("that was mailed signs its reader up and in, without a second email", async () => {
    const owner = await person("owner");
    const email = fresh("new");
    const body = { email, role: "reader", mail: true };
    const token = await tokenMailedBy(t.capturedMails, email, () =>
      owner.browser.send("POST /organisation/invitations", { body }),
    );
    const browser = portalBrowser();
    expect((await browser.send("POST /invitations/read", { body: { token } })).body.data).toMatchObject({
      organisation: owner.email,
      email,
      role: "reader",
      inviter: owner.email,
      has_account: false,
    });
    const answer = await browser.send("POST /invitations/sign-up", { body: { token, password: PASSWORD } });
    expect(answer.body.data).toMatchObject({ entry: "ready" });
    expect(await browser.signInBy("entry")).toBeNull();
    expect((await organisationOf({ email, browser })).name).toBe(owner.email);
    expect(await browser.send("POST /invitations/sign-up", { body: { token, password: PASSWORD } })).toMatchObject(INVALID);
  });

  test("whose link was passed on makes nobody a member before the address is verified", async () => {
    const owner = await person("owner");
    const email = fresh("new");
    const token = await invited(owner, email);
    const browser = portalBrowser();
    const verify = await tokenMailedBy(t.capturedMails, email, async () => {
      const answer = await browser.send("POST /invitations/sign-up", { body: { token, password: PASSWORD } });
      expect(answer.body.data).toMatchObject({ entry: "none" });
    });
    expect(await memberOf(owner, email)).toBeUndefined();
    await browser.send("POST /verify", { body: { token: verify } });
    expect(await memberOf(owner, email)).toMatchObject({ role: "developer" });
    expect(await browser.signInBy("entry")).toBeNull();
    expect((await browser.send("GET /organisations")).body.data.items).toHaveLength(1);
  });

  test("is refused for a member, for an address that is none, and past the limit of those that wait", async () => {
    const owner = await person("owner");
    const send = (email: string) =>
      owner.browser.send("POST /organisation/invitations", { body: { email, role: "reader", mail: false } });
    expect(await send(owner.email)).toMatchObject(failed("invalid_parameter", { parameter: "email" }));
    expect(await send("nonsense")).toMatchObject(failed("invalid_parameter", { parameter: "email" }));
    const { id } = await organisationOf(owner);
    const by = { actor: { name: "test" }, address: null };
    for (let made = 0; made < 100; made += 1)
      await createInvitation(t.keyContext, id, { email: `many${made}@example.com`, role: "reader", mail: false }, by);
    expect(await send(fresh("one-more"))).toMatchObject(failed("invalid_parameter", { parameter: "email" }));
    expect((await send("many7@example.com")).status).toBe(200);
  });
});

describe("members", () => {
  test("the last owner can neither leave, be removed, become something else, nor delete the account", async () => {
    const owner = await person("owner");
    await member(owner, "developer");
    const { id } = await memberOf(owner, owner.email);
    const refused = failed("invalid_parameter");
    expect(await owner.browser.send("POST /organisation/leave")).toMatchObject(refused);
    expect(
      await owner.browser.send("DELETE /organisation/members/[id]", { params: { id }, body: { revoke_keys: false } }),
    ).toMatchObject(refused);
    expect(
      await owner.browser.send("PATCH /organisation/members/[id]", { params: { id }, body: { role: "reader" } }),
    ).toMatchObject(refused);
    expect(await owner.browser.send("DELETE /account", { body: { confirm: owner.email } })).toMatchObject(
      failed("invalid_parameter", { parameter: "confirm" }),
    );
    const second = await member(owner, "owner");
    expect((await owner.browser.send("POST /organisation/leave")).status).toBe(200);
    expect((await organisationOf(second)).members).toHaveLength(2);
    expect((await organisationOf(owner)).members).toMatchObject([{ email: owner.email, role: "owner" }]);
  });

  test("two owners who demote each other at the same time leave one owner", async () => {
    const owner = await person("owner");
    const second = await member(owner, "owner");
    const ids = [(await memberOf(owner, second.email)).id, (await memberOf(owner, owner.email)).id];
    const demote = (by: Person, id: string) =>
      by.browser.send("PATCH /organisation/members/[id]", { params: { id }, body: { role: "reader" } });
    const answers = await Promise.all([demote(owner, ids[0]), demote(second, ids[1])]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test("a removed member works in an organisation of their own, and the keys that they made are revoked if asked", async () => {
    const owner = await person("owner");
    const dev = await member(owner, "developer");
    const key = { name: "k", venue: "sandbox", scopes: ["market:read"], origins: [], expires_at: null };
    const { text, key: made } = (await dev.browser.send("POST /keys", { body: key })).body.data;
    const kept = (await owner.browser.send("POST /keys", { body: key })).body.data;
    const { token } = (await dev.browser.send("POST /tokens", { body: { key_id: made.id } })).body.data;
    const origin = { headers: { origin: "http://spotwire.test" } };
    expect((await t.ask("/api/v1/key", { key: token, ...origin })).status).toBe(200);
    const { id, active_keys } = await memberOf(owner, dev.email);
    expect(active_keys).toBe(1);
    await owner.browser.send("DELETE /organisation/members/[id]", { params: { id }, body: { revoke_keys: true } });
    await t.settle();
    expect((await t.ask("/api/v1/key", { key: text })).status).toBe(401);
    expect((await t.ask("/api/v1/key", { key: token, ...origin })).status).toBe(401);
    expect((await t.ask("/api/v1/key", { key: kept.text })).status).toBe(200);
    expect((await dev.browser.send("GET /keys")).body.data.items).toEqual([]);
    expect(await organisationOf(dev)).toMatchObject({ name: dev.email, members: [{ role: "owner" }] });
  });

  test("deleting a user deletes the organisations in which they are alone, and no other", async () => {
    const owner = await person("owner");
    const dev = await member(owner, "developer");
    const { id } = await organisationOf(owner);
    expect((await dev.browser.send("DELETE /account", { body: { confirm: dev.email } })).status).toBe(200);
    expect((await organisationOf(owner)).members).toHaveLength(1);
    expect((await owner.browser.send("DELETE /account", { body: { confirm: owner.email } })).status).toBe(200);
    expect(await t.db.prisma.account.findUnique({ where: { id } })).toBeNull();
  });

  test("an owner sees what each member changed, as CSV too; others see what they did themselves", async () => {
    const owner = await person("owner");
    const dev = await member(owner, "developer");
    const key = { name: "of dev", venue: "sandbox", scopes: ["market:read"], origins: [], expires_at: null };
    await dev.browser.send("POST /keys", { body: key });
    const { id } = await memberOf(owner, dev.email);
    const actors = async ({ browser }: Person, query: Record<string, string> = {}) =>
      new Set((await browser.send("GET /audit", { query })).body.data.items.map(({ actor }: { actor: string }) => actor));
    expect(await actors(owner)).toEqual(new Set([owner.email, dev.email]));
    expect(await actors(owner, { member: id })).toEqual(new Set([dev.email]));
    expect(await actors(dev)).toEqual(new Set([dev.email]));
    const csv = await (await owner.browser.request("GET /audit/export", { query: { member: id } })).text();
    expect(csv).toMatch(/^at,actor,action,target,before,after,address\r\n/);
    expect(csv).toContain("key.create");
    expect(csv).not.toContain(owner.email);
    expect(await dev.browser.send("GET /audit/export")).toMatchObject(failed("role_required"));
  });

  test("an organisation that requires a second factor lets a member without one do nothing but add one", async () => {
    const owner = await person("owner");
    const dev = await member(owner, "developer");
    const require = () => owner.browser.send("PATCH /organisation", { body: { require_second_factor: true } });
    expect(await require()).toMatchObject(failed("second_factor_required"));
    await t.db.prisma.user.update({ where: { email: owner.email }, data: { totpSince: new Date(t.clock.now()) } });
    expect((await require()).status).toBe(200);
    expect(await dev.browser.send("GET /keys")).toMatchObject(failed("second_factor_required"));
    expect((await dev.browser.send("GET /sessions")).status).toBe(200);
    await t.db.prisma.user.update({ where: { email: dev.email }, data: { totpSince: new Date(t.clock.now()) } });
    expect((await dev.browser.send("GET /keys")).status).toBe(200);
  });

  test("an owner chooses which alerts are sent, each once, of those that there are, and the audit log has it", async () => {
    const owner = await person("owner");
    const set = (alerts_off: readonly string[]) => owner.browser.send("PATCH /organisation", { body: { alerts_off } });
    expect((await organisationOf(owner)).alerts_off).toEqual([]);
    expect((await set(["key_refused.webhook", "quota.email", "quota.email"])).status).toBe(200);
    expect((await organisationOf(owner)).alerts_off).toEqual(["quota.email", "key_refused.webhook"]);
    for (const wrong of [["quota"], ["quota.sms"], Array(ALERT_SWITCHES.length + 1).fill("quota.email")])
      expect(await set(wrong)).toMatchObject(failed("invalid_parameter"));
    expect((await set([])).status).toBe(200);
    const [entry] = (await owner.browser.send("GET /audit")).body.data.items;
    expect(entry).toMatchObject({
      action: "organisation.change",
      before: { alerts_off: ["key_refused.webhook", "quota.email"] },
      after: { alerts_off: [] },
    });
  });

  test("the name of another organisation is refused", async () => {
    const [ann, bob] = [await person("ann"), await person("bob")];
    expect(await ann.browser.send("PATCH /organisation", { body: { name: bob.email } })).toMatchObject(
      failed("invalid_parameter", { parameter: "name" }),
    );
    expect((await ann.browser.send("PATCH /organisation", { body: { name: `Ann's ${count}` } })).status).toBe(200);
    expect((await organisationOf(ann)).name).toBe(`Ann's ${count}`);
  });
});

describe("what a role may do", () => {
  test.each(ROLES)("a member with the role %s is let through by exactly the routes of the table", async (role) => {
    const { accountId } = await signedInBrowser(t, fresh("account"));
    const user = await createMember(t.db, accountId, { email: fresh(role), role });
    for (const { name, user: admission } of PORTAL_ROUTES) {
      if (!(admission in RIGHTS)) continue;
      const browser = await signedInAs(t, user.id);
      const answer = await browser.request(name, { params: { id: UNKNOWN, request_id: "req_unknown" } });
      const allowed = RIGHTS[admission as keyof typeof RIGHTS].some((one) => one === role);
      expect([name, (await answer.text()).includes("role_required")]).toEqual([name, !allowed]);
    }
  });

  test("no route shows or changes what belongs to another organisation, whatever ids it is given", async () => {
    expect(Object.keys(BY_ID).sort()).toEqual(MEMBER_ROUTES.filter((name) => name.includes("[")).sort());
    // Before the owner's, so that what they did is older.
    const strangers: PortalBrowser[] = [];
    for (let made = 0; made < 12; made += 1) {
      const { browser } = await signedInBrowser(t, fresh("stranger"));
      await browser.send("PATCH /profile", { body: { name: "Eve" } });
      strangers.push(browser);
    }
    const owner = await person("owner");
    const ids = await belongings(owner);
    const before = await everythingOf(owner);
    for (const [kind, id] of Object.entries(ids)) {
      // Somebody else for each id, whose few calls no limit refuses.
      const browser = strangers.pop() ?? portalBrowser();
      for (const [name, body] of Object.entries(BY_ID) as [PortalRouteName, object][]) {
        const { status } = await browser.send(name, { params: { id, request_id: id }, body });
        expect([kind, name, status]).toEqual([kind, name, 404]);
      }
      const [given, unknown] = [await namingInQuery(browser, id), await namingInQuery(browser, UNKNOWN)];
      expect([kind, given]).toEqual([kind, unknown]);
      for (const [name, body, status] of namedInBodies(id))
        expect([kind, name, (await browser.send(name, { body })).status]).toEqual([kind, name, status]);
    }
    expect(await everythingOf(owner)).toEqual(before);
  });
});

const MEMBER_ROUTES = PORTAL_ROUTES.filter(({ user }) => user === "self" || user in RIGHTS).map(({ name }) => name);

/** A body that the schema takes, for each route of members that has an id in its path. */
const BY_ID = {
  "DELETE /identities/[id]": {},
  "DELETE /sessions/[id]": {},
  "DELETE /organisation/invitations/[id]": {},
  "PATCH /organisation/members/[id]": { role: "reader" },
  "DELETE /organisation/members/[id]": { revoke_keys: true },
  "DELETE /passkeys/[id]": {},
  "PATCH /keys/[id]": { name: "taken over" },
  "POST /keys/[id]/rotate": { grace: "now" },
  "POST /keys/[id]/revoke": { confirm: "k", replaced: true },
  "DELETE /links/[id]": {},
  "POST /links/[id]/address": {},
  "GET /logs/[request_id]": {},
  "DELETE /webhooks/[id]": {},
  "POST /webhooks/[id]/resume": {},
  "POST /webhooks/[id]/test": {},
} as const satisfies Partial<Record<PortalRouteName, object>>;

/** The calls that have an id in their body, with the status for one that is not the caller's. */
function namedInBodies(id: string): [PortalRouteName, object, number][] {
  return [
    ["POST /tokens", { key_id: id }, 404],
    ["POST /page-tokens/live", { key_id: id }, 404],
    ["POST /organisations/current", { id }, 404],
    // At the field of a form in which a key is chosen.
    ["POST /links", linkOf(id), 400],
  ];
}

/** What routes answer to an id in each parameter of their query that takes one, without the id of the request itself. */
async function namingInQuery(browser: PortalBrowser, id: string): Promise<[string, number, string][]> {
  const queries: [PortalRouteName, Record<string, string>][] = [
    ["GET /usage", { key_id: id }],
    ["GET /usage/export", { key_id: id }],
    ["GET /logs", { key_id: id }],
    ["GET /logs", { q: id }],
    ["GET /logs/export", { key_id: id }],
    ["GET /logs/export", { q: id }],
    ["GET /logs/histogram", { key_id: id }],
    ["GET /logs/histogram", { q: id }],
    ["GET /audit", { member: id }],
    ["GET /audit", { before: id }],
    ["GET /audit/export", { member: id }],
    ["GET /audit/export", { before: id }],
  ];
  const answers: [string, number, string][] = [];
  for (const [name, query] of queries) answers.push([name, ...(await textOf(browser, name, { query }))]);
  return answers;
}

/** The status and the text of an answer, without the id of its request. */
async function textOf(browser: PortalBrowser, name: PortalRouteName, send: Send = {}): Promise<[number, string]> {
  const response = await browser.request(name, send);
  return [response.status, (await response.text()).replace(/"request_id":"[^"]*"/, "")];
}

/** Whatever a reader sees of an account and an organisation. */
async function everythingOf({ browser }: Person): Promise<[string, number, string][]> {
  const answers: [string, number, string][] = [];
  for (const name of MEMBER_ROUTES)
    if (name.startsWith("GET ") && !name.includes("[")) answers.push([name, ...(await textOf(browser, name))]);
  for (const [name, status] of answers) expect([name, status]).toEqual([name, 200]);
  return answers;
}

const linkOf = (key_id: string) => {
  const expires_at = new Date(t.clock.now() + DAY_MS).toISOString();
  return { key_id, name: "l", operation: "latestQuotes", parameters: { tickers: "EURUSD" }, expires_at };
};

/** The id of one thing of each kind, all of an owner and their organisation; a request has one of the same form. */
async function belongings(owner: Person): Promise<Record<string, string>> {
  const { browser, email } = owner;
  const key = { name: "k", venue: "sandbox", scopes: ["market:read"], origins: [], expires_at: null };
  const { key: made } = (await browser.send("POST /keys", { body: key })).body.data;
  const { link } = (await browser.send("POST /links", { body: linkOf(made.id) })).body.data;
  const { webhook } = (await browser.send("POST /webhooks", { body: { url: "https://hooks.example.com/in" } })).body.data;
  const { email: of } = await member(owner, "developer");
  await invited(owner, fresh("waiting"));
  const { id: accountId, invitations, members } = await organisationOf(owner);
  const { id: userId } = members.find((one: { email: string }) => one.email === email);
  const identity = { provider: "oidc", issuer: "https://id.example", subject: email, userId };
  const passkey = { userId, name: "Laptop", credentialId: Buffer.from(email), publicKey: new Uint8Array(1), transports: [] };
  const request = randomUUID();
  const counted = {
    accountId,
    keyId: made.id,
    operation: "klines",
    code: 0,
    atMs: t.clock.now(),
    calls: 3,
    units: 7,
    latency: [],
  };
  await writeCalls(t.db.pool, [counted]);
  await t.db.prisma.requestLog.create({
    data: {
      accountId,
      at: new Date(t.clock.now()),
      keyId: made.id,
      requestId: request,
      operation: "klines",
      method: "GET",
      path: "/",
      status: 200,
      code: 0,
      latencyUs: 1,
      address: "",
      userAgent: "",
    },
  });
  return {
    key: made.id,
    link: link.id,
    webhook: webhook.id,
    request,
    organisation: accountId,
    invitation: invitations[0].id,
    owner: userId,
    member: members.find((one: { email: string }) => one.email === of).id,
    session: (await browser.send("GET /sessions")).body.data.items[0].id,
    identity: (await t.db.prisma.identity.create({ data: identity })).id,
    passkey: (await t.db.prisma.passkey.create({ data: passkey })).id,
    audit: (await browser.send("GET /audit")).body.data.items[0].id,
  };
}

describe("who may sign up", () => {
  const rules = (more: object) => setPortal({ ...t, users: { ...t.users, rules: { ...t.users.rules, ...more } } });
  const signUp = (email: string, more: object = {}) =>
    portalBrowser(freshAddress()).send("POST /sign-up", { body: { email, password: PASSWORD, ...more } });

  test("closed: nobody without an invitation, whether or not the address has an account", async () => {
    const known = await person("known");
    rules({ SIGNUP: "closed" });
    for (const email of [known.email, fresh("new")])
      expect(await signUp(email)).toMatchObject({ status: 403, ...failed("sign_up_closed") });
  });

  test("invited: whoever has no address of the domains waits, has no keys, and is told once an operator decides", async () => {
    rules({ SIGNUP: "invited", SIGNUP_DOMAINS: ["partner.example"] });
    const waiting = await person("waiting");
    const key = { name: "k", venue: "sandbox", scopes: ["market:read"], origins: [], expires_at: null };
    const refused = failed("invalid_parameter", { parameter: "account" });
    expect(await waiting.browser.send("POST /keys", { body: key })).toMatchObject(refused);
    const { browser: operator } = await signedInBrowser(t, fresh("operator"));
    await t.db.prisma.user.updateMany({
      where: { sessions: { some: {} }, account: { name: { startsWith: "operator" } } },
      data: { operator: true, totpSince: new Date(t.clock.now()) },
    });
    const listed = async () =>
      (await operator.send("GET /admin/accounts", { query: { waiting: "true" } })).body.data.items as {
        id: string;
        name: string;
      }[];
    const { id = "" } = (await listed()).find(({ name }) => name === waiting.email) ?? {};
    expect((await operator.send("POST /admin/accounts/[id]/approve", { params: { id } })).status).toBe(200);
    expect(await operator.send("POST /admin/accounts/[id]/approve", { params: { id } })).toMatchObject(
      failed("invalid_parameter", { parameter: "id" }),
    );
    expect((await waiting.browser.send("POST /keys", { body: key })).status).toBe(200);
    const subjects = t.capturedMails
      .list()
      .filter(({ to }) => to === waiting.email)
      .map(({ subject }) => subject);
    expect(subjects).toContain("Your account is approved");

    const other = await person("refused");
    const { id: otherId = "" } = (await listed()).find(({ name }) => name === other.email) ?? {};
    expect((await operator.send("POST /admin/accounts/[id]/refuse", { params: { id: otherId } })).status).toBe(200);
    expect((await other.browser.send("GET /sessions")).status).toBe(401);
    expect(await t.db.prisma.user.findUnique({ where: { email: other.email } })).toBeNull();

    const partner = `ann${++count}@partner.example`;
    await signUp(partner);
    expect((await t.db.prisma.account.findUniqueOrThrow({ where: { name: partner } })).waitingSince).toBeNull();
  });

  test("an operator creates a customer and invites its owner, also where nobody else can sign up", async () => {
    rules({ SIGNUP: "closed" });
    const { browser: operator, accountId } = await signedInBrowser(t, fresh("operator"));
    const data = { operator: true, totpSince: new Date(t.clock.now()) };
    await t.db.prisma.user.updateMany({ where: { accountId }, data });
    const name = `Acme ${++count}`;
    const { account } = (await operator.send("POST /admin/accounts", { body: { name, plan: "standard" } })).body.data;
    expect(account).toMatchObject({ name, plan: "standard", members: 0, live_access: false });
    expect(await operator.send("POST /admin/accounts", { body: { name, plan: "free" } })).toMatchObject(
      failed("invalid_parameter", { parameter: "name" }),
    );
    const email = fresh("customer");
    const body = { email, role: "owner", mail: true };
    const token = await tokenMailedBy(t.capturedMails, email, () =>
      operator.send("POST /admin/accounts/[id]/invitations", { params: { id: account.id }, body }),
    );
    const browser = portalBrowser();
    await browser.send("POST /invitations/sign-up", { body: { token, password: PASSWORD } });
    expect(await browser.signInBy("entry")).toBeNull();
    expect(await organisationOf({ email, browser })).toMatchObject({ name, members: [{ email, role: "owner" }] });
  });

  test("terms have to be accepted where there are some; their version and the time are kept", async () => {
    rules({ TERMS_URL: "https://example.com/terms", TERMS_VERSION: "2026-11" });
    const email = fresh("new");
    for (const terms of [undefined, false])
      expect(await signUp(email, { terms })).toMatchObject(failed("missing_parameter", { parameter: "terms" }));
    expect((await signUp(email, { terms: true })).status).toBe(200);
    expect(await t.db.prisma.user.findUnique({ where: { email } })).toMatchObject({
      termsVersion: "2026-11",
      termsAt: new Date(t.clock.now()),
    });
  });

  test("operators see what a member accepted, and other members do not", async () => {
    rules({ TERMS_URL: "https://example.com/terms", TERMS_VERSION: "2026-11" });
    const email = fresh("accepted");
    const browser = portalBrowser();
    const token = await tokenMailedBy(t.capturedMails, email, () =>
      browser.send("POST /sign-up", { body: { email, password: PASSWORD, terms: true } }),
    );
    await browser.send("POST /verify", { body: { token } });
    expect(await browser.signInBy("entry")).toBeNull();
    const { id, members } = await organisationOf({ email, browser });
    expect(members).toMatchObject([{ email }]);
    expect(members[0]).not.toHaveProperty("terms");
    const { browser: operator, accountId } = await signedInBrowser(t, fresh("operator"));
    const data = { operator: true, totpSince: new Date(t.clock.now()) };
    await t.db.prisma.user.updateMany({ where: { accountId }, data });
    const report = (await operator.send("GET /admin/accounts/[id]", { params: { id } })).body.data;
    const terms = { version: "2026-11", at: new Date(t.clock.now()).toISOString() };
    expect(report.members).toMatchObject([{ email, terms }]);
  });

  test("whoever signs up again with an address that nobody verified accepts the terms of that day", async () => {
    const url = { TERMS_URL: "https://example.com/terms" };
    const owner = await person("owner");
    const mailed = (email: string) =>
      tokenMailedBy(t.capturedMails, email, () =>
        owner.browser.send("POST /organisation/invitations", { body: { email, role: "reader", mail: true } }),
      );
    const again: Record<string, (email: string) => Promise<{ status: number }>> = {
      "by a sign-up": (email) => signUp(email, { terms: true }),
      "by a copied invitation": async (email) => {
        const body = { token: await invited(owner, email), password: PASSWORD, terms: true };
        return portalBrowser().send("POST /invitations/sign-up", { body });
      },
      "by a mailed invitation": async (email) => {
        const body = { token: await mailed(email), password: PASSWORD, terms: true };
        return portalBrowser().send("POST /invitations/sign-up", { body });
      },
    };
    for (const [way, signUpAgain] of Object.entries(again)) {
      const email = fresh("again");
      rules({ ...url, TERMS_VERSION: "2026-11" });
      expect((await signUp(email, { terms: true })).status).toBe(200);
      await t.clock.advance(MINUTE_MS);
      rules({ ...url, TERMS_VERSION: "2026-12" });
      expect((await signUpAgain(email)).status).toBe(200);
      const { termsVersion, termsAt } = await t.db.prisma.user.findUniqueOrThrow({ where: { email } });
      expect([way, termsVersion, termsAt]).toEqual([way, "2026-12", new Date(t.clock.now())]);
    }
  });
});

const UNKNOWN = "00000000-0000-4000-8000-000000000000";
