import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, Locator, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { reservePort } from "#lib/testing/ports";
import { BROWSER_TIMEOUT_MS, borrowBrowser, openPage, returnBrowser, STEP_MAX_MS } from "./browser";
import { keyHolder, makeLiveKey, runCommand } from "./commands";
import { createFeeder } from "./feeder";
import { type Mailbox, openMailbox, tokenIn } from "./mailbox";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { codeOf, createVisitor, signUp, type Visitor } from "./visitor";

const PASSWORD = "correct horse battery";
const OPERATOR = "operator@example.test";
const OWNER = "ada@example.test";
const MEMBER = "bob@example.test";
/** Of a domain that has to wait for an operator. */
const WAITING = "eve@elsewhere.test";
const KEY = { venue: "sandbox", scopes: ["market:read"], origins: [], expires_at: null };
/** Controls between the first one of a dialog and any other. */
const TABS_MAX_COUNT = 60;
const SOON = { timeout: STEP_MAX_MS, interval: 50 };

/** A control as a screen reader says it: its role, and how its name begins. */
type Control = `${"button" | "checkbox" | "textbox" | "radio" | "combobox" | "heading" | "dialog" | "spinbutton"} "${string}`;

interface Walk {
  /** The files below components/ whose dialogs it opens; one twice opens two. */
  readonly sources: readonly string[];
  readonly at: string;
  /** What its button is folded away under. */
  readonly unfold?: string;
  /** The name of the button that opens it, and the item of its menu. */
  readonly opener: string;
  readonly item?: string;
  readonly title: string;
  /** What has the focus when it opens. */
  readonly first: Control;
  /** True when Esc does not close it, because what it shows is shown once. */
  readonly sticky?: boolean;
  /** The button that closes it; Cancel unless given. */
  readonly closer?: string;
  /** Does with the keyboard what it is for. */
  readonly finish?: () => Promise<void>;
  /** What has the focus afterwards; what opened it unless given. */
  readonly after?: Control;
}

let product: Product;
let browser: Browser;
let mailbox: Mailbox;
let folder: string;
let owner: Visitor;
let operator: Visitor;
let waitingId = "";
let hookHost = "";
let context: BrowserContext;
let page: Page;
/** What was opened, by file. */
const walked: string[] = [];

const signUpAs = (email: string, address: string) =>
  signUp({ baseUrl: product.baseUrl, mailbox }, { email, password: PASSWORD, address });
/** Passkeys need a name instead of an IP address. */
const site = () => product.baseUrl.replace("127.0.0.1", "localhost");

async function importMinutes(name: string, count: number, hour: number): Promise<void> {
  const start = Date.UTC(2024, 2, 6, hour) / 1000;
  const rows = Array.from({ length: count }, (_, index) => `${start + index * 60},1.1,1.2,1.0,1.15,${1 + (index % 9)}`);
  const file = join(folder, name);
  await writeFile(file, `time,open,high,low,close,tick_volume\n${rows.join("\n")}\n`);
  const { exitCode, output } = await runCommand(product, "import", ["--accept-doubts", file]);
  expect(exitCode, output).toBe(0);
}

async function become(visitor: Visitor, address: string): Promise<void> {
  await context?.close();
  context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    extraHTTPHeaders: { "x-forwarded-for": address },
  });
  await context.addCookies([...visitor.cookies].map(([name, value]) => ({ name, value, url: site() })));
  page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("WebAuthn.enable");
  const kind = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true } as const;
  await session.send("WebAuthn.addVirtualAuthenticator", {
    options: { ...kind, isUserVerified: true, automaticPresenceSimulation: true },
  });
}

beforeAll(
  async () => {
    mailbox = await openMailbox();
    hookHost = `127.0.0.1:${await reservePort()}`;
    [product, browser, folder] = await Promise.all([
      startProduct({
        SMTP_URL: mailbox.url,
        TRUSTED_PROXIES: "127.0.0.1",
        SIGNUP: "invited",
        SIGNUP_DOMAINS: "example.test",
        LIVE_FEED: "push,tiingo",
        TIINGO_TOKEN: "none",
        FEED_URL: "ws://127.0.0.1:1",
        WEBHOOK_ALLOWED_HOSTS: hookHost,
      }),
      borrowBrowser(),
      mkdtemp(join(tmpdir(), "spotwire-dialogs-")),
    ]);
    operator = await signUpAs(OPERATOR, "198.51.100.1");
    owner = await signUpAs(OWNER, "198.51.100.2");
    expect((await runCommand(product, "admin", ["grant", OPERATOR])).exitCode).toBe(0);
    await operator.addApp();
    await signUpAs(WAITING, "198.51.100.3");
    const { data } = await operator.call("GET", "admin/accounts");
    const accounts = data.items as readonly { id: string; name: string }[];
    waitingId = accounts.find(({ name }) => name === WAITING)?.id ?? "";
    let keyId = "";
    for (const name of ["Backtests", "Old"]) {
      const made = await owner.call("POST", "keys", { ...KEY, name });
      expect(made.status).toBe(200);
      if (name === "Old") continue;
      keyId = (made.data.key as { id: string }).id;
      const answer = await fetch(`${product.baseUrl}/api/v1/market/quotes/latest?tickers=EURUSD`, {
        headers: { authorization: `Bearer ${made.data.text}` },
      });
      expect(answer.status).toBe(200);
    }
    await owner.call("POST", "organisation/live-access");
    const link = { name: "Budget", key_id: keyId, operation: "latestQuotes", parameters: { tickers: "EURUSD", format: "csv" } };
    const ends = new Date(Date.now() + 86_400_000).toISOString();
    expect(await owner.call("POST", "links", { ...link, expires_at: ends })).toMatchObject({ status: 200 });
    await owner.call("POST", "organisation/invitations", { email: MEMBER, role: "developer", mail: true });
    const member = createVisitor(product.baseUrl, "198.51.100.4");
    const token = tokenIn(await mailbox.nextLink(MEMBER, "/invitation"));
    expect(await member.call("POST", "invitations/sign-up", { token, password: PASSWORD })).toMatchObject({ status: 200 });
    await importMinutes("USDCAD_first.csv", 600, 0);
    await importMinutes("USDCAD_second.csv", 300, 13);
  },
  BROWSER_TIMEOUT_MS + 2 * SERVER_TIMEOUT_MS,
);

afterAll(async () => {
  await returnBrowser(browser);
  await product?.dispose();
  await mailbox?.close();
  if (folder !== undefined) await rm(folder, { recursive: true });
}, SERVER_TIMEOUT_MS);

const press = (key: string) => page.keyboard.press(key);
const dialog = () => page.locator("[role=dialog], [role=alertdialog]");

/** What has the focus, as a screen reader says it; "nothing" when it was dropped. */
async function focused(): Promise<string> {
  const dropped = await page.evaluate("document.activeElement === document.body || document.activeElement === null");
  if (dropped) return "nothing";
  // The focused element may disappear in the meantime.
  const said = await page
    .locator(":focus")
    .ariaSnapshot({ timeout: 1_000 })
    .catch(() => "");
  return said.split("\n")[0]?.replace(/^- /, "") ?? "";
}

async function expectFocus(control: Control, when: string): Promise<void> {
  await expect.poll(focused, { ...SOON, message: when }).toSatisfy((said: string) => said.startsWith(control));
}

/** Presses Tab until this control has the focus. */
async function tabTo(control: Control): Promise<void> {
  for (let count = 0; count < TABS_MAX_COUNT; count += 1) {
    if ((await focused()).startsWith(control)) return;
    await press("Tab");
  }
  throw new Error(`${TABS_MAX_COUNT} times Tab did not reach ${control}`);
}

async function pressButton(name: string): Promise<void> {
  await tabTo(`button "${name}`);
  await press("Enter");
}

async function type(text: string): Promise<void> {
  await press("ControlOrMeta+a");
  await page.keyboard.type(text);
}

const typeAndSend = (text: string) => async () => {
  await type(text);
  await press("Enter");
};

/** Chooses an item of the open menu. */
async function choose(item: string): Promise<void> {
  await page.getByRole("menu").waitFor();
  for (let count = 0; count < 10; count += 1) {
    if ((await focused()).startsWith(`menuitem "${item}"`)) return press("Enter");
    await press("ArrowDown");
  }
  throw new Error(`The menu has no ${item}`);
}

async function open({ opener, item, title }: Walk): Promise<Locator> {
  const control = page.getByRole("button", { name: opener, exact: true }).first();
  await control.focus();
  await press("Enter");
  if (item !== undefined) await choose(item);
  const opened = dialog().filter({ has: page.getByRole("heading", { name: title, exact: true }) });
  await opened.waitFor();
  return opened;
}

/** That a screen reader says its name, then what it is about, each once. */
async function expectOneName(opened: Locator, title: string): Promise<void> {
  const said = (attribute: string) =>
    opened.evaluate(
      (element, name) =>
        (element.getAttribute(name) ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? `no #${id}`),
      attribute,
    );
  expect(await said("aria-labelledby")).toEqual([title]);
  expect(await opened.getAttribute("aria-label")).toBeNull();
  const described = await said("aria-describedby");
  expect(described).toHaveLength(1);
  expect(described[0]).not.toBe("");
  expect(described[0]).not.toContain(title);
}

async function walk(one: Walk): Promise<void> {
  walked.push(...one.sources);
  const back: Control = `button "${one.opener}`;
  const target = `${site()}/${one.at}`;
  if (page.url() !== target || (await dialog().count()) > 0) await openPage(page, target);
  if (one.unfold !== undefined) {
    await page.locator("summary").filter({ hasText: one.unfold }).focus();
    await press("Enter");
  }
  const closed = () => dialog().first().waitFor({ state: "detached" });

  const opened = await open(one);
  await expectOneName(opened, one.title);
  await expectFocus(one.first, `${one.title}, opened`);
  if (one.sticky !== true) {
    await press("Escape");
    await closed();
    await expectFocus(back, `${one.title}, after Esc`);
    await open(one);
  }
  await pressButton(one.closer ?? "Cancel");
  await closed();
  await expectFocus(back, `${one.title}, after ${one.closer ?? "Cancel"}`);
  if (one.finish === undefined) return;
  await open(one);
  await expectFocus(one.first, `${one.title}, opened again`);
  await one.finish();
  await closed();
  await expectFocus(one.after ?? back, `${one.title}, done`);
}

const KEYS = { at: "dashboard/keys" };
const ACCOUNT = { at: "dashboard/account" };
const ACTIONS = { at: "admin/accounts", opener: `Actions for ${OWNER}` };

const OWNERS: readonly Walk[] = [
  {
    ...KEYS,
    sources: ["keys/create-key"],
    opener: "Create key",
    title: "Create a key",
    first: 'radio "Sandbox',
    finish: async () => {
      await tabTo('textbox "Name"');
      await typeAndSend("By keyboard")();
      await page.getByRole("heading", { name: "Your new key" }).waitFor();
      await pressButton("I've saved it");
    },
  },
  {
    ...KEYS,
    sources: ["keys/key-dialogs"],
    opener: "Actions for Backtests",
    item: "Edit",
    title: "Edit Backtests",
    first: 'textbox "Name"',
    finish: () => press("Enter"),
  },
  {
    ...KEYS,
    sources: ["keys/key-dialogs"],
    opener: "Actions for Backtests",
    item: "Rotate",
    title: "Rotate Backtests",
    first: 'radio "24 hours',
    finish: async () => {
      await press("Enter");
      await page.getByRole("heading", { name: "Your new key" }).waitFor();
      await pressButton("I've saved it");
    },
  },
  {
    ...KEYS,
    sources: ["keys/key-dialogs", "ui/confirm-dialog"],
    opener: "Actions for Old",
    item: "Revoke",
    title: "Revoke Old",
    first: 'textbox "Type Old',
    finish: typeAndSend("Old"),
    after: 'heading "Keys"',
  },
  {
    at: "dashboard/links",
    sources: ["links/create-link"],
    opener: "Create link",
    title: "Create a link",
    first: 'textbox "Name"',
  },
  {
    at: "dashboard/links",
    sources: ["links/link-address"],
    opener: "Actions for Budget",
    item: "Show URL",
    title: "Budget",
    first: 'button "Copy',
    closer: "Done",
  },
  {
    at: "dashboard/links",
    sources: ["links/links-view"],
    opener: "Actions for Budget",
    item: "Revoke",
    title: "Revoke Budget",
    first: 'textbox "Type Budget',
    finish: typeAndSend("Budget"),
    after: 'heading "Links"',
  },
  {
    at: "dashboard/webhooks",
    sources: ["webhooks/add-webhook", "webhooks/add-webhook"],
    opener: "Add webhook",
    title: "Add a webhook",
    first: 'textbox "URL"',
    finish: async () => {
      await typeAndSend(`https://${hookHost}/hook`)();
      await page.getByRole("heading", { name: "Signing secret" }).waitFor();
      await expectFocus('dialog "Signing secret"', "Signing secret, opened");
      await pressButton("I've saved it");
    },
  },
  {
    at: "dashboard/organisation",
    sources: ["organisation/invite-dialog", "organisation/invite-dialog"],
    opener: "Invite",
    title: `Invite to ${OWNER}`,
    first: 'textbox "Email"',
    finish: async () => {
      await type("carol@example.test");
      await tabTo('radio "Email it');
      await press("ArrowDown");
      await press("Enter");
      await page.getByRole("heading", { name: "Invitation link" }).waitFor();
      await expectFocus('dialog "Invitation link"', "Invitation link, opened");
      await pressButton("I've saved it");
    },
  },
  {
    at: "dashboard/organisation",
    sources: ["organisation/members-table"],
    opener: `Actions for ${MEMBER}`,
    item: "Change role",
    title: `Role of ${MEMBER}`,
    first: 'combobox "Role"',
    finish: async () => {
      await press("ArrowDown");
      await pressButton("Change role");
    },
  },
  {
    at: "dashboard/organisation",
    sources: ["organisation/organisation-view"],
    opener: "Leave organisation",
    title: `Leave ${OWNER}`,
    first: `textbox "Type ${OWNER}`,
  },
  {
    at: "dashboard/organisation",
    sources: ["organisation/members-table"],
    opener: `Actions for ${MEMBER}`,
    item: "Remove",
    title: `Remove ${MEMBER}`,
    first: 'button "Cancel"',
    finish: () => pressButton("Remove member"),
    after: 'heading "Members"',
  },
  {
    at: "dashboard/logs",
    sources: ["logs/log-detail"],
    opener: "GET /quotes/latest?tickers=EURUSD",
    title: "Request",
    first: 'button "Copy id',
    closer: "Close",
  },
  {
    ...ACCOUNT,
    sources: ["account/passkeys", "account/recovery-codes"],
    opener: "Add a passkey",
    title: "Add a passkey",
    first: 'textbox "Name"',
    finish: async () => {
      await typeAndSend("Laptop")();
      await page.getByRole("heading", { name: "Save your recovery codes" }).waitFor();
      await expectFocus('button "Copy', "Save your recovery codes, opened");
      await pressButton("I've saved them");
    },
  },
  {
    ...ACCOUNT,
    sources: ["account/recovery-codes"],
    opener: "New codes",
    title: "Make new recovery codes",
    first: 'button "Cancel"',
    finish: async () => {
      await pressButton("Make new codes");
      await page.getByRole("heading", { name: "Save your recovery codes" }).waitFor();
      await pressButton("I've saved them");
    },
  },
  {
    ...ACCOUNT,
    sources: ["account/authenticator-app"],
    opener: "Set up",
    title: "Set up an authenticator app",
    first: 'textbox "Code"',
    sticky: true,
    finish: async () => {
      const secret = ((await dialog().locator("code").textContent()) ?? "").replaceAll(" ", "");
      await typeAndSend(codeOf(secret))();
    },
    after: 'button "Turn off"',
  },
  {
    ...ACCOUNT,
    sources: ["account/authenticator-app"],
    opener: "Turn off",
    title: "Turn off the authenticator app",
    first: 'button "Cancel"',
    finish: () => pressButton("Turn off"),
    after: 'button "Set up"',
  },
  {
    ...ACCOUNT,
    sources: ["account/passkeys"],
    opener: "Remove Laptop",
    title: "Remove Laptop",
    first: 'button "Cancel"',
    finish: () => pressButton("Remove passkey"),
    after: 'heading "Passkeys and two-step sign-in"',
  },
  {
    ...ACCOUNT,
    sources: ["account/delete-account"],
    opener: "Delete account",
    title: "Delete this account",
    first: `textbox "Type ${OWNER}`,
  },
  {
    at: "playground",
    sources: ["playground/curl-import"],
    opener: "Import curl",
    title: "Import a curl command",
    first: 'textbox "Command"',
  },
  {
    at: "playground",
    sources: ["playground/saved-requests"],
    opener: "Save request",
    title: "Save request",
    first: 'textbox "Name"',
    finish: () => press("Enter"),
  },
];

const OPERATORS: readonly Walk[] = [
  {
    at: "admin/accounts",
    sources: ["admin/create-customer"],
    opener: "Create customer",
    title: "Create a customer",
    first: 'textbox "Name"',
  },
  {
    ...ACTIONS,
    sources: ["admin/account-access"],
    item: "Access",
    title: `Access of ${OWNER}`,
    first: 'checkbox "Live access',
    finish: () => press("Enter"),
  },
  {
    ...ACTIONS,
    sources: ["admin/account-live"],
    item: "Decline live access",
    title: `Decline the request of ${OWNER}`,
    first: 'button "Cancel"',
    finish: () => pressButton("Decline"),
  },
  {
    ...ACTIONS,
    sources: ["admin/account-domain"],
    item: "Sign-in domain",
    title: `Sign-in domain of ${OWNER}`,
    first: 'textbox "Domain"',
    finish: typeAndSend("acme.test"),
  },
  {
    ...ACTIONS,
    sources: ["admin/account-suspend"],
    item: "Suspend",
    title: `Suspend ${OWNER}`,
    first: 'button "Cancel"',
    finish: () => pressButton("Suspend account"),
  },
  {
    at: "admin/plans",
    sources: ["admin/plans-view"],
    opener: "Add plan",
    title: "Add a plan",
    first: 'textbox "Name"',
    finish: typeAndSend("team-a"),
  },
  {
    at: "admin/billing",
    sources: ["admin/billing-view"],
    opener: "Create key",
    title: "Create a key for billing",
    first: 'textbox "Name"',
    finish: async () => {
      await typeAndSend("Invoices")();
      await page.getByRole("heading", { name: "Your new key" }).waitFor();
      await pressButton("I've saved it");
    },
  },
  {
    at: "admin/calendars",
    sources: ["admin/override-dialog"],
    opener: "Close now…",
    title: "Close forex",
    first: 'radio "Until I reopen it',
    finish: () => press("Enter"),
  },
  {
    at: "admin/calendars",
    sources: ["admin/definition-dialog"],
    opener: "Edit…",
    title: "Hours of forex",
    first: 'combobox "Hours"',
  },
  {
    at: "admin/incidents",
    sources: ["admin/incident-notes"],
    opener: "Add a note",
    title: "Add a note",
    first: 'textbox "Title"',
    finish: typeAndSend("Maintenance"),
  },
  {
    at: "admin/incidents",
    sources: ["admin/incident-notes"],
    opener: "Delete Maintenance",
    title: "Delete the note",
    first: 'textbox "Type Maintenance',
    finish: typeAndSend("Maintenance"),
    after: 'heading "Incident notes"',
  },
  {
    at: "admin/feeds",
    sources: ["admin/pin-dialog"],
    opener: "Pin tiingo",
    title: "Pin tiingo",
    first: 'button "Cancel"',
    finish: () => pressButton("Pin provider"),
    after: 'button "Release tiingo"',
  },
  {
    at: "admin/data/USDCAD",
    sources: ["admin/data/gaps"],
    opener: "Import… from 06 Mar 2024, 10:00",
    title: "Import here",
    first: 'button "Copy',
    closer: "Close",
  },
  {
    at: "admin/data/USDCAD?tab=correct",
    sources: ["admin/data/correction-dialog"],
    opener: "Correct… 06 Mar 2024, 17:58",
    title: "Correct USDCAD, 06 Mar 2024, 17:58:00 UTC",
    first: 'radio "Strike out',
    finish: async () => {
      await tabTo('textbox "Reason"');
      await typeAndSend("A tick without its decimal point")();
    },
  },
];

describe("with the keyboard alone, the first field has the focus on opening, and what opened it afterwards, in the dialogs of", () => {
  describe("an owner", () => {
    beforeAll(() => become(owner, "198.51.100.2"));

    test.each(OWNERS)("$at: $title", walk);

    test("a webhook's card, which is gone afterwards", () =>
      walk({
        at: "dashboard/webhooks",
        sources: ["webhooks/webhook-card"],
        opener: `Remove the webhook to ${hookHost}`,
        title: "Remove the webhook",
        first: `textbox "Type ${hookHost}`,
        finish: typeAndSend(hookHost),
        after: 'heading "Webhooks"',
      }));

    test("the proof of who they are, which a change asks for", async () => {
      await openPage(page, `${site()}/dashboard/account`);
      // As if the last proof was long ago: the answer is the one the service gives then.
      await page.route("**/api/portal/second-factors/app", (route) => {
        const data = { detail: "Confirm it's you.", request_id: "req_test", docs_url: "/docs/errors/proof-required" };
        return route.fulfill({ status: 403, json: { code: 40306, message: "proof_required", data } });
      });
      await walk({
        ...ACCOUNT,
        sources: ["shell/proof-dialog"],
        opener: "Set up",
        title: "Confirm it's you",
        first: 'textbox "Password"',
        finish: typeAndSend(PASSWORD),
      });
      await page.unroute("**/api/portal/second-factors/app");
    });

    test("a page that opens one by itself, whose heading has it then", async () => {
      await openPage(page, `${site()}/dashboard/keys?new=1`);
      await dialog().waitFor();
      await press("Escape");
      await dialog().waitFor({ state: "detached" });
      await expectFocus('heading "Keys"', "the dialog, closed");
    });

    test("the search, from any control of the page, and by its button", async () => {
      await openPage(page, `${site()}/dashboard/keys`);
      for (const from of ["Create key", "Search"]) {
        await page.getByRole("button", { name: from }).first().focus();
        await press(from === "Search" ? "Enter" : "Control+k");
        await expectFocus('combobox "Search', "the search, opened");
        expect(await page.getByRole("dialog", { name: "Search", exact: true }).count()).toBe(1);
        await press("Escape");
        await dialog().waitFor({ state: "detached" });
        await expectFocus(`button "${from}`, "the search, after Esc");
      }
    });
  });

  describe("an operator", () => {
    beforeAll(() => become(operator, "198.51.100.1"));

    test.each(OPERATORS)("$at: $title", walk);

    test("no dialog: undoing an import takes one key, and putting it back another, on the button or on the toast", async () => {
      await openPage(page, `${site()}/admin/feeds`);
      await page.getByRole("button", { name: "Undo import 2" }).focus();
      await press("Enter");
      await expectFocus('button "Redo import 2"', "the import, undone");
      await page.getByText("Import 2 is undone.", { exact: true }).waitFor();
      // The key of a browser's notices, which leads to the toasts.
      await press("F8");
      await pressButton("Put it back");
      await expectFocus('button "Undo import 2"', "the import, put back by the toast");
      await page.getByText("Import 2 is put back.", { exact: true }).waitFor();
      expect(await page.getByText("Import 2 is undone.", { exact: true }).count()).toBe(0);
      await press("Enter");
      await expectFocus('button "Redo import 2"', "the import, undone again");
      // Only the latest change is offered to be taken back.
      expect(await page.getByRole("button", { name: "Undo again" }).count()).toBe(0);
    });

    test("the proof of who they are, which an import that is put back asks for", async () => {
      await openPage(page, `${site()}/admin/feeds`);
      await page.getByRole("button", { name: "Redo import 2" }).focus();
      let refused = 0;
      await page.route("**/api/portal/admin/imports/2/redo", (route) => {
        refused += 1;
        const data = { detail: "Confirm it's you.", request_id: "req_test", docs_url: "/docs/errors/proof-required" };
        return refused > 1
          ? route.continue()
          : route.fulfill({ status: 403, json: { code: 40306, message: "proof_required", data } });
      });
      await press("Enter");
      await page.getByRole("dialog", { name: "Confirm it's you" }).waitFor();
      await expectFocus('textbox "Password"', "the proof");
      await typeAndSend(PASSWORD)();
      await expectFocus('button "Undo import 2"', "the import, put back with a proof");
      await page.unroute("**/api/portal/admin/imports/2/redo");
    });

    test("an account that waits", () =>
      walk({
        at: `admin/accounts/${waitingId}`,
        sources: ["admin/account-waiting"],
        opener: "Refuse",
        title: `Refuse ${WAITING}`,
        first: `textbox "Type ${WAITING}`,
      }));

    test("instruments that the feed does not offer, which are gone afterwards", async () => {
      await product.stop();
      product = await product.restart({ LIVE_FEED: "push" });
      const feeder = createFeeder(keyHolder(product, await makeLiveKey(product, "market:ingest")));
      await feeder.push(feeder.ticks("EURUSD", [[112_345, 112_355]]));
      await walk({
        at: "admin/feeds",
        unfold: "53 instruments not offered by push",
        sources: ["admin/not-offered"],
        opener: "Retire all 53",
        title: "Retire 53 instruments",
        first: 'button "Cancel"',
        finish: () => pressButton("Retire"),
        after: 'heading "',
      });
    });
  });
});

describe("this test", () => {
  test("opens every dialog there is", async () => {
    const found: string[] = [];
    for (const entry of await readdir("components", { recursive: true })) {
      if (!entry.endsWith(".tsx") || entry === join("ui", "dialog.tsx")) continue;
      const uses = (await readFile(join("components", entry), "utf8")).match(/<(Alert|Confirm)?Dialog\b/g) ?? [];
      found.push(...uses.map(() => entry.replace(/\.tsx$/, "")));
    }
    expect([...walked].sort()).toEqual(found.sort());
  });
});
